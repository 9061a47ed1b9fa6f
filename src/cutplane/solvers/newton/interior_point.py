"""The last digits by a primal-dual interior point: a number of steps that hardly depends on how many are wanted.

Smoothed Newton narrows its rounding again and again, and examples that leave their kinks and come back cost it steps
each time. Once few examples are near their kinks, the problem they make, the others replaced by their tangents, is
small enough for Mehrotra's predictor and corrector: ten steps or so, each with one system as in Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutplane.solvers.base import Array, ScoredPoint
from cutplane.solvers.ledger import IDLE_SOLVES, Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.newton.system import LARGEST_FACTOR, NewtonSystem
from cutplane.solvers.protocols import Handle, NearHingesLike, SmoothObjectiveLike, Stiffness
from cutplane.solvers.result import StopReason


@dataclass(frozen=True, slots=True)
class InteriorTuning:
    """The numbers of the interior point; chosen by hand. benchmarks/binary.py (a9a, w8a, MNIST) shows what they do."""

    #: Multiplications of a BLAS that each of its systems may cost: some hundredths of a second.
    most_work: float = 2e9
    #: One of so many examples may be near its kink where it looks at these alone, at first. w8a.
    one_of: int = 5
    most_steps: int = 40
    #: After so many steps that have not halved the gap it hands over, from where that was least.
    patience: int = 10
    most_rounds: int = 6
    #: Of the gap asked for, what the small problem may leave: the tangents of the others will not all hold.
    fraction: float = 0.3
    #: Steps end just short of the boundary.
    short: float = 0.99
    #: How closely the systems of predictor and corrector are solved.
    residual_predicted: float = 1e-2
    residual_corrected: float = 1e-3


TUNING = InteriorTuning()


class _Linearised(NamedTuple):
    """What predictor and corrector share: what is left of stationarity and of balance, stiffness, and the system."""

    residual: Array
    imbalance: float
    stiffness: Stiffness
    system: NewtonSystem


class _Steps(NamedTuple):
    """Changes of the weights, of the intercept, and of what there is one of for each example."""

    w: Array
    intercept: float
    each: Handle


class InteriorPoint:
    """½|w|² + C times the risk of `NearHinges`, with losses and surpluses of margins kept above zero.

    Example i has margin z_i = signs[i] score, a loss and a surplus, both positive, with z_i - 1 = surplus - loss, a
    dual variable below its bound C·weights[i], and what is left of that. Losses times what is left and surpluses times
    dual variables all approach zero together.

    Attributes
    ----------
    w, intercept
        Where it is.
    at : handle
        Dual variables, losses and surpluses of the near examples.
    """

    def __init__(self, problem: NearHingesLike, C: float, w: Array, intercept: float) -> None:
        self._problem = problem
        self._C = C
        self.w, self.intercept = w, intercept
        self.at = problem.start(C)

    def run(self, allowed: float, ledger: Ledger) -> None:
        """Steps until the small problem's own gap is at most `allowed`, or it stands still; back to the least gap."""
        if not self._problem.examples:  # every example has a tangent: there is nothing to weigh
            self.w = -self._C * self._problem.rest_slope
            return
        best, halved, since = (np.inf, self.w, self.intercept, self.at), np.inf, 0
        for _ in range(TUNING.most_steps):
            residual, imbalance = self._residual()
            gap = self._gap(residual, imbalance)
            if gap < best[0]:
                best = gap, self.w, self.intercept, self.at
            halved, since = (gap, 0) if gap <= 0.5 * halved else (halved, since + 1)
            over = gap <= allowed or since >= TUNING.patience or ledger.overdue
            if over or not self._step(residual, imbalance):
                break
        if best[0] < np.inf:
            _, self.w, self.intercept, self.at = best

    def _residual(self) -> tuple[Array, float]:
        """What is left of stationarity: w less the weights that the dual variables stand for, and their imbalance."""
        problem = self._problem
        weights, balance = problem.dual_sums(self.at)
        imbalance = self._C * problem.rest_balance - balance if problem.intercept else 0.0
        return self.w + self._C * problem.rest_slope - weights, imbalance

    def _gap(self, residual: Array, imbalance: float) -> float:
        """Primal less dual value: ½|residual|², and by example what its loss and its dual variable disagree about.

        Dual variables that are out of balance prove nothing: it is a loss, whatever its sign, of about the margin and
        the intercept each.
        """
        hinges = self._problem.disagreement(self.at)
        return 0.5 * float(residual @ residual) + hinges + abs(imbalance) * (1.0 + abs(self.intercept))

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def _step(self, residual: Array, imbalance: float) -> bool:
        """Predictor, corrector, and as far as the boundary allows; False where rounding leaves no way on."""
        problem = self._problem
        stiffness = problem.stiffness(self.at)
        here = _Linearised(residual, imbalance, stiffness, NewtonSystem.of(stiffness.curvature, len(self.w)))
        now = self._mean_product(self.at)
        if now == 0.0 or (stiffness.moments is not None and stiffness.moments[0] == 0.0):
            return False
        ahead = self._direction(here, 0.0, None, TUNING.residual_predicted).each
        reached = self._mean_product(problem.moved(self.at, ahead, self._room(ahead)))
        target = now * min(1.0, max(reached / now, 0.0)) ** 3
        steps = self._direction(here, target, ahead, TUNING.residual_corrected)
        t = min(1.0, TUNING.short * self._room(steps.each))
        if not (np.isfinite(t) and t > 1e-10):
            return False
        self.w = self.w + t * steps.w
        self.intercept += t * steps.intercept
        self.at = problem.moved(self.at, steps.each, t)
        return True

    def _mean_product(self, at: Handle) -> float:
        """The mean over all losses times what is left, and all surpluses times dual variables."""
        return self._problem.complementarity(at) / (2 * self._problem.examples)

    def _direction(self, here: _Linearised, target: float, ahead: Handle | None, accuracy: float) -> _Steps:
        """Newton's step towards products of `target`, less what the predictor's step `ahead` says they bend."""
        problem, stiffness, curvature = self._problem, here.stiffness, here.stiffness.curvature
        pull = problem.pull(self.at, stiffness.each, target, ahead)
        gradient, base = here.residual - pull.slope, 0.0
        if stiffness.moments is not None:
            weight, slope = stiffness.moments
            base = (pull.weight - here.imbalance) / weight
            gradient = gradient + slope * base
        w = here.system.solve(curvature, 1.0, gradient, accuracy)
        intercept = base + float(curvature.shift(w))
        return _Steps(w, intercept, problem.steps(self.at, stiffness.each, pull.each, w, intercept))

    def _room(self, steps: Handle) -> float:
        """The fraction of a step, at most one, that ends on the boundary."""
        return 1.0 / max(self._problem.fastest(self.at, steps), 1.0)


def most_examples(objective: SmoothObjectiveLike, work: float = TUNING.most_work) -> int:
    """How many examples near their kinks an interior point takes at first; 0 where it cannot be used."""
    if objective.dimension > LARGEST_FACTOR:
        return 0
    return min(objective.examples // TUNING.one_of, objective.most_near_hinges(work))


def finish(
    objective: SmoothObjectiveLike, ledger: Ledger, point: ScoredPoint, base: ScoredPoint, radius: float, most: int
) -> StopReason:
    """Rounds of an interior point on the hinges near their kinks, from `point`; "stalled" where these do not end it.

    Near is what is within `radius`, or the `most` nearest where these are more. `base` is the incumbent, scored.
    """
    most_of_all = objective.most_near_hinges(TUNING.most_work)
    line_search = ExactLineSearch()
    for _ in range(TUNING.most_rounds):
        with ledger.phase("interior_point"):
            problem = objective.near_hinges(point, radius, most)
            interior = InteriorPoint(problem, ledger.C, point.w, float(point.intercept))
            interior.run(TUNING.fraction * ledger.allowed_fraction * abs(ledger.upper), ledger)
        if not problem.is_finite(interior.at):  # of huge features: their weights' squares underflow
            return "stalled"
        with ledger.phase("cut"):
            plane = problem.plane(interior.at)
        ledger.prove_by(plane)
        with ledger.phase("qp"):
            ledger.add(plane)
            ledger.bundle.prune(IDLE_SOLVES)
        with ledger.phase("scores"):
            target = objective.fit_intercept(objective.score(interior.w, interior.intercept))
        with ledger.phase("line_search"):
            step = line_search.step(objective, base, target, ledger.C)
            ledger.moved(target, step)
            point = objective.fit_intercept(objective.mix(base, target, step))
            if ledger.offer(point, objective.value(point)):
                base = point
        reason = ledger.close_iteration(step)
        if reason is not None:
            return reason
        if step < 0.9:  # some tangents did not hold: look further
            if problem.radius < radius:
                if most >= most_of_all:
                    return "stalled"
                most = min(2 * most, most_of_all)
            else:
                radius *= 2.0
    return "stalled"

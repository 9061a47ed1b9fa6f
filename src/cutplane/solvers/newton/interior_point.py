"""The last digits by a primal-dual interior point: a number of steps that hardly depends on how many are wanted.

Smoothed Newton narrows its rounding again and again, and examples that leave their kinks and come back cost it steps
each time. Once few examples are near their kinks, the problem they make, the others replaced by their tangents, is
small enough for Mehrotra's predictor and corrector: ten steps or so, each with one system as in Newton's method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cutplane.solvers.base import Array, Curvature
from cutplane.solvers.ledger import IDLE_SOLVES, Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.newton.system import LARGEST_FACTOR, NewtonSystem
from cutplane.solvers.protocols import NearHingesLike
from cutplane.solvers.result import StopReason

# Multiplications of a BLAS that each of its systems may cost: some hundredths of a second.
MOST_WORK = 2e9
_MOST_STEPS = 40
_MOST_ROUNDS = 6
# Of the gap asked for, what the small problem may leave: the tangents of the others will not all hold.
_FRACTION = 0.3
# Start this far from every bound, as a fraction of the radius: a twentieth of its box for a dual variable.
_FROM_KINK = 0.1
_FROM_BOUND = 0.05
# Steps end just short of the boundary.
_SHORT = 0.99
# How closely the systems of predictor and corrector are solved.
_RESIDUAL_PREDICTED, _RESIDUAL_CORRECTED = 1e-2, 1e-3


class _Steps(NamedTuple):
    """Changes of the weights, the intercept, the dual variables, losses and surpluses."""

    w: Array
    intercept: float
    dual: Array
    loss: Array
    surplus: Array


class InteriorPoint:
    """½|w|² + C times the risk of `NearHinges`, with losses and surpluses of margins kept above zero.

    Example i has margin z_i = signs[i] score, a loss and a surplus, both positive, with z_i - 1 = surplus - loss, a
    dual variable below its `bound` C·weights[i], and what is left of that. Losses times what is left and surpluses
    times dual variables all approach zero together.

    Attributes
    ----------
    w, intercept
        Where it is.
    dual, bound : array of shape (m,)
        Dual variables and their upper bounds.
    """

    def __init__(self, problem: NearHingesLike, C: float, w: Array, intercept: float) -> None:
        self._problem = problem
        self._C = C
        self.w, self.intercept = w, intercept
        self.bound = C * problem.weights
        beyond, radius = 1.0 - problem.margins, problem.radius
        share = 0.5 + 0.5 * beyond / radius
        self.dual = self.bound * np.clip(share, _FROM_BOUND, 1.0 - _FROM_BOUND)
        self._loss = np.maximum(beyond, 0.0) + _FROM_KINK * radius
        self._surplus = np.maximum(-beyond, 0.0) + _FROM_KINK * radius

    def run(self, allowed: float, ledger: Ledger) -> None:
        """Steps until the small problem's own gap is at most `allowed`."""
        if not len(self.dual):  # every example has a tangent: there is nothing to weigh
            self.w = -self._C * self._problem.rest_slope
            return
        for _ in range(_MOST_STEPS):
            residual = self._residual()
            if self._gap(residual) <= allowed or ledger.overdue or not self._step(residual):
                return

    def _residual(self) -> Array:
        """What is left of stationarity: w less the weights that the dual variables stand for."""
        problem = self._problem
        return self.w + self._C * problem.rest_slope - problem.combine(problem.signs * self.dual)

    @property
    def _imbalance(self) -> float:
        if not self._problem.intercept:
            return 0.0
        return self._C * self._problem.rest_balance - float(self._problem.signs @ self.dual)

    def _gap(self, residual: Array) -> float:
        """Primal less dual value: ½|residual|², and by example what its loss and its dual variable disagree about."""
        beyond = self._loss - self._surplus
        hinges = float(self.bound @ np.maximum(beyond, 0.0)) - float(self.dual @ beyond)
        return 0.5 * float(residual @ residual) + hinges + self._imbalance * self.intercept

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def _step(self, residual: Array) -> bool:
        """Predictor, corrector, and as far as the boundary allows; False where rounding leaves no way on."""
        left = self.bound - self.dual
        stiffness = 1.0 / (self._surplus / self.dual + self._loss / left)
        curvature = self._problem.curvature(stiffness)
        system = NewtonSystem.of(curvature, len(self.w))
        now = self._complementarity(0.0, None)
        zero = np.zeros_like(self.dual)
        ahead = self._direction(system, curvature, stiffness, residual, 0.0, zero, zero, _RESIDUAL_PREDICTED)
        reached = self._complementarity(self._room(ahead), ahead)
        target = now * min(1.0, max(reached / now, 0.0)) ** 3
        steps = self._direction(
            system,
            curvature,
            stiffness,
            residual,
            target,
            ahead.dual * ahead.surplus,
            -ahead.dual * ahead.loss,
            _RESIDUAL_CORRECTED,
        )
        t = min(1.0, _SHORT * self._room(steps))
        if not (np.isfinite(t) and t > 1e-10):
            return False
        self.w = self.w + t * steps.w
        self.intercept += t * steps.intercept
        self.dual = self.dual + t * steps.dual
        self._loss = self._loss + t * steps.loss
        self._surplus = self._surplus + t * steps.surplus
        return True

    def _direction(
        self,
        system: NewtonSystem,
        curvature: Curvature,
        stiffness: Array,
        residual: Array,
        target: float,
        curved_surplus: Array,
        curved_loss: Array,
        accuracy: float,
    ) -> _Steps:
        """Newton's step towards products of `target`, less what the predictor says they bend."""
        problem, left = self._problem, self.bound - self.dual
        to_loss = (target - curved_loss) / left - self._loss
        pull = (target - curved_surplus) / self.dual - self._surplus - to_loss
        weighted = problem.signs * stiffness * pull
        gradient = residual - problem.combine(weighted)
        base = 0.0
        if problem.intercept:
            base = (float(weighted.sum()) - self._imbalance) / float(stiffness.sum())
            gradient = gradient + problem.combine(stiffness) * base
        w = system.solve(curvature, 1.0, gradient, accuracy)
        intercept = base + float(curvature.shift(w))
        margin = problem.signs * (problem.scores(w) + intercept)
        dual = stiffness * (pull - margin)
        loss = to_loss + self._loss * dual / left
        return _Steps(w, intercept, dual, loss, margin + loss)

    def _complementarity(self, t: float, steps: _Steps | None) -> float:
        """The mean of all products after a fraction t of a step."""
        dual, loss, surplus = self.dual, self._loss, self._surplus
        if steps is not None:
            dual, loss, surplus = dual + t * steps.dual, loss + t * steps.loss, surplus + t * steps.surplus
        return (float(dual @ surplus) + float((self.bound - dual) @ loss)) / (2 * len(dual))

    def _room(self, steps: _Steps) -> float:
        """The fraction of a step, at most one, that ends on the boundary."""
        left = self.bound - self.dual
        # One over the fraction at which each would vanish; below one where it would not.
        fastest = max(
            float(np.max(-change / value))
            for value, change in (
                (self.dual, steps.dual),
                (left, -steps.dual),
                (self._loss, steps.loss),
                (self._surplus, steps.surplus),
            )
        )
        return 1.0 / max(fastest, 1.0)


def most_examples(objective: Any, work: float = MOST_WORK) -> int:
    """How many examples near their kinks an interior point may take; 0 where it cannot be used."""
    return int(objective.most_near_hinges(work)) if objective.dimension <= LARGEST_FACTOR else 0


def finish(objective: Any, ledger: Ledger, point: Any, base: Any, radius: float, most: int) -> StopReason:
    """Rounds of an interior point on the hinges near their kinks, from `point`; "stalled" where these do not end it.

    Near is what is within `radius`, or the `most` nearest where these are more. `base` is the incumbent, scored.
    """
    line_search = ExactLineSearch()
    for _ in range(_MOST_ROUNDS):
        with ledger.phase("interior_point"):
            problem = objective.near_hinges(point, radius, most)
            interior = InteriorPoint(problem, ledger.C, point.w, point.intercept)
            interior.run(_FRACTION * ledger.allowed_fraction * abs(ledger.upper), ledger)
        if not np.isfinite(interior.dual).all():  # of huge features: their weights' squares underflow
            return "stalled"
        with ledger.phase("cut"):
            plane = problem.plane(interior.dual / interior.bound)
        ledger.prove_by(plane)
        with ledger.phase("qp"):
            ledger.add(plane)
            ledger.bundle.prune(IDLE_SOLVES)
        with ledger.phase("scores"):
            target = objective.settle(objective.score(interior.w, interior.intercept))
        with ledger.phase("line_search"):
            step = line_search.step(objective, base, target, ledger.C)
            ledger.moved(target, step)
            point = objective.settle(objective.mix(base, target, step))
            if ledger.offer(point, objective.value(point)):
                base = point
        reason = ledger.close_iteration(step)
        if reason is not None:
            return reason
        if step < 0.9:  # some tangents did not hold: look further
            if problem.radius < radius:
                return "stalled"
            radius *= 2.0
    return "stalled"

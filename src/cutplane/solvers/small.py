"""Small problems: a primal-dual interior point over all examples.

Where a factor of the whole curvature costs next to nothing, ten to thirty steps end the run, whatever C is and however
features are scaled. Dual ascent and smoothed Newton may take hundreds of steps there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cutplane.solvers.ledger import Ledger
from cutplane.solvers.protocols import InteriorLike, SmoothObjectiveLike
from cutplane.solvers.result import StopReason


@dataclass(frozen=True, slots=True)
class SmallTuning:
    """When a problem is small, and how closely it is solved.

    By trial on 80 to 20,000 examples of 2 to 300 features, C from 0.01 to 100, of features scaled and not.
    benchmarks/called_small.py shows what they do.
    """

    #: Multiplications a step, up to which nothing arrives sooner...
    tiny: float = 1e6
    #: ... and up to which dual ascent does, but not where examples move their own scores by so much.
    small: float = 1.2e7
    far: float = 10.0
    #: What weights of zero cost with the best intercept, relative to none, where they are optimal but for rounding.
    nothing: float = 1e-9
    most_steps: int = 60
    #: What is aimed at, of the gap asked for: once more, where rounding takes some of it.
    aims: tuple[float, ...] = (0.9, 0.1)


TUNING = SmallTuning()


@dataclass(frozen=True)
class SmallInterior:
    """An interior point over all examples, certified by the plane of its dual variables."""

    interior: InteriorLike

    @property
    def knows_loss(self) -> bool:
        """Whether it can be run; where not, Newton's method arrives soonest."""
        return self.interior.knows_loss

    @classmethod
    def of(cls, objective: SmoothObjectiveLike, ledger: Ledger) -> SmallInterior | None:
        """That of an objective; None where there is none, or something else arrives sooner."""
        if objective.dimension > objective.examples:  # dual ascent tells examples apart in a few epochs
            return None
        interior = objective.interior(ledger.C)
        if interior is None or interior.work > TUNING.small:
            return None
        return cls(interior) if interior.work <= TUNING.tiny or interior.own_move >= TUNING.far else None

    def run(self, objective: SmoothObjectiveLike, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop; "stalled" where rounding leaves no way on."""
        at_first = self.interior.upper  # of weights of zero, without an intercept
        if at_first == 0.0:
            return "stalled"
        for aim in TUNING.aims:
            with ledger.phase("interior_point"):
                _approach(self.interior, aim, ledger)
            if not math.isfinite(self.interior.gap):  # beyond double precision
                return "stalled"
            reason = _certify(objective, ledger, self.interior)
            if reason is not None:
                return reason
            if _nothing_to_gain(objective, ledger.C, at_first):
                break
        return "stalled"


def _nothing_to_gain(objective: SmoothObjectiveLike, C: float, at_first: float) -> bool:
    """Whether weights of zero cost nothing but for rounding: what comes close to them would never be proven."""
    zero = objective.at(np.zeros(objective.dimension))
    return C * (objective.value(zero) - objective.lower_bound) <= TUNING.nothing * at_first


def _approach(interior: InteriorLike, aim: float, ledger: Ledger) -> None:
    """Steps until the gap is this fraction of the one asked for."""
    for _ in range(TUNING.most_steps):
        allowed = aim * ledger.aim.allowed(interior.upper, ledger.C)
        if interior.gap <= allowed or ledger.overdue or not interior.step():
            return


def _certify(objective: SmoothObjectiveLike, ledger: Ledger, interior: InteriorLike) -> StopReason | None:
    with ledger.phase("scores"):
        point = objective.fit_intercept(objective.score(*interior.weights))
    ledger.offer(point, objective.value(point))
    with ledger.phase("cut"):
        plane = interior.plane()
    ledger.prove_by(plane)
    with ledger.phase("qp"):
        ledger.add(plane)
    return ledger.close_iteration(1.0)

"""Where Newton's method goes on from: the incumbent of an earlier run, or its last evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutplane.solvers.base import Array, Evaluated, Intercept, ScoredPoint
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.rounded import Evaluation, evaluate, widened
from cutplane.solvers.newton.samples import sample_sizes
from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin: weights, intercept, width of rounding, and the objective that a sample promised there.

    Also, where they are known: the same as a point of the objective, its evaluation there, and an earlier evaluation
    that a sample can be made to agree with.
    """

    w: Array
    intercept: Intercept
    h: float
    expected: float = float("inf")
    scored: ScoredPoint | None = None
    known: Evaluation | None = None
    anchor: Evaluated | None = None


def resumed_start(objective: SmoothObjectiveLike, ledger: Ledger) -> Start | None:
    """The last evaluation for another C, where it shows the way; else the incumbent, if there is one."""
    if ledger.incumbent is None:
        return None
    return from_last(objective, ledger) or _narrowed(objective, ledger)


def from_last(objective: SmoothObjectiveLike, ledger: Ledger) -> Start | None:
    """The last evaluation for another C, where a single step or a sample will go on from there."""
    last = ledger.handover.evaluated
    if last is None:
        return None
    point, h = last.point, last.h
    now = evaluate(last.cut, point.w, ledger.C)
    allowed = _allowed(ledger)
    if now.error <= 0.5 * allowed and now.residual <= min(
        TUNING.one_step_from_last * allowed, TUNING.close_to_last * abs(ledger.upper)
    ):
        return Start(point.w, point.intercept, h, scored=point, known=now)
    if worth_a_sample(objective, ledger, last):
        return Start(point.w, point.intercept, h, anchor=last)
    return None


def worth_a_sample(objective: SmoothObjectiveLike, ledger: Ledger, last: Evaluated | None = None) -> bool:
    """Whether a sample tells more than is known.

    Where one is kept, its slope at the last evaluation says how far it will lead astray. The distance that it leaves,
    relative to the gap, is about the error of its slope relative to the objective: within a factor of three, measured.
    """
    n, d = objective.examples, objective.dimension
    if n < TUNING.ample * d or not sample_sizes(objective, ledger.allowed_fraction):
        return False
    gap, scale = ledger.upper - ledger.lower, abs(ledger.upper)
    far = gap > TUNING.worth_a_sample * scale
    if last is None or ledger.handover.sample is None:
        return far
    off = 0.5 * (ledger.C * ledger.handover.on_sample(objective, last)[0].correction) ** 2
    return off * gap <= _allowed(ledger) * scale or (far and off <= TUNING.most_off * scale)


def _narrowed(objective: SmoothObjectiveLike, ledger: Ledger) -> Start:
    """The incumbent, with a rounding that costs about as much as the gap still open."""
    assert ledger.incumbent is not None
    point = objective.with_scores(ledger.incumbent)
    h, gap = objective.first_width, ledger.upper - ledger.lower
    allowed = gap * (TUNING.start_error_if_far if gap > TUNING.far * ledger.upper else TUNING.start_error)
    foreseen, in_the_end = ledger.foreseen_error, TUNING.for_rounding * _allowed(ledger)
    if foreseen < float("inf"):
        allowed = max(min(allowed, foreseen), in_the_end)
        if allowed < TUNING.nearly_narrow * in_the_end:
            allowed = in_the_end
    least = TUNING.least_start_width * h
    if allowed <= 0.0:  # nothing is left of the gap but what the prover does not grant
        return Start(point.w, point.intercept, least, scored=point)
    while h > least and (error := ledger.C * objective.rounding_error(point, h)) > allowed:
        # It falls no faster than h², mostly.
        h *= 0.5 ** max(1, int(0.5 * np.log2(error / allowed)))
    if foreseen < float("inf") and error <= allowed:
        h = min(objective.first_width, widened(h, error, allowed))
    return Start(point.w, point.intercept, h, scored=point)


def _allowed(ledger: Ledger) -> float:
    """The gap aimed at."""
    return ledger.allowed_fraction * abs(ledger.upper)

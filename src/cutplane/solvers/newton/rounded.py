"""An evaluation of a rounded objective, with the bounds it gives: what every smoothed Newton's method looks at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutplane.solvers.base import Array, SmoothedCut
from cutplane.solvers.newton.tuning import TUNING


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The rounded objective at a point, with the bounds it gives.

    `residual` and `error` are the two parts of upper - lower: the distance from the rounded optimum, and what rounding
    costs.
    """

    cut: SmoothedCut
    gradient: Array
    upper: float
    lower: float
    residual: float
    error: float


def evaluate(cut: SmoothedCut, w: Array, C: float) -> Evaluation:
    """What the plane of the rounded risk at w says."""
    v = -C * cut.slope
    gradient = w - v
    return Evaluation(
        cut,
        gradient,
        0.5 * float(w @ w) + C * cut.value,
        C * cut.offset - 0.5 * float(v @ v),
        0.5 * float(gradient @ gradient),
        C * cut.error,
    )


def next_width(now: Evaluation, h: float, narrowing: float, tolerance: float) -> float:
    """The width for the next step: narrower once the rounded problem is solved."""
    return h if now.residual >= 0.5 * now.error else h * shrinking(now, narrowing, tolerance)


def shrinking(now: Evaluation, narrowing: float, tolerance: float) -> float:
    """The width after this one, relative to it: no finer than the goal needs."""
    # What rounding costs falls as h²: this much is left for it in a gap of `tolerance`.
    enough = float(np.sqrt(TUNING.for_rounding * tolerance * abs(now.upper) / now.error)) if now.error > 0.0 else 0.5
    return min(0.7, max(narrowing, enough))


def widened(h: float, error: float, allowed: float) -> float:
    """The width at which rounding costs as much as is allowed, where it costs `error` at h: that grows as h²."""
    return h * float(np.sqrt(allowed / error)) if error > 0.0 else h


def plenty(now: Evaluation, shrunk: float) -> bool:
    """Whether so many examples are on kinks, and will be at a width `shrunk` times as large, that each hardly counts.

    Then the rounded risk bends about as much whatever its width, and its minimum hardly moves with that.
    """
    return now.cut.kinks * shrunk >= TUNING.plenty * now.gradient.size

"""The best constant to add to every score, for any convex risk that can be cut.

Along the constant the risk is convex, and the sum of a cut's coefficients is its slope there. Where that sum changes
its sign is the minimum; a mixture of the cuts on both sides, weighted so that the sums cancel, is a plane of the
risk with the constant profiled out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.risks.root import rising_crossing

Array = NDArray[np.float64]
Cuts = Callable[[Array], Any]

# Sums of coefficients this small next to their sizes are zero to rounding.
_ROUNDING = 1e-15
# No intercept is sought beyond, in units of the scores.
_FURTHEST = 1e15


class NoInterceptError(ValueError):
    """The risk has no least value as the intercept moves."""

    def __init__(self) -> None:
        super().__init__("The risk falls for ever as the intercept moves; it can be trained with fit_intercept=False.")


def best_shift(cut: Cuts, scores: Array) -> float:
    """The constant that makes the risk least."""
    return least_shift(lambda t: total_of(cut(scores + t).coef), float(np.abs(scores).max(initial=0.0)))


def least_shift(slope: Callable[[float], float], size: float) -> float:
    """The constant at which the slope of a risk along constants passes zero; `size` is that of the scores."""
    first = slope(0.0)
    if first == 0.0:
        return 0.0
    furthest = _FURTHEST * max(1.0, size)
    # Towards where the risk falls, ever further, until it rises.
    near, far = 0.0, -1.0 if first > 0.0 else 1.0
    slope_near, slope_far = first, slope(far)
    while slope_far * first > 0.0:
        near, slope_near, far = far, slope_far, 2.0 * far
        if abs(far) > furthest:
            raise NoInterceptError
        slope_far = slope(far)
    return rising_crossing(slope, near, far, (slope_near, slope_far))


def balanced_mixture(cut: Cuts, scores: Array) -> tuple[Array, float]:
    """Coefficients that sum to zero, and the offset, of a plane that is tight (to rounding) at settled scores."""
    here = cut(scores)
    lean = total_of(here.coef)
    if lean == 0.0:
        return here.coef, here.offset
    size = float(np.abs(scores).max(initial=0.0))
    shift, opposite = opposite_lean(lambda t: total_of(cut(scores + t).coef), lean, size)
    other, share = cut(scores + shift), opposite / (opposite - lean)
    coef = share * here.coef + (1.0 - share) * other.coef
    return coef, share * here.offset + (1.0 - share) * other.offset


def opposite_lean(slope: Callable[[float], float], lean: float, size: float) -> tuple[float, float]:
    """The nearest constant at which the slope along constants is not of the sign of `lean`, and the slope there."""
    width = 4.0 * float(np.finfo(np.float64).eps) * max(1.0, size)
    while width <= _FURTHEST * max(1.0, size):
        shift = -width if lean > 0.0 else width
        opposite = slope(shift)
        if opposite * lean <= 0.0:
            return shift, opposite
        width *= 4.0
    raise NoInterceptError


def balanced(coef: Array) -> Array:
    """The coefficients with the heavier side scaled down until they sum to zero.

    An intercept can be balanced only as finely as scores resolve; without this, what is left would lean on it.
    """
    coef = coef.copy()
    for _ in range(2):  # the second time for what rounding left
        excess = coef.sum()
        heavier = coef > 0.0 if excess > 0.0 else coef < 0.0
        total = coef[heavier].sum()
        if excess == 0.0 or total == 0.0:
            break
        coef[heavier] *= max(0.0, 1.0 - excess / total)
    return coef


def total_of(coef: Array) -> float:
    """The sum of coefficients; zero where only rounding is left of it."""
    total = float(np.sum(coef))
    return 0.0 if abs(total) <= _ROUNDING * float(np.abs(coef).sum()) else total

"""The best constant to add to every score, for any convex risk that can be cut.

Along the constant the risk is convex, and the sum of a cut's coefficients is its slope there. Where that sum changes
its sign is the minimum; a mixture of the cuts on both sides, weighted so that the sums cancel, is a plane of the
risk with the constant profiled out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.risks.root import rising_crossing

Array = NDArray[np.float64]
Cuts = Callable[[Array], Any]

# Sums of coefficients this small next to their sizes are zero to rounding.
_ROUNDING = 1e-15
# No intercept is sought beyond, in units of the scores.
_FURTHEST = 1e15


# Constants this close, next to one or to their size, cannot be told apart once they are added to scores.
_RESOLVED = 2.0**-52
# Constants looked at in one go, and how often.
_AT_ONCE, _MOST_ROUNDS = 16, 60


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


def least_shift_between(
    shifts: Array,
    leans: Callable[[Array], Array],
    turns: Callable[[float, float], tuple[Array, Array] | None],
    known: Array | None = None,
) -> float:
    """The constant at which the slope of a risk along constants passes zero, between the least and the greatest given.

    Asked seldom, for much at a time.

    Parameters
    ----------
    shifts : array
    leans : callable
        The slopes at several constants, in ascending order.
    turns : callable
        Where the slope jumps between two constants, and by how much; None: at too many, or it bends.
    known : array, optional
        The slopes at `shifts`, where they are known: these are few, ascending, and no two the same.
    """
    places = np.unique(shifts if len(shifts) <= _AT_ONCE else np.quantile(shifts, np.linspace(0.0, 1.0, _AT_ONCE)))
    if len(places) == 1:
        return float(places[0])
    slopes = leans(places) if known is None else known
    for asked in range(_MOST_ROUNDS):
        zero = np.flatnonzero(slopes == 0.0)
        if len(zero):
            return float(places[zero[0]])
        right = int(np.searchsorted(slopes > 0.0, True))
        if right in (0, len(places)):  # rounding: one end is the least
            return float(places[min(right, len(places) - 1)])
        low, high, ends = float(places[right - 1]), float(places[right]), slopes[right - 1 : right + 1]
        if high - low <= _RESOLVED * max(1.0, abs(low), abs(high)):
            return high
        if asked % 3 == 1 and (found := turns(low, high)) is not None:
            best = _best_turn(leans, ends[0], *found)
            if best is not None:
                return best
        inside = _between(low, high, *ends)
        if not len(inside):
            return high
        places = np.array([low, *inside, high])
        slopes = np.array([ends[0], *leans(inside), ends[1]])
    return high


def _best_turn(leans: Callable[[Array], Array], slope: float, places: Array, jumps: Array) -> float | None:
    """The jump at which a slope, which is about this before the first of them, stops being negative; None: no jump."""
    order = np.argsort(places, kind="stable")
    sorted_places = places[order]
    near = int(np.searchsorted(slope + np.cumsum(jumps[order]), 0.0))
    some = np.unique(sorted_places[max(0, near - _AT_ONCE // 2) : near + _AT_ONCE // 2])
    # At a jump itself the slope may be that of either side: it is looked at between them.
    right = int(np.searchsorted(leans(0.5 * (some[:-1] + some[1:])) >= 0.0, True)) if len(some) > 1 else 0
    return float(some[right]) if 0 < right < len(some) - 1 else None


def _between(low: float, high: float, at_low: float, at_high: float) -> Array:
    """Where to look next: around the secant's zero, and in the middle."""
    width = high - low
    zero = low - at_low * width / (at_high - at_low)
    wanted = [zero + share * width for share in (-0.1, -0.01, -1e-4, 0.0, 1e-4, 0.01, 0.1)]
    inside = np.unique([*wanted, 0.5 * (low + high)])
    return inside[(inside > low) & (inside < high)]


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


def opposite_leans(leans: Callable[[Array], Array], lean: float, size: float) -> tuple[float, float]:
    """As `opposite_lean`, where many constants are looked at in one go."""
    steps = np.arange(1 + math.log2(_FURTHEST / np.finfo(np.float64).eps) // 2)
    shifts = -np.copysign(4.0 * float(np.finfo(np.float64).eps) * max(1.0, size) * 4.0**steps, lean)
    for some in np.array_split(shifts, 2):  # the second half only of risks that hardly bend
        slopes = leans(some)
        found = np.flatnonzero(slopes * lean <= 0.0)
        if len(found):
            return float(some[found[0]]), float(slopes[found[0]])
    raise NoInterceptError


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
    return _core.balanced(coef)


def total_of(coef: Array) -> float:
    """The sum of coefficients; zero where only rounding is left of it."""
    total = float(np.sum(coef))
    return 0.0 if abs(total) <= _ROUNDING * float(np.abs(coef).sum()) else total

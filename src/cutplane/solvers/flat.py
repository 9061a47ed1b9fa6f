"""Where weights of zero cost nothing: an intercept that rounding cannot take out of the flat part of the risk.

A tube wider than the targets are apart has a range of best intercepts, and the optimum is exactly 0. Searches end where
the range begins, where rounding may hide a loss: next to an optimum of 0 that is all of the gap. Inside of the range
losses are 0 whatever rounding does.
"""

from __future__ import annotations

import numpy as np

from cutplane.solvers.base import Array, Point
from cutplane.solvers.protocols import SmoothObjectiveLike

# The first step from the end of the range, next to one or to the intercept there, and how often it doubles.
_FIRST, _DOUBLINGS = 2.0**-40, 60


def inside_flat(objective: SmoothObjectiveLike, w: Array) -> Point | None:
    """Weights with an intercept well inside of those at which they cost nothing; None where there are none."""
    end = objective.at(w)
    if not objective.intercept or np.ndim(end.intercept):
        return None
    free = [b for sign in (1.0, -1.0) for b in _free(objective, w, float(end.intercept), sign)]
    return Point(w, 0.5 * (min(free) + max(free))) if free else None


def _free(objective: SmoothObjectiveLike, w: Array, end: float, sign: float) -> list[float]:
    """Intercepts that cost nothing, ever further from one that may be at the end of their range."""
    found: list[float] = []
    for k in range(_DOUBLINGS):
        b = end + sign * _FIRST * max(1.0, abs(end)) * 2.0**k
        if objective.value(objective.score(w, b)) <= objective.lower_bound:
            found.append(b)
        elif found:
            break
    return found

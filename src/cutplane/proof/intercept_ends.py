"""Between what every best intercept of an optimum lies, when the scores of the examples are known up to intervals.

With F(s, b) = Σ c_i·loss_i(s_i + b), the slope of F along b grows with every score, for each loss is convex. So where
the slope at the highest scores and b is below zero, it is below zero at all scores and b: no best intercept is below b.
The same holds from above with the lowest scores. What is returned is such a b, for which the sign of the slope is
proven with all roundings charged; how it was found does not matter.
"""

from __future__ import annotations

import math

import numpy as np

from cutplane._types import Array
from cutplane.proof.evaluation import OPERATIONS
from cutplane.proof.losses import Terms
from cutplane.proof.rounding import UNIT, summed

# Ends are found to this share of their distance from the model's intercept; none is sought beyond so many doublings.
_PRECISION, _DOUBLINGS = 0.01, 200
# Where scores are known exactly, the first step is as long as this share of their size.
_FIRST_STEP = 1e-12
# More than what slopes too small for double precision add up to.
_LOST = 1e-300


def intercept_ends(terms: Terms, low: Array, high: Array, intercept: float) -> tuple[float, float]:
    """The lowest and the highest that a best intercept can be; the given one lies between them.

    Parameters
    ----------
    terms : Terms
        The losses of the examples.
    low, high : array of shape (n,)
        Between what each example's score lies, without the intercept.
    intercept : float
        That of the model, where the search begins.
    """
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return -math.inf, math.inf
    size = 1.0 + abs(intercept) + float(np.abs(high).max(initial=0.0))
    step = max(0.5 * float(np.mean(high - low)) if len(low) else 0.0, _FIRST_STEP * size)
    return _nearest(_Slope(terms, high, 1.0), intercept, step), _nearest(_Slope(terms, low, -1.0), intercept, step)


class _Slope:
    """The slope of a risk along the intercept: its left one or more (side 1), its right one or less (side -1)."""

    def __init__(self, terms: Terms, scores: Array, side: float) -> None:
        self.side, self._loss, self._scores = side, terms.loss, scores
        self._y, self._weights = np.asarray(terms.y, np.float64), terms.weights
        self._rest = 0.0  # of examples that are looked at no more

    def proves(self, b: float) -> bool:
        """Whether the slope at b is of the sign that says on which side of b the best intercepts are."""
        return self.side * self._sum(self._each(b)) < 0.0

    def _sum(self, slopes: Array) -> float:
        value, error = summed(slopes)
        return self._rest + value + self.side * (error + OPERATIONS * UNIT * float(np.abs(slopes).sum()) + _LOST)

    def _each(self, b: float) -> Array:
        s, y, side = self._scores + b, self._y, self.side
        off = 4.0 * UNIT * (np.abs(self._scores) + abs(b)) + self._loss.own_rounding(s, y)
        left, right = self._loss.tangents(s + side * off, y)
        slopes = left if side > 0.0 else right
        return slopes if self._weights is None else np.asarray(self._weights * slopes)

    def look_between(self, a: float, b: float) -> None:
        """Add up once the examples whose slopes are the same at a and at b.

        Slopes rise: what bounds one where it is highest (side 1), or lowest, bounds it in between as well.
        """
        first, last = self._each(a), self._each(b)
        still = first == last
        rest = self._sum(first[still])
        self._rest = rest + self.side * 4.0 * UNIT * abs(rest)
        self._scores, self._y = self._scores[~still], self._y[~still]
        self._weights = None if self._weights is None else self._weights[~still]


def _nearest(slope: _Slope, start: float, step: float) -> float:
    """About the nearest number to `start`, on the side that is asked about, that proves; infinite where none does."""
    if slope.proves(start):
        return start
    step *= -slope.side
    near, far = start, start + step
    for _ in range(_DOUBLINGS):
        if slope.proves(far):
            break
        step *= 2.0
        near, far = far, start + step
    else:
        return math.copysign(math.inf, step)
    slope.look_between(near, far)
    while abs(far - near) > _PRECISION * abs(far - start):
        middle = 0.5 * (near + far)
        if middle in (near, far):
            break
        near, far = (near, middle) if slope.proves(middle) else (middle, far)
    return far

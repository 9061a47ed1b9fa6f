"""Where the optimum is for every C between two of which models are certified: balls that grow with the distance.

What is minimised is ½|w|² + C·R(w), R convex. Let w(C) be the optimum, p any weights that may be, and a plane be below
the risk: R(w) >= <a, w> + o. The objective is strongly convex, and R(w(C)) is above the plane:

    ½|w(C)|² + C·(<a, w(C)> + o) + ½|w(C) - p|² <= ½|p|² + C·R(p).

Completing the square says that w(C) is within sqrt(¼|p + C·a|² + C·(R(p) - o - <a, p>)) of (p - C·a)/2. Neither p nor
the plane needs to come from a run with this C. Convex combinations of two p, and of two planes, are allowed as well:
R of the first is at most the combination of their risks. The best of them make the least ball.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cutplane._types import Array
from cutplane.proof.ball import interval
from cutplane.proof.rounding import UNIT, summed

# Rounds of the search for the least ball at most, one combination after the other, and when they have settled.
_SWEEPS, _SETTLED = 40, 1e-4
# Roundings in a radius and in a score of its centre, of numbers of the size of what is added up.
_OPERATIONS = 32.0
# For C per example times the weight of all, which is rounded.
_C_OUTWARD = 1.0 + 1e-14


class Anchor(NamedTuple):
    """What a run with one C has found that is of use for every other.

    Attributes
    ----------
    C : float
        Of the whole risk.
    w : array
        Weights that may be, counted from the prior.
    risk : float
        Theirs, or more.
    v : array
        -C times the slope of a plane.
    offset : float
        The plane's: R(w) >= -<v, w>/C + offset for every w that an optimum of the range of C can be.
    """

    C: float
    w: Array
    risk: float
    v: Array
    offset: float


class Ball(NamedTuple):
    """Where the optimum is for every C from one to another.

    Attributes
    ----------
    first, last : array of shape (4,)
        The centre at either end of the range, as a combination of the `w` and then the `v` of two anchors: between
        the ends it moves along the line from one to the other.
    radius : float
        The largest in the range; infinite where nothing is proven.
    """

    first: Array
    last: Array
    radius: float


class Between:
    """Balls for C between those of two anchors; they hold for every other C, too.

    Parameters
    ----------
    left, right : Anchor
        The same one twice, where there is but one.
    """

    def __init__(self, left: Anchor, right: Anchor) -> None:
        anchors = (left, right)
        self._Cs = np.array([each.C for each in anchors])
        self._risks = np.array([each.risk for each in anchors])
        self._offsets = np.array([each.offset for each in anchors])
        vectors = [each.w for each in anchors] + [each.v for each in anchors]
        found = [[summed(x * y) for y in vectors] for x in vectors]
        self._gram = np.array([[value for value, _ in row] for row in found])
        self._gram_error = np.array([[error for _, error in row] for row in found])
        known = np.isfinite([*self._risks, *self._offsets]).all()
        self._known = bool(known and np.isfinite(self._gram).all())

    def ball(self, low: float, high: float) -> Ball:
        """For every C of the whole risk from `low` to `high`."""
        low, high = low / _C_OUTWARD, high * _C_OUTWARD
        if not self._known:
            return Ball(np.zeros(4), np.zeros(4), math.inf)
        points, planes = self._best(math.sqrt(low) * math.sqrt(high))
        # The square of the radius is convex in C: it is largest at an end.
        square = max(self._square(C, points, planes) for C in (low, high))
        first, last = (0.5 * self._whole(C, points, planes) for C in (low, high))
        return Ball(first, last, math.sqrt(square))

    def _whole(self, C: float, points: Array, planes: Array) -> Array:
        return np.concatenate([points, planes * (C / self._Cs)])

    def _square(self, C: float, points: Array, planes: Array) -> float:
        """¼|p - C·a|² + C·(R(p) - o) or a little more: the same as above."""
        z = self._whole(C, points, planes)
        products = np.outer(z, z)
        lengths = np.sqrt(np.diag(self._gram))
        size = 0.25 * float(np.abs(z) @ lengths) ** 2 + C * float(
            points @ abs(self._risks) + planes @ abs(self._offsets)
        )
        error = 0.25 * float((np.abs(products) * self._gram_error).sum()) + _OPERATIONS * UNIT * size
        value = 0.25 * float((products * self._gram).sum())
        return value + C * float(points @ self._risks - planes @ self._offsets) + error * (1.0 + 1e-9)

    def _best(self, C: float) -> tuple[Array, Array]:
        """About the combinations of points and of planes whose ball for this C is the least: a convex QP in a box."""
        scale = self._whole(C, np.ones(2), np.ones(2))
        gram = self._gram * np.outer(scale, scale)
        rise = C * np.array([self._risks[0] - self._risks[1], self._offsets[1] - self._offsets[0]])
        shares = [0.5, 0.5]
        for _ in range(_SWEEPS):
            before = list(shares)
            for k in range(2):
                z = np.array([shares[0], 1.0 - shares[0], shares[1], 1.0 - shares[1]])
                row = gram[2 * k] - gram[2 * k + 1]
                slope, bend = 0.5 * float(row @ z) + float(rise[k]), 0.5 * float(row[2 * k] - row[2 * k + 1])
                step = -slope / bend if bend > abs(slope) else -math.copysign(float(slope != 0.0), slope)
                shares[k] = min(1.0, max(0.0, shares[k] + step))
            if max(abs(shares[0] - before[0]), abs(shares[1] - before[1])) <= _SETTLED:
                break
        return _parts(shares[0]), _parts(shares[1])


def _parts(share: float) -> Array:
    """A share and the rest, whose sum is one without any rounding."""
    if share >= 0.5:
        return np.array([share, 1.0 - share])
    rest = 1.0 - share
    return np.array([1.0 - rest, rest])


def ends(ball: Ball, scores: Array, errors: Array, lengths: Array) -> tuple[Array, Array]:
    """Between what the optimum's score of each row lies, for every C of a ball's range.

    Parameters
    ----------
    ball : Ball
    scores, errors : array of shape (n, 4)
        By the `w` and then the `v` of the ball's anchors, and how far each can be off.
    lengths : array of shape (n,)
        Of the rows, or a little more.
    """
    if not math.isfinite(ball.radius):
        return np.full(len(lengths), -np.inf), np.full(len(lengths), np.inf)
    sizes = np.maximum(np.abs(ball.first), np.abs(ball.last))
    off = (errors + _OPERATIONS * UNIT * np.abs(scores)) @ sizes
    at_first, at_last = scores @ ball.first, scores @ ball.last
    reach = ball.radius * lengths
    low, _ = interval(np.minimum(at_first, at_last), off, reach)
    _, high = interval(np.maximum(at_first, at_last), off, reach)
    return low, high

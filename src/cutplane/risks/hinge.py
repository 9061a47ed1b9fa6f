"""The hinge: the mean of max(0, 1 - y·score), weighted or not."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane.proof.losses import Terms
from cutplane.risks.base import Array, Rows, ScoreCut, Smoothed
from cutplane.risks.core_ray import CoreRay
from cutplane.risks.intercept_bounds import LeaningPlane, LeaningPlanes
from cutplane.risks.visited import AscentExamples, InteriorExamples, QuadraticDual, VisitedRisk

Labels = NDArray[np.int8]

# Examples this close to their kink count as on it when an intercept is balanced: scores are sums of rounded products.
_KINK_WIDTH = 1e-9


class Hinge(VisitedRisk):
    """Sum of c_i max(0, 1 - y_i s_i), the c_i proportional to the sample weights and summing to one.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 or +1.
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    n_threads : int
        0 leaves it to OpenMP.

    Attributes
    ----------
    total_weight : float
        The sum of the sample weights: C per example times this is the C of the mean risk.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.hinge import Hinge
    >>> Hinge(np.array([1, -1])).value(np.array([0.5, -2.0]))
    0.25
    """

    _dual = QuadraticDual(1.0, 1.0, one_sided=True)

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        labels = np.ascontiguousarray(y, dtype=np.int8)
        if sample_weight is None:
            self.total_weight = float(len(labels))
            weights, each = None, 1.0 / len(labels)
        else:
            raw = np.asarray(sample_weight, dtype=np.float64)
            self.total_weight = float(raw.sum())
            weights, each = np.ascontiguousarray(raw / self.total_weight), 0.0
        self._set(labels, weights, each, n_threads)

    def _set(self, y: Labels, weights: Array | None, each: float, n_threads: int) -> None:
        self.y = y
        self.weights = weights
        self.each = each
        self._n_threads = n_threads
        self._core = _core.Hinge(y, weights, each)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as its parts, and the sums of the core made anew."""
        return _unpickled, (type(self), self.y, self.weights, self.each, self._n_threads, self.total_weight)

    @property
    def core(self) -> _core.Hinge:
        """The compiled sums, for objectives that put passes and sums together."""
        return self._core

    @property
    def terms(self) -> Terms:
        """What the risk is a sum of."""
        return Terms("hinge", {}, self.y, self.weights, self.each)

    @property
    def dual_range(self) -> tuple[Array, Array]:
        """From 0 to 1, times the label."""
        low, high = self._dual.range(self.y)
        return low, high

    def ascent(self, examples: AscentExamples, C: float, seed: int, base: Array | None = None) -> _core.DualAscent:
        """Dual coordinate ascent over examples."""
        if base is not None:
            return self._dual.ascent(self, examples, C, seed, base)
        each = None if self.weights is None else C * self.weights
        return _core.DualAscent.hinge(*examples[:2], self.y, each, C * self.each, *examples[2:], seed)

    def interior(self, examples: InteriorExamples, C: float, base: Array | None = None) -> _core.InteriorPoint:
        """An interior point over all examples."""
        return self._dual.interior(self, examples, C, base)

    def intercept_bound(self, n: int) -> LeaningPlanes:
        """All examples of one label beyond their kinks make a plane that leans to its side."""
        if self.weights is None:
            positive = int(np.count_nonzero(self.y > 0))
            sides = [self.each * (n - positive), self.each * positive]
        else:
            sides = [float(self.weights[self.y == sign].sum()) for sign in (-1, 1)]
        rising, falling = (LeaningPlane(side, side, side) if side > 0.0 else None for side in sides)
        return LeaningPlanes(rising, falling)

    def mass(self, cut: ScoreCut | Smoothed) -> float:
        """The offset: every coefficient adds its size to that."""
        return cut.offset * (1.0 + 1e-9)

    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""
        part = object.__new__(type(self))
        part.total_weight = self.total_weight
        weights = None if self.weights is None else self.weights[rows] * scale
        part._set(self.y[rows], weights, self.each * scale, self._n_threads)
        return part

    def value(self, scores: Array) -> float:
        """The risk."""
        return self._core.value(scores, self._n_threads)

    def cut(self, scores: Array) -> ScoreCut:
        """The plane at `scores`: every example at or beyond its kink counts whole (OCA section 3.1)."""
        return ScoreCut(*self._core.cut(scores, self._n_threads))

    def ray(self, start: Array, end: Array) -> CoreRay:
        """The exact restriction to a line."""
        return CoreRay(self._core, start, end, self._n_threads)

    def advance(self, scores: Array, end: Array, step: float, mu: float) -> tuple[Array, float, ScoreCut]:
        """OCA's step in one sweep, in place: `scores` are moved, and `end` becomes the coefficients of the plane."""
        value, offset, cut_value = self._core.advance(scores, end, step, mu, self._n_threads)
        return scores, value, ScoreCut(end, offset, cut_value)

    def turns(self, scores: Array, low: float, high: float) -> tuple[Array, Array]:
        """The kinks between two constants, and the weights of their examples."""
        kinks = self.y - scores
        chosen = np.flatnonzero((kinks > low) & (kinks <= high))
        return kinks[chosen], np.full(len(chosen), self.each) if self.weights is None else self.weights[chosen]

    def shift(self, scores: Array) -> float:
        """The best intercept: a weighted median of kinks, by selection in O(n)."""
        shift = self._core.ray_minimum(scores, None, False, 0.0, 0.0, 1.0, -np.inf, self._n_threads)
        if np.isinf(shift):  # one side has no weight: no loss is left beyond the outermost kink
            kinks = self.y - scores
            return float(kinks.min() if shift < 0.0 else kinks.max())
        return shift

    def balanced_cut(self, scores: Array) -> ScoreCut:
        """The plane at scores with the best intercept in them, the kinks weighted to balance the labels."""
        return ScoreCut(*self._core.balanced_cut(scores, _KINK_WIDTH, self._n_threads))

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The hinge rounded over a width h."""
        coef, sums = self._core.smoothed(scores, h, self._n_threads)
        return Smoothed(coef, sums.offset, sums.value, sums.error, sums.kinks)

    def rounding_error(self, scores: Array, h: float) -> float:
        """What rounding over a width h costs."""
        return self._core.rounding_error(scores, h, self._n_threads)

    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        """Coefficients of the risk rounded over h as if examples on the kink of width `reach` stayed on it."""
        return self._core.extrapolated(scores, h, reach, self._n_threads)

    def kinks(self, scores: Array, h: float) -> tuple[Rows, Array]:
        """The examples on the kink of width h, and their weights."""
        return self._core.kinks(scores, h, self._n_threads)

    def smoothed_ray(self, scores: Array, direction: Array | None, t: float, h: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: the constant 1)."""
        return self._core.ray(scores, direction, False, t, h, self._n_threads)

    def plane_offset(self, coef: Array) -> float:
        """The offset of the plane with these coefficients: each stands for a weight pi = -coef·y."""
        return self._core.offset(coef, self._n_threads)


def _unpickled(
    kind: type[Hinge], y: Labels, weights: Array | None, each: float, n_threads: int, total_weight: float
) -> Hinge:
    risk = object.__new__(kind)
    risk.total_weight = total_weight
    risk._set(y, weights, each, n_threads)
    return risk

"""The softmax risk of several classes: the mean of log Σ exp(scores) less the score of the true class."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane.risks.base import Array, Risk, Rows, ScoreCut
from cutplane.risks.bracketing import ACCURACY, ray_minimum
from cutplane.risks.intercept_bounds import ClassWeights


class SoftmaxCut(NamedTuple):
    """The plane at scores + b: its coefficients, what those of each class add up to, its offset, the risk there."""

    coef: Array
    totals: Array
    offset: float
    value: float


class SoftmaxRay:
    """The softmax risk along a line of scores."""

    __slots__ = ("_direction", "_risk", "_start")

    #: Of the descent, what `minimise` may miss.
    accuracy = ACCURACY

    def __init__(self, risk: Softmax, start: Array, end: Array) -> None:
        self._risk, self._start, self._direction = risk, start, end - start

    def value(self, t: float) -> float:
        """The risk at t."""
        return self._risk.along(self._start, self._direction, t)[0]

    def slope(self, t: float) -> float:
        """Its derivative at t."""
        return self._risk.along(self._start, self._direction, t)[1]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk, up to `accuracy` of the descent."""
        return ray_minimum(lambda t: self._risk.along(self._start, self._direction, t)[:2], quadratic, linear, C)


class Softmax(Risk):
    """Sum of c_i (log Σ_k exp(s_ik) - s_iy_i), the c_i summing to one.

    A plane below it has coefficients c_i (p_ik - [k = y_i]) and the offset Σ c_i H(p_i), with any p_i >= 0 that sum to
    one for every example and their entropies H(p_i) = -Σ_k p_ik log p_ik: log Σ_k exp(s_k) >= <p, s> + H(p).

    Parameters
    ----------
    y : array of shape (n,)
        The classes, 0 to n_classes - 1.
    n_classes : int
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.softmax import Softmax
    >>> round(Softmax(np.array([0, 2]), 3).value(np.zeros((2, 3))), 6)
    1.098612
    """

    steepest = 2.0
    #: Of the probabilities, which sum to one: what rounding them costs does not vanish with the coefficients.
    least_mass = 1.0

    def __init__(
        self, y: ArrayLike, n_classes: int, *, sample_weight: ArrayLike | None = None, n_threads: int = 0
    ) -> None:
        labels = np.ascontiguousarray(y, dtype=np.int32)
        if sample_weight is None:
            self.total_weight = float(len(labels))
            weights, each = None, 1.0 / len(labels)
        else:
            raw = np.asarray(sample_weight, dtype=np.float64)
            self.total_weight = float(raw.sum())
            weights, each = np.ascontiguousarray(raw / self.total_weight), 0.0
        self._set(labels, weights, each, n_classes, n_threads)

    def _set(self, y: NDArray[np.int32], weights: Array | None, each: float, n_classes: int, n_threads: int) -> None:
        self.y, self.weights, self.each = y, weights, each
        self.n_classes, self._n_threads = n_classes, n_threads
        self._core = _core.Softmax(y, weights, each, n_classes)

    @property
    def scale(self) -> float:
        """The largest entropy, and one for the coefficients."""
        return 1.0 + float(np.log(self.n_classes))

    @property
    def sum_depth(self) -> int:
        """The longest chain of additions in the sums over the examples, and in those over the classes."""
        return int(self._core.depth) + 2 * self.n_classes + 16

    @property
    def example_weights(self) -> Array:
        """Of each example, together one."""
        return np.full(len(self.y), self.each) if self.weights is None else self.weights

    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""
        part = object.__new__(type(self))
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[rows] * scale)
        part._set(np.ascontiguousarray(self.y[rows]), weights, self.each * scale, self.n_classes, self._n_threads)
        return part

    def value(self, scores: Array) -> float:
        """The risk."""
        return self.along(scores, scores, 0.0)[0]

    def cut(self, scores: Array) -> ScoreCut:
        """The plane that touches the risk at `scores`."""
        found = self.cut_at(scores, None)
        return ScoreCut(found.coef, found.offset, found.value)

    def cut_at(self, scores: Array, b: Array | None) -> SoftmaxCut:
        """The plane that touches the risk at scores + b."""
        return SoftmaxCut(*self._core.cut(scores, b, self._n_threads))

    def in_intercepts(self, scores: Array, b: Array) -> tuple[float, Array, Array]:
        """The risk at scores + b, its gradient and its second derivative in b."""
        return self._core.intercepts(scores, b, self._n_threads)

    def along(self, scores: Array, direction: Array, t: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the risk at scores + t·direction."""
        return self._core.along(scores, direction, t, self._n_threads)

    def curve(self, coef: Array, v: NDArray[np.floating]) -> Array:
        """Write the second derivative in the scores times v over v; returns the sums over the examples.

        `coef` are those of the plane at the scores: c p, less c at the true class.
        """
        return self._core.curve(coef, v, self._n_threads)

    def ray(self, start: Array, end: Array) -> SoftmaxRay:
        """The risk along the line from `start` to `end`."""
        return SoftmaxRay(self, start, end)

    def intercept_bound(self, n: int) -> ClassWeights:
        """An example of class k costs b_j - b_k less the spread of its scores, at least."""
        of_class = np.bincount(self.y, self.example_weights, self.n_classes).astype(np.float64)
        return ClassWeights(of_class, 1.0 - 1e-9, 0.0)

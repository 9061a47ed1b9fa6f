"""Measures of a whole sample that are no sum over examples (Joachims 2005): F1, precision at k, and the like.

A labelling differs from the true one by `missed` positives and `added` negatives. For a measure that depends on these
two numbers alone, with the loss D, the risk is its structural bound

    R(s) = max over labellings of D(missed, added) - (1/n)(sum of s over missed) + (1/n)(sum of s over added),

which is at least the loss of the labelling that the scores' signs give. For given numbers the worst labelling misses
the positives with the lowest scores and adds the negatives with the highest, so only the numbers are searched.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane.risks import bracketing
from cutplane.risks.base import Array, Risk, ScoreCut
from cutplane.risks.hinge import Hinge


class CutRay(NamedTuple):
    """A risk along a line of scores, by its cuts."""

    risk: Risk
    start: Array
    direction: Array
    #: The fraction of its descent that `minimise` may miss.
    accuracy: float

    def at(self, t: float) -> tuple[float, float]:
        """The risk at t and a slope there."""
        cut = self.risk.cut(self.start + t * self.direction)
        return cut.value, float(cut.coef @ self.direction)

    def value(self, t: float) -> float:
        """The risk at t."""
        return self.at(t)[0]

    def slope(self, t: float) -> float:
        """A slope at t: the derivative where there is one."""
        return self.at(t)[1]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk, up to `accuracy` of the descent."""
        return bracketing.ray_minimum(self.at, quadratic, linear, C, accuracy=self.accuracy)


class MultivariateRisk(Risk):
    """The structural bound of a measure of the numbers of missed positives and added negatives.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 or +1.
    sample_weight : None
        Weights have no meaning here and are refused.
    n_threads : int
        Not used: accepted as by every loss.
    """

    binary_only = True
    #: Next to the labelling of a plane lie others, and values are small differences of theirs.
    least_mass = 1.0
    #: The fraction of its descent that a line search may miss.
    ray_accuracy = bracketing.ACCURACY
    #: As users type it.
    typed = ""

    @property
    def name(self) -> str:
        """The loss as it was typed."""
        return f"loss={self.typed!r}" if self.typed else super().name

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        if sample_weight is not None:
            raise ValueError(
                f"{self.name} counts examples, so they can have no weights: leave sample_weight and class_weight out."
            )
        labels = np.asarray(y)
        self._positive = np.flatnonzero(labels > 0)
        self._negative = np.flatnonzero(labels <= 0)
        self._n = len(labels)
        if not len(self._positive) or not len(self._negative):
            raise ValueError("y has only one class; a measure of two needs examples of both.")

    @abstractmethod
    def worst(self, positive: Array, negative: Array) -> tuple[int, int, float]:
        """The numbers missed and added for which the bound is reached, and the loss D of these.

        `positive` are the positives' scores in ascending order, `negative` the negatives' in descending order.
        """

    def value(self, scores: Array) -> float:
        """The risk."""
        positive, negative = np.sort(scores[self._positive]), np.sort(scores[self._negative])[::-1]
        missed, added, loss = self.worst(positive, np.ascontiguousarray(negative))
        return loss + float(negative[:added].sum() - positive[:missed].sum()) / self._n

    def cut(self, scores: Array) -> ScoreCut:
        """The plane of the worst labelling."""
        by_rank = np.argsort(scores[self._positive], kind="stable")
        by_rank_down = np.argsort(-scores[self._negative], kind="stable")
        positive, negative = self._positive[by_rank], self._negative[by_rank_down]
        missed, added, loss = self.worst(scores[positive], scores[negative])
        coef = np.zeros(self._n)
        coef[positive[:missed]] = -1.0 / self._n
        coef[negative[:added]] = 1.0 / self._n
        return ScoreCut(coef, loss, loss + float(coef @ scores))

    def ray(self, start: Array, end: Array) -> CutRay:
        """The restriction to a line."""
        return CutRay(self, start, end - start, self.ray_accuracy)


class F1Risk(MultivariateRisk):
    """The bound of 1 - F1.

    With P positives, F1 = 2(P - missed) / (2P - missed + added). For each number missed, the bound is concave in the
    number added, and the best number added falls as more are missed (shown in core/ranking/f1.hpp): one sweep.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.multivariate import F1Risk
    >>> F1Risk(np.array([1, 1, -1])).value(np.array([2.0, 2.0, -2.0]))
    0.0
    """

    typed = "f1"

    def worst(self, positive: Array, negative: Array) -> tuple[int, int, float]:
        """By a sweep in O(n)."""
        return _core.f1_worst(positive, negative, 0.0)

    def shift(self, scores: Array) -> float:
        """The best intercept: sorted scores stay sorted, so each trial is one sweep."""
        return self._lines(scores)[0]

    def balanced_cut(self, scores: Array) -> ScoreCut:
        """A mixture of the planes on both sides of the best intercept, with coefficients that sum to zero."""
        _, below, above = self._lines(scores)
        if below == above:
            share = 1.0
        else:
            rise, fall = above.added - above.missed, below.missed - below.added
            share = rise / (rise + fall)
        order = self._order(scores)
        coef = share * self._coef(below, *order) + (1.0 - share) * self._coef(above, *order)
        return ScoreCut(coef, share * below.loss + (1.0 - share) * above.loss, self.value(scores))

    def _order(self, scores: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return (
            self._positive[np.argsort(scores[self._positive], kind="stable")],
            self._negative[np.argsort(-scores[self._negative], kind="stable")],
        )

    def _coef(self, line: _Line, positive: NDArray[np.intp], negative: NDArray[np.intp]) -> Array:
        coef = np.zeros(self._n)
        coef[positive[: line.missed]] = -1.0 / self._n
        coef[negative[: line.added]] = 1.0 / self._n
        return coef

    def _lines(self, scores: Array) -> tuple[float, _Line, _Line]:
        """The best intercept, and the labellings that hold the risk up left and right of it.

        Kelley's method in one dimension: the risk is the highest of finitely many lines in the intercept, so where two
        of them meet either it has its minimum or there is a third.
        """
        positive, negative = np.sort(scores[self._positive]), -np.sort(-scores[self._negative])
        sums = np.append(0.0, np.cumsum(positive)), np.append(0.0, np.cumsum(negative))

        def line(b: float) -> _Line:
            missed, added, loss = _core.f1_worst(positive, negative, b)
            return _Line(missed, added, loss, loss + float(sums[1][added] - sums[0][missed]) / self._n)

        here, far = line(0.0), 1.0
        below = above = here
        if not here.tilt:
            return 0.0, here, here
        while below.tilt * above.tilt > 0:  # towards where the risk falls, until it rises
            b = -far if here.tilt > 0 else far
            now = line(b)
            below, above = (now, above) if here.tilt > 0 else (below, now)
            far *= 2.0
        while True:
            if not below.tilt or not above.tilt:
                flat = below if not below.tilt else above
                return b, flat, flat
            b = (below.height - above.height) * self._n / (above.tilt - below.tilt)
            now = line(b)
            meeting = below.height + b * below.tilt / self._n
            # Heights are sums of scores: what rounding leaves of them is not a third line.
            rounding = 1e-14 * max(1.0, abs(below.height), abs(above.height))
            if now in (below, above) or now.height + b * now.tilt / self._n <= meeting + rounding:
                return b, below, above
            below, above = (below, now) if now.tilt > 0 else (now, above)
            if not now.tilt:
                return b, now, now


class _Line(NamedTuple):
    """A labelling as a line in the intercept: the risk is at least height + b·tilt/n."""

    missed: int
    added: int
    loss: float
    height: float

    @property
    def tilt(self) -> int:
        return self.added - self.missed


class PrecisionAtK(MultivariateRisk):
    """The bound of 1 - precision among the k examples with the highest scores: labellings have k positives.

    There is no intercept: adding a constant moves no example into the first k. After training, the threshold is put
    so that k examples of the sample are above it.

    Parameters
    ----------
    y, sample_weight, n_threads
        As in `MultivariateRisk`.
    k : int, optional
        Half of the positives, as in SVM-perf, if None.
    """

    typed = "prec@k"
    takes_intercept = False

    def __init__(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, k: int | None = None, n_threads: int = 0
    ) -> None:
        super().__init__(y, sample_weight, n_threads=n_threads)
        self.k = max(1, len(self._positive) // 2) if k is None else self._checked_k(k)

    def _checked_k(self, k: object) -> int:
        """A whole number; of the command line it is 5.0."""
        whole = isinstance(k, (int, float, np.number)) and not isinstance(k, bool) and float(k).is_integer()
        if not whole or not 1 <= k <= self._n:  # type: ignore[operator]
            raise ValueError(f"k={k!r} must be a whole number from 1 to the number of examples, {self._n}.")
        return int(k)  # type: ignore[call-overload, no-any-return]

    def worst(self, positive: Array, negative: Array) -> tuple[int, int, float]:
        """Over every number of positives among the k."""
        found = np.arange(max(0, self.k - len(negative)), min(len(positive), self.k) + 1)
        missed, added = len(positive) - found, self.k - found
        losses = 1.0 - found / self.k
        lost, gained = np.append(0.0, np.cumsum(positive)), np.append(0.0, np.cumsum(negative))
        bound = losses + (gained[added] - lost[missed]) / self._n
        best = int(np.argmax(bound))
        # The true labelling has another number of positives; the risk is not below 0 all the same.
        if bound[best] < 0.0:
            return 0, 0, 0.0
        return int(missed[best]), int(added[best]), float(losses[best])

    def threshold(self, scores: Array) -> float:
        """What to add to the scores for k of them to be positive (more or fewer where scores are equal)."""
        if self.k == self._n:
            return float(np.nextafter(1.0 - scores.min(), np.inf))
        ordered = np.partition(scores, [self._n - self.k - 1, self._n - self.k])
        return -0.5 * float(ordered[self._n - self.k - 1] + ordered[self._n - self.k])


class BreakEven(PrecisionAtK):
    """The bound of 1 - precision at the point where precision equals recall: k is the number of positives."""

    typed = "prbep"
    shift_invariant = True

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        super().__init__(y, sample_weight, k=max(1, int(np.count_nonzero(np.asarray(y) > 0))), n_threads=n_threads)


def error_cost(y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> Risk:
    """The bound of the cost of errors; where each costs one, that is the hinge, which faster solvers know."""
    return Hinge(y, n_threads=n_threads) if sample_weight is None else ErrorCost(y, sample_weight)


class ErrorCost(Risk):
    """The bound of the cost of errors: Σ max(0, cᵢ - yᵢsᵢ) / Σ c, with the weights as costs.

    An example's loss is its cost at a score of zero, so that dear examples are to be kept further away; the weighted
    hinge scales the loss instead. Without weights both are the same, and `error_cost` makes the hinge.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 or +1.
    sample_weight : array of shape (n,), optional
        The cost of an error at each example.
    n_threads : int
        Not used: accepted as by every loss.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.multivariate import ErrorCost
    >>> ErrorCost(np.array([1, -1]), [3.0, 1.0]).value(np.array([1.0, 1.0]))
    1.0
    """

    name = "loss='error_cost' with weights"
    #: The fraction of its descent that a line search may miss.
    ray_accuracy = bracketing.ACCURACY

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        self._y = np.where(np.asarray(y) > 0, 1.0, -1.0)
        self._costs = np.ones(len(self._y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._total = float(self._costs.sum())

    @property
    def scale(self) -> float:
        """What scores are compared with: costs, which may be small."""
        return float(self._costs.max(initial=0.0))

    def value(self, scores: Array) -> float:
        """The risk."""
        return float(np.maximum(0.0, self._costs - self._y * scores).sum()) / self._total

    def cut(self, scores: Array) -> ScoreCut:
        """Every example at or beyond its kink counts whole; without a cost none does."""
        gaps = self._costs - self._y * scores
        active = gaps >= 0.0
        coef = np.where(active, -self._y, 0.0) / self._total
        offset = float(self._costs[active].sum()) / self._total
        return ScoreCut(coef, offset, float(gaps[active].sum()) / self._total)

    def ray(self, start: Array, end: Array) -> CutRay:
        """The restriction to a line."""
        return CutRay(self, start, end - start, self.ray_accuracy)

"""Risks whose joint kernel factorises: scores are kernel expansions over rows, one for each column.

Every example owns some rows of X (one, or one per position of a sequence), every row has a score for each column (one
for two classes, one per class, one per label of a chain), and besides these there may be a few explicit features. A
labelling then touches kernel values of its own rows only, which is what sampled cuts need (Yu and Joachims 2008, 4.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Array, Matrix
from cutplane.risks.hinge import Hinge

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # An example and a labelling are whatever a model makes of them. A model that does not say leaves both unchecked.
    ExampleT = TypeVar("ExampleT", default=Any)
    LabelT = TypeVar("LabelT", default=Any)
else:  # defaults of type variables are for type checkers alone
    from typing import TypeVar

    ExampleT, LabelT = TypeVar("ExampleT"), TypeVar("LabelT")

# Examples of a model: one after the other, or as rows of a matrix where the model takes rows.
Examples: TypeAlias = Sequence[ExampleT] | Matrix
Rows = NDArray[np.int64]
# Labellings of several examples in numbers, as a `FactoredRisk` writes them: codes, or whether a margin is violated.
Choices = NDArray[np.integer | np.bool_]


class Violations(NamedTuple):
    """The labellings of some examples that violate their margins most.

    Attributes
    ----------
    labels : array
        As `FactoredRisk.direction` takes them.
    losses : array
        The loss of each labelling.
    values : array
        The hinge of each example at the scores they were found for: never negative.
    """

    labels: Choices
    losses: Array
    values: Array


class FactoredRisk(ABC):
    """The mean over examples of max over labellings of loss - <w, Psi(truth) - Psi(labelling)>."""

    #: Scores a row.
    columns: int = 1
    #: Explicit features.
    explicit: int = 0
    #: An explicit feature counts no more than this, for each row of an example.
    explicit_scale: float = 1.0

    @property
    @abstractmethod
    def examples(self) -> int:
        """Their number."""

    @property
    def largest_loss(self) -> float:
        """The loss of no labelling is greater."""
        return 1.0

    def rows(self, examples: Rows) -> Rows:
        """The rows of X that some examples own, in order; all examples together own all rows, in the order of X."""
        return examples

    def choose(self, labels: Choices, examples: Rows) -> Choices:
        """The labels of some examples, out of those of all."""
        return labels[examples]

    @abstractmethod
    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """The most violated labellings, at the scores of the examples' rows and the weights of explicit features."""

    @property
    def total_weight(self) -> float:
        """What C per example is multiplied by to weigh the mean."""
        return float(self.examples)

    @property
    def heaviest(self) -> float:
        """No example counts more often."""
        return 1.0

    @abstractmethod
    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """Psi(labelling) - Psi(truth): coefficients of the examples' rows, and the sum over explicit features.

        `factors` say how often each of the examples counts; None: once.
        """

    def step(
        self,
        start: tuple[Array, Array],
        end: tuple[Array, Array],
        quadratic: float,
        linear: float,
        C: float,
    ) -> float:
        """Argmin over t in [0, 1] of ½ quadratic t² + linear t + C·risk at start + t (end - start), all examples.

        `start` and `end` are scores and explicit weights. To a thousandth, by bisection on the slope, unless a risk
        knows better.
        """
        everyone = np.arange(self.examples, dtype=np.int64)
        across, across_explicit = end[0] - start[0], end[1] - start[1]

        def slope(t: float) -> float:
            found = self.violations(everyone, start[0] + t * across, start[1] + t * across_explicit)
            coef, explicit = self.direction(everyone, found.labels)
            along = float(np.vdot(coef, across)) + float(explicit @ across_explicit)
            return quadratic * t + linear + C * along / self.examples

        return _root(slope)

    @abstractmethod
    def reach(self, squared_lengths: float) -> float:
        """A bound on |Psi(labelling) - Psi(truth)| where no |phi(x)|² is above `squared_lengths`."""


class Factors(ABC, Generic[ExampleT, LabelT]):
    """How the joint kernel of a structured model factorises: what `StructuredModel.factors` returns.

    The score of a labelling is a sum over rows of X, each row weighted by how the labelling uses it (in which column
    of scores, how often), plus explicit features with weights of their own. No search then needs more than the scores
    of an example's rows, and these may be sums of kernel functions instead of products with weights.
    """

    @abstractmethod
    def rows(self, X: Examples[ExampleT]) -> Matrix:
        """The rows of all examples, in order: an array or a CSR matrix of floating point numbers."""

    @abstractmethod
    def risk(self, X: Examples[ExampleT], y: Sequence[LabelT], *, n_threads: int) -> FactoredRisk:
        """The losses of labelled examples, by scores of rows."""

    @abstractmethod
    def label(self, X: Examples[ExampleT], scores: Array, weights: Array, *, n_threads: int) -> Sequence[LabelT]:
        """The best labelling of each example, at the scores of all rows and the weights of explicit features."""


class BinaryHinge(FactoredRisk):
    """max(0, 1 - y·score); `bias` is the size of a constant feature, 0 for none."""

    def __init__(self, y: NDArray[np.int8], bias: float = 0.0, n_threads: int = 0) -> None:
        self._hinge = Hinge(y, n_threads=n_threads)
        self._y = y
        # The examples that were asked for last, mostly all of them again, and their labels.
        self._asked: tuple[Rows | None, Array] = None, np.zeros(0)
        self._bias = bias
        self.explicit = 1 if bias else 0
        self.explicit_scale = max(1.0, bias)

    @property
    def examples(self) -> int:
        """Their number."""
        return len(self._y)

    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """Those on the wrong side of their margins."""
        margins = scores[:, 0] + self._bias * weights[0] if self._bias else scores[:, 0]
        if examples is not self._asked[0]:
            self._asked = examples, self._y[examples].astype(np.float64)
        values = margins * self._asked[1]
        np.subtract(1.0, values, out=values)
        wrong = values > 0.0
        return Violations(wrong, wrong.astype(np.float64), np.maximum(values, 0.0, out=values))

    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """-y where the margin is violated."""
        coef = np.where(labels, -self._y[examples], 0.0)
        if factors is not None:
            coef *= factors
        return coef[:, None], np.array([self._bias * coef.sum()] if self._bias else [])

    def step(
        self,
        start: tuple[Array, Array],
        end: tuple[Array, Array],
        quadratic: float,
        linear: float,
        C: float,
    ) -> float:
        """The exact minimum, found by selection among the breakpoints."""
        first, last = (scores[:, 0] + self._bias * weights.sum() for scores, weights in (start, end))
        return min(1.0, self._hinge.ray(first, last).minimise(quadratic, linear, C))

    def reach(self, squared_lengths: float) -> float:
        """|y phi(x)|."""
        return float(np.sqrt(squared_lengths + self._bias**2))


class ClassHinge(FactoredRisk):
    """max over classes of cost - (score of the true class - score of the other).

    Parameters
    ----------
    codes : array
        The number of each example's class.
    cost : array of shape (n_classes, n_classes)
    memberships : array of shape (n_classes, n_groups), optional
        The score of a class is the sum of its groups' scores, which are the columns; a group for each class by default.
    """

    def __init__(self, codes: Rows, cost: Array, memberships: Array | None = None) -> None:
        self._codes = codes
        self._cost = cost
        self._groups = memberships
        self.columns = len(cost) if memberships is None else memberships.shape[1]

    @property
    def examples(self) -> int:
        """Their number."""
        return len(self._codes)

    @property
    def largest_loss(self) -> float:
        """The largest cost."""
        return float(self._cost.max())

    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """The class with the largest cost plus score."""
        truth = self._codes[examples]
        everyone = np.arange(len(examples))
        by_class = scores if self._groups is None else scores @ self._groups.T
        margins = self._cost[truth] + by_class
        labels = margins.argmax(axis=1)
        values = margins[everyone, labels] - by_class[everyone, truth]
        # Where nothing beats the truth, the truth itself is the labelling of the cut.
        wrong = values > 0.0
        labels = np.where(wrong, labels, truth)
        return Violations(labels, self._cost[truth, labels], np.where(wrong, values, 0.0))

    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """+1 for the labelling's class or its groups, -1 for the true one's."""
        truth = self._codes[examples]
        if self._groups is not None:
            coef = np.ascontiguousarray(self._groups[labels] - self._groups[truth])
        else:
            coef = np.zeros((len(examples), self.columns))
            everyone = np.arange(len(examples))
            coef[everyone, labels] += 1.0
            coef[everyone, truth] -= 1.0
        return coef if factors is None else coef * factors[:, None], np.zeros(0)

    def reach(self, squared_lengths: float) -> float:
        """As many blocks of phi(x) as two classes have groups that they do not share."""
        groups = np.eye(len(self._cost)) if self._groups is None else self._groups
        squares = (groups**2).sum(axis=1)
        apart = squares[:, None] + squares[None, :] - 2.0 * groups @ groups.T
        return float(np.sqrt(apart.max() * squared_lengths))


def starts_of(lengths: ArrayLike) -> Rows:
    """Where each of some stretches of rows begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def owned(starts: Rows, examples: Rows) -> Rows:
    """The rows of some examples, where example i owns those from starts[i] to starts[i + 1]."""
    lengths = starts[examples + 1] - starts[examples]
    rows: Rows = np.repeat(starts[examples] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    return rows


def _root(slope: Callable[[float], float]) -> float:
    """Where an increasing function on [0, 1] changes sign, within a thousandth: the best point of a convex one."""
    if slope(1.0) <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if slope(middle) > 0.0:
            high = middle
        else:
            low = middle
    return low

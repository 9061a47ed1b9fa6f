"""Several labels at once, each there or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Array, Document, Matrix, is_sparse
from cutplane.sources import as_source
from cutplane.structured.base import StructuredModel, Sweep
from cutplane.structured.factored import Choices, Examples, FactoredRisk, Factors, Rows, Violations
from cutplane.structured.oracle import OracleSample
from cutplane.structured.vectors import VectorLike, row_squares


class MultilabelModel(StructuredModel[VectorLike, ArrayLike]):
    """Labels 0 or 1 in each of `n_labels` places; the loss is the number of wrong ones.

    The features of (x, y) are a copy of x for each label that is there. The risk is the sum of one hinge for each
    label, as if each were learned by itself.

    Parameters
    ----------
    n_labels : int

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import StructuralSVM
    >>> from cutplane.structured.multilabel import MultilabelModel
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([[1, 0], [0, 1], [1, 1]])
    >>> StructuralSVM(MultilabelModel(2), C=10.0).fit(X, y).predict(X)
    [array([1, 0]), array([0, 1]), array([1, 1])]
    """

    axes = 1

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels

    def params(self) -> Document:
        """What the constructor needs."""
        return {"n_labels": self.n_labels}

    def factors(self) -> MultilabelFactors:
        """Scores of labels may be sums of kernel functions."""
        return MultilabelFactors(self)

    def joint_feature(self, x: VectorLike, y: ArrayLike) -> VectorLike:
        """A copy of x for each label that is there."""
        row = np.asarray(y, np.float64)
        return sp.kron(row[None, :], x, format="csr") if is_sparse(x) else np.kron(row, np.asarray(x, np.float64))

    def loss(self, y: ArrayLike, y_hat: ArrayLike) -> float:
        """The number of wrong labels."""
        return float(np.count_nonzero(np.asarray(y) != np.asarray(y_hat)))

    def argmax(self, x: VectorLike, w: Array) -> NDArray[np.int64]:
        """Each label with a positive score."""
        return (self._scores(x, w) > 0.0).astype(np.int64)

    def loss_augmented_argmax(self, x: VectorLike, y: ArrayLike, w: Array) -> NDArray[np.int64]:
        """Each label by itself: its score plus its loss."""
        truth = np.asarray(y)
        return (self._scores(x, w) + np.where(truth == 0, 1.0, -1.0) > 0.0).astype(np.int64)

    def features(self, w: Array | None) -> int | None:
        """As many as each label has weights."""
        return None if w is None else len(w) // self.n_labels

    def check(self, x: VectorLike, y: ArrayLike) -> None:
        """A label 0 or 1 in each place."""
        labels = np.asarray(y)
        if labels.shape != (self.n_labels,) or not np.isin(labels, (0, 1)).all():
            raise ValueError(f"the labels are {labels.tolist()!r}; {self.n_labels} of 0 or 1 are needed")

    def _scores(self, x: VectorLike, w: Array) -> Array:
        table = w.reshape(self.n_labels, -1)
        return np.ravel(x @ table.T if is_sparse(x) else table @ np.asarray(x, np.float64))

    def bind(
        self, X: Examples[VectorLike], y: Sequence[ArrayLike], *, rescaling: str, n_threads: int
    ) -> MultilabelSample | None:
        """All examples at once, where X is a matrix."""
        if rescaling != "margin" or not (is_sparse(X) or isinstance(X, np.ndarray)) or X.ndim != 2:
            return None
        return MultilabelSample(self, X, y, n_threads)


class MultilabelSample(OracleSample[VectorLike, ArrayLike]):
    """All examples as one matrix: a sweep is two products."""

    def __init__(self, model: MultilabelModel, X: Matrix, y: Sequence[ArrayLike], n_threads: int) -> None:
        super().__init__(model, X, y)
        self._source = as_source(X, n_threads=n_threads)
        self._signs = np.where(np.array([np.asarray(labels) for labels in y]) == 1, 1.0, -1.0)
        # Every labelling is known: a copy of a row for each label at most.
        self.dearest = float(self._signs.shape[1])
        self.steepest = 2.0 * float(np.sqrt(self.dearest * row_squares(X).max(initial=0.0)))

    def sweep(self, w: Array) -> Sweep:
        """Search every example at w."""
        scores = self._source.scores(np.ascontiguousarray(w.reshape(self._signs.shape[1], -1).T))
        violations = 1.0 - self._signs * scores
        wrong = violations > 0.0
        factors = np.ones(self.examples) if self.factors is None else self.factors
        coef = np.where(wrong, -self._signs, 0.0) * (factors / self.examples)[:, None]

        def slope() -> Array:
            return np.ascontiguousarray(self._source.combine(coef).T).ravel()

        heights = factors * np.where(wrong, violations, 0.0).sum(axis=1)
        return Sweep(slope, float(factors @ wrong.sum(axis=1)) / self.examples, heights)


class MultilabelHinge(FactoredRisk):
    """A hinge for each label; labels are whether it is violated."""

    def __init__(self, truth: Choices) -> None:
        self._signs = np.where(truth == 1, 1.0, -1.0)
        self.columns = self._signs.shape[1]

    @property
    def examples(self) -> int:
        """Their number."""
        return len(self._signs)

    @property
    def largest_loss(self) -> float:
        """Every label wrong."""
        return float(self.columns)

    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """Each label for itself."""
        values = 1.0 - self._signs[examples] * scores
        wrong = values > 0.0
        return Violations(wrong, wrong.sum(axis=1).astype(np.float64), np.where(wrong, values, 0.0).sum(axis=1))

    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """+1 for a label that is wrongly there, -1 for one that is missed."""
        coef = np.where(labels, -self._signs[examples], 0.0)
        return coef if factors is None else coef * factors[:, None], np.zeros(0)

    def reach(self, squared_lengths: float) -> float:
        """phi(x) in the block of each label."""
        return float(np.sqrt(self.columns * squared_lengths))


class MultilabelFactors(Factors[VectorLike, ArrayLike]):
    """An example is one row, a label one column."""

    def __init__(self, model: MultilabelModel) -> None:
        self._model = model

    def rows(self, X: Examples[VectorLike]) -> Matrix:
        """X itself."""
        return sp.csr_array(X, dtype=np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)

    def risk(self, X: Examples[VectorLike], y: Sequence[ArrayLike], *, n_threads: int) -> MultilabelHinge:
        """The losses of labelled examples."""
        return MultilabelHinge(np.array([np.asarray(labels) for labels in y]))

    def label(
        self, X: Examples[VectorLike], scores: Array, weights: Array, *, n_threads: int
    ) -> list[NDArray[np.int64]]:
        """Each label with a positive score."""
        return list((scores > 0.0).astype(np.int64))

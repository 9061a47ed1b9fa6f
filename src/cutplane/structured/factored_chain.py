"""Linear chains whose emissions are scores of rows: a row for each token, a column for each label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane._types import Array, Matrix, MatrixLike, is_sparse
from cutplane.structured.factored import Choices, Examples, FactoredRisk, Factors, Rows, Violations, owned, starts_of
from cutplane.structured.vectors import rows_in

Labels = NDArray[np.int32]


class ChainHinge(FactoredRisk):
    """The most violated margin of label sequences; the weights of transitions are the explicit features.

    Labels are those of tokens, one sequence after the other.

    Parameters
    ----------
    starts : array of shape (n_sequences + 1,)
        Where each sequence begins.
    truth : array of shape (n_tokens,)
    cost : array of shape (n_labels, n_labels)
    n_threads : int
    """

    def __init__(self, starts: Rows, truth: Labels, cost: Array, *, n_threads: int = 0) -> None:
        self._starts, self._truth = starts, truth
        self._cost = np.ascontiguousarray(cost)
        self._n_threads = n_threads
        self.columns = len(cost)
        self.explicit = self.columns**2

    @property
    def examples(self) -> int:
        """The number of sequences."""
        return len(self._starts) - 1

    @property
    def largest_loss(self) -> float:
        """Of the sequence that can be labelled worst."""
        return float(np.add.reduceat(self._cost.max(axis=1)[self._truth], self._starts[:-1]).max())

    def rows(self, examples: Rows) -> Rows:
        """The tokens of some sequences."""
        return owned(self._starts, examples)

    def choose(self, labels: Choices, examples: Rows) -> Choices:
        """The labels of some sequences' tokens."""
        return labels[self.rows(examples)]

    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """Loss-augmented Viterbi over the scores of tokens, in the core."""
        search = emissions(starts_of(self._lengths(examples)), scores)
        table = np.concatenate([np.eye(self.columns).ravel(), weights])
        truth = self._truth[self.rows(examples)]
        labels, heights, losses = search.search(table, truth, self._cost.ravel(), self._n_threads)
        return Violations(labels, losses, np.maximum(0.0, heights))

    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """+1 for a token's label, -1 for the true one, and the difference of the counts of transitions."""
        truth = self._truth[self.rows(examples)]
        coef = np.zeros((len(labels), self.columns))
        tokens = np.arange(len(labels))
        each = np.ones(len(labels)) if factors is None else np.repeat(factors, self._lengths(examples))
        coef[tokens, labels] += each
        coef[tokens, truth] -= each
        # No transition leads into the first token of a sequence.
        inside = np.ones(len(labels), dtype=bool)
        inside[starts_of(self._lengths(examples))[:-1]] = False
        return coef, self._moves(labels, inside, each) - self._moves(truth, inside, each)

    def reach(self, squared_lengths: float) -> float:
        """All labels of the longest sequence different: two blocks of each phi(x), two counts for each transition."""
        longest = float(self._lengths(np.arange(self.examples)).max())
        return float(np.sqrt(2.0 * longest**2 * squared_lengths + 2.0 * (longest - 1.0) ** 2))

    def _moves(self, labels: Choices, inside: NDArray[np.bool_], each: Array) -> Array:
        last = np.flatnonzero(inside)
        pairs = labels[last - 1].astype(np.int64) * self.columns + labels[last]
        return np.asarray(np.bincount(pairs, each[last], minlength=self.explicit), dtype=np.float64)

    def _lengths(self, examples: Rows) -> Rows:
        return self._starts[examples + 1] - self._starts[examples]


class ChainFactors(Factors[MatrixLike, ArrayLike]):
    """Tokens as rows, labels as columns, transitions as explicit features.

    Parameters
    ----------
    n_features : int
    cost : array of shape (n_labels, n_labels)
    """

    def __init__(self, n_features: int, cost: Array) -> None:
        self._n_features = n_features
        self._cost = cost

    def rows(self, X: Examples[MatrixLike]) -> Matrix:
        """The tokens' features, one sequence after the other."""
        for index, x in enumerate(X):
            shape = np.shape(x) if not is_sparse(x) else x.shape
            if len(shape) != 2 or shape[1] != self._n_features:
                raise ValueError(
                    f"Sequence {index} has the shape {shape}; a row of {self._n_features} features for each "
                    "token is needed."
                )
        if any(is_sparse(x) for x in X):
            return sp.csr_array(sp.vstack([sp.csr_array(x) for x in X], format="csr"), dtype=np.float64)
        return np.concatenate([np.asarray(x, dtype=np.float64) for x in X])

    def risk(self, X: Examples[MatrixLike], y: Sequence[ArrayLike], *, n_threads: int) -> ChainHinge:
        """The losses of labelled sequences."""
        truths = [np.asarray(labels, dtype=np.int32) for labels in y]
        starts = starts_of([len(truth) for truth in truths])
        return ChainHinge(starts, np.concatenate(truths), self._cost, n_threads=n_threads)

    def label(self, X: Examples[MatrixLike], scores: Array, weights: Array, *, n_threads: int) -> list[Labels]:
        """Viterbi over the scores of tokens."""
        starts = starts_of([rows_in(x) for x in X])
        table = np.concatenate([np.eye(len(self._cost)).ravel(), weights])
        found = emissions(starts, scores).label(table, None, None, n_threads)
        return np.split(found, starts[1:-1])


def emissions(starts: Rows, scores: Array) -> _core.Chains:
    """Sequences as the core takes them, whose tokens have a feature for each label: its score."""
    tokens, labels = scores.shape
    indptr = np.arange(0, labels * tokens + 1, labels, dtype=np.int64)
    indices = np.tile(np.arange(labels, dtype=np.int32), tokens)
    return _core.Chains(starts, indptr, indices, np.ascontiguousarray(scores).ravel(), labels, labels)

"""Matchings whose pairs are scored by kernel functions: a row for each pair of an item and a place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from cutplane._types import Array, Matrix
from cutplane.structured.factored import Choices, Examples, FactoredRisk, Factors, Rows, Violations, owned, starts_of

Matching = NDArray[np.int64]


class MatchingHinge(FactoredRisk):
    """The most violated margin of matchings; labels are the places of all examples' items, one after the other.

    Parameters
    ----------
    shapes : array of shape (n, 2)
        Items and places of each example.
    truth : array
        The places of the items.
    """

    def __init__(self, shapes: Rows, truth: Matching) -> None:
        self._shapes, self._truth = shapes, truth
        self._rows = starts_of(shapes[:, 0] * shapes[:, 1])
        self._items = starts_of(shapes[:, 0])

    @property
    def examples(self) -> int:
        """Their number."""
        return len(self._shapes)

    @property
    def largest_loss(self) -> float:
        """Every item of the largest example in a wrong place."""
        return float(self._shapes[:, 0].max())

    def rows(self, examples: Rows) -> Rows:
        """The pairs of some examples."""
        return owned(self._rows, examples)

    def choose(self, labels: Choices, examples: Rows) -> Choices:
        """The places of some examples' items."""
        return labels[owned(self._items, examples)]

    def violations(self, examples: Rows, scores: Array, weights: Array) -> Violations:
        """Loss-augmented assignments."""
        parts, losses, values = [], [], []
        for table, truth in self._tables(examples, scores):
            items = np.arange(len(truth))
            places = assign(table + (np.arange(table.shape[1]) != truth[:, None]))
            losses.append(float(np.count_nonzero(places != truth)))
            values.append(losses[-1] + float((table[items, places] - table[items, truth]).sum()))
            parts.append(places)
        return Violations(np.concatenate(parts), np.array(losses), np.maximum(0.0, np.array(values)))

    def direction(self, examples: Rows, labels: Choices, factors: Array | None = None) -> tuple[Array, Array]:
        """+1 for the pairs of the matching, -1 for the true ones."""
        coef = np.zeros((len(self.rows(examples)), 1))
        places = np.repeat(self._shapes[examples, 1], self._shapes[examples, 0])
        first = np.cumsum(places) - places  # the row of each item's first place
        each = 1.0 if factors is None else np.repeat(factors, self._shapes[examples, 0])
        np.add.at(coef[:, 0], first + labels, each)
        np.subtract.at(coef[:, 0], first + self.choose(self._truth, examples), each)
        return coef, np.zeros(0)

    def reach(self, squared_lengths: float) -> float:
        """All items of the largest example elsewhere."""
        return float(2.0 * self._shapes[:, 0].max() * np.sqrt(squared_lengths))

    def _tables(self, examples: Rows, scores: Array) -> list[tuple[Array, Matching]]:
        rows = starts_of(self._shapes[examples, 0] * self._shapes[examples, 1])
        return [
            (scores[begin:end, 0].reshape(self._shapes[i]), self._truth[self._items[i] : self._items[i + 1]])
            for i, begin, end in zip(examples, rows[:-1], rows[1:], strict=True)
        ]


class MatchingFactors(Factors[ArrayLike, ArrayLike]):
    """Pairs of an item and a place as rows, one column."""

    def rows(self, X: Examples[ArrayLike]) -> Matrix:
        """The features of all pairs."""
        pairs = [np.asarray(x, dtype=np.float64) for x in X]
        return np.concatenate([x.reshape(-1, x.shape[2]) for x in pairs])

    def risk(self, X: Examples[ArrayLike], y: Sequence[ArrayLike], *, n_threads: int) -> MatchingHinge:
        """The losses of labelled examples."""
        shapes = np.array([np.shape(x)[:2] for x in X], dtype=np.int64)
        return MatchingHinge(shapes, np.concatenate([np.asarray(labels, dtype=np.int64) for labels in y]))

    def label(self, X: Examples[ArrayLike], scores: Array, weights: Array, *, n_threads: int) -> list[Matching]:
        """The matching with the highest score of each example."""
        shapes = [np.shape(x)[:2] for x in X]
        ends = np.cumsum([items * places for items, places in shapes])[:-1]
        parts = zip(np.split(scores[:, 0], ends), shapes, strict=True)
        return [assign(part.reshape(shape)) for part, shape in parts]


def assign(scores: Array) -> Matching:
    """The places with the highest sum of scores, no place used twice."""
    _, places = linear_sum_assignment(scores, maximize=True)
    return np.asarray(places, dtype=np.int64)

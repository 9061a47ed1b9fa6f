"""The second derivative of a rounded risk, from the examples on its kinks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class RowCurvature(NamedTuple):
    """Sum over the examples on a kink of weights[i] x_i x_i', less mean mean' where an intercept is free."""

    source: Any
    rows: NDArray[np.int64]
    weights: Array
    mean: Array | None

    @property
    def examples(self) -> int:
        """The number of examples on a kink."""
        return len(self.rows)

    def product(self, v: Array) -> Array:
        """The curvature times v."""
        if not len(self.rows):
            return np.zeros_like(v)
        result: Array = self.source.curvature(self.rows, self.weights, v)
        if self.mean is not None:
            result = result - self.mean * float(self.mean @ v)
        return result

    def moments(self) -> tuple[float, Array]:
        """The sum of the weights, and that of the weighted examples: what centres them."""
        return float(self.weights.sum()), self.source.take(self.rows).combine(self.weights)

    def shift(self, p: Array) -> float:
        """The change of the intercept that goes with a change p of the weights."""
        if self.mean is None:
            return 0.0
        return -float(self.mean @ p) / float(np.sqrt(self.weights.sum()))

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products."""
        return float(self.source.gram_cost)

    @property
    def exact(self) -> bool:
        """Whether `matrix` is summed up in double precision."""
        return bool(self.source.exact_gram)

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from `most` of its examples; the lower triangle is meant to be read."""
        rows, weights = self.rows, self.weights
        if most is not None and len(rows) > most:
            every = -(-len(rows) // most)
            rows, weights = np.ascontiguousarray(rows[::every]), weights[::every] * float(every)
        gram: Array = self.source.gram(rows, weights)
        if self.mean is not None:
            gram -= np.outer(self.mean, self.mean)
        return gram

    def root(self, most: int) -> Array | None:
        """A with A'A = curvature, a row for each example; None where these are more than `most`, or not at hand."""
        if len(self.rows) > most or not hasattr(self.source, "dense_rows"):
            return None
        scale = np.sqrt(self.weights)
        rows: Array = self.source.dense_rows(self.rows, scale)
        if self.mean is not None:
            rows -= np.outer(scale / np.sqrt(self.weights.sum()), self.mean)
        return rows

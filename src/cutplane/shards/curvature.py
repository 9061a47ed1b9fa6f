"""The second derivative of a rounded risk, from the examples on its kinks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.solvers.base import Products

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

    def products(self) -> Products:
        """The same for many vectors one after the other, where examples lie."""
        return Products.here(self.product)

    def moments(self, most: int | None = None) -> tuple[float, Array]:
        """The sum of the weights, and that of the weighted examples: what centres them; or of `most` of these."""
        rows, weights = self._some(most)
        return float(weights.sum()), self.source.take(rows).combine(weights)

    def _some(self, most: int | None) -> tuple[NDArray[np.int64], Array]:
        """About `most` of the examples, and weights that make up for the others."""
        if most is None or len(self.rows) <= most:
            return self.rows, self.weights
        every = -(-len(self.rows) // most)
        return self.rows[::every].copy(), self.weights[::every] * float(every)

    def shift(self, p: Array) -> float:
        """The change of the intercept that goes with a change p of the weights."""
        if self.mean is None:
            return 0.0
        return -float(self.mean @ p) / math.sqrt(self.weights.sum())

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
        rows, weights = self._some(most)
        mean = self.mean
        if mean is not None and len(rows) < len(self.rows):
            # Centred by its own mean: by that of all, what is left could curve downwards.
            weight, slope = self.moments(most)
            mean = slope / np.sqrt(weight)
        gram: Array = self.source.gram(rows, weights)
        if mean is not None:
            gram -= np.outer(mean, mean)
        return gram

    def sampled_root(self, most: int) -> Array | None:
        """A with A'A as `matrix` of so many examples, not centred: a row for each; None where these are not at hand."""
        if not hasattr(self.source, "dense_rows"):
            return None
        rows, weights = self._some(most)
        found: Array = self.source.dense_rows(rows, np.sqrt(weights))
        return found

    def root(self, most: int) -> Array | None:
        """A with A'A = curvature, a row for each example; None where these are more than `most`, or not at hand."""
        if len(self.rows) > most or not hasattr(self.source, "dense_rows"):
            return None
        centre = None if self.mean is None else self.mean / math.sqrt(self.weights.sum())
        found: Array = self.source.dense_rows(self.rows, np.sqrt(self.weights), centre)
        return found

"""A source with one constant feature more."""

from __future__ import annotations

import numpy as np

from cutplane.sources.base import Array, Extent, Rows, Source


class AugmentedSource(Source):
    """Another source and a last feature that is the same for every example: a penalised intercept.

    Parameters
    ----------
    base : Source
    constant : float
        The value of the feature.
    """

    def __init__(self, base: Source, constant: float) -> None:
        self._base = base
        self._constant = constant

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features, the constant one included."""
        n, d = self._base.shape
        return n, d + 1

    @property
    def extent(self) -> Extent:
        """As the base, with one more entry."""
        reach, row_depth, sum_depth, columns = self._base.extent
        whole = float(np.hypot(reach, self._constant)) * (1.0 + 1e-9)
        sizes = None if columns is None else np.append(columns, abs(self._constant))
        return Extent(whole, row_depth + 2, max(sum_depth, self.shape[0] + 8), sizes)

    def scores(self, w: Array) -> Array:
        """X @ w."""
        return np.asarray(self._base.scores(np.ascontiguousarray(w[:-1])) + self._constant * w[-1])

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        last = self._constant * coef.sum(axis=0, keepdims=True)
        return np.concatenate([self._base.combine(coef), last])

    def take(self, rows: Rows) -> AugmentedSource:
        """The source over some rows."""
        return AugmentedSource(self._base.take(rows), self._constant)

    def gathered(self, rows: Rows) -> AugmentedSource:
        """A copy of some rows, where that pays."""
        return AugmentedSource(self._base.gathered(rows), self._constant)

    @property
    def exact_gram(self) -> bool:
        """As the base."""
        return self._base.exact_gram

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'; the lower triangle."""
        d = self.shape[1]
        total = np.zeros((d, d))
        total[:-1, :-1] = self._base.gram(rows, weights)
        total[-1, :-1] = self._constant * self._base.take(rows).combine(weights)
        total[-1, -1] = self._constant**2 * weights.sum()
        return total

"""A source with one constant feature more."""

from __future__ import annotations

import numpy as np

from cutplane.proof.rounding import UNIT
from cutplane.sources.base import Array, Extent, Rows, Source
from cutplane.sources.rough import AugmentedPasses, RoughPasses


class AugmentedSource(Source):
    """Another source and a last feature that is the same for every example: a penalised intercept.

    Parameters
    ----------
    base : Source
    constant : float
        The value of the feature.
    """

    def __init__(self, base: Source, constant: float) -> None:
        self.base = base
        self.constant = constant

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features, the constant one included."""
        n, d = self.base.shape
        return n, d + 1

    @property
    def extent(self) -> Extent:
        """As the base, with one more entry."""
        reach, row_depth, sum_depth, columns = self.base.extent
        whole = float(np.hypot(reach, self.constant)) * (1.0 + 1e-9)
        sizes = None if columns is None else np.append(columns, abs(self.constant))
        return Extent(whole, row_depth + 2, max(sum_depth, self.shape[0] + 8), sizes)

    def rough(self) -> RoughPasses:
        """Those of the base, and the constant feature."""
        return AugmentedPasses(self.base.rough(), self.constant)

    def scores(self, w: Array) -> Array:
        """X @ w."""
        return np.asarray(self.base.scores(np.ascontiguousarray(w[:-1])) + self.constant * w[-1])

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        last = self.constant * coef.sum(axis=0, keepdims=True)
        return np.concatenate([self.base.combine(coef), last])

    def take(self, rows: Rows) -> AugmentedSource:
        """The source over some rows."""
        return AugmentedSource(self.base.take(rows), self.constant)

    def gathered(self, rows: Rows) -> AugmentedSource:
        """A copy of some rows, where that pays."""
        return AugmentedSource(self.base.gathered(rows), self.constant)

    def close_scores(self, w: Array, b: float | Array) -> tuple[Array, float] | None:
        """X @ w + b, rounded about once, and how far off they can be; None where that takes too long."""
        last = self.constant * w[-1] + b
        found = self.base.close_scores(w[:-1], last)
        return None if found is None else (found[0], found[1] + 2.0 * UNIT * float(np.max(np.abs(last) + np.abs(b))))

    def exactly(self) -> AugmentedSource:
        """The same source, whose `gram` is summed up in double precision."""
        return AugmentedSource(self.base.exactly(), self.constant)

    @property
    def row_bytes(self) -> float:
        """As the base."""
        return self.base.row_bytes

    @property
    def gram_cost(self) -> float:
        """As the base, and a pass for the last row."""
        return self.base.gram_cost + 1.0

    @property
    def gram_work(self) -> float:
        """As the base."""
        return self.base.gram_work

    @property
    def exact_gram(self) -> bool:
        """As the base."""
        return self.base.exact_gram

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'; the lower triangle."""
        d = self.shape[1]
        total = np.zeros((d, d))
        total[:-1, :-1] = self.base.gram(rows, weights)
        total[-1, :-1] = self.constant * self.base.take(rows).combine(weights)
        total[-1, -1] = self.constant**2 * weights.sum()
        return total

"""The second derivative of the softmax risk: products with it, and estimates of it that can be factorised.

With probabilities p_i it is the sum over the examples of c_i (diag(p_i) - p_i p_i') ⊗ x_i x_i'. Free intercepts are the
weights of one more feature that is 1 throughout.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cutplane.risks.base import Array, Rows
from cutplane.risks.softmax import Softmax
from cutplane.sources.base import Source
from cutplane.sources.matrix import matrix_of
from cutplane.sources.rough import RoughPasses

# Numbers in the blocks that products of features are written to, on the way to an estimate.
_BLOCK = 1 << 21


class SoftmaxCurvature:
    """The curvature at the coefficients of a plane.

    Unknowns are an array of shape (features, classes), with a last row for free intercepts.

    Parameters
    ----------
    source : Source
    passes : RoughPasses
        Over the same examples.
    risk : Softmax
    coef : array of shape (n, n_classes)
        c p, less c at the true class.
    free : bool
        Whether intercepts are free.
    """

    def __init__(self, source: Source, passes: RoughPasses, risk: Softmax, coef: Array, *, free: bool) -> None:
        self._source, self._passes = source, passes
        self._risk, self._coef, self._free = risk, coef, free

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the unknowns."""
        return self._source.shape[1] + self._free, self._risk.n_classes

    def product(self, v: Array) -> Array:
        """The curvature times unknowns: two passes."""
        if not self._free:
            change = self._passes.scores(v)
            self._risk.curve(self._coef, change)
            return self._passes.combine(change)
        change = self._passes.scores(v[:-1])
        change += v[-1].astype(change.dtype)
        totals = self._risk.curve(self._coef, change)
        return np.vstack([self._passes.combine(change), totals])

    def diagonal(self) -> Array | None:
        """That of the curvature, in the shape of the unknowns; None where it takes more than a pass."""
        weights = self._probabilities(np.arange(len(self._coef)))
        weights *= 1.0 - weights
        weights *= self._risk.example_weights[:, None]
        found = self._passes.squares(weights)
        if found is None or not self._free:
            return found
        return np.vstack([found, weights.sum(axis=0)])

    def matrix(self, most: int) -> Array:
        """The curvature, or an estimate from `most` examples: unknowns in the order of a raveled array."""
        d, k = self.shape
        upper = np.triu_indices(d)
        of_classes = np.triu_indices(k)
        total = np.zeros((len(upper[0]), len(of_classes[0])))
        size = max(16, _BLOCK // (len(upper[0]) + len(of_classes[0])))
        rows, scale = self._drawn(self._spread(), most)
        for part in _parts(len(rows), size):
            X, p = self._dense(rows[part]), self._probabilities(rows[part])
            c = scale[part] * self._risk.example_weights[rows[part]]
            weights = -(c[:, None] * p[:, of_classes[0]] * p[:, of_classes[1]])
            weights[:, of_classes[0] == of_classes[1]] += c[:, None] * p
            total += (X[:, upper[0]] * X[:, upper[1]]).T @ weights
        full = np.empty((d, d, k, k))
        full[upper[0][:, None], upper[1][:, None], of_classes[0], of_classes[1]] = total
        full[upper[0][:, None], upper[1][:, None], of_classes[1], of_classes[0]] = total
        full[upper[1][:, None], upper[0][:, None], of_classes[0], of_classes[1]] = total
        full[upper[1][:, None], upper[0][:, None], of_classes[1], of_classes[0]] = total
        return np.ascontiguousarray(full.transpose(0, 2, 1, 3)).reshape(d * k, d * k)

    def matrix_cost(self, most: int) -> float:
        """What that and its factor cost, in products."""
        n, size = max(1, len(self._coef)), self.shape[0] * self.shape[1]
        return size * min(most, n) / (8.0 * n) + size**2 / (12.0 * n)

    def of_class(self, label: int, most: int) -> Array:
        """The part of it that is of one class's weights alone, or an estimate from `most` examples."""
        p = self._probability(label)
        weights = self._risk.example_weights * p * (1.0 - p)
        rows, scale = self._drawn(weights, most)
        d = self.shape[0]
        total = np.zeros((d, d), np.float32)
        for part in _parts(len(rows), max(64, _BLOCK // d)):
            X = self._dense(rows[part]).astype(np.float32, copy=False)
            X *= np.sqrt(scale[part] * weights[rows[part]]).astype(np.float32)[:, None]
            total += X.T @ X
        return total.astype(np.float64)

    def own_intercepts(self) -> Array:
        """The curvature along the intercepts alone, of shape (n_classes, n_classes)."""
        k = self._risk.n_classes
        total = np.zeros((k, k))
        for part in _parts(len(self._coef), max(64, _BLOCK // k)):
            rows = np.arange(part.start, part.stop)
            p, c = self._probabilities(rows), self._risk.example_weights[part]
            total -= (c[:, None] * p).T @ p
            total[np.diag_indices(k)] += c @ p
        return total

    def _spread(self) -> Array:
        """How much every example bends the risk."""
        c = self._risk.example_weights
        wrong = -self._coef[np.arange(len(self._coef)), self._risk.y]  # c (1 - p) of the true class
        return np.asarray(wrong * (2.0 * c - wrong) / np.where(c > 0.0, c, 1.0))

    @staticmethod
    def _drawn(weights: Array, most: int) -> tuple[Rows, Array]:
        """Examples and what they count for: those that matter, or `most` in proportion to their weights."""
        known = np.flatnonzero(weights > 0.0)
        if len(known) <= most:
            return known, np.ones(len(known))
        heights = np.cumsum(weights)
        total = heights[-1]
        drawn = np.searchsorted(heights, (np.arange(most) + 0.5) * (total / most))
        rows, count = np.unique(np.minimum(drawn, len(weights) - 1), return_counts=True)
        return rows, count * (total / most) / np.maximum(weights[rows], 1e-300)

    def _dense(self, rows: Rows) -> Array:
        """Some examples as a dense array, with the constant feature of free intercepts."""
        matrix = matrix_of(self._source)
        if matrix is not None:
            found = matrix.dense_rows(rows, np.ones(len(rows)))
        else:
            found = self._source.take(rows).scores(np.eye(self._source.shape[1]))
        return np.column_stack([found, np.ones(len(rows))]) if self._free else found

    def _probabilities(self, rows: Rows) -> Array:
        c = self._risk.example_weights[rows]
        p = self._coef[rows] / np.where(c > 0.0, c, 1.0)[:, None]
        p[np.arange(len(rows)), self._risk.y[rows]] += 1.0
        return p

    def _probability(self, label: int) -> Array:
        c = self._risk.example_weights
        return np.asarray(self._coef[:, label] / np.where(c > 0.0, c, 1.0) + (self._risk.y == label))


def _parts(n: int, size: int) -> Iterator[slice]:
    return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))

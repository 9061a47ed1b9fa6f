"""The second derivative of the multi-class risk with its kinks rounded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from cutplane import _core
from cutplane.risks.base import Array, Rows
from cutplane.risks.multiclass import Multiclass
from cutplane.solvers.base import ProductsHere
from cutplane.sources.class_scores import ClassScores


class MulticlassCurvature(ProductsHere):
    """The curvature of the rounded risk, times h: a sum over the pairs of classes that meet in an example.

    The second derivative of the projection on the simplex is that of the spread of the lines that meet: for m of them
    the sum over their pairs of squared differences, divided by m.
    """

    def __init__(self, source: ClassScores, risk: Multiclass, kinks: _core.Kinks, intercept: bool) -> None:
        self.rows = kinks.rows
        self._all = source
        self._source = source.take(self.rows)
        self._risk = risk
        self._kinks = kinks
        self._intercept = intercept
        self._inverse: Array | None = None  # of the intercepts' own curvature

    @property
    def examples(self) -> int:
        """The number of examples on their kinks."""
        return len(self.rows)

    def product(self, v: Array) -> Array:
        """The curvature times v, the intercepts moving along as suits them best."""
        if not len(self.rows):
            return np.zeros_like(v)
        scores = self._source.scores(v)
        change = self._risk.curvature(self._kinks, scores)
        if self._intercept:
            change = self._risk.curvature(self._kinks, scores - self._inverse_curvature @ change.sum(axis=0))
        return self._source.combine(change)

    def shift(self, p: Array) -> Array | float:
        """The change of the intercepts that goes with a change p of the weights."""
        if not self._intercept or not len(self.rows):
            return 0.0
        change: Array = self._risk.curvature(self._kinks, self._source.scores(p)).sum(axis=0)
        return np.asarray(-self._inverse_curvature @ change)

    @property
    def _inverse_curvature(self) -> Array:
        if self._inverse is None:
            matrix = np.zeros((self._risk.n_classes,) * 2)
            for _, weights, classes in self._groups(None):
                matrix += weights.sum() * np.outer(classes, classes)
            self._inverse = np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
        return self._inverse

    def moments(self, most: int | None = None) -> tuple[Array, Array]:
        """The intercepts' own curvature, shape (K, K), and what couples them to the weights, shape (weights, K).

        Of all examples on their kinks, or an estimate from `most` of them.
        """
        features, (_, d), q = self._all.class_features, self._all.source.shape, self._all.columns
        coupling, own = np.zeros((d, q, self._risk.n_classes)), np.zeros((self._risk.n_classes,) * 2)
        for rows, weights, classes in self._groups(most):
            shared = classes if features is None else features.T @ classes
            mean = self._all.source.take(rows).combine(weights)
            coupling += np.multiply.outer(np.outer(mean, shared), classes)
            own += weights.sum() * np.outer(classes, classes)
        return own, coupling.reshape(d * q, -1)

    def root(self, most: int) -> None:
        """Not at hand."""

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products."""
        return float(2.0 * self._all.source.gram_cost / self._all.columns)

    @property
    def exact(self) -> bool:
        """Whether `matrix` is summed up in double precision."""
        return bool(self._all.source.exact_gram)

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from `most` of its examples."""
        features, (_, d), q = self._all.class_features, self._all.source.shape, self._all.columns
        total = np.zeros((q, q, d, d))  # of which the lower triangles of features count, until the end
        for rows, weights, classes in self._groups(most):
            gram = self._all.source.gram(rows, weights)
            shared = classes if features is None else features.T @ classes
            present = np.flatnonzero(shared)
            for a in present:
                for b in present:
                    total[a, b] += (shared[a] * shared[b]) * gram
        size = d * q
        total = np.tril(total) + np.tril(total, -1).swapaxes(2, 3)
        matrix = total.transpose(2, 0, 3, 1).reshape(size, size)
        if self._intercept:
            own, coupling = self.moments(most)
            matrix -= coupling @ np.linalg.pinv(own, hermitian=True) @ coupling.T
        return matrix

    def _groups(self, most: int | None) -> Iterator[tuple[Rows, Array, Array]]:
        """Rows, weights and direction in the classes' scores of the pairs that meet, by pair (and true class)."""
        starts, classes, weights = self._kinks.starts, self._kinks.classes, self._kinks.weights
        chosen = np.arange(len(self.rows))
        factor = 1.0
        if most is not None and len(chosen) > most:
            every = -(-len(chosen) // most)
            chosen, factor = chosen[::every], float(every)
        count = self._risk.n_classes
        slack = self._risk.rescaling == "slack"
        sizes = np.diff(starts)[chosen]
        keys, places, shares = [], [], []
        for size in np.unique(sizes):
            of_size = chosen[sizes == size]
            sets = classes[starts[of_size][:, None] + np.arange(size)].astype(np.int64)
            true = self._risk.y[self.rows[of_size]].astype(np.int64) if slack else 0
            for a, b in combinations(range(size), 2):
                keys.append((sets[:, a] * count + sets[:, b]) * count + true)
                places.append(self.rows[of_size])
                shares.append(weights[of_size] * (2.0 * factor / size))
        if not keys:
            return
        key, place, share = np.concatenate(keys), np.concatenate(places), np.concatenate(shares)
        order = np.argsort(key, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            pair, true = divmod(int(key[part[0]]), count)
            yield np.ascontiguousarray(place[part]), share[part], self._direction(*divmod(pair, count), true)

    def _direction(self, a: int, b: int, true: int) -> Array:
        """The difference of the lines of classes a and b, as a vector over the classes."""
        direction = np.zeros(self._risk.n_classes)
        cost = self._risk.cost[true]
        scale_a, scale_b = (cost[a], cost[b]) if self._risk.rescaling == "slack" else (1.0, 1.0)
        direction[a] += scale_a
        direction[b] -= scale_b
        direction[true] -= scale_a - scale_b
        return direction

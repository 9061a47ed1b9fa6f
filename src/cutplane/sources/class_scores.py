"""The scores of several classes, which may share weights."""

from __future__ import annotations

import numpy as np

from cutplane.sources.base import Array, Extent, Rows, Source


class ClassScores:
    """The linear map from weights to the scores of every class: X W Phi', W of shape (d, q) laid out in a vector.

    Parameters
    ----------
    source : Source
        The examples X.
    class_features : array of shape (n_classes, q) or None
        Phi; None is the identity: weights of its own for every class.
    n_classes : int
    """

    def __init__(self, source: Source, class_features: Array | None, n_classes: int) -> None:
        self.source = source
        self.class_features = class_features
        self.n_classes = n_classes

    @property
    def columns(self) -> int:
        """Weights per feature."""
        return self.n_classes if self.class_features is None else self.class_features.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and weights."""
        n, d = self.source.shape
        return n, d * self.columns

    @property
    def extent(self) -> Extent:
        """As the examples'; sums of several columns are not cut into as many blocks, and coefficients are sums, too."""
        reach, row_depth, _, columns = self.source.extent
        features = self.class_features
        stretch = 1.0 if features is None else float(np.linalg.norm(features, axis=1).max()) * (1.0 + 1e-9)
        more = 0 if features is None else sum(features.shape)
        sizes = columns if features is None else None
        return Extent(reach * stretch, row_depth + more + 2, self.source.shape[0] + self.n_classes + more + 64, sizes)

    def scores(self, w: Array) -> Array:
        """The scores of every example and class, shape (n, n_classes)."""
        found = self.source.scores(w.reshape(-1, self.columns))
        return found if self.class_features is None else np.ascontiguousarray(found @ self.class_features.T)

    def close_scores(self, w: Array, b: float | Array) -> tuple[Array, float] | None:
        """X @ w + b, rounded about once, and how far off they can be; None where that takes too long."""
        return None if self.class_features is not None else self.source.close_scores(w.reshape(-1, self.columns), b)

    def combine(self, coef: Array) -> Array:
        """The adjoint: coefficients of shape (n, n_classes) to a vector as long as the weights."""
        shared = coef if self.class_features is None else np.ascontiguousarray(coef @ self.class_features)
        return self.source.combine(shared).ravel()

    def take(self, rows: Rows) -> ClassScores:
        """The map over some examples."""
        return ClassScores(self.source.take(rows), self.class_features, self.n_classes)

    @property
    def row_bytes(self) -> float:
        """As the examples'."""
        return self.source.row_bytes

    def gathered(self, rows: Rows) -> ClassScores:
        """The same, copied together where that makes many passes over them cheaper."""
        return ClassScores(self.source.gathered(rows), self.class_features, self.n_classes)

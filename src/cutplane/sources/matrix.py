"""Sources over arrays in memory (or mapped from a file): dense and CSR, used where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane import _core
from cutplane.sources.base import Array, Rows, Source

# Rows turned dense at a time when a BLAS forms X' D X: bounds the memory it takes.
_GATHER_ENTRIES = 1 << 21


class MatrixSource(Source):
    """What dense and CSR sources share: the passes of the compiled core."""

    def __init__(self, matrix: _core.Matrix, n_threads: int) -> None:
        self._matrix = matrix
        self._n_threads = n_threads

    @property
    def n_threads(self) -> int:
        """Threads used; 0 leaves it to OpenMP."""
        return self._n_threads

    @property
    def core(self) -> _core.Matrix:
        """The compiled matrix, for solvers that work on examples one at a time."""
        return self._matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        return self._matrix.shape

    def scores(self, w: Array) -> Array:
        """X @ w."""
        return self._matrix.scores(np.ascontiguousarray(w), self._n_threads)

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        return self._matrix.combine(np.ascontiguousarray(coef), self._n_threads)

    def curvature(self, rows: Rows, weights: Array, v: Array) -> Array:
        """Sum over `rows` of weights[i] x_i <x_i, v>, in one pass."""
        return self._matrix.curvature(rows, weights, v, self._n_threads)

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'; only the lower triangle is meant to be read."""
        n, d = self.shape
        per_row = self._matrix.entries / max(n, 1)
        # A sparse outer product costs per_row² / 2 scattered additions, a BLAS d² flops some 16 times faster each.
        if per_row * per_row * 8 < d * d or d < 32:
            return self._matrix.gram(rows, weights, self._n_threads)
        total = np.zeros((d, d))
        block = max(64, _GATHER_ENTRIES // d)
        scale = np.sqrt(weights)
        for start in range(0, len(rows), block):
            part = self._matrix.gather(
                rows[start : start + block], scale[start : start + block], self._n_threads
            )
            total += part.T @ part
        return total


class DenseSource(MatrixSource):
    """A dense array, float32 or float64, C or Fortran order, in memory or memory-mapped.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows or columns must be contiguous; anything else is copied once.
    n_threads : int
        0 leaves it to OpenMP.
    """

    def __init__(self, X: NDArray[Any], *, rows: Rows | None = None, n_threads: int = 0) -> None:
        item = X.dtype.itemsize
        if X.dtype not in (np.float32, np.float64):
            raise TypeError(f"A dense source holds float32 or float64, not {X.dtype}.")
        if item not in X.strides and X.size:
            X = np.ascontiguousarray(X)
        self._X = X
        super().__init__(_core.Matrix.dense(X, rows), n_threads)
        self._rows = rows

    def take(self, rows: Rows) -> DenseSource:
        """The source over some rows, without copying them."""
        chosen = rows if self._rows is None else self._rows[rows]
        return DenseSource(self._X, rows=np.ascontiguousarray(chosen, np.int64), n_threads=self._n_threads)


class CsrSource(MatrixSource):
    """A compressed sparse row matrix: float32 or float64, int32 or int64 indices.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array of shape (n, d)
        Indices must be sorted within rows, without duplicates.
    n_threads : int
        0 leaves it to OpenMP.
    """

    def __init__(self, X: Any, *, rows: Rows | None = None, n_threads: int = 0) -> None:
        if X.dtype not in (np.float32, np.float64):
            raise TypeError(f"A CSR source holds float32 or float64, not {X.dtype}.")
        self._X = X
        indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
        super().__init__(_core.Matrix.csr(X.data, X.indices, indptr, X.shape[1], rows), n_threads)
        self._rows = rows

    def take(self, rows: Rows) -> CsrSource:
        """The source over some rows, without copying them."""
        chosen = rows if self._rows is None else self._rows[rows]
        return CsrSource(self._X, rows=np.ascontiguousarray(chosen, np.int64), n_threads=self._n_threads)


def as_source(X: Any, *, n_threads: int = 0) -> Source:
    """A source over X: one already, a dense array or a CSR matrix."""
    if isinstance(X, Source):
        return X
    if sp.issparse(X):
        return CsrSource(X, n_threads=n_threads)
    return DenseSource(X, n_threads=n_threads)

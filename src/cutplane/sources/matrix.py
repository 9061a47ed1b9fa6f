"""Sources over arrays in memory (or mapped from a file): dense and CSR, used where they lie."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane import _core
from cutplane._runtime.deadline import time_is_up
from cutplane._types import Floats, Matrix
from cutplane.proof.rounding import close_products
from cutplane.sources.base import Array, Extent, Rows, Source
from cutplane.sources.narrow import bits, floats, is_narrow, is_read, narrow_matrix
from cutplane.sources.rough import BlasPasses, RoughPasses, TransposedPasses, combined

# Entries of the rows turned dense at a time when a BLAS forms X' D X: bounds the memory it takes. The fewer suffice
# where they are still as many rows as columns, so that to add up products costs little beside these.
_GATHER_ENTRIES, _LEAST_ENTRIES = 1 << 20, 1 << 18
# Up to so many entries a dense X' D X is formed in double precision: exact steps save more than that takes. digits.
_FEW_ENTRIES, _LEAST_FEATURES, _MOST_FEATURES = 1 << 20, 32, 256
# Rows of X' D X that a thread forms at a time: the products themselves are never in memory as a whole.
_PANEL = 96
# Of more examples, lengths are not noted on the way: to write them down takes as long as a pass over narrow rows.
_MANY_ROWS = 1 << 20
# Rows whose products with all others are formed at a time.
_PRODUCT_ROWS = 512
# Weights that are looked at before all others: mostly one of them is not zero.
_FIRST = 1024
# Numbers of examples, features and columns of weights whose scores are rounded only once: a second of work.
_MOST_CLOSE = 1 << 24


class MatrixSource(Source):
    """What dense and CSR sources share: the passes of the compiled core."""

    _exact = False  # whether products of rows have to be summed up in double precision

    def __init__(self, matrix: _core.Matrix, rows: Rows | None, n_threads: int) -> None:
        self._matrix = matrix
        self._rows = rows
        self._n_threads = n_threads

    def _positions(self, rows: Rows) -> Rows:
        """Where some rows of this source are in its array, checked: the core does not look twice."""
        n = self.shape[0]
        wrong = rows[(rows < 0) | (rows >= n)]
        if len(wrong):
            raise IndexError(f"There is no row {wrong[0]}; rows of this source lie between 0 and {n - 1}.")
        return np.ascontiguousarray(rows if self._rows is None else self._rows[rows], np.int64)

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

    @cached_property
    def _survey(self) -> tuple[float, int, Array, Array]:
        """What one look at all entries tells: one pass, once. The lengths of many examples are seldom asked for."""
        return self._matrix.extent(self.shape[0] <= _MANY_ROWS, self._n_threads)

    @cached_property
    def squares(self) -> Array:
        """The squared lengths of the examples."""
        found = self._survey[3]
        return found if len(found) == self.shape[0] else self._matrix.extent(True, self._n_threads)[3]

    @cached_property
    def extent(self) -> Extent:
        """What rounding in passes is charged by."""
        square, entries, columns, _ = self._survey
        # Squares below the least number are not lost; examples of nothing but zeros have no length.
        reach = float(np.sqrt(square)) * (1.0 + 1e-9) + 1e-150 if np.any(columns) else 0.0
        return Extent(reach, entries, self._matrix.sum_depth, columns)

    def scores(self, w: Array) -> Array:
        """X @ w; of weights of zero, no pass."""
        if not (w[:_FIRST].any() or w.any()):
            return np.zeros((self.shape[0], *w.shape[1:]))
        return self._matrix.scores(np.ascontiguousarray(w), self._n_threads)

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        return self._matrix.combine(np.ascontiguousarray(coef), self._n_threads)

    def curvature(self, rows: Rows, weights: Array, v: Array) -> Array:
        """Sum over `rows` of weights[i] x_i <x_i, v>, in one pass."""
        return self._matrix.curvature(rows, weights, v, self._n_threads)

    def close_scores(self, w: Array, b: float | Array) -> tuple[Array, float] | None:
        """X @ w + b, rounded about once, and how far off they can be; None where that takes too long."""
        (n, d), columns = self.shape, w.reshape(len(w), -1)
        if n * d * columns.shape[1] > _MOST_CLOSE:
            return None
        found, size, off = np.empty((n, columns.shape[1])), max(1, _GATHER_ENTRIES // max(1, d)), 0.0
        for begin in range(0, n, size):
            rows = self._doubles(np.arange(begin, min(begin + size, n)))
            for k, own in enumerate(np.broadcast_to(b, columns.shape[1]).tolist()):
                found[begin : begin + size, k], each = close_products(rows, columns[:, k], own)
                off = max(off, float(each.max(initial=0.0)))
        return found.reshape(n, *w.shape[1:]), off

    @abstractmethod
    def _doubles(self, rows: Rows) -> Array:
        """Some rows as a dense array in double precision."""

    def exactly(self) -> Self:
        """The same source, whose `gram` is summed up in double precision."""
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        found._exact = True
        return found

    @property
    def per_row(self) -> float:
        """Entries of a row, on average; at least 1."""
        return max(1.0, self._matrix.entries / max(self.shape[0], 1))

    @property
    def _sparse_products(self) -> bool:
        """Whether outer products of the entries beat a BLAS: per_row² / 2 scattered additions against d² / 16."""
        return self.per_row**2 * 8 < self.shape[1] ** 2 or self.shape[1] < 32

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature` on the same rows: measured, roughly."""
        if self._sparse_products:
            return max(2.0, self.per_row / 4)
        return max(2.0, self.shape[1] ** 2 / (150 * self.per_row))

    @property
    def exact_gram(self) -> bool:
        """Whether `gram` is summed up in double precision: a BLAS does it in single."""
        return self._sparse_products

    @property
    def gram_work(self) -> float:
        """What a row costs in `gram`, in multiplications of a BLAS; a scattered addition takes as long as sixty."""
        return 30.0 * self.per_row**2 if self._sparse_products else float(self.shape[1]) ** 2

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'; only the lower triangle is meant to be read."""
        if self._sparse_products:
            return self._matrix.gram(rows, weights, self._n_threads)
        d = self.shape[1]
        scale = np.sqrt(weights)
        block = max(64, min(_GATHER_ENTRIES // d, max(_LEAST_ENTRIES // d, d)))
        total = np.zeros((d, d), np.float32)
        # The widest first: the others fill what it leaves of the threads' time.
        panels = [(begin, min(begin + _PANEL, d)) for begin in range(0, d, _PANEL)][::-1]
        with _pool(_core.thread_count(self._n_threads), len(panels)) as side_by_side:
            for start in range(0, len(rows), block):
                if time_is_up():
                    break  # a sum over some of them will do for the step that is left
                part = self._matrix.gather(rows[start : start + block], scale[start : start + block], self._n_threads)
                list(side_by_side(partial(_add_products, part, total), panels))
        return total.astype(np.float64)

    def dense_rows(self, rows: Rows, scale: Array, centre: Array | None = None) -> Array:
        """scale[i] (x_i - centre) for some rows, as a dense array; x_i in single precision."""
        found = self._matrix.gather(rows, scale, self._n_threads).astype(np.float64)
        return found if centre is None else found - np.outer(scale, centre)

    def products(self) -> NDArray[np.float32]:
        """X X': the inner products of all pairs of rows, in single precision."""
        n = self.shape[0]
        rows = self._matrix.gather(np.arange(n), np.ones(n), self._n_threads)
        found = np.empty((n, n), np.float32)

        def fill(start: int) -> None:
            end = min(start + _PRODUCT_ROWS, n)
            np.matmul(rows[start:end], rows[:end].T, out=found[start:end, :end])
            found[:start, start:end] = found[start:end, :start].T

        with ThreadPoolExecutor(_core.thread_count(self._n_threads)) as pool:
            list(pool.map(fill, range(0, n, _PRODUCT_ROWS)))
        return found


@contextmanager
def _pool(n_threads: int, n_tasks: int) -> Iterator[Callable[..., Iterable[object]]]:
    """A `map` over threads; the plain one for one task, or one at a time: starting threads would take longer."""
    if n_threads == 1 or n_tasks == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield pool.map


def _add_products(part: NDArray[np.float32], total: NDArray[np.float32], panel: tuple[int, int]) -> None:
    """Add to some rows of `total`, up to its diagonal, those of part' part."""
    begin, end = panel
    total[begin:end, :end] += part[:, begin:end].T @ part[:, :end]


class DenseSource(MatrixSource):
    """A dense array, C or Fortran order, in memory or memory-mapped, read where it lies.

    Its values are float64, float32, float16, bfloat16 (of ml_dtypes), int8, uint8 or booleans; those smaller than
    float32 are converted on the way to the processor, and results are those of the same array in float32.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows or columns must be contiguous; anything else is copied once.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.sources import DenseSource
    >>> DenseSource(np.array([[1.0, 2.0], [3.0, 4.0]])).scores(np.array([1.0, 0.5]))
    array([2., 5.])
    """

    def __init__(self, X: NDArray[Any], *, rows: Rows | None = None, n_threads: int = 0) -> None:
        item = X.dtype.itemsize
        if not is_read(X.dtype):
            raise TypeError(
                f"A dense source holds float64, float32, float16, bfloat16, int8, uint8 or booleans, not {X.dtype}."
            )
        scattered = item not in X.strides and X.size
        self._X = cast(Floats, np.ascontiguousarray(X) if scattered else X)
        narrow = is_narrow(X.dtype)
        matrix = narrow_matrix(self._X, rows) if narrow else _core.Matrix.dense(self._X, rows)
        super().__init__(matrix, rows, n_threads)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as its own rows."""
        return _unpickled, (self._X if self._rows is None else self._X[self._rows], self._n_threads)

    def take(self, rows: Rows) -> DenseSource:
        """The source over some rows, without copying them."""
        return DenseSource(self._X, rows=self._positions(rows), n_threads=self._n_threads)

    def gathered(self, rows: Rows) -> DenseSource:
        """A copy of some rows: scattered, they are read at a fraction of the speed."""
        positions = self._positions(rows)
        by_rows = self._X.strides[1] == self._X.dtype.itemsize
        if not by_rows:
            return DenseSource(self._X[positions], n_threads=self._n_threads)
        stored = bits(self._X) if is_narrow(self._X.dtype) else self._X
        copied = cast(NDArray[Any], _core.copied_rows(stored, positions, self._n_threads))
        return DenseSource(copied.view(self._X.dtype), n_threads=self._n_threads)

    @property
    def row_bytes(self) -> float:
        """What an example takes."""
        return float(self._X.shape[1] * self._X.dtype.itemsize)

    def combine(self, coef: Array) -> Array:
        """X.T @ coef; of many columns, by a BLAS in double precision."""
        if coef.ndim == 1 or coef.shape[1] <= _FEW_COLUMNS or self._rows is not None:
            return super().combine(coef)
        return combined(self._X, coef, self._n_threads, np.float64)

    def rough(self) -> RoughPasses:
        """By a BLAS, in the precision of the array, single at least."""
        return RoughPasses(self) if self._rows is not None else BlasPasses(self._X, self._n_threads)

    @property
    def exact_gram(self) -> bool:
        """Whether `gram` is summed up in double precision: where examples are few, by a BLAS, too."""
        return self._few or super().exact_gram

    @property
    def _few(self) -> bool:
        n, d = self.shape
        if self._exact:
            return not self._sparse_products
        return n * d <= _FEW_ENTRIES and _LEAST_FEATURES <= d <= _MOST_FEATURES

    def _doubles(self, rows: Rows) -> Array:
        return np.asarray(floats(self._X[self._positions(rows)]), np.float64)

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'; only the lower triangle is meant to be read."""
        if not self._few:
            return super().gram(rows, weights)
        part = floats(self._X[rows if self._rows is None else self._rows[rows]]) * np.sqrt(weights)[:, None]
        return cast(Array, part.T @ part)


# Columns of coefficients that the core adds up in about a pass each, on all threads (kColumnsInTurn).
_FEW_COLUMNS = 6

# Of more entries, a transpose takes more room than it saves time.
_MOST_TRANSPOSED = 1 << 28


class CsrSource(MatrixSource):
    """A compressed sparse row matrix: float32 or float64, int32 or int64 indices.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array of shape (n, d)
        No index may come twice in a row.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from cutplane.sources import CsrSource
    >>> CsrSource(scipy.sparse.csr_array([[1.0, 0.0], [0.0, 4.0]])).combine(np.array([1.0, 0.5]))
    array([1., 2.])
    """

    def __init__(self, X: sp.csr_array, *, rows: Rows | None = None, n_threads: int = 0) -> None:
        if X.dtype not in (np.float32, np.float64):
            raise TypeError(f"A CSR source holds float32 or float64, not {X.dtype}.")
        self._X = X
        indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
        self._arrays = (X.data, X.indices, indptr)
        self._sorted = bool(X.has_sorted_indices)
        super().__init__(_core.Matrix.csr(*self._arrays, X.shape[1], rows, self._sorted), rows, n_threads)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as its own rows."""
        return _unpickled, (self._X if self._rows is None else self._X[self._rows], self._n_threads)

    def take(self, rows: Rows) -> CsrSource:
        """The source over some rows, without copying them."""
        return CsrSource(self._X, rows=self._positions(rows), n_threads=self._n_threads)

    def rough(self) -> RoughPasses:
        """By the matrix and its transpose."""
        if self._rows is not None or self._X.nnz > _MOST_TRANSPOSED:
            return RoughPasses(self)
        return TransposedPasses(self, self._X, partial(as_source, n_threads=self._n_threads))

    @property
    def row_bytes(self) -> float:
        """What an example takes, in the mean of the whole matrix."""
        X = self._X
        return float((X.data.itemsize + X.indices.itemsize) * X.nnz / max(1, X.shape[0]))

    def gathered(self, rows: Rows) -> CsrSource:
        """A copy of some rows: scattered, they are read at a fraction of the speed."""
        copied = _core.copied_csr_rows(*self._arrays, self._positions(rows), self._n_threads)
        part = sp.csr_array(copied, shape=(len(rows), self._X.shape[1]), copy=False)
        part.has_sorted_indices = self._sorted
        return CsrSource(part, n_threads=self._n_threads)

    def _doubles(self, rows: Rows) -> Array:
        return np.asarray(self._X[self._positions(rows)].toarray(), np.float64)

    @property
    def _sparse_products(self) -> bool:
        return self._exact or super()._sparse_products


def as_source(X: Matrix | Source, *, n_threads: int = 0) -> Source:
    """A source over X: one already, a dense array or a CSR matrix."""
    if isinstance(X, Source):
        return X
    if sp.issparse(X):
        return CsrSource(X, n_threads=n_threads)
    return DenseSource(X, n_threads=n_threads)


def _unpickled(X: Matrix, n_threads: int) -> Source:
    return as_source(X, n_threads=n_threads)


def matrix_of(source: Source) -> MatrixSource | None:
    """The source, where it is a matrix in memory whose rows can be visited one by one; else None."""
    return source if isinstance(source, MatrixSource) else None

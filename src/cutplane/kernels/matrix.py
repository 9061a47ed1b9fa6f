"""The kernel matrix of a training set: rows computed when asked for, kept in a cache that solvers share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._types import Matrix
from cutplane.kernels.exact import check_range
from cutplane.kernels.functions import Kernel
from cutplane.kernels.memory import default_cache

Rows = NDArray[np.int64]

# Rows of the cache begin where cache lines do: numbers of 4 bytes, 64 bytes a line.
_ROW_PADDING = 16
_MEGABYTE = 1 << 20
# Rows that are computed more often than this, on average, are worth a warning. By hand.
_OFTEN = 1.5
# A kernel matrix is not symmetric if values differ by more than this share of the largest. So many pairs are looked at.
# By hand.
_ASYMMETRY = 0.01
_PAIRS = 100_000
# Precomputed values between these powers of two are used as they are: single precision holds their squares.
_LEAST_EXPONENT, _MOST_EXPONENT = -20, 60


class KernelMatrix:
    """K(X, X), never stored as a whole unless it fits.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), float32 or float64
        The examples; for a precomputed kernel the kernel matrix of shape (n, n).
    kernel : Kernel
    cache_bytes : int, optional
        Memory for rows, of 4 n bytes each; a quarter of what is free if None. At least two rows are kept. Where they
        are too few for what is trained, that works but computes rows over and over: a warning says so, once.
    n_threads : int
        For computing rows; 0 leaves it to OpenMP.

    Attributes
    ----------
    exponent : int
        Rows hold the kernel divided by 2^exponent: not 0 where its values would leave single precision.
    largest_value : float
        No K(x, x) is larger.

    One matrix serves several solvers, also at the same time from several threads: `solve(problem, matrix, rows=...)`
    trains on some of its rows, and all of them share the cache.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.kernels import Kernel, KernelMatrix
    >>> matrix = KernelMatrix(np.eye(3), Kernel("linear"))
    >>> matrix.size, matrix.whole
    (3, True)
    """

    #: Whether results on it are proven for the kernel itself: here for its values in single precision.
    proves_the_kernel = False

    def __init__(self, X: Matrix, kernel: Kernel, *, cache_bytes: int | None = None, n_threads: int = 0) -> None:
        self.kernel = kernel
        self.n_threads = n_threads
        self.size = int(X.shape[0])
        if self.size == 0:
            raise ValueError("X has no rows; a kernel matrix needs at least one example.")
        if cache_bytes is not None and not cache_bytes > 0:
            raise ValueError(f"cache_bytes={cache_bytes!r} must be greater than 0, or None.")
        self.cache_bytes = default_cache() if cache_bytes is None else int(cache_bytes)
        self.X = X
        check_range(kernel, X)
        self.exponent = 0
        self.core = self._core_matrix(X)
        self._room = int(self.core.capacity)
        self._said = False

    def _core_matrix(self, X: Matrix) -> _core.KernelMatrix:
        kernel = self.kernel
        if kernel.name == "precomputed":
            K = check_precomputed(X)
            self.largest_value = float(np.abs(K).max())
            self.exponent = _exponent_for(self.largest_value)
            return _core.KernelMatrix.stored(K, self.cache_bytes, 2.0**-self.exponent)
        if kernel.name == "callable":
            diagonal = kernel.diagonal(X)
            self.largest_value = float(np.abs(diagonal).max())
            return _core.KernelMatrix.called(self._called_rows, diagonal, self.cache_bytes)
        examples = kernel.examples(X, n_threads=self.n_threads)
        self.exponent = int(examples.exponent)
        largest = float(np.abs(examples.diagonal(self.n_threads)).max())
        self.largest_value = float(np.ldexp(largest * 1.0001, self.exponent))
        return _core.KernelMatrix.computed(examples, self.cache_bytes)

    def _called_rows(self, rows: Rows) -> NDArray[np.float32]:
        return self.kernel.block(self.X[rows], self.X)

    @property
    def computed_values(self) -> float:
        """How many values training has computed."""
        return float(self.core.computed_values)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in the cache."""
        return 4 * _ROW_PADDING * -(-self.size // _ROW_PADDING)

    @property
    def whole(self) -> bool:
        """Whether every row fits into the cache."""
        return self.core.capacity >= self.size

    def warn_before(self, wanted: int, *, stacklevel: int = 3) -> None:
        """Say so if there is no room for the rows that are worked on at a time."""
        wanted = min(wanted, self.size)
        if self._room < wanted:
            self._warn(
                f"holds {self._room:,} of the {self.size:,} rows of the kernel matrix, fewer than the {wanted:,} that "
                "training works on at a time, so that it computes rows over and over",
                wanted,
                stacklevel,
            )

    def warn_after(self, *, stacklevel: int = 3) -> None:
        """Say so if most rows were computed more than once."""
        used, computed, room = (
            int(count) for count in (self.core.different_rows, self.core.computed_rows, self.core.capacity)
        )
        if room < used and computed > _OFTEN * used:
            ran_out = " (there was no memory for more)" if room < self._room else ""
            self._warn(
                f"had room for {room:,}{ran_out} of the {used:,} kernel rows that training used, each of which was "
                f"computed {computed / used:.1f} times on average",
                used,
                stacklevel,
            )

    @contextmanager
    def without_warnings(self) -> Iterator[None]:
        """Suppress warnings. Machines in threads share a matrix: whoever started them warns once for all."""
        said, self._said = self._said, True
        try:
            yield
        finally:
            self._said = said

    def _warn(self, what: str, rows: int, stacklevel: int) -> None:
        """Once, however many machines are trained on the matrix."""
        if self._said or self.kernel.name == "precomputed":
            return
        self._said = True
        larger = -(-rows * self.row_bytes // _MEGABYTE)
        warnings.warn(
            f"The kernel cache of {_size(self.cache_bytes)} {what}: a cache of {larger:,} MB would be faster.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def _size(count: int) -> str:
    return f"{count / _MEGABYTE:.2g} MB" if count < 10 * _MEGABYTE else f"{count // _MEGABYTE:,} MB"


def _exponent_for(largest: float) -> int:
    """What values of this size are scaled by: nothing where single precision holds them and their squares."""
    if largest == 0.0:
        return 0
    exponent = math.frexp(largest)[1]
    return 0 if _LEAST_EXPONENT <= exponent <= _MOST_EXPONENT else exponent


def check_precomputed(K: Matrix) -> NDArray[np.float32] | NDArray[np.float64]:
    """A kernel matrix as it may be used; bad ones are refused in one sentence."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed kernel matrix must be square; X has shape {tuple(K.shape)}.")
    if not isinstance(K, np.ndarray):
        raise TypeError(f"A precomputed kernel matrix must be a dense array, not {type(K).__name__}.")
    if K.dtype not in (np.float32, np.float64):
        raise TypeError(f"A precomputed kernel matrix must be float32 or float64, not {K.dtype}.")
    if not np.all(np.isfinite(K)):
        row, column = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(
            f"The kernel matrix has the value {K[row, column]} at row {row}, column {column}; every value must be "
            "finite."
        )
    largest = float(np.abs(K).max(initial=0.0))
    if largest > 1e250 or 0.0 < largest < 1e-250:
        raise ValueError(
            f"The largest value of the kernel matrix is {largest:g} in size; it must be between 1e-250 and 1e+250."
        )
    _check_symmetric(K)
    return K if K.strides[1] == K.itemsize else np.ascontiguousarray(K)


def _check_symmetric(K: NDArray[np.floating]) -> None:
    """By a sample of its values where they are many: training would have no end if most pairs differed."""
    n = len(K)
    pairs = np.arange(n * n) if n * n <= _PAIRS else np.random.default_rng(0).integers(0, n * n, _PAIRS)
    rows, columns = np.divmod(pairs, n)
    values, mirrored = K[rows, columns], K[columns, rows]
    apart = np.abs(values - mirrored) > _ASYMMETRY * np.abs(values).max(initial=0.0)
    if apart.any():
        at = int(np.argmax(apart))
        i, j = int(rows[at]), int(columns[at])
        raise ValueError(
            f"The kernel matrix must be symmetric; it has the value {values[at]:g} at row {i}, column {j} and "
            f"{mirrored[at]:g} at row {j}, column {i}."
        )

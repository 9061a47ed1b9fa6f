"""The kernel matrix of a training set: rows computed when asked for, kept in a cache that solvers share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.kernels.functions import Kernel

Rows = NDArray[np.int64]

_ROW_PADDING = 16
# What is taken where the system does not say how much memory is free.
_UNKNOWN_FREE = 4 << 30


def free_memory() -> int:
    """Bytes of memory that could be used without swapping."""
    try:
        with open("/proc/meminfo") as file:
            entries = dict(line.split(":") for line in file)
        return int(entries["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return _UNKNOWN_FREE


class KernelMatrix:
    """K(X, X), never stored as a whole unless it fits.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), float32 or float64
        The examples; for a precomputed kernel the kernel matrix of shape (n, n).
    kernel : Kernel
    cache_bytes : int, optional
        Memory for rows, of 4 n bytes each; a quarter of what is free if None. At least two rows are kept. Where only a
        few would fit, training works but computes them over and over: a warning says so.
    n_threads : int
        For computing rows; 0 leaves it to OpenMP.

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

    def __init__(self, X: Any, kernel: Kernel, *, cache_bytes: int | None = None, n_threads: int = 0) -> None:
        self.kernel = kernel
        self.n_threads = n_threads
        self.size = int(X.shape[0])
        if self.size == 0:
            raise ValueError("X has no rows; a kernel matrix needs at least one example.")
        if cache_bytes is not None and not cache_bytes > 0:
            raise ValueError(f"cache_bytes={cache_bytes!r} must be greater than 0, or None.")
        self.cache_bytes = free_memory() // 4 if cache_bytes is None else int(cache_bytes)
        self._X = X
        self.core = self._core_matrix(X)
        self._warn_if_small()

    def _core_matrix(self, X: Any) -> _core.KernelMatrix:
        kernel = self.kernel
        if kernel.name == "precomputed":
            return _core.KernelMatrix.stored(_check_precomputed(X), self.cache_bytes)
        if kernel.name == "callable":
            return _core.KernelMatrix.called(self._called_rows, kernel.diagonal(X), self.cache_bytes)
        examples = kernel.examples(X, n_threads=self.n_threads)
        if kernel.name in ("linear", "poly"):
            _check_size(examples.diagonal(self.n_threads))
        return _core.KernelMatrix.computed(examples, self.cache_bytes)

    def _called_rows(self, rows: Rows) -> NDArray[np.float32]:
        return self.kernel.block(self._X[rows], self._X)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in the cache."""
        return 4 * _ROW_PADDING * -(-self.size // _ROW_PADDING)

    @property
    def whole(self) -> bool:
        """Whether every row fits into the cache."""
        return self.core.capacity >= self.size

    def _warn_if_small(self) -> None:
        if self.core.capacity < min(self.size, 100) and self.kernel.name != "precomputed":
            warnings.warn(
                f"The kernel cache of {self.cache_bytes} bytes holds {self.core.capacity} rows of the "
                f"{self.size} x {self.size} kernel matrix ({self.row_bytes} bytes a row): training works, but computes "
                "rows over and over. A larger cache is faster.",
                UserWarning,
                stacklevel=3,
            )


def _check_size(diagonal: NDArray[np.float32]) -> None:
    """No kernel value is larger than the largest K(x, x)."""
    if not np.all(np.isfinite(diagonal)):
        row = int(np.flatnonzero(~np.isfinite(diagonal))[0])
        raise ValueError(
            f"The kernel of row {row} of X with itself is too large for single precision; "
            "scale the data, or lower gamma."
        )


def _check_precomputed(K: Any) -> Any:
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed kernel matrix must be square; X has shape {tuple(K.shape)}.")
    if not isinstance(K, np.ndarray):
        raise TypeError(f"A precomputed kernel matrix must be a dense array, not {type(K).__name__}.")
    if K.dtype not in (np.float32, np.float64):
        raise TypeError(f"A precomputed kernel matrix must be float32 or float64, not {K.dtype}.")
    if not np.all(np.isfinite(K)):
        row, column = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(f"The kernel matrix has the value {K[row, column]} at row {row}, column {column}.")
    return K if K.strides[1] == K.itemsize else np.ascontiguousarray(K)

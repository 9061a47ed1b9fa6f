"""Vectors of a kernel's feature space as sums over rows of X, and their products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._runtime.deadline import TimeIsUpError, time_is_up
from cutplane._types import Array, Matrix
from cutplane.kernels.exact import exact_products
from cutplane.kernels.functions import ROWS_AT_ONCE, SINGLE_PRECISION, Kernel

Rows = NDArray[np.int64]
# Rows as products need them, which is the affair of those who prepare them.
Prepared = Any


@dataclass(frozen=True)
class Expansion:
    """Σ coef[j, c] phi(x_rows[j]) for each column c, and a vector of explicit features.

    `prepared` is what `KernelRows` keeps of the rows, or None.
    """

    rows: Rows
    coef: Array
    explicit: Array
    prepared: Prepared


class KernelRows(ABC):
    """Rows of X as one kernel sees them, wherever their products are made.

    Parameters
    ----------
    X : array or CSR matrix
        The examples, on the host; for a precomputed kernel the kernel matrix.
    kernel : Kernel
    n_threads : int
    """

    #: Whether what is proven is always proven of the kernel itself: where double precision costs little.
    proves_the_kernel = False
    #: Kernel values between two looks at the clock and the signals. By hand: some 50 milliseconds.
    values_at_once = 20_000_000

    def __init__(self, X: Matrix, kernel: Kernel, n_threads: int) -> None:
        self.X, self.kernel, self.n_threads = X, kernel, n_threads

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def off(self) -> float:
        """What kernel values in single precision may be off by, relative to the largest."""
        return SINGLE_PRECISION

    @property
    @abstractmethod
    def everything(self) -> Prepared:
        """All rows, prepared."""

    @abstractmethod
    def prepare(self, rows: Rows) -> Prepared:
        """Rows for products on either side."""

    def expansion(self, rows: Rows, coef: Array, explicit: Array) -> Expansion:
        """The sum over rows with a coefficient other than zero."""
        used = np.flatnonzero(coef.any(axis=1))
        rows, coef = rows[used], np.ascontiguousarray(coef[used])
        return Expansion(rows, coef, explicit, self.prepare(rows) if len(rows) else None)

    def squared_lengths(self) -> NDArray[np.float32]:
        """K(x, x) of every row."""
        return self.kernel.diagonal(self.X, n_threads=self.n_threads)

    def block(self, rows: Rows) -> Array:
        """Kernel values among a few rows."""
        if self.kernel.name == "precomputed":
            part = self.X[rows][:, rows]
            return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        examples = self.X[rows]
        return self.kernel.block(examples, examples, n_threads=self.n_threads).astype(np.float64)

    def products(self, left: Prepared, right: Expansion, size: int, *, in_time: bool = False) -> Array:
        """The products of phi(x) with each column of an expansion, for `size` prepared rows x.

        `in_time`: with `TimeIsUpError` once the time is up.
        """
        found = np.zeros((size, right.coef.shape[1]))
        at_once = max(1, self.values_at_once // max(1, len(right.rows)))
        for begin in range(0, size if len(right.rows) else 0, at_once):
            if in_time and begin and time_is_up():
                raise TimeIsUpError
            part = slice(begin, min(begin + at_once, size))
            found[part] = self._products(left, part, right)
        return found

    @abstractmethod
    def _products(self, left: Prepared, part: slice, right: Expansion) -> Array:
        """The same for a part of the rows, where there are some on both sides."""

    @abstractmethod
    def exact_products(self, support: Rows, coef: Array, rows: Rows | None = None) -> tuple[Array, Array]:
        """K(X[rows], X[support]) @ coef in double precision and what it may be off by; None: of all rows."""


class HostKernelRows(KernelRows):
    """Rows whose products are made on the processor.

    Parameters
    ----------
    X : array or CSR matrix
    kernel : Kernel
    like : rows, optional
        Rows that stand for all where the kernel is prepared: so that no pass over X is needed.
    n_threads : int
    """

    def __init__(self, X: Matrix, kernel: Kernel, *, n_threads: int = 0, like: Rows | None = None) -> None:
        super().__init__(X, kernel, n_threads)
        self._like: _core.KernelExamples | None = None
        if kernel.computed:
            self._like = kernel.examples(X if like is None else X[like], n_threads=n_threads)
            if self._like.exponent > 0:
                self.squared_lengths()  # refuses values that single precision does not hold

    @property
    def everything(self) -> Prepared:
        """All rows, prepared. Requires that `like` was not given."""
        return self._like if self.kernel.computed else self.prepare(np.arange(self.size, dtype=np.int64))

    def prepare(self, rows: Rows) -> Prepared:
        """As the core reads them, the rows themselves, or their numbers in a kernel matrix."""
        if self.kernel.computed:
            return self.kernel.examples(self.X[rows], like=self._like, n_threads=self.n_threads)
        return rows if self.kernel.name == "precomputed" else self.X[rows]

    def _products(self, left: Prepared, part: slice, right: Expansion) -> Array:
        if self.kernel.computed:
            rows = part.start, part.stop
            found: Array = _core.kernel_product(left, right.prepared, right.coef, self.n_threads, None, rows)
            return np.ldexp(found, right.prepared.exponent) if right.prepared.exponent else found
        starts = range(part.start, part.stop, ROWS_AT_ONCE)
        blocks = (self._given_block(left[i : min(i + ROWS_AT_ONCE, part.stop)], right) for i in starts)
        return np.concatenate([block.astype(np.float64) @ right.coef for block in blocks])

    def _given_block(self, left: Matrix | Rows, right: Expansion) -> Matrix:
        """Values of a kernel that the core does not compute."""
        if self.kernel.name == "precomputed":
            return self.X[np.ix_(left, right.rows)]
        return self.kernel.block(left, right.prepared)

    def exact_products(self, support: Rows, coef: Array, rows: Rows | None = None) -> tuple[Array, Array]:
        """K(X[rows], X[support]) @ coef in double precision and what it may be off by; None: of all rows."""
        return exact_products(self.kernel, self.X, support, coef, rows)

"""Vectors of a kernel's feature space as sums over rows of X, and their products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._types import Array, Matrix
from cutplane.kernels.functions import ROWS_AT_ONCE, Kernel

Rows = NDArray[np.int64]
# Rows as products need them: what the core made of them, the rows themselves, or their numbers in a kernel matrix.
Prepared = _core.KernelExamples | Matrix | Rows


@dataclass(frozen=True)
class Expansion:
    """Σ coef[j, c] phi(x_rows[j]) for each column c, and a vector of explicit features.

    `prepared` is what `KernelRows` keeps of the rows.
    """

    rows: Rows
    coef: Array
    explicit: Array
    prepared: Prepared | None


class KernelRows:
    """Rows of X as one kernel sees them.

    Parameters
    ----------
    X : array or CSR matrix
        The examples; for a precomputed kernel the kernel matrix.
    kernel : Kernel
    like : rows, optional
        Rows that stand for all where the kernel is prepared: so that no pass over X is needed.
    n_threads : int
    """

    def __init__(self, X: Matrix, kernel: Kernel, *, n_threads: int = 0, like: Rows | None = None) -> None:
        self._X = X
        self.kernel = kernel
        self.n_threads = n_threads
        self._like = None
        if kernel.computed:
            self._like = kernel.examples(X if like is None else X[like], n_threads=n_threads)

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self._X.shape[0])

    @property
    def everything(self) -> Prepared:
        """All rows, prepared. Requires that `like` was not given."""
        return self._like if self.kernel.computed else self.prepare(np.arange(self._X.shape[0], dtype=np.int64))

    def prepare(self, rows: Rows) -> Prepared:
        """Rows for products on either side."""
        if self.kernel.computed:
            return self.kernel.examples(self._X[rows], like=self._like, n_threads=self.n_threads)
        return rows if self.kernel.name == "precomputed" else self._X[rows]

    def expansion(self, rows: Rows, coef: Array, explicit: Array) -> Expansion:
        """The sum over rows with a coefficient other than zero."""
        used = np.flatnonzero(coef.any(axis=1))
        rows, coef = rows[used], np.ascontiguousarray(coef[used])
        return Expansion(rows, coef, explicit, self.prepare(rows) if len(rows) else None)

    def squared_lengths(self) -> NDArray[np.float32]:
        """K(x, x) of every row."""
        return self.kernel.diagonal(self._X, n_threads=self.n_threads)

    def block(self, rows: Rows) -> Array:
        """Kernel values among some rows."""
        if self.kernel.name == "precomputed":
            part = self._X[rows][:, rows]
            return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        examples = self._X[rows]
        return self.kernel.block(examples, examples, n_threads=self.n_threads).astype(np.float64)

    def products(self, left: Prepared, right: Expansion, size: int) -> Array:
        """The products of phi(x) with each column of an expansion, for `size` prepared rows x."""
        if not len(right.rows):
            return np.zeros((size, right.coef.shape[1]))
        if isinstance(left, _core.KernelExamples):
            assert isinstance(right.prepared, _core.KernelExamples)
            return _core.kernel_product(left, right.prepared, right.coef, self.n_threads)
        blocks = (self._given_block(left[i : i + ROWS_AT_ONCE], right) for i in range(0, size, ROWS_AT_ONCE))
        return np.concatenate([block.astype(np.float64) @ right.coef for block in blocks])

    def _given_block(self, left: Matrix | Rows, right: Expansion) -> Matrix:
        """Values of a kernel that the core does not compute."""
        if self.kernel.name == "precomputed":
            return self._X[np.ix_(left, right.rows)]
        return self.kernel.block(left, right.prepared)

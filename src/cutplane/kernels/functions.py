"""Kernel functions: blocks K(A, B), their products with coefficients, diagonals; threaded, in single precision."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane._types import Array, Matrix, is_sparse
from cutplane.kernels.table import NAMES, TABLE

Block = NDArray[np.float32]
# A kernel as a callable: f(A, B) of the rows that users handed over. What they are is between the two of them.
KernelFunction = Callable[..., ArrayLike]

# What kernel values in single precision may be off by, relative to the largest: see `Kernel`.
SINGLE_PRECISION = 1e-6
# Rows of a callable's block that are asked for at a time where only a product is wanted.
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class Kernel:
    """A kernel function.

    Parameters
    ----------
    name : str
        One of `cutplane.kernels.FORMULAS`, which says what each computes; "precomputed", where X is the kernel matrix
        itself; or "callable", where `function` computes it.
    gamma, coef0 : float
        Of kernels that have them in their formula.
    degree : int
        The same.
    function : callable, optional
        f(A, B) -> array of shape (len(A), len(B)).

    Values of the computed kernels are single precision: relative error about 1e-6 (exp itself: 2e-7). They are the
    same to the bit for any number of threads and however A is cut into blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.kernels import Kernel
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> Kernel("rbf", gamma=1.0).block(X, X).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]], dtype=float32)
    >>> from cutplane.kernels import FORMULAS
    >>> FORMULAS["rbf"]
    'exp(-gamma |x - z|²)'
    """

    name: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    function: KernelFunction | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"kernel={self.name!r} must be one of {', '.join(map(repr, NAMES))}.")
        if self.name == "callable" and not callable(self.function):
            raise ValueError(f"The function of a callable kernel must be callable, not {self.function!r}.")
        if not _is_number(self.gamma) or not self.gamma > 0 or not np.isfinite(self.gamma):
            raise ValueError(f"gamma={self.gamma!r} must be a finite number greater than 0.")
        if not _is_number(self.coef0) or not np.isfinite(self.coef0):
            raise ValueError(f"coef0={self.coef0!r} must be a finite number.")
        if not _is_whole(self.degree) or not 0 <= self.degree <= 1000:
            raise ValueError(f"degree={self.degree!r} must be an integer between 0 and 1000.")

    @property
    def definite(self) -> bool:
        """Whether every kernel matrix is positive semi-definite, by construction."""
        return self.computed and self.entry.definite(float(self.coef0))

    @property
    def unit_length(self) -> bool:
        """Whether K(x, x) = 1 for every example."""
        return self.computed and self.entry.unit_length

    @property
    def by_products(self) -> bool:
        """Whether products of examples are all that is needed, as a BLAS computes them."""
        return self.computed and self.entry.reduction in ("product", "squared_difference")

    @property
    def computed(self) -> bool:
        """Whether the core computes it."""
        return self.name in TABLE

    @property
    def entry(self) -> _core.KernelEntry:
        """What is known of a kernel that the core computes."""
        return TABLE[self.name]

    def examples(
        self, X: Matrix, *, like: _core.KernelExamples | None = None, n_threads: int = 0
    ) -> _core.KernelExamples:
        """X as the core reads it, copied to single precision; `like`: the examples it will be compared with.

        X is a dense array or CSR matrix of float32 or float64 with finite values.
        """
        if not self.computed:
            raise ValueError(f"Examples of a {self.name} kernel cannot be prepared: the core does not compute it.")
        _check_examples(self.entry, X)
        settings = (self.name, float(self.gamma), float(self.coef0), int(self.degree), like, n_threads)
        if is_sparse(X):
            indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
            return _core.KernelExamples.csr(X.data, X.indices, indptr, X.shape[1], *settings)
        return _core.KernelExamples.dense(X, *settings)

    def block(self, A: Matrix, B: Matrix | _core.KernelExamples, *, n_threads: int = 0) -> Block:
        """K(A, B), of shape (len(A), len(B)). A precomputed kernel is its own block: A is returned.

        B may be what `examples` returned for it: worth it where many blocks with the same B follow.
        """
        if self.name == "precomputed":
            return np.ascontiguousarray(A, np.float32)
        if self.name == "callable":
            return single(self.values(A, B))
        right = B if isinstance(B, _core.KernelExamples) else self.examples(B, n_threads=n_threads)
        block = _core.kernel_block(self.examples(A, like=right, n_threads=n_threads), right, n_threads)
        return single(np.ldexp(block.astype(np.float64), right.exponent) if right.exponent else block)

    def product(self, A: Matrix, B: Matrix | _core.KernelExamples, coef: Array, *, n_threads: int = 0) -> Array:
        """K(A, B) @ coef without storing the block; coef has shape (len(B),) or (len(B), k).

        B may be what `examples` returned for it: worth it where many products with the same B follow.
        """
        columns = np.ascontiguousarray(coef.reshape(len(coef), -1), np.float64)
        if self.computed:
            right = B if isinstance(B, _core.KernelExamples) else self.examples(B, n_threads=n_threads)
            result = self.products(A, right, columns, [right.size], n_threads=n_threads)[:, 0]
        else:
            starts = range(0, A.shape[0], ROWS_AT_ONCE)
            parts = [self.block(A[start : start + ROWS_AT_ONCE], B) @ columns for start in starts]
            result = np.concatenate(parts) if parts else np.zeros((0, columns.shape[1]))
        return result.reshape((A.shape[0], *coef.shape[1:]))

    def products(
        self, A: Matrix, B: _core.KernelExamples, coef: Array, ends: Sequence[int], *, n_threads: int = 0
    ) -> Array:
        """K(A, B's groups) @ their rows of coef, of shape (len(A), groups, k), for a kernel that the core computes.

        Groups follow each other, and end at `ends`.
        """
        left = self.examples(A, like=B, n_threads=n_threads)
        result = np.ldexp(_core.kernel_product(left, B, coef, n_threads, list(ends)), B.exponent)
        _check_scores(result)
        return result.reshape(A.shape[0], len(ends), coef.shape[1])

    def diagonal(self, X: Matrix, *, n_threads: int = 0) -> Block:
        """K(x, x) of each example."""
        if self.name == "precomputed":
            return np.ascontiguousarray(X.diagonal(), np.float32)
        if self.name == "callable":
            rows = (X[i : i + 1] for i in range(X.shape[0]))
            return single(np.array([[self.values(row, row)[0, 0]] for row in rows]))[:, 0]
        examples = self.examples(X, n_threads=n_threads)
        own = np.ldexp(examples.diagonal(n_threads).astype(np.float64), examples.exponent)
        return single(own[:, None])[:, 0]

    def values(self, A: Matrix, B: Matrix) -> Array:
        """K(A, B) as a callable kernel returns it, in double precision, checked."""
        assert self.function is not None
        values = self.function(A, B)
        values = values.toarray() if is_sparse(values) else np.asarray(values)
        expected = (A.shape[0], B.shape[0])
        if values.shape != expected:
            raise ValueError(f"The kernel function returned shape {values.shape}; for these examples it is {expected}.")
        if np.iscomplexobj(values):
            raise ValueError("The kernel function returned complex values; kernels are real.")
        values = np.ascontiguousarray(values, np.float64)
        if not np.all(np.isfinite(values)):
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"The kernel function returned {values[row, column]} at row {row}, column {column}; every value must "
                "be finite."
            )
        return values


def _check_scores(scores: Array) -> None:
    if not np.all(np.isfinite(scores)):
        row = int(np.argwhere(~np.isfinite(scores))[0, 0])
        raise ValueError(
            f"Row {row} of X has kernel values that are not finite in single precision; it must be of about the size "
            "of the training examples."
        )


def single(values: NDArray[np.floating]) -> Block:
    """Kernel values in single precision; `ValueError` if they are too large for it."""
    with np.errstate(over="ignore"):
        block = np.ascontiguousarray(values, np.float32)
    if not np.all(np.isfinite(block)):
        row, column = np.argwhere(~np.isfinite(block))[0]
        raise ValueError(
            f"The kernel of row {row} with row {column} is {values[row, column]:.3g}, which is not finite in single "
            "precision; scale the data, or lower gamma or degree."
        )
    return block


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _check_examples(entry: _core.KernelEntry, X: Matrix) -> None:
    if X.dtype not in (np.float32, np.float64):
        raise TypeError(f"Examples must be float32 or float64, not {X.dtype}.")
    if entry.positive_only:
        values = X.data if is_sparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(f"X has the value {values.min()}; the {entry.name} kernel needs values of 0 or greater.")

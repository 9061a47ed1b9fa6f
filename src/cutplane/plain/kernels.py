"""Kernel values K(A, B) in double precision, by name. A and B are dense or sparse rows, both of one kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cutplane._types import Array, Matrix

# Differences of all pairs of rows are held at once for this many numbers.
_AT_ONCE = 4_000_000


def rbf(A: Matrix, B: Matrix, gamma: float, degree: int, coef0: float) -> Array:
    """exp(-gamma |x - z|²)."""
    squares = _squares(A)[:, None] + _squares(B)[None, :] - 2.0 * _products(A, B)
    return np.exp(-gamma * np.maximum(squares, 0.0))


def poly(A: Matrix, B: Matrix, gamma: float, degree: int, coef0: float) -> Array:
    """(gamma <x, z> + coef0)^degree."""
    return np.asarray((gamma * _products(A, B) + coef0) ** degree)


def tanh(A: Matrix, B: Matrix, gamma: float, degree: int, coef0: float) -> Array:
    """tanh(gamma <x, z> + coef0)."""
    return np.tanh(gamma * _products(A, B) + coef0)


def laplacian(A: Matrix, B: Matrix, gamma: float, degree: int, coef0: float) -> Array:
    """exp(-gamma |x - z|_1)."""
    return np.exp(-gamma * _pairwise(lambda a, b: np.abs(a - b), A, B))


def chi2(A: Matrix, B: Matrix, gamma: float, degree: int, coef0: float) -> Array:
    """exp(-gamma Σ (x - z)² / (x + z)); 0 / 0 is 0."""

    def terms(a: Array, b: Array) -> Array:
        total = a + b
        return (a - b) ** 2 / np.where(total > 0.0, total, 1.0)

    return np.exp(-gamma * _pairwise(terms, A, B))


#: All but the linear kernel, whose scores are linear in the examples.
KERNELS: dict[str, Callable[[Matrix, Matrix, float, int, float], Array]] = {
    "rbf": rbf,
    "poly": poly,
    "sigmoid": tanh,
    "laplacian": laplacian,
    "chi2": chi2,
}


def _products(A: Matrix, B: Matrix) -> Array:
    return dense(A @ B.T)


def _squares(A: Matrix) -> Array:
    squares: Any = A.multiply(A).sum(axis=1) if hasattr(A, "multiply") else np.einsum("ij,ij->i", A, A)
    return np.asarray(squares, np.float64).ravel()


def _pairwise(terms: Callable[[Array, Array], Array], A: Matrix, B: Matrix) -> Array:
    """The sum over features of `terms`, for all pairs of rows."""
    left, right = dense(A), dense(B)
    sums = np.empty((len(left), len(right)))
    size = max(1, _AT_ONCE // max(1, right.size))
    for start in range(0, len(left), size):
        sums[start : start + size] = terms(left[start : start + size, None, :], right[None, :, :]).sum(axis=2)
    return sums


def dense(X: Matrix) -> Array:
    """Rows as an array in double precision."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)

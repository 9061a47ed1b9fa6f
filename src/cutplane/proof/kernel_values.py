"""Values of kernels in double precision, from their definitions, each with how far it can be from the real number.

The kernel is the function of the numbers in X, of gamma and of coef0 as they are. Where the errors come from is said
beside each: a product of d pairs, in any order, is off by at most gamma(d) |x| |z|, a sum of d positive terms by
gamma(d) of itself (`cutplane.proof.rounding`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane._types import Integers, Matrix, is_sparse
from cutplane.proof.rounding import UNIT, gamma

Array = NDArray[np.float64]

# Values at a time.
_BLOCK = 1 << 19
# Support vectors of so many numbers are made dense: products with them are faster.
_DENSE = 1 << 25
# The error of exp, tanh and powers, in units: a few in the last place are promised.
_FUNCTION = 16.0
# Squared distances are differences of products while exp(-gamma distance) is off by no more than this share.
_PRODUCTS = 1e-10
# At least what is lost where numbers are too small for double precision.
_UNDERFLOW = 1e-290


@dataclass(frozen=True)
class KernelFunction:
    """linear <x, z>; rbf exp(-gamma |x - z|²); poly (gamma <x, z> + coef0)^degree; sigmoid tanh(gamma <x, z> + coef0).

    laplacian exp(-gamma |x - z|_1); chi2 exp(-gamma Σ (x - z)² / (x + z)); precomputed: X is the matrix of values.
    """

    name: str
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    @property
    def definite(self) -> bool:
        """Whether every matrix of its values is positive semi-definite, by construction.

        Products are; so are sums and products of such kernels (polynomials with coef0 >= 0, and exp of one), and
        exp(-gamma·distance) for distances of negative type: squared, of absolute values, chi2 of numbers >= 0.
        """
        return self.name in ("linear", "rbf", "laplacian", "chi2") or (self.name == "poly" and self.coef0 >= 0.0)

    def blocks(self, X: Matrix, columns: Integers) -> Iterator[tuple[slice, Array, Array]]:
        """Some rows after the other: which, K(X[rows], X[columns]), and how far each value can be off."""
        size = max(1, _BLOCK // max(1, len(columns)))
        starts = range(0, X.shape[0], size)
        if self.name == "precomputed":
            for begin in starts:
                rows = slice(begin, begin + size)
                values = np.asarray(X[rows][:, columns], np.float64)
                yield rows, values, np.zeros_like(values)
            return
        if self.name == "chi2" and _least(X) < 0.0:
            raise ValueError(f"X has the value {_least(X)}; the chi2 kernel needs values of 0 or greater.")
        # Numbers of about one: a power of two changes no digit, and nothing overflows.
        exponent = max(math.frexp(_largest(X))[1], -1000)
        kernel = self._for_examples_divided_by(exponent)
        right = _scaled(X[columns], exponent)
        if right.shape[0] * right.shape[1] <= _DENSE:
            right = _dense(right)
        centred = self.name == "rbf" and not is_sparse(X) and len(columns) > 0
        centre = np.asarray(right.mean(axis=0), np.float64) if centred else None
        for begin in starts:
            rows = slice(begin, begin + size)
            values, errors = kernel._values(_scaled(X[rows], exponent), right, centre)
            if self.name == "linear":
                values, errors = np.ldexp(values, 2 * exponent), np.ldexp(errors, 2 * exponent)
            yield rows, values, errors + _UNDERFLOW

    def own_values(self, X: Matrix) -> float:
        """At least K(x, x) for every example."""
        return float(self.own_value_of_each(X).max(initial=0.0))

    def own_value_of_each(self, X: Matrix) -> Array:
        """K(x, x) or a little more, by example; for a precomputed kernel X is square."""
        if self.name == "precomputed":
            return np.asarray(np.abs(np.diagonal(X)), np.float64)
        if self.name not in ("linear", "poly"):
            return np.ones(X.shape[0])
        exponent = max(math.frexp(_largest(X))[1], -1000)
        squares = _lengths(_scaled(X, exponent)) ** 2
        if self.name == "linear":
            return np.asarray(np.ldexp(squares, 2 * exponent) * (1.0 + 1e-9))
        scaled = self._for_examples_divided_by(exponent)
        return np.asarray((scaled.gamma * squares + abs(self.coef0)) ** self.degree) * (1.0 + 1e-9)

    def _for_examples_divided_by(self, exponent: int) -> KernelFunction:
        power = 1 if self.name in ("laplacian", "chi2") else 2
        return replace(self, gamma=math.ldexp(self.gamma, power * exponent))

    def _values(self, A: Matrix, B: Matrix, centre: Array | None) -> tuple[Array, Array]:
        if self.name in ("linear", "poly", "sigmoid"):
            return self._of_products(A, B)
        if self.name == "rbf":
            found = self._of_squares(A, B) if centre is None else self._of_squares(A - centre, B - centre)
            if found is not None:
                return found
        return self._of_sums(_dense(A), _dense(B))

    def _of_products(self, A: Matrix, B: Matrix) -> tuple[Array, Array]:
        """By the slope of a function of the product, times what the product is off by."""
        d = A.shape[1]
        products, sizes = _dense(A @ B.T), np.outer(_lengths(A), _lengths(B))
        if self.name == "linear":
            return products, gamma(d + 4) * sizes
        base = self.gamma * products + self.coef0
        largest = (self.gamma * sizes + abs(self.coef0)) * (1.0 + 1e-9)
        off = gamma(d + 8) * largest
        if self.name == "sigmoid":
            return np.tanh(base), off + _FUNCTION * UNIT
        slope = self.degree * largest ** max(self.degree - 1, 0)
        values = np.asarray(np.power(base, self.degree))
        return values, (off * slope + _FUNCTION * UNIT * largest**self.degree) * (1.0 + 1e-9)

    def _of_squares(self, A: Matrix, B: Matrix) -> tuple[Array, Array] | None:
        """|x - z|² = |x|² + |z|² - 2<x, z>: off by 3d + 24 units of (|x| + |z|)², the lengths being rounded up."""
        left, right = _lengths(A), _lengths(B)
        off = self.gamma * gamma(3 * A.shape[1] + 32) * np.add.outer(left, right) ** 2
        if off.max(initial=0.0) > _PRODUCTS:
            return None
        squares = np.add.outer(left**2, right**2) - 2.0 * _dense(A @ B.T)
        values = np.exp(-self.gamma * np.maximum(squares, 0.0))
        return values, values * (off + _FUNCTION * UNIT) * (1.0 + 1e-9)

    def _of_sums(self, A: Array, B: Array) -> tuple[Array, Array]:
        """A sum of d distances is off by a share of itself, and t·exp(-t) is never above 0.37."""
        distances = np.zeros((len(A), len(B)))
        for a, b in zip(A.T, B.T, strict=True):
            between = np.abs(np.subtract.outer(a, b))
            if self.name == "chi2":
                both = np.add.outer(a, b)
                between = between**2 / np.where(both > 0.0, both, 1.0)
            distances += between**2 if self.name == "rbf" else between
        values = np.exp(-self.gamma * distances)
        return values, _FUNCTION * UNIT * values + 0.37 * gamma(A.shape[1] + 16)


def products(kernel: KernelFunction, X: Matrix, support: Integers, coef: Array) -> tuple[Array, Array]:
    """K(X, X[support]) @ coef, of shape (n, coef.shape[1]), and how far each number can be off."""
    sums, errors = np.zeros((2, X.shape[0], coef.shape[1]))
    sizes = np.abs(coef)
    for rows, values, off in kernel.blocks(X, support):
        sums[rows] = values @ coef
        errors[rows] = (gamma(len(support) + 4) * np.abs(values) + off) @ sizes
    return sums, errors * (1.0 + 1e-9)


def _least(X: Matrix) -> float:
    return float((X.data if is_sparse(X) else np.asarray(X)).min(initial=0.0))


def _largest(X: Matrix) -> float:
    values = X.data if is_sparse(X) else np.asarray(X)
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _scaled(X: Matrix, exponent: int) -> Matrix:
    if not is_sparse(X):
        return np.ldexp(np.asarray(X, np.float64), -exponent)
    return sp.csr_array((np.ldexp(X.data.astype(np.float64), -exponent), X.indices, X.indptr), shape=X.shape)


def _lengths(X: Matrix) -> Array:
    """|x| of each row, or a little more."""
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if is_sparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(np.sqrt(squares) * (1.0 + gamma(X.shape[1] + 4)))


def _dense(X: Matrix) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X)

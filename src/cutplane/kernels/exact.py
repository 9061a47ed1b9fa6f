"""Kernel values in double precision, in blocks, and how far products with them are from those of the kernel itself.

For proofs only: the solver and predictions use `Kernel`, in single precision. A computed value v of the kernel K obeys
|v - K| <= relative_i |K| + left_i right_j for row i and column j; where these come from is said beside each kernel.
The kernel is the function of the numbers in X and of gamma and coef0 as they are, without any rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from cutplane._runtime.blas import one_blas_thread
from cutplane._types import Array, Matrix, is_sparse
from cutplane.kernels.functions import Kernel

# Positions of examples, in any type that holds them.
Rows = NDArray[np.integer]

# The rounding of one operation in double precision.
UNIT = 2.0**-53
# Values of a block (which stays in the processor's cache), and numbers of examples that are made dense, at a time.
_VALUES_AT_ONCE = 1 << 17
_NUMBERS_AT_ONCE = 1 << 23
# The error of exp and tanh, in units; NumPy's are within four in the last place.
FUNCTION_ERROR = 16.0
# The largest of s exp(-s) for s >= 0 is 1 / e: a relative error of s is an absolute one of exp(-s).
FALL = 0.37
# Distances are differences of products while exp(-gamma distance) is then off by no more than this share.
SHARE_LOST_BY_PRODUCTS = 1e-9
# An upper bound on what underflow loses.
UNDERFLOW = 1e-300
# Kernel values, and gamma times squared lengths, that leave room for sums of their squares.
_MOST_VALUE, _LEAST_VALUE = 1e250, 1e-250


@dataclass(frozen=True)
class _Rows:
    """Examples in units of a power of two, where nothing overflows; moved to a centre, their lengths from there."""

    X: Matrix
    moved: Matrix
    lengths: Array


@dataclass(frozen=True)
class ExactKernel:
    """A kernel that the core computes, in double precision.

    Parameters
    ----------
    kernel : Kernel
        One that is computed.
    exponent : int
        Examples are divided by 2^exponent, and the kernel's parameters changed to undo it.
    """

    kernel: Kernel
    exponent: int

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix) -> ExactKernel:
        """For examples of the size of X."""
        return cls(kernel, max(math.frexp(largest_number(X))[1], -1022))

    def products(self, A: Matrix, B: Matrix, coef: Array) -> tuple[Array, Array]:
        """K(A, B) @ coef and what it may be off by, both of shape (len(A), coef.shape[1])."""
        sums, errors = np.zeros((2, A.shape[0], coef.shape[1]))
        size = np.abs(coef)
        at_once = max(1, _VALUES_AT_ONCE // max(1, B.shape[0]))
        positive = self.kernel.unit_length  # exp(-gamma distance)
        centre = self._centre(B)
        right = self._rows(B, centre)
        for start in range(0, A.shape[0], at_once):
            part = slice(start, start + at_once)
            values, relative, left, across = self._block(self._rows(A[part], centre), right)
            sums[part] = values @ coef
            own = (values if positive else np.abs(values, out=values)) @ size
            errors[part] = (relative + (len(coef) + 4) * UNIT)[:, None] * own + left[:, None] * (across @ size)
        return sums, errors * (1.0 + 1e-9) + UNDERFLOW * size.sum(axis=0)

    def block(self, A: Matrix, B: Matrix) -> Array:
        """K(A, B) itself."""
        centre = self._centre(B)
        return self._block(self._rows(A, centre), self._rows(B, centre))[0]

    # --- examples ---

    def _centre(self, B: Matrix) -> Array | None:
        if self.kernel.entry.reduction != "squared_difference" or is_sparse(B) or not len(B):
            return None
        return np.asarray(np.ldexp(B.astype(np.float64), -self.exponent).mean(axis=0))

    def _rows(self, X: Matrix, centre: Array | None) -> _Rows:
        if is_sparse(X):
            scaled = sp.csr_array((np.ldexp(X.data.astype(np.float64), -self.exponent), X.indices, X.indptr), X.shape)
            moved, squares = scaled, np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel()
        else:
            scaled = np.ldexp(np.asarray(X, np.float64), -self.exponent)
            moved = scaled if centre is None else scaled - centre
            squares = np.einsum("ij,ij->i", moved, moved)
        return _Rows(scaled, moved, np.sqrt(squares) * (1.0 + (X.shape[1] + 4) * UNIT))

    def largest_own_value(self, X: Matrix) -> float:
        """At least K(x, x) for every example."""
        if self.kernel.entry.transform in ("exponential", "tangent"):
            return 1.0
        square = float(self._rows(X, None).lengths.max(initial=0.0)) ** 2
        if self.kernel.entry.transform == "identity":
            return math.ldexp(square, 2 * self.exponent) * (1.0 + 1e-9)
        return float((self._scaled_gamma() * square + abs(self.kernel.coef0)) ** self.kernel.degree) * (1.0 + 1e-9)

    def _scaled_gamma(self) -> float:
        return math.ldexp(self.kernel.gamma, self.kernel.entry.growth * self.exponent)

    # --- kernels ---

    def _block(self, A: _Rows, B: _Rows) -> tuple[Array, Array, Array, Array]:
        """Values, and the error's `relative`, `left` and `right`."""
        reduction = self.kernel.entry.reduction
        if reduction == "product":
            return self._of_products(A, B)
        return self._of_squares(A, B) if reduction == "squared_difference" else self._of_sums(A, B)

    def _of_products(self, A: _Rows, B: _Rows) -> tuple[Array, Array, Array, Array]:
        """A product of d pairs is off by (d + 1) units of |x| |z|; a function of it by its slope times that."""
        kernel, d = self.kernel, A.X.shape[1]
        base = _dense(A.X @ B.X.T)
        none = np.zeros(len(A.lengths))
        if kernel.entry.transform == "identity":
            left = (d + 4) * UNIT * np.ldexp(A.lengths, self.exponent)
            return np.ldexp(base, 2 * self.exponent), none, left, np.ldexp(B.lengths, self.exponent)
        gamma = self._scaled_gamma()
        base *= gamma
        base += kernel.coef0
        # |gamma <x, z> + coef0| <= size(x) size(z), by Cauchy and Schwarz.
        sizes = [np.sqrt(gamma * rows.lengths**2 + abs(kernel.coef0)) for rows in (A, B)]
        if kernel.entry.transform == "tangent":
            left, right = (np.maximum(size, 1.0) for size in sizes)
            return np.tanh(base, out=base), none, (d + 8 + FUNCTION_ERROR) * UNIT * left, right
        left, right = (size**kernel.degree for size in sizes)
        return base**kernel.degree, none, (kernel.degree + 1) * (d + 24) * UNIT * left, right

    def _of_squares(self, A: _Rows, B: _Rows) -> tuple[Array, Array, Array, Array]:
        """|x - z|² = |x|² + |z|² - 2<x, z> is off by (d + 10) units of (|x| + |z|)², moving to the centre included."""
        gamma, d = self._scaled_gamma(), A.X.shape[1]
        reach = gamma * (A.lengths + B.lengths.max(initial=0.0)) ** 2
        if (d + 10) * UNIT * reach.max(initial=0.0) > SHARE_LOST_BY_PRODUCTS:
            return self._of_sums(A, B)
        values = _dense(A.moved @ B.moved.T)
        values *= -2.0
        values += (A.lengths**2)[:, None]
        values += B.lengths**2
        np.maximum(values, 0.0, out=values)
        values *= -gamma
        # The lengths were rounded up by (d + 4) units each.
        relative = ((3 * d + 32) * reach + FUNCTION_ERROR) * UNIT
        return np.exp(values, out=values), relative, np.zeros(len(reach)), np.zeros(len(B.lengths))

    def _of_sums(self, A: _Rows, B: _Rows) -> tuple[Array, Array, Array, Array]:
        """A distance summed from d differences is off by d + 6 units of itself."""
        gamma, d = self._scaled_gamma(), A.X.shape[1]
        values = np.empty((A.X.shape[0], B.X.shape[0]))
        size = max(1, _NUMBERS_AT_ONCE // max(1, d))
        for i in range(0, A.X.shape[0], size):
            for j in range(0, B.X.shape[0], size):
                block = values[i : i + size, j : j + size]
                block[:] = _distances(self.kernel.entry.reduction, _dense(A.X[i : i + size]), _dense(B.X[j : j + size]))
        values *= -gamma
        relative, left = np.full(len(values), FUNCTION_ERROR * UNIT), np.full(len(values), FALL * (d + 16) * UNIT)
        return np.exp(values, out=values), relative, left, np.ones(B.X.shape[0])


def exact_products(
    kernel: Kernel, X: Matrix, support: Rows, coef: Array, rows: Rows | None = None
) -> tuple[Array, Array]:
    """K(X[rows], X[support]) @ coef and what it may be off by, for any kernel; None: of all rows.

    A precomputed X is the kernel matrix. The values of a precomputed or callable kernel are the kernel: only their
    products are rounded.
    """
    left = X if rows is None else X[rows]
    with one_blas_thread():
        if kernel.computed:
            return ExactKernel.of(kernel, X).products(left, X[support], coef)
        return _given_products(kernel, left, support if kernel.name == "precomputed" else X[support], coef)


def _given_products(kernel: Kernel, left: Matrix, right: Matrix | Rows, coef: Array) -> tuple[Array, Array]:
    """The right of a precomputed kernel are columns."""
    sums, errors = np.zeros((2, left.shape[0], coef.shape[1]))
    at_once = max(1, _VALUES_AT_ONCE // max(1, len(coef)))
    for start in range(0, left.shape[0], at_once):
        part = slice(start, start + at_once)
        if kernel.name == "precomputed":
            values = np.asarray(_dense(left[part][:, right]), np.float64)
        else:
            values = kernel.values(left[part], right)
        sums[part] = values @ coef
        errors[part] = (len(coef) + 8) * UNIT * (np.abs(values) @ np.abs(coef))
    return sums, errors


def exact_matrix(kernel: Kernel, X: Matrix, rows: Rows) -> Array:
    """K of these rows with each other, of the type it has."""
    if kernel.name == "precomputed":
        return _dense(X[np.ix_(rows, rows)])
    examples = X[rows]
    if kernel.name == "callable":
        return kernel.values(examples, examples)
    return ExactKernel.of(kernel, examples).block(examples, examples)


def check_range(kernel: Kernel, X: Matrix) -> None:
    """`ValueError` if the kernel of examples like these leaves double precision."""
    if not kernel.computed:
        return
    largest = largest_number(X)
    if largest == 0.0:
        return
    has_gamma, transform = "gamma" in kernel.entry.parameters, kernel.entry.transform
    size = math.log10(largest) * kernel.entry.growth + math.log10(X.shape[1])
    if has_gamma:
        size += math.log10(kernel.gamma)
    if transform == "power":
        size = kernel.degree * max(size, math.log10(abs(kernel.coef0)) if kernel.coef0 else -math.inf)
    too_small = transform in ("identity", "power") and size < math.log10(_LEAST_VALUE)
    if size > math.log10(_MOST_VALUE) or too_small:
        parameters = f" with gamma={kernel.gamma:.3g}" if has_gamma else ""
        raise ValueError(
            f"X has values of up to {largest:.3g}, for which the {kernel.name} kernel{parameters} is about "
            f"10^{size:.0f} before it is rounded: too {'small' if too_small else 'large'}. It must be between "
            f"{_LEAST_VALUE:g} and {_MOST_VALUE:g}: scale the data{', or change gamma' if has_gamma else ''}."
        )


def largest_number(X: Matrix) -> float:
    """The largest size of a number in X."""
    values = X.data if is_sparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _dense(X: Matrix) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _distances(reduction: str, A: Array, B: Array) -> Array:
    if reduction != "chi_square":
        return np.asarray(cdist(A, B, "sqeuclidean" if reduction == "squared_difference" else "cityblock"))
    sums = np.zeros((len(A), len(B)))
    for a, b in zip(A.T, B.T, strict=True):
        whole = a[:, None] + b
        sums += (a[:, None] - b) ** 2 / np.where(whole > 0.0, whole, 1.0)
    return sums

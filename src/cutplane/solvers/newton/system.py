"""The linear systems of Newton's method: (I + kappa·curvature) p = -gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from cutplane._runtime.deadline import time_is_up
from cutplane.solvers.base import Array, Curvature, Products

# A factor of a system this large would cost more memory and time than it saves.
LARGEST_FACTOR = 2500
# Rows of a triangle that are copied to the other one at a time: they stay in the first cache.
_COPIED_ROWS = 64


@dataclass(frozen=True, slots=True)
class SystemTuning:
    """When a system is factorised, and how closely it is solved: benchmarks/binary.py, MNIST, a9a, w8a."""

    #: How closely the systems are solved: a rough direction costs a little of its length, a fine one many products.
    residual: float = 0.1
    #: Products a system may take; what is reached by then is a descent direction all the same.
    most_products: int = 60
    #: Products that even a fresh factor takes.
    least_products: int = 2
    #: With more features than this a system is large...
    large: int = 400
    #: ... its factor is made from so many examples a feature: as a preconditioner it need not see them all...
    rows_per_feature: int = 6
    #: ... and up to so many examples a feature, it is solved in as many unknowns as there are examples.
    few: float = 0.35
    #: The factor of a small system is made from so many, where there are so many times more: one product tells the
    #: rest. Of fewer, to see all of them costs less than the step that is sometimes lost.
    rows_per_feature_of_small: int = 8000
    many: int = 4
    #: Up to this ratio of largest and least eigenvalue, a factor in double precision solves its system by itself.
    well_posed: float = 1e8


TUNING = SystemTuning()


class NewtonSystem:
    """Conjugate gradients, preconditioned by the factor of an earlier, similar system.

    Forming the curvature costs far more than a product with it, and examples on the kink change slowly. So a factor is
    made when the products that a fresh one would have saved add up to its own cost (never more than twice the least
    possible, as with renting or buying skis), and kept until that happens again.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        # The lower triangle of a curvature, its diagonal apart, and where that is large the factor of a system with it
        # above: systems are most of what training takes where features are many and examples few.
        self._square: Array | None = None
        self._diagonal: Array | None = None
        self._factor: Array | None = None  # as LAPACK reads it, by columns
        self._of: Curvature | None = None  # of which it was made to be the factor
        self._kappa = 0.0
        self._saved = 0.0 if self._large else float("inf")  # small systems: a factor pays at once

    @property
    def _large(self) -> bool:
        return self._dimension > TUNING.large

    @classmethod
    def of(cls, curvature: Curvature, dimension: int) -> NewtonSystem:
        """With the factor of this very curvature, all of it."""
        system = cls(dimension)
        system._of = curvature
        system._take(curvature.matrix())
        system._factorise(1.0)
        return system

    def solve(self, curvature: Curvature, kappa: float, gradient: Array, residual: float = TUNING.residual) -> Array:
        """An approximate solution p, always a descent direction; what is left of the gradient is about `residual`."""
        root = self._root(curvature)
        if root is not None:
            few = _FewRows.of(root, kappa)
            if few is not None:
                return self._conjugate_gradients(few.solve, curvature.products(), kappa, gradient, residual)[0]
        if self._dimension <= LARGEST_FACTOR:
            most = self._most_rows(curvature)
            # What a small factor costs is to go through its examples.
            seen = 1.0 if self._large or most is None else most / curvature.examples
            fresh = self._saved >= seen * curvature.cost
            if fresh:
                self._square = self._factor = None  # makes room
                self._take(curvature.matrix(most))
                self._factorise(kappa)
            elif self._square is not None and kappa != self._kappa:
                self._factorise(kappa)
            whole = (fresh and most is None) or curvature is self._of
            if whole and curvature.exact and self._well_posed:
                return self._precondition(-gradient)
        products = curvature.products()
        precondition = self._precondition if products.diagonal is None else _by(1.0 + kappa * products.diagonal())
        p, taken = self._conjugate_gradients(precondition, products, kappa, gradient, residual)
        self._saved += taken if curvature.exact and not self._large else max(0, taken - TUNING.least_products)
        return p

    def _root(self, curvature: Any) -> Array | None:
        """The curvature as few rows, where there are few and the system is large."""
        if not TUNING.large < self._dimension <= LARGEST_FACTOR or not curvature.examples:
            return None
        found: Array | None = curvature.root(int(TUNING.few * self._dimension))
        return found

    def _most_rows(self, curvature: Curvature) -> int | None:
        """The examples that a factor is made from; None where it is all of them."""
        if self._large:
            most, many = TUNING.rows_per_feature * self._dimension, 1
        else:
            most, many = TUNING.rows_per_feature_of_small * self._dimension, TUNING.many
        return most if curvature.examples > many * most else None

    def _take(self, matrix: Array) -> None:
        self._square, self._diagonal = matrix, matrix.diagonal().copy()
        self._saved = 0.0

    @property
    def _well_posed(self) -> bool:
        """Whether the factor has more digits than a direction needs."""
        if self._factor is None:
            return False
        assert self._diagonal is not None
        return bool(self._kappa * self._diagonal.max() <= TUNING.well_posed)

    def _factorise(self, kappa: float) -> None:
        square = self._square
        assert square is not None
        assert self._diagonal is not None
        # LAPACK itself: for systems this small, cho_factor and cho_solve take longer to look at their arguments. One
        # triangle by rows is the other one by columns, as LAPACK reads it: no copy.
        if self._large:
            self._write_above(square, kappa)
            np.fill_diagonal(square, kappa * self._diagonal + 1.0)
        else:
            square = kappa * square
            square.flat[:: self._dimension + 1] += 1.0
        factor, failure = lapack.dpotrf(square.T, lower=self._large, clean=False, overwrite_a=True)
        if failure:  # rounding at huge kappa: go on without
            self._square = self._factor = None
        else:
            self._kappa, self._factor = kappa, factor

    def _write_above(self, square: Array, kappa: float) -> None:
        """Copy kappa times the lower triangle, less the diagonal, to the upper one."""
        for begin in range(0, self._dimension, _COPIED_ROWS):
            end = begin + _COPIED_ROWS
            np.multiply(square[end:, begin:end].T, kappa, out=square[begin:end, end:])
            block = square[begin:end, begin:end]
            block[...] = np.tril(block, -1) + kappa * np.tril(block, -1).T

    def _precondition(self, r: Array) -> Array:
        if self._factor is None:
            return r
        solution, _ = lapack.dpotrs(self._factor, r, lower=self._large)
        return np.asarray(solution)

    @staticmethod
    def _conjugate_gradients(
        precondition: Callable[[Any], Any], products: Products, kappa: float, gradient: Array, residual: float
    ) -> tuple[Array, int]:
        """All vectors lie where the products are taken."""
        r = -products.there(gradient)
        q = z = precondition(r)
        p = 0.0 * r
        rz = first = float(r @ z)
        taken = 0
        while taken < TUNING.most_products and rz > 0.0 and not (taken and time_is_up()):
            product = q + kappa * products.times(q)
            taken += 1
            curved = float(q @ product)
            if not curved > 0.0:  # so short that its square is no number any more
                break
            step = rz / curved
            p = p + step * q
            r = r - step * product
            z = precondition(r)
            rz_next = float(r @ z)
            if rz_next <= residual**2 * first:
                break
            q = z + (rz_next / rz) * q
            rz = rz_next
        return products.back(p), taken


def _by(diagonal: Any) -> Callable[[Any], Any]:
    """What divides by a diagonal."""
    return lambda r: r / diagonal


@dataclass(frozen=True, slots=True)
class _FewRows:
    """I + kappa·A'A with few rows in A: its inverse is I - A'(I / kappa + AA')^-1 A."""

    rows: Array
    factor: Array

    @classmethod
    def of(cls, rows: Array, kappa: float) -> _FewRows | None:
        """None where rounding forbids it: rows that depend on each other at a huge kappa."""
        products = rows @ rows.T
        products[np.diag_indices_from(products)] += 1.0 / kappa
        factor, failure = lapack.dpotrf(products, lower=True, clean=False, overwrite_a=True)
        return None if failure else cls(rows, factor)

    def solve(self, r: Array) -> Array:
        """The inverse times r."""
        inner, _ = lapack.dpotrs(self.factor, self.rows @ r, lower=True)
        return np.asarray(r - inner @ self.rows)

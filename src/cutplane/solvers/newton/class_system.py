"""The linear systems of Newton's method on several classes: (I + C·curvature) p = -gradient, free intercepts beside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from cutplane._runtime.deadline import seconds_left, time_is_up
from cutplane.solvers.base import Array


class ClassCurvature(Protocol):
    """See `cutplane.shards.softmax_curvature.SoftmaxCurvature`."""

    @property
    def shape(self) -> tuple[int, int]: ...  # noqa: D102

    def product(self, v: Array) -> Array: ...  # noqa: D102

    def matrix(self, most: int) -> Array: ...  # noqa: D102

    def matrix_cost(self, most: int) -> float: ...  # noqa: D102

    def of_class(self, label: int, most: int) -> Array: ...  # noqa: D102

    def diagonal(self) -> Array | None: ...  # noqa: D102

    def own_intercepts(self) -> Array: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class ClassSystemTuning:
    """How systems are solved; chosen by hand. benchmarks/logistic.py shows what that does."""

    #: Up to so many unknowns an estimate of the whole system is factorised, where that costs no more than so many
    #: products: covtype is to have it, digits are not (benchmarks/first_try.py)...
    largest_whole: int = 1200
    dearest_whole: float = 12.0
    #: ... and up to so many features, that of each class by itself.
    largest_of_class: int = 1500
    #: Examples for an estimate, for each of its unknowns.
    rows_per_unknown: int = 8
    #: From so many products on, a system is worth factors of its own.
    many_products: int = 12
    #: Products a system may take.
    most_products: int = 250
    #: Where time is limited: factors of the classes may take this share of what is left.
    factors_time: float = 0.3


TUNING = ClassSystemTuning()

Precondition = Callable[[Array], Array]


class ClassSystem:
    """Conjugate gradients, preconditioned by the factor of an estimate that is kept while it serves.

    Parameters
    ----------
    shape : tuple of int
        Rows (features, and one for free intercepts) and columns (classes) of the unknowns.
    free : bool
        Whether the last row are free intercepts, which are not penalised.
    """

    def __init__(self, shape: tuple[int, int], *, free: bool) -> None:
        self._shape, self._free = shape, free
        self._precondition: Precondition | None = None
        self._products = 0

    def solve(self, curvature: ClassCurvature, C: float, gradient: Array, target: float) -> Array:
        """An approximate solution, always a descent direction; what is left of the gradient is `target` long."""
        if self._precondition is None or self._products > TUNING.many_products:
            self._precondition = self._factors(curvature, C)
        p, self._products = self._conjugate_gradients(curvature, C, gradient, target)
        return p

    def forget(self) -> None:
        """Have no factors any more: the next system is another."""
        self._precondition = None

    def _ridge(self) -> Array:
        ridge = np.ones(self._shape)
        if self._free:
            ridge[-1] = 0.0
        return ridge

    def _conjugate_gradients(
        self, curvature: ClassCurvature, C: float, gradient: Array, target: float
    ) -> tuple[Array, int]:
        assert self._precondition is not None
        ridge = self._ridge()
        r, p = -gradient, np.zeros_like(gradient)
        z = self._precondition(r)
        q, rz = z, float(np.vdot(r, z))
        products = 0
        while products < TUNING.most_products and rz > 0.0 and not (products and time_is_up()):
            product = curvature.product(q)
            product *= C
            product += q if ridge is None else ridge * q
            products += 1
            curved = float(np.vdot(q, product))
            if not curved > 0.0:
                break
            step = rz / curved
            p += step * q
            product *= step
            r -= product
            if float(np.linalg.norm(r)) <= target:
                break
            z = self._precondition(r)
            rz, before = float(np.vdot(r, z)), rz
            q = q * (rz / before)
            q += z
        return p, products

    def _factors(self, curvature: ClassCurvature, C: float) -> Precondition:
        rows, columns = self._shape
        size = rows * columns
        cost = curvature.matrix_cost(TUNING.rows_per_unknown * size)
        if size <= TUNING.largest_whole and cost <= TUNING.dearest_whole:
            return self._whole(curvature, C)
        if rows <= TUNING.largest_of_class:
            return self._by_class(curvature, C)
        return self._diagonal(curvature, C)

    def _whole(self, curvature: ClassCurvature, C: float) -> Precondition:
        shape, size = self._shape, self._shape[0] * self._shape[1]
        square = C * curvature.matrix(TUNING.rows_per_unknown * size)
        square[np.diag_indices(size)] += self._ridge().ravel()
        factor = _factor(square)

        def solve(r: Array) -> Array:
            return np.asarray(lapack.dpotrs(factor, r.ravel(), lower=True)[0]).reshape(shape)

        return solve

    def _by_class(self, curvature: ClassCurvature, C: float) -> Precondition:
        rows, columns = self._shape
        most, ridge = TUNING.rows_per_unknown * rows, self._ridge()[:, 0]
        factors, began = [], time.perf_counter()
        for label in range(columns):
            # A factor of each class takes long where classes are many.
            ahead = (time.perf_counter() - began) / label * columns if label else 0.0
            if time_is_up() or ahead > TUNING.factors_time * seconds_left():
                return self._diagonal(curvature, C)
            square = C * curvature.of_class(label, most)
            square[np.diag_indices(rows)] += ridge
            factors.append(_factor(square))

        def solve(r: Array) -> Array:
            parts = [lapack.dpotrs(factor, r[:, label], lower=True)[0] for label, factor in enumerate(factors)]
            return np.stack(parts, axis=1)

        return solve

    def _diagonal(self, curvature: ClassCurvature, C: float) -> Precondition:
        """The diagonal where it is at hand, and all of what bends along the intercepts."""
        found = curvature.diagonal()
        scale = 1.0 if found is None else 1.0 / (self._ridge() + C * found)
        inverse = np.linalg.pinv(C * curvature.own_intercepts(), rcond=1e-10, hermitian=True) if self._free else None

        def solve(r: Array) -> Array:
            z = r * scale
            if inverse is not None:
                z[-1] = inverse @ r[-1]
            return z

        return solve


def _factor(square: Array) -> Array:
    """Cholesky's; what rounding or a kernel makes indefinite is lifted a little."""
    size = float(square.diagonal().max(initial=0.0))
    lift = 1e-12 * size
    while True:
        lifted = square.copy()
        lifted[np.diag_indices_from(lifted)] += lift
        factor, failure = lapack.dpotrf(lifted, lower=True, clean=False, overwrite_a=True)
        if not failure:
            return np.asarray(factor)
        lift *= 100.0

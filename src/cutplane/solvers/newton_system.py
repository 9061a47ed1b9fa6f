"""The linear systems of Newton's method: (I + kappa·curvature) p = -gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from cutplane.solvers.base import Array, Curvature

# A factor of a system this large would cost more memory and time than it saves.
_LARGEST_FACTOR = 2500
# How closely the systems are solved: a rough direction costs a little of its length, a fine one many products.
_RESIDUAL = 0.05
# With a factor at hand, more products than this mean that the examples on the kink have changed too much.
_MOST_PRODUCTS = 12


class NewtonSystem:
    """Conjugate gradients, preconditioned by the factor of an earlier, similar system.

    Forming and factorising the curvature costs far more than a product with it, and examples on the kink change
    slowly: so the factor is kept until too many products are needed, and only made when plain conjugate gradients
    have shown that it pays.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._matrix: Array | None = None
        self._factor: Any = None
        self._kappa = 0.0
        self._stale = dimension <= 400  # small systems: a factor pays at once

    def solve(self, curvature: Curvature, kappa: float, gradient: Array) -> Array:
        """An approximate solution p, always a descent direction."""
        if self._stale and self._dimension <= _LARGEST_FACTOR and len(curvature.rows):
            self._matrix = curvature.matrix()
            self._refactor(kappa)
            self._stale = False
        elif self._matrix is not None and kappa != self._kappa:
            self._refactor(kappa)
        limit = _MOST_PRODUCTS if self._factor is not None else 3 * _MOST_PRODUCTS
        p, products = self._conjugate_gradients(curvature, kappa, gradient, limit if self._can_factor else 100)
        if products >= limit or (self._factor is not None and products > _MOST_PRODUCTS // 2):
            self._stale = True
        return p

    @property
    def _can_factor(self) -> bool:
        return self._dimension <= _LARGEST_FACTOR

    def _refactor(self, kappa: float) -> None:
        assert self._matrix is not None
        system = kappa * self._matrix
        system[np.diag_indices_from(system)] += 1.0
        try:
            self._factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
            self._kappa = kappa
        except scipy.linalg.LinAlgError:  # rounding at huge kappa: go on without
            self._factor = None
            self._matrix = None

    def _precondition(self, r: Array) -> Array:
        if self._factor is None:
            return r
        return np.asarray(scipy.linalg.cho_solve(self._factor, r, check_finite=False))

    def _conjugate_gradients(
        self, curvature: Curvature, kappa: float, gradient: Array, limit: int
    ) -> tuple[Array, int]:
        r = -gradient
        z = self._precondition(r)
        p = np.zeros_like(r)
        q = z
        rz = first = float(r @ z)
        products = 0
        while products < limit:
            product = q + kappa * curvature.product(q)
            products += 1
            step = rz / float(q @ product)
            p = p + step * q
            r = r - step * product
            z = self._precondition(r)
            rz_next = float(r @ z)
            if rz_next <= _RESIDUAL**2 * first:
                break
            q = z + (rz_next / rz) * q
            rz = rz_next
        return p, products

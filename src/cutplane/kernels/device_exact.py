"""Kernel values in double precision on a device, for proofs, and how far products with them are from the kernel's own.

As `kernels.exact` has it: a computed value v of the kernel K obeys |v - K| <= relative_i |K| + left_i right_j. What
products and sums may be off by does not depend on the order in which a device adds them up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cutplane._types import Array
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.kernels.exact import FALL, FUNCTION_ERROR, SHARE_LOST_BY_PRODUCTS, UNDERFLOW, UNIT, Rows
from cutplane.kernels.functions import Kernel

# Values of a block that are computed at a time.
_VALUES_AT_ONCE = 1 << 27


class Exact(NamedTuple):
    """Values v of the kernel K in double precision: |v - K| <= relative_i |K| + left_i right_j."""

    values: DeviceArray
    relative: DeviceArray
    left: DeviceArray
    right: DeviceArray


class ExactRows(ABC):
    """Examples, or a kernel matrix that was given, on a device.

    Parameters
    ----------
    kernels : Kernels
    rows : array of the device
    """

    def __init__(self, kernels: Kernels, rows: DeviceArray) -> None:
        self._device, self._xp, self._rows = kernels, kernels.xp, rows

    def products(self, rows: Rows | None, support: Rows, coef: Array) -> tuple[Array, Array]:
        """K(X[rows], X[support]) @ coef and what it may be off by, both of shape (len(rows), k); None: all rows."""
        size = len(self._rows) if rows is None else len(rows)
        sizes = np.abs(coef)
        sums, errors = np.zeros((size, coef.shape[1])), np.full((size, coef.shape[1]), UNDERFLOW * sizes.sum(axis=0))
        if not len(support):
            return sums, errors
        device = self._device
        places = self._xp.arange(size) if rows is None else self._places(rows)
        block = self._blocks(self._places(support))
        weights, heavy = (device.to_device(np.ascontiguousarray(each)) for each in (coef, sizes))
        at_once = max(1, _VALUES_AT_ONCE // len(support))
        for begin in range(0, size, at_once):
            part = slice(begin, begin + at_once)
            exact = block(places[part])
            sums[part] = device.to_host(exact.values @ weights)
            own = (exact.relative + (len(coef) + 4) * UNIT)[:, None] * (abs(exact.values) @ heavy)
            across = exact.left[:, None] * (exact.right @ heavy)
            errors[part] += device.to_host(own + across) * (1.0 + 1e-9)
        return sums, errors

    def _places(self, rows: Rows) -> DeviceArray:
        return self._device.to_device(np.ascontiguousarray(rows, np.int64))

    @abstractmethod
    def _blocks(self, support: DeviceArray) -> Callable[[DeviceArray], Exact]:
        """What computes K of some examples with these."""


class ExactComputed(ExactRows):
    """By a kernel that is a function of products of examples."""

    def __init__(self, kernels: Kernels, rows: DeviceArray, kernel: Kernel) -> None:
        super().__init__(kernels, rows)
        self._kernel = kernel

    def _blocks(self, support: DeviceArray) -> Callable[[DeviceArray], Exact]:
        """What computes K of some examples with these."""
        right = self._wide(support)
        if self._kernel.entry.transform != "exponential":
            return lambda places: self._of_products(self._wide(places), right)
        centre = right.mean(axis=0)
        moved = right - centre
        lengths = self._lengths(moved)
        longest = float(lengths.max())

        def block(places: DeviceArray) -> Exact:
            left = self._wide(places)
            own = self._lengths(left - centre)
            reach = self._kernel.gamma * (own + longest) ** 2
            if (right.shape[1] + 10) * UNIT * float(reach.max()) > SHARE_LOST_BY_PRODUCTS:
                return self._of_differences(left, right)
            return self._of_squares((left - centre) @ moved.T, own, lengths, reach)

        return block

    def _wide(self, places: DeviceArray) -> DeviceArray:
        return self._rows[places].astype(np.float64)

    def _lengths(self, rows: DeviceArray) -> DeviceArray:
        """Rounded up."""
        return self._xp.sqrt(self._xp.sum(rows * rows, axis=1)) * (1.0 + (rows.shape[1] + 4) * UNIT)

    def _of_products(self, A: DeviceArray, B: DeviceArray) -> Exact:
        """A product of d pairs is off by (d + 1) units of |x| |z|; a function of it by its slope times that."""
        kernel, xp, d = self._kernel, self._xp, A.shape[1]
        left, right = self._lengths(A), self._lengths(B)
        values, none = A @ B.T, xp.zeros(len(A))
        if kernel.entry.transform == "identity":
            return Exact(values, none, (d + 4) * UNIT * left, right)
        values *= kernel.gamma
        values += kernel.coef0
        left, right = (xp.sqrt(kernel.gamma * each**2 + abs(kernel.coef0)) for each in (left, right))
        if kernel.entry.transform == "tangent":
            left, right = xp.maximum(left, 1.0), xp.maximum(right, 1.0)
            return Exact(xp.tanh(values), none, (d + 8 + FUNCTION_ERROR) * UNIT * left, right)
        left, right = left**kernel.degree, right**kernel.degree
        return Exact(values**kernel.degree, none, (kernel.degree + 1) * (d + 24) * UNIT * left, right)

    def _of_squares(self, values: DeviceArray, left: DeviceArray, right: DeviceArray, reach: DeviceArray) -> Exact:
        """|x - z|² = |x|² + |z|² - 2<x, z> is off by (d + 10) units of (|x| + |z|)², moving to the centre included."""
        xp, d = self._xp, self._rows.shape[1]
        values *= -2.0
        values += (left * left)[:, None]
        values += right * right
        values *= -self._kernel.gamma
        # The lengths were rounded up by (d + 4) units each.
        relative = ((3 * d + 32) * reach + FUNCTION_ERROR) * UNIT
        return Exact(xp.exp(xp.minimum(values, 0.0)), relative, xp.zeros(len(values)), xp.zeros(len(right)))

    def _of_differences(self, A: DeviceArray, B: DeviceArray) -> Exact:
        """A distance summed from d differences is off by d + 6 units of itself."""
        xp, d = self._xp, A.shape[1]
        values = xp.zeros((len(A), len(B)))
        for feature in range(d):
            values += (A[:, feature, None] - B[:, feature]) ** 2
        values *= -self._kernel.gamma
        relative, left = (xp.zeros(len(A)) + off * UNIT for off in (FUNCTION_ERROR, FALL * (d + 16)))
        return Exact(xp.exp(values), relative, left, xp.ones(len(B)))


class ExactGiven(ExactRows):
    """By a matrix that was given: its values are the kernel, and only sums are rounded."""

    def _blocks(self, support: DeviceArray) -> Callable[[DeviceArray], Exact]:
        """What is K of some examples with these."""
        xp: Any = self._xp
        right = xp.zeros(len(support))

        def block(places: DeviceArray) -> Exact:
            none = xp.zeros(len(places))
            return Exact(self._rows[places[:, None], support].astype(np.float64), none + 8 * UNIT, none, right)

        return block

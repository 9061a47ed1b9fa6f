"""The kernel matrix of a training set on a GPU: whole where it fits there, else rows as they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Matrix, is_sparse
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.pair_steps import KernelRows
from cutplane.kernels.certificate import largest_own_value
from cutplane.kernels.device_cache import DeviceRowCache
from cutplane.kernels.device_rows import SingleRows, check_known, transformed
from cutplane.kernels.exact import FUNCTION_ERROR, UNDERFLOW, UNIT, check_range
from cutplane.kernels.functions import Kernel
from cutplane.kernels.matrix import Rows, check_precomputed

# Of the memory that is left, what a whole matrix, or the rows that are kept, may take.
_OF_MEMORY = 0.6
# Values of a block that are computed at a time: in single precision, and in double precision for proofs.
_VALUES_AT_ONCE, _EXACT_AT_ONCE = 1 << 28, 1 << 27
# Kernel values whose squares single precision holds.
_LARGEST, _SMALLEST = 1e18, 1e-18

#: Every example.
ALL = slice(None)


class Exact(NamedTuple):
    """Values v of the kernel K in double precision: |v - K| <= relative_i |K| + left_i right_j (`kernels.exact`)."""

    values: DeviceArray
    relative: DeviceArray
    left: DeviceArray
    right: DeviceArray


class DeviceKernelMatrix(ABC):
    """K(X, X) on a device, of some kind; `device_kernel_matrix` makes one.

    Parameters
    ----------
    kernels : Kernels
    X : array or CSR matrix, float32 or float64
        Of the host.
    kernel : Kernel
    largest_value : float
        No K(x, x) is larger.
    """

    #: What is proven is proven of the kernel itself: double precision costs little there.
    proves_the_kernel = True

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel, largest_value: float) -> None:
        self.kernel, self.X, self.size, self.largest_value = kernel, X, int(X.shape[0]), largest_value
        if largest_value > _LARGEST or 0.0 < largest_value < _SMALLEST:
            raise ValueError(
                f"Kernel values are up to {largest_value:.3g}; on a device they must be between {_SMALLEST:g} and "
                f"{_LARGEST:g}: scale the data."
            )
        self._device, self._xp = kernels, kernels.xp
        self._pairs = kernels.pair_steps()

    @cached_property
    def _whole(self) -> DeviceArray | None:
        """All of it, where it fits."""
        n = self.size
        if 4.0 * n * n > _OF_MEMORY * self._device.free_bytes:
            return None
        whole = self._xp.empty((n, n), np.float32)
        at_once = max(1, _VALUES_AT_ONCE // n)
        for begin in range(0, n, at_once):
            whole[begin : begin + at_once] = self._block(slice(begin, begin + at_once))
        return whole

    @cached_property
    def _kept(self) -> DeviceRowCache:
        """Rows that were computed before, as many as there is room for."""
        room = int(_OF_MEMORY * self._device.free_bytes / (4.0 * self.size))
        return DeviceRowCache(self._xp, self.size, min(room, self.size))

    def rows(self, columns: DeviceArray) -> KernelRows:
        """The rows of examples, in an array of any shape, with all examples."""
        if self._whole is not None:
            return KernelRows(self._whole, columns)
        return self._kept.rows(columns, self._block)

    @property
    def is_whole(self) -> bool:
        """Whether all of it lies there."""
        return self._whole is not None

    @property
    def computed_values(self) -> float:
        """How many values training has computed, at least."""
        return 0.0 if self._whole is None else float(self.size) ** 2

    @property
    def device(self) -> Kernels:
        """Where it lies."""
        return self._device

    @property
    def pairs(self) -> Any:
        """Pair steps there."""
        return self._pairs

    def parts(self, columns: DeviceArray) -> Iterator[tuple[slice, KernelRows]]:
        """The rows of these examples with all, as many at a time as there is room for; none are kept."""
        at_once = max(1, _VALUES_AT_ONCE // self.size)
        for begin in range(0, len(columns), at_once):
            part = slice(begin, min(begin + at_once, len(columns)))
            if self._whole is not None:
                yield part, KernelRows(self._whole, columns[part])
            else:
                places = self._xp.arange(part.stop - part.start, dtype=np.int32)
                yield part, KernelRows(self._block(columns[part]), places)

    def lower_triangle(self, columns: DeviceArray) -> DeviceArray:
        """K among some examples, in double precision; above the blocks of its diagonal nothing in particular."""
        n = len(columns)
        square, at_once = self._xp.empty((n, n)), max(1, _VALUES_AT_ONCE // self.size)
        for begin in range(0, n, at_once):
            end = min(begin + at_once, n)
            part = columns[begin:end]
            block = self._block(part, columns[:end]) if self._whole is None else self._whole[part][:, columns[:end]]
            square[begin:end, :end] = block
        return square

    @abstractmethod
    def _block(self, positions: DeviceArray | slice, others: DeviceArray | slice = ALL) -> DeviceArray:
        """K of some examples with others, in single precision."""

    def exact_scores(self, rows: Rows, support: NDArray[np.intp], coef: Array) -> tuple[Array, Array]:
        """K(X[rows], X[rows[support]]) @ coef in double precision, and what it may be off by.

        As `kernels.exact` has it: errors of products do not depend on the order of their sums.
        """
        scores, errors = np.zeros(len(rows)), np.full(len(rows), UNDERFLOW * float(np.abs(coef).sum()))
        if not len(support):
            return scores, errors
        device = self._device
        places = device.to_device(np.ascontiguousarray(rows, np.int64))
        block = self._exact_blocks(places[device.to_device(np.ascontiguousarray(support, np.int64))])
        weights, sizes = device.to_device(coef), device.to_device(np.abs(coef))
        at_once = max(1, _EXACT_AT_ONCE // len(support))
        for begin in range(0, len(rows), at_once):
            part = slice(begin, begin + at_once)
            exact = block(places[part])
            scores[part] = device.to_host(exact.values @ weights)
            own = (exact.relative + (len(coef) + 4) * UNIT) * (abs(exact.values) @ sizes)
            errors[part] += device.to_host(own + exact.left * float(exact.right @ sizes)) * (1.0 + 1e-9)
        return scores, errors

    @abstractmethod
    def _exact_blocks(self, support: DeviceArray) -> Callable[[DeviceArray], Exact]:
        """What computes K of some examples with these."""


class ComputedOnDevice(DeviceKernelMatrix):
    """Of examples, by a kernel that is a function of their products."""

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel) -> None:
        check_range(kernel, X)
        super().__init__(kernels, X, kernel, largest_own_value(kernel, X))
        self._rows = kernels.to_device(np.ascontiguousarray(X.toarray() if is_sparse(X) else X))
        self._single = SingleRows.of(kernel, self._rows, self._xp)

    def _block(self, positions: DeviceArray | slice, others: DeviceArray | slice = ALL) -> DeviceArray:
        """K of some examples with others, in single precision."""
        rows = self._single
        return transformed(self.kernel, rows.some(positions), rows.some(others), self._pairs, self._xp)

    def _exact_blocks(self, support: DeviceArray) -> Callable[[DeviceArray], Exact]:
        """What computes K of some examples with these."""
        right = self._rows[support].astype(np.float64)
        around = self.kernel.entry.transform == "exponential"
        centre = right.mean(axis=0) if around else self._xp.zeros(right.shape[1])
        right = right - centre
        return lambda places: self._exact(self._rows[places].astype(np.float64) - centre, right)

    def _exact(self, A: DeviceArray, B: DeviceArray) -> Exact:
        kernel, xp, d = self.kernel, self._xp, A.shape[1]
        left, right = (xp.sqrt(xp.sum(rows * rows, axis=1)) * (1.0 + (d + 4) * UNIT) for rows in (A, B))
        values, none = A @ B.T, xp.zeros(len(A))
        if kernel.entry.transform == "exponential":
            values *= -2.0
            values += (left * left)[:, None]
            values += right * right
            values *= -kernel.gamma
            reach = kernel.gamma * (left + float(right.max())) ** 2
            relative = ((3 * d + 32) * reach + FUNCTION_ERROR) * UNIT
            return Exact(xp.exp(xp.minimum(values, 0.0)), relative, none, xp.zeros(len(B)))
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


class GivenOnDevice(DeviceKernelMatrix):
    """A kernel matrix that was given."""

    def __init__(self, kernels: Kernels, K: Matrix) -> None:
        checked = check_precomputed(K)
        super().__init__(kernels, K, Kernel("precomputed"), float(np.abs(checked).max()))
        self._given = kernels.to_device(np.ascontiguousarray(checked))

    def _block(self, positions: DeviceArray | slice, others: DeviceArray | slice = ALL) -> DeviceArray:
        """K of some examples with others, in single precision."""
        return self._given[positions][:, others].astype(np.float32)

    def _exact_blocks(self, support: DeviceArray) -> Callable[[DeviceArray], Exact]:
        """What is K of some examples with these: its values are the kernel, and only sums are rounded."""
        xp, right = self._xp, self._xp.zeros(len(support))

        def block(places: DeviceArray) -> Exact:
            none = xp.zeros(len(places))
            values = self._given[places[:, None], support].astype(np.float64)
            return Exact(values, none + 8 * UNIT, none, right)

        return block


def device_kernel_matrix(kernels: Kernels, X: Matrix, kernel: Kernel) -> DeviceKernelMatrix:
    """The kernel matrix of examples of the host, or one that was given, on a device."""
    if kernel.name == "precomputed":
        return GivenOnDevice(kernels, X)
    check_known(kernel)
    return ComputedOnDevice(kernels, X, kernel)

"""The kernel matrix of a training set on a GPU: whole where it fits there, else rows as they are asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Matrix
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.pair_steps import KernelRows
from cutplane.kernels.device_cache import DeviceRowCache
from cutplane.kernels.device_exact import ExactComputed, ExactGiven, ExactRows
from cutplane.kernels.device_rows import SingleRows, check_size, check_there, copied_rows, transformed
from cutplane.kernels.functions import Kernel
from cutplane.kernels.matrix import Rows, check_precomputed

# Of the memory that is left, what a whole matrix, or the rows that are kept, may take.
_OF_MEMORY = 0.6
# Values of a block that are computed at a time.
_VALUES_AT_ONCE = 1 << 28

#: Every example.
ALL = slice(None)


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
    _exact: ExactRows

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel, largest_value: float) -> None:
        self.kernel, self.X, self.size, self.largest_value = kernel, X, int(X.shape[0]), largest_value
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
        """K(X[rows], X[rows[support]]) @ coef in double precision, and what it may be off by."""
        scores, errors = self._exact.products(rows, rows[support], coef[:, None])
        return scores[:, 0], errors[:, 0]


class ComputedOnDevice(DeviceKernelMatrix):
    """Of examples, by a kernel that is a function of their products."""

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel) -> None:
        super().__init__(kernels, X, kernel, check_there(kernel, X))
        rows = copied_rows(kernels, X)
        self._single = SingleRows.of(kernel, rows, self._xp)
        self._exact = ExactComputed(kernels, rows, kernel)

    def _block(self, positions: DeviceArray | slice, others: DeviceArray | slice = ALL) -> DeviceArray:
        """K of some examples with others, in single precision."""
        rows = self._single
        return transformed(self.kernel, rows.some(positions), rows.some(others), self._pairs, self._xp)


class GivenOnDevice(DeviceKernelMatrix):
    """A kernel matrix that was given."""

    def __init__(self, kernels: Kernels, K: Matrix) -> None:
        checked = check_precomputed(K)
        largest = float(np.abs(checked).max())
        check_size(largest)
        super().__init__(kernels, K, Kernel("precomputed"), largest)
        self._given = kernels.to_device(np.ascontiguousarray(checked))
        self._exact = ExactGiven(kernels, self._given)

    def _block(self, positions: DeviceArray | slice, others: DeviceArray | slice = ALL) -> DeviceArray:
        """K of some examples with others, in single precision."""
        return self._given[positions][:, others].astype(np.float32)


def device_kernel_matrix(kernels: Kernels, X: Matrix, kernel: Kernel) -> DeviceKernelMatrix:
    """The kernel matrix of examples of the host, or one that was given, on a device."""
    if kernel.name == "precomputed":
        return GivenOnDevice(kernels, X)
    return ComputedOnDevice(kernels, X, kernel)

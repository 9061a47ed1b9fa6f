"""Products of kernel expansions on a device: kernel values in single precision there, sums of them in double."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from cutplane._types import Array, Matrix, is_sparse
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.pair_steps import Coefficients
from cutplane.kernels.device_exact import ExactComputed, ExactGiven, ExactRows
from cutplane.kernels.device_rows import SingleRows, check_there, copied_rows, products
from cutplane.kernels.expansions import Expansion, KernelRows, Prepared, Rows
from cutplane.kernels.functions import SINGLE_PRECISION, Kernel
from cutplane.kernels.matrix import check_precomputed

# The rounding of one operation in single precision.
_SINGLE_UNIT = 2.0**-24


class DeviceKernelRows(KernelRows):
    """Rows that lie on a device; `device_kernel_rows` makes them.

    Prepared rows and coefficients lie there, too; what becomes of products is the host's.

    Parameters
    ----------
    kernels : Kernels
    X : array or CSR matrix
        Of the host.
    kernel : Kernel
    n_threads : int
    """

    proves_the_kernel = True
    values_at_once = 1 << 27  # half a gigabyte
    _exact: ExactRows

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel, n_threads: int) -> None:
        super().__init__(X, kernel, n_threads)
        self._device, self._xp = kernels, kernels.xp

    def prepare(self, rows: Rows) -> Prepared:
        """Some rows, on the device."""
        return self._some(self._device.to_device(np.ascontiguousarray(rows, np.int64)))

    def _products(self, left: Prepared, part: slice, right: Expansion) -> Array:
        device = self._device
        ends = device.to_device(np.array([len(right.rows)], np.int32))
        coef = Coefficients(device.to_device(np.ascontiguousarray(right.coef)), ends)
        found: Array = device.to_host(self._sums(left, part, right.prepared, coef))
        return found

    def exact_products(self, support: Rows, coef: Array, rows: Rows | None = None) -> tuple[Array, Array]:
        """K(X[rows], X[support]) @ coef in double precision and what it may be off by; None: of all rows."""
        return self._exact.products(rows, support, coef)

    @abstractmethod
    def _some(self, positions: DeviceArray) -> Prepared:
        """Rows at some positions."""

    @abstractmethod
    def _sums(self, left: Prepared, part: slice, right: Prepared, coef: Coefficients) -> DeviceArray:
        """Kernel values of a part of some rows with others, times coefficients of these."""


class ComputedRows(DeviceKernelRows):
    """Of a kernel that is a function of products of examples."""

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel, n_threads: int) -> None:
        check_there(kernel, X)
        super().__init__(kernels, X, kernel, n_threads)
        rows = copied_rows(kernels, X)
        self._all = SingleRows.of(kernel, rows, self._xp)
        self._exact = ExactComputed(kernels, rows, kernel)
        self._pairs = kernels.pair_steps()

    @property
    def off(self) -> float:
        """What kernel values may be off by, relative to the largest: products by d + 8 roundings of their factors."""
        transform, rows = self.kernel.entry.transform, self._all.values.astype(np.float64)
        square = float(self._xp.sum(rows * rows, axis=1).max())
        slopes = {
            "identity": 1.0,
            "power": float(self.kernel.degree),
            "tangent": max(1.0, square + abs(self.kernel.coef0)),
            "exponential": 2.0 * square,
        }
        return max(SINGLE_PRECISION, (int(self.X.shape[1]) + 8) * _SINGLE_UNIT * slopes[transform])

    @property
    def everything(self) -> Prepared:
        """All rows."""
        return self._all

    def _some(self, positions: DeviceArray) -> Prepared:
        return self._all.some(positions)

    def _sums(self, left: Prepared, part: slice, right: Prepared, coef: Coefficients) -> DeviceArray:
        return products(self.kernel, left.some(part), right, coef, self._pairs)[:, 0]


class GivenRows(DeviceKernelRows):
    """Of a kernel matrix that was given: prepared, they are their positions in it."""

    def __init__(self, kernels: Kernels, K: Matrix, kernel: Kernel, n_threads: int) -> None:
        if is_sparse(K):
            raise TypeError("Sparse kernel matrices are for the processor; on a device K.toarray(), a dense one, is.")
        checked = check_precomputed(K)
        super().__init__(kernels, checked, kernel, n_threads)
        self._given = kernels.to_device(np.ascontiguousarray(checked))
        self._exact = ExactGiven(kernels, self._given)

    @property
    def everything(self) -> Prepared:
        """All rows."""
        return self._xp.arange(self.size)

    def _some(self, positions: DeviceArray) -> Prepared:
        return positions

    def _sums(self, left: Prepared, part: slice, right: Prepared, coef: Coefficients) -> DeviceArray:
        return self._given[left[part][:, None], right].astype(np.float64) @ coef.values


def device_kernel_rows(kernels: Kernels, X: Matrix, kernel: Kernel, *, n_threads: int = 0) -> DeviceKernelRows:
    """Examples of the host, or a kernel matrix that was given, copied to a device."""
    if kernel.name == "precomputed":
        return GivenRows(kernels, X, kernel, n_threads)
    return ComputedRows(kernels, X, kernel, n_threads)

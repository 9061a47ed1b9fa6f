"""The kernel matrix of a training set on a GPU: whole where it fits there, else rows as they are asked for."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Matrix, is_sparse
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.pair_steps import KernelRows
from cutplane.kernels.certificate import largest_own_value
from cutplane.kernels.exact import FUNCTION_ERROR, UNDERFLOW, UNIT, check_range
from cutplane.kernels.functions import Kernel
from cutplane.kernels.matrix import Rows

# Of the memory that is left, what a whole matrix may take.
_OF_MEMORY = 0.6
# Values of a block that are computed at a time: in single precision, and in double precision for proofs.
_VALUES_AT_ONCE, _EXACT_AT_ONCE = 1 << 28, 1 << 27
# Kernel values whose squares single precision holds.
_LARGEST, _SMALLEST = 1e18, 1e-18
# By the names of transforms, what a product of examples becomes.
_KNOWN = ("identity", "power", "tangent", "exponential")


class _Exact(NamedTuple):
    """Values v of the kernel K in double precision: |v - K| <= relative_i |K| + left_i right_j (`kernels.exact`)."""

    values: DeviceArray
    relative: DeviceArray
    left: DeviceArray
    right: DeviceArray


class DeviceKernelMatrix:
    """K(X, X) on a device.

    Parameters
    ----------
    kernels : Kernels
    X : array or CSR matrix of shape (n, d), float32 or float64
    kernel : Kernel
        A function of products of examples.

    Attributes
    ----------
    largest_value : float
        No K(x, x) is larger.
    """

    #: What is proven is proven of the kernel itself: double precision costs little there.
    proves_the_kernel = True

    def __init__(self, kernels: Kernels, X: Matrix, kernel: Kernel) -> None:
        if not kernel.by_products or kernel.entry.transform not in _KNOWN:
            raise ValueError(f"device='cuda' has the kernels linear, poly, rbf and sigmoid, not {kernel.name!r}.")
        check_range(kernel, X)
        self.kernel, self.X, self.size = kernel, X, int(X.shape[0])
        self.largest_value = largest_own_value(kernel, X)
        if self.largest_value > _LARGEST or 0.0 < self.largest_value < _SMALLEST:
            raise ValueError(
                f"Kernel values are up to {self.largest_value:.3g}; on a device they must be between {_SMALLEST:g} and "
                f"{_LARGEST:g}: scale the data."
            )
        self._device, self._xp = kernels, kernels.xp
        self._pairs = kernels.pair_steps()
        self._rows = kernels.to_device(np.ascontiguousarray(X.toarray() if is_sparse(X) else X))
        self._prepare()

    def _prepare(self) -> None:
        """Examples in single precision, such that products of them are all that is left to do."""
        rows, xp, kernel = self._rows, self._xp, self.kernel
        if kernel.entry.transform != "exponential":
            # gamma times a product may fit into single precision where the product itself does not.
            factor = 1.0 if kernel.entry.transform == "identity" else math.sqrt(kernel.gamma)
            self._single = (rows.astype(np.float64) * factor).astype(np.float32)
            return
        # exp(-gamma |x - z|²): around their mean, lengths are least, and so is what single precision loses.
        centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
        centred *= math.sqrt(2.0 * kernel.gamma)
        self._single = centred.astype(np.float32)
        del centred
        self._half = 0.5 * xp.sum(self._single.astype(np.float64) ** 2, axis=1)
        self._half = self._half.astype(np.float32)

    def _block(self, positions: DeviceArray | slice) -> DeviceArray:
        """K of some examples with all, in single precision."""
        kernel, xp = self.kernel, self._xp
        block = self._single[positions] @ self._single.T
        transform = kernel.entry.transform
        if transform == "exponential":
            return self._pairs.falling(block, self._half[positions], self._half)
        if transform == "identity":
            return block
        block += np.float32(kernel.coef0)
        return xp.tanh(block) if transform == "tangent" else block ** np.float32(kernel.degree)

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

    def rows(self, columns: DeviceArray) -> KernelRows:
        """The rows of examples, in an array of any shape, with all examples."""
        if self._whole is not None:
            return KernelRows(self._whole, columns)
        wanted = self._xp.unique(columns)
        return KernelRows(self._block(wanted), self._xp.searchsorted(wanted, columns).astype(np.int32))

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

    # --- for proofs ---

    def exact_scores(self, rows: Rows, support: NDArray[np.intp], coef: Array) -> tuple[Array, Array]:
        """K(X[rows], X[rows[support]]) @ coef in double precision, and what it may be off by.

        As `kernels.exact` has it: errors of products do not depend on the order of their sums.
        """
        scores, errors = np.zeros(len(rows)), np.full(len(rows), UNDERFLOW * float(np.abs(coef).sum()))
        if not len(support):
            return scores, errors
        device, xp = self._device, self._xp
        places = device.to_device(np.ascontiguousarray(rows, np.int64))
        right = self._rows[places[device.to_device(np.ascontiguousarray(support, np.int64))]].astype(np.float64)
        centre = right.mean(axis=0) if self.kernel.entry.transform == "exponential" else xp.zeros(right.shape[1])
        right = right - centre
        weights, sizes = device.to_device(coef), device.to_device(np.abs(coef))
        at_once = max(1, _EXACT_AT_ONCE // len(support))
        for begin in range(0, len(rows), at_once):
            part = slice(begin, begin + at_once)
            exact = self._exact(self._rows[places[part]].astype(np.float64) - centre, right)
            scores[part] = device.to_host(exact.values @ weights)
            own = (exact.relative + (len(coef) + 4) * UNIT) * (abs(exact.values) @ sizes)
            errors[part] += device.to_host(own + exact.left * float(exact.right @ sizes)) * (1.0 + 1e-9)
        return scores, errors

    def _exact(self, A: DeviceArray, B: DeviceArray) -> _Exact:
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
            return _Exact(xp.exp(xp.minimum(values, 0.0)), relative, none, xp.zeros(len(B)))
        if kernel.entry.transform == "identity":
            return _Exact(values, none, (d + 4) * UNIT * left, right)
        values *= kernel.gamma
        values += kernel.coef0
        left, right = (xp.sqrt(kernel.gamma * each**2 + abs(kernel.coef0)) for each in (left, right))
        if kernel.entry.transform == "tangent":
            left, right = xp.maximum(left, 1.0), xp.maximum(right, 1.0)
            return _Exact(xp.tanh(values), none, (d + 8 + FUNCTION_ERROR) * UNIT * left, right)
        left, right = left**kernel.degree, right**kernel.degree
        return _Exact(values**kernel.degree, none, (kernel.degree + 1) * (d + 24) * UNIT * left, right)

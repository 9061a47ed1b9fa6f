"""Examples on a device in single precision, such that kernels of them are functions of their products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutplane._types import Matrix, is_sparse
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.pair_steps import Coefficients, PairSteps, Transform
from cutplane.kernels.certificate import largest_own_value
from cutplane.kernels.exact import check_range
from cutplane.kernels.functions import Kernel

# By the names of transforms, what a product of examples becomes.
_KNOWN = ("identity", "power", "tangent", "exponential")
# Kernel values whose squares single precision holds.
_LARGEST, _SMALLEST = 1e18, 1e-18


def is_known(kernel: Kernel) -> bool:
    """Whether a kernel is one of those that are computed on a device."""
    return kernel.computed and kernel.by_products and kernel.entry.transform in _KNOWN


def check_known(kernel: Kernel) -> None:
    """Refuse other kernels in one sentence."""
    if not is_known(kernel):
        raise ValueError(
            f"device='cuda' has the kernels linear, poly, rbf and sigmoid, and precomputed ones, not {kernel.name!r}."
        )


def check_size(largest_value: float) -> None:
    """Refuse kernels whose values, which are no larger than this, are too large or too small in single precision."""
    if largest_value > _LARGEST or 0.0 < largest_value < _SMALLEST:
        raise ValueError(
            f"Kernel values are up to {largest_value:.3g}; on a device they must be between {_SMALLEST:g} and "
            f"{_LARGEST:g}: scale the data."
        )


def check_there(kernel: Kernel, X: Matrix) -> float:
    """Refuse what a device does not compute of these examples; at least K(x, x) of each of them."""
    check_known(kernel)
    check_range(kernel, X)
    largest = largest_own_value(kernel, X)
    check_size(largest)
    return largest


def copied_rows(kernels: Kernels, X: Matrix) -> DeviceArray:
    """Examples of the host as a dense array of the device; sparse ones must fit there so."""
    needed = float(X.shape[0]) * float(X.shape[1]) * X.dtype.itemsize
    if is_sparse(X) and needed > kernels.free_bytes:
        raise ValueError(
            f"X of shape {tuple(X.shape)} is sparse and takes {needed / 1e9:.3g} GB as a dense array, which kernels on "
            f"a device need; {kernels.free_bytes / 1e9:.3g} GB are left there."
        )
    return kernels.to_device(np.ascontiguousarray(X.toarray() if is_sparse(X) else X))


@dataclass(frozen=True)
class SingleRows:
    """Examples, scaled and moved: of a Gaussian kernel around a centre, with half their squared lengths.

    Attributes
    ----------
    values : device array of float32, of shape (n, d)
    half : device array of float32, or None
        For a Gaussian kernel.
    centre : device array, or None
        What was subtracted.
    """

    values: DeviceArray
    half: DeviceArray | None
    centre: DeviceArray | None

    @classmethod
    def of(cls, kernel: Kernel, rows: DeviceArray, xp: Any, like: SingleRows | None = None) -> SingleRows:
        """Of examples of the device, around the centre of others where these are given."""
        wide = rows.astype(np.float64)
        if kernel.entry.transform != "exponential":
            # gamma times a product may fit into single precision where the product itself does not.
            factor = 1.0 if kernel.entry.transform == "identity" else math.sqrt(kernel.gamma)
            return cls((wide * factor).astype(np.float32), None, None)
        # exp(-gamma |x - z|²): around their mean, lengths are least, and so is what single precision loses.
        centre = wide.mean(axis=0) if like is None else like.centre
        wide -= centre
        wide *= math.sqrt(2.0 * kernel.gamma)
        values = wide.astype(np.float32)
        half = 0.5 * xp.sum(values.astype(np.float64) ** 2, axis=1)
        return cls(values, half.astype(np.float32), centre)

    def some(self, positions: DeviceArray | slice) -> SingleRows:
        """Some of them."""
        return SingleRows(self.values[positions], None if self.half is None else self.half[positions], self.centre)


def transform_of(kernel: Kernel) -> Transform:
    """What products of such examples become."""
    return Transform(kernel.entry.transform, float(kernel.coef0), float(kernel.degree))


def transformed(kernel: Kernel, left: SingleRows, right: SingleRows, pairs: PairSteps, xp: Any) -> DeviceArray:
    """K(left, right), in single precision."""
    block = left.values @ right.values.T
    transform = kernel.entry.transform
    if transform == "exponential":
        return pairs.falling(block, left.half, right.half)
    if transform == "identity":
        return block
    block += np.float32(kernel.coef0)
    return xp.tanh(block) if transform == "tangent" else block ** np.float32(kernel.degree)


def products(kernel: Kernel, left: SingleRows, right: SingleRows, coef: Coefficients, pairs: PairSteps) -> DeviceArray:
    """K(left, group) @ coef of each group of the right, of shape (left, groups, k): their sums in double precision."""
    halves = None if left.half is None else (left.half, right.half)
    return pairs.sums(left.values @ right.values.T, transform_of(kernel), halves, coef)

"""Kernel values with some examples, as features: computed on a device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cutplane._types import Array, Matrix
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.kernels.device_rows import SingleRows, copied_rows, transformed
from cutplane.kernels.device_scores import NewRows
from cutplane.kernels.functions import Kernel
from cutplane.kernels.pivots import Pivots, pivots


def gram(kernels: Kernels, kernel: Kernel, X: Matrix) -> Array:
    """K(X, X), values in single precision, on the host."""
    rows = SingleRows.of(kernel, copied_rows(kernels, X), kernels.xp)
    found = kernels.to_host(transformed(kernel, rows, rows, kernels.pair_steps(), kernels.xp))
    return np.asarray(found, np.float64)


def pivots_there(kernels: Kernels, kernel: Kernel, X: Matrix, own: Array, r: int) -> Pivots:
    """The pivots among examples, whose kernel columns and factor lie on the device."""
    rows, steps = SingleRows.of(kernel, copied_rows(kernels, X), kernels.xp), kernels.pair_steps()

    def column(pivot: int) -> DeviceArray:
        one = rows.some(slice(pivot, pivot + 1))
        return transformed(kernel, one, rows, steps, kernels.xp)[0].astype(np.float64)

    return pivots(kernels.to_device(own), column, r, kernels.xp)


def features(kernel: Kernel, rows: NewRows, basis: Matrix, projection: Array) -> Iterator[tuple[slice, DeviceArray]]:
    """K(X, basis) @ projection: values in single precision, sums in double; as many rows at a time as there is room."""
    device = rows.kernels
    right = SingleRows.of(kernel, copied_rows(device, basis), device.xp)
    there, steps = device.to_device(np.ascontiguousarray(projection)), device.pair_steps()
    for part, some in rows.in_parts(max(basis.shape)):
        left = SingleRows.of(kernel, some, device.xp, like=right)
        yield part, transformed(kernel, left, right, steps, device.xp).astype(np.float64) @ there

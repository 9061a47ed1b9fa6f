"""Vectors of weights on a device: solvers mix and measure them, and look at no single weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.device.kernels import Array, DeviceArray, Kernels


class DeviceVector:
    """An array of weights on a device, in double precision; sums have the same bits every time.

    Parameters
    ----------
    kernels : Kernels
    array : array of the device
    """

    def __init__(self, kernels: Kernels, array: DeviceArray) -> None:
        self._kernels, self.array = kernels, array

    @classmethod
    def on(cls, kernels: Kernels, w: Any) -> DeviceVector:
        """A vector of the host or of the device, on the device."""
        return w if isinstance(w, cls) else cls(kernels, kernels.to_device(np.ascontiguousarray(w, np.float64)))

    @property
    def size(self) -> int:
        """How many weights there are."""
        return int(self.array.size)

    def inner(self, other: DeviceVector) -> float:
        """Its product with another."""
        return self._kernels.sides(self.array * other.array)[0]

    def along(self, other: DeviceVector) -> tuple[float, float]:
        """The square of the way to another, and the product of this one with the way."""
        way = other.array - self.array
        return self._kernels.sides(way * way)[0], self._kernels.sides(self.array * way)[0]

    def mixed(self, other: DeviceVector, t: float) -> DeviceVector:
        """Moved to another by t of the way."""
        return DeviceVector(self._kernels, self.array + t * (other.array - self.array))

    def scaled(self, factor: float) -> DeviceVector:
        """Times a number."""
        return DeviceVector(self._kernels, factor * self.array)

    def on_host(self) -> Array:
        """The same as an array of the host."""
        found: Array = self._kernels.to_host(self.array)
        return found

    def __rmul__(self, factor: float) -> DeviceVector:
        return self.scaled(factor)

    def __add__(self, other: DeviceVector) -> DeviceVector:
        return DeviceVector(self._kernels, self.array + other.array)

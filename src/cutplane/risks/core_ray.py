"""A risk along a line of scores, as the core computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy import float64
from numpy.typing import NDArray

Array = NDArray[float64]


@dataclass(frozen=True, slots=True)
class CoreRay:
    """The risk of one of the core's classes on the line through `start` and `end`."""

    core: Any
    start: Array
    end: Array
    n_threads: int

    def value(self, t: float) -> float:
        """The risk at t."""
        return float(self.core.ray(self.start, self.end, True, t, 0.0, self.n_threads)[0])

    def slope(self, t: float) -> float:
        """The right derivative at t."""
        return float(self.core.ray(self.start, self.end, True, t, 0.0, self.n_threads)[1])

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk: OCA eq. 13, by selection in O(n)."""
        return float(self.core.ray_minimum(self.start, self.end, True, quadratic, linear, C, 0.0, self.n_threads))

"""Vectors of weights, wherever they lie: arrays of this process by the compiled core, others by their own methods.

Others are those of a device (`cutplane.device.vectors`): to solvers they are points to mix and to measure, no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane import _core
from cutplane.solvers.base import Array

#: An array, or a vector with the methods `inner`, `along`, `mixed`, `scaled` and `on_host`.
Vector = Any


def inner(a: Vector, b: Vector) -> float:
    """<a, b>."""
    return float(_core.inner(a, b) if isinstance(a, np.ndarray) else a.inner(b))


def along(a: Vector, b: Vector) -> tuple[float, float]:
    """|b - a|² and <a, b - a>."""
    found: tuple[float, float] = _core.along(a, b) if isinstance(a, np.ndarray) else a.along(b)
    return found


def mix(a: Vector, b: Vector, t: float) -> Any:
    """A + t (b - a)."""
    return _core.mix(a, b, t) if isinstance(a, np.ndarray) else a.mixed(b, t)


def scaled(a: Vector, factor: float) -> Any:
    """The vector times a factor, in memory of its own."""
    if not isinstance(a, np.ndarray):
        return a.scaled(factor)
    found = np.empty_like(a)
    _core.scale_and_shift(a, factor, 0.0, found)
    return found


def on_host(a: Vector) -> Array:
    """The vector as an array of this process."""
    found: Array = a if isinstance(a, np.ndarray) else a.on_host()
    return found

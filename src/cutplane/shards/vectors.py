"""Vectors of weights and scores on the host: what NumPy would do on one thread, or to the end."""

from __future__ import annotations

import numpy as np

from cutplane import _core
from cutplane.shards.base import Array

# Weights that are looked at before all others.
_FIRST = 1024


def any_weight(w: Array) -> bool:
    """Whether a weight is not zero: mostly one of the first is not, and NumPy would look at all."""
    return bool(w[:_FIRST].any()) or bool(w.any())


def shifted(values: Array, shift: float | Array, *, in_place: bool) -> Array:
    """Scores plus a constant, by all threads; not those of several classes, nor those in single precision."""
    if np.ndim(shift) or values.ndim > 1 or values.dtype != np.float64:
        return np.add(values, shift, out=values) if in_place else values + shift
    room = values if in_place else np.empty_like(values)
    _core.scale_and_shift(values, 1.0, float(shift), room)
    return room

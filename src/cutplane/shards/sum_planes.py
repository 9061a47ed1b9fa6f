"""Planes of several shards, added up, and made to lean on no intercept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cutplane.proof.rounding import Rounding, exact_sum, leaning_mass
from cutplane.shards.base import Array, ShardPlane
from cutplane.shards.sum_parts import added

# Masses are sums of sizes that are rounded themselves: a little more is charged for.
_ROUNDED = 1.0 + 1e-9


def plane_sum(planes: Sequence[ShardPlane]) -> ShardPlane:
    """The plane below a sum of risks that planes below each of them give."""
    if len(planes) == 1:
        return planes[0]
    return ShardPlane(
        added([plane.slope for plane in planes]),
        exact_sum(plane.offset for plane in planes),
        exact_sum(plane.value for plane in planes),
        exact_sum(plane.error for plane in planes),
        sum(plane.kinks for plane in planes),
        exact_sum(plane.mass for plane in planes) * _ROUNDED,
        sum(plane.lean for plane in planes),
    )


def mixed(a: ShardPlane, b: ShardPlane, share: float) -> ShardPlane:
    """Share·a + (1 - share)·b."""
    rest = 1.0 - share
    return ShardPlane(
        share * a.slope + rest * b.slope,
        share * a.offset + rest * b.offset,
        a.value,
        mass=(share * a.mass + rest * b.mass) * _ROUNDED,
    )


def balancing_factors(sides: Array) -> Array:
    """By what positive and negative coefficients, which sum to these, are scaled: the heavier ones down."""
    up, down = sides.tolist()
    if up > -down:
        return np.array([min(1.0, -down / up), 1.0])
    return np.array([1.0, min(1.0, up / -down) if down < 0.0 else 1.0])


def without_lean(plane: ShardPlane) -> ShardPlane:
    """A plane in balance but for rounding: what it still leans by is charged to its mass."""
    return plane._replace(mass=leaning_mass(plane.mass, plane.lean), lean=0.0)


def either(a: Rounding, b: Rounding) -> Rounding:
    """What holds of both."""
    columns = None if a.columns is None or b.columns is None else np.maximum(a.columns, b.columns)
    return replace(
        a,
        reach=max(a.reach, b.reach),
        row_depth=max(a.row_depth, b.row_depth),
        sum_depth=max(a.sum_depth, b.sum_depth),
        columns=columns,
        scale=max(a.scale, b.scale),
        unit=max(a.unit, b.unit),
        least_mass=max(a.least_mass, b.least_mass),
    )

"""Planes of single examples, and the plane of a sample that they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cutplane._types import Array
from cutplane.structured import vectors
from cutplane.structured.base import Sweep
from cutplane.structured.vectors import Vector


class ExamplePlane(NamedTuple):
    """One labelling of one example: its share of the risk is at least <slope, w> + offset."""

    slope: Vector
    offset: float

    def height(self, w: Array) -> float:
        """The plane at w."""
        return vectors.dot(self.slope, w) + self.offset

    def times(self, factor: float) -> ExamplePlane:
        """The plane of an example that counts so many times."""
        return ExamplePlane(vectors.times(self.slope, factor), factor * self.offset)


def truth_plane(dimension: int) -> ExamplePlane:
    """The plane of the right labelling: zero."""
    return ExamplePlane(vectors.zeros(dimension), 0.0)


def sweep_of(planes: Sequence[ExamplePlane], w: Array, dimension: int) -> Sweep:
    """The mean of the examples' planes; an example whose own lies below the truth's counts as the truth."""
    slope, offset = np.zeros(dimension), 0.0
    heights = np.zeros(len(planes))
    for index, plane in enumerate(planes):
        heights[index] = height = plane.height(w)
        if height > 0.0:
            vectors.add(plane.slope, 1.0 / len(planes), slope)
            offset += plane.offset / len(planes)
    return Sweep(lambda: slope, offset, np.maximum(heights, 0.0))

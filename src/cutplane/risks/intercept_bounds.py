"""How far from zero the best intercepts are at most: what the prover is charged for planes that lean by their rounding.

Bounds of two risks add up to one of their sum, so that examples may lie in several places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Cuts = Callable[[Array], Any]

# Where planes that lean are looked for: at so many sizes, until coefficients are mostly of one sign.
_MOST_SIZES, _LEAST_TOTAL = 12, 0.25


class LeaningPlane(NamedTuple):
    """A plane whose coefficients mostly have one sign: their sum without it, the offset, and their sizes added up."""

    total: float
    offset: float
    mass: float

    def plus(self, other: LeaningPlane) -> LeaningPlane:
        """The plane below the sum of both risks."""
        return LeaningPlane(self.total + other.total, self.offset + other.offset, self.mass + other.mass)


@dataclass(frozen=True, slots=True)
class LeaningPlanes:
    """The bound of one intercept.

    A plane whose coefficients sum to r > 0 says value >= r·b + offset - spread·Σ|coef|: an upper bound on b. One with
    r < 0 gives a lower bound.

    Parameters
    ----------
    rising, falling : LeaningPlane or None
        Planes that rise and fall with the intercept; None where no such plane is known.
    floor : float
        What the risk never falls below.
    """

    rising: LeaningPlane | None
    falling: LeaningPlane | None
    floor: float = 0.0

    def __call__(self, value: float, spread: float) -> float:
        """How far from zero it is, where the risk is at most `value` and scores without it are within `spread`."""
        furthest = 0.0
        for plane in (self.rising, self.falling):
            if plane is None:
                return np.inf
            room = value - plane.offset + spread * plane.mass * (1.0 + 1e-9)
            furthest = max(furthest, room / plane.total * (1.0 + 1e-9))
        return furthest

    def plus(self, other: LeaningPlanes) -> LeaningPlanes:
        """The bound for the sum of both risks; one that has no plane to a side is at least its floor."""
        level, other_level = LeaningPlane(0.0, self.floor, 0.0), LeaningPlane(0.0, other.floor, 0.0)

        def added(mine: LeaningPlane | None, its: LeaningPlane | None) -> LeaningPlane | None:
            return None if mine is None and its is None else (mine or level).plus(its or other_level)

        rising, falling = added(self.rising, other.rising), added(self.falling, other.falling)
        return LeaningPlanes(rising, falling, self.floor + other.floor)


def leaning_planes(cut: Cuts, n: int, scale: float, floor: float) -> LeaningPlanes:
    """Of any risk of n scores: the planes at large constants of either sign."""
    return LeaningPlanes(_leaning_plane(cut, n, scale, 1.0), _leaning_plane(cut, n, scale, -1.0), floor)


def _leaning_plane(cut: Cuts, n: int, scale: float, side: float) -> LeaningPlane | None:
    size = 2.0 * max(scale, 1e-300)
    for _ in range(_MOST_SIZES):
        coef, offset = cut(np.full(n, side * size))[:2]
        total, mass = side * float(np.sum(coef)), float(np.abs(coef).sum())
        if total > _LEAST_TOTAL * mass:
            return LeaningPlane(total, offset, mass)
        size *= 16.0
    return None


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """The bound of several intercepts, one for each class.

    Where the best ones differ by D, examples of the class with the lowest cost D less the spread at least.

    Parameters
    ----------
    weights : array
        What the examples of each class weigh.
    factor : float
        The least that a violated margin is multiplied by.
    scale : float
        The largest cost.
    """

    weights: Array
    factor: float
    scale: float

    def __call__(self, value: float, spread: float) -> float:
        """How far apart they are, where the risk is at most `value` and scores without them are within `spread`."""
        rarest = float(self.weights[self.weights > 0.0].min())
        return value / (rarest * self.factor) + 2.0 * spread + self.scale

    def plus(self, other: ClassWeights) -> ClassWeights:
        """The bound for the sum of both risks, which are of the same costs."""
        return ClassWeights(self.weights + other.weights, self.factor, self.scale)

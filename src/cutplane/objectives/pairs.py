"""The risk of pairs as a function of the weights: for cutting planes, and for Newton's method on pairs."""

from __future__ import annotations

import numpy as np

from cutplane.objectives.generic import Objective
from cutplane.shards.base import Array, PairPart, RoundedPairs
from cutplane.solvers.base import Curvature, ScoredPoint, SmoothedCut


class PairObjective(Objective):
    """The pair risk as a function of the weights. There is no intercept: it would change nothing."""

    newton_by = "pairs"

    shard: PairPart

    def direction(self, p: Array) -> ScoredPoint:
        """A change of the weights: one pass."""
        return ScoredPoint(p, 0.0, self.shard.at(p))

    def smoothed(self, point: ScoredPoint, h: float) -> RoundedPairs:
        """The risk rounded over h, in terms of the scores."""
        return self.shard.smoothed(point.scores, h)

    def plane(self, smoothed: RoundedPairs, point: ScoredPoint, h: float) -> SmoothedCut:
        """The plane below the risk that a rounded one gives: a pass over the data."""
        plane = self.shard.plane(smoothed, point.scores, h)
        return SmoothedCut(plane.slope, self._offset(plane), plane.value, plane.error, plane.kinks, plane.mass)

    def slope_along(self, smoothed: RoundedPairs, direction: ScoredPoint) -> float:
        """How a rounded risk rises along a direction."""
        return self.shard.slope_along(smoothed, direction.scores)

    def extrapolated_slope(self, point: ScoredPoint, h: float, reach: float) -> Array:
        """The slope for width h if the pairs within `reach` stayed on their kinks."""
        return self.shard.extrapolated(point.scores, h, reach)

    def move(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint:
        """The point + t·direction."""
        return ScoredPoint(point.w + t * direction.w, 0.0, self.shard.moved(point.scores, direction.scores, t))

    @property
    def most_drawn(self) -> int:
        """How large a sample may be."""
        return self.shard.most_drawn

    @property
    def least_drawn(self) -> int:
        """How small a sample may be: a smaller one is no faster."""
        return self.shard.least_drawn

    def sample(self, size: int, generator: np.random.Generator) -> PairObjective | None:
        """An estimate of the objective from about `size` of its examples; None where these have no pair."""
        part = self.shard.sample(size, generator)
        return None if part is None else PairObjective(part, origin=self.origin)

    def curvature(self, point: ScoredPoint, h: float) -> Curvature:
        """An estimate of h times the second derivative of the rounded risk."""
        return self.shard.curvature(point.scores, h)

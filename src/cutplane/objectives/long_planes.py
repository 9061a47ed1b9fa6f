"""The risk as a function of weights that lie with the examples."""

from __future__ import annotations

from cutplane.objectives.generic import Objective
from cutplane.shards.base import Array
from cutplane.shards.long_planes import LongPlanesShard
from cutplane.solvers.base import ScoredPoint
from cutplane.solvers.bundle.planes import BundleLike


class LongPlanesObjective(Objective):
    """An objective whose weights, slopes and planes stay where the examples lie."""

    shard: LongPlanesShard

    def at(self, w: Array, nearby: ScoredPoint | None = None) -> ScoredPoint:
        """The point w with its best intercept: one pass over the data."""
        there: Array = self.shard.placed(w)  # type: ignore[assignment]
        return super().at(there, nearby)

    def new_bundle(self) -> BundleLike:
        """A bundle whose slopes lie there."""
        return self.shard.new_bundle()

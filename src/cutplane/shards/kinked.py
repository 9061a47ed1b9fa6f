"""Losses made of lines over the rows of a matrix: the examples near their kinks are a problem of their own."""

from __future__ import annotations

from cutplane.shards.base import Handle
from cutplane.shards.host import scores_of
from cutplane.shards.near_hinges import NearHinges
from cutplane.shards.visited import VisitedShard


class KinkedShard(VisitedShard):
    """A loss that is a sum of hinges."""

    @property
    def near_work(self) -> float:
        """What an example adds to the work of each system of `near_problem`."""
        return float(self.source.gram_work)

    def near_problem(self, scores: Handle, radius: float, most: int, *, intercept: bool) -> NearHinges:
        """The problem of the kinks within `radius` of the scores, or of the `most` nearest."""
        return NearHinges(self.source, self.risk, scores_of(scores), radius, most=most, intercept=intercept)

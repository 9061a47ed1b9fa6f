"""A risk of pairs over examples that lie in several shards, each of which holds whole queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from cutplane.proof.rounding import exact_sum
from cutplane.risks import bracketing
from cutplane.shards.base import Array, Handle, PairPart, PairRayLike, RoundedPairs, ShardPlane, answers
from cutplane.shards.pairs import PairShard
from cutplane.shards.sum_base import PlaneSumShard
from cutplane.shards.sum_parts import CurvatureSum, added
from cutplane.shards.sum_planes import plane_sum


class PairsAcrossPartsError(ValueError):
    """Pairs whose examples lie in different parts."""

    def __init__(self) -> None:
        super().__init__(
            "Pairs across all examples are no sum over parts, as every example is compared with those of other parts; "
            "what can be summed up are pairs within queries (qid), each of them whole in one part."
        )


class PairSumShard(PlaneSumShard):
    """The sum of the pair risks of several shards. No pair has its examples in two of them.

    Parameters
    ----------
    parts : sequence of PairPart
        The risk of each is its part of the whole one: see `mean_over`.
    """

    kind: ClassVar[str] = "pairs"

    _parts: tuple[PairPart, ...]

    def __init__(self, parts: Sequence[PairPart]) -> None:
        if len(parts) > 1 and not all(part.within_queries for part in parts):
            raise PairsAcrossPartsError
        super().__init__(parts)

    @classmethod
    def mean_over(cls, parts: Sequence[PairPart | None]) -> PairSumShard:
        """The mean over the queries, or the pairs, of all parts, each of which has a mean of its own.

        Parameters
        ----------
        parts : sequence of PairPart or None
            Every query is whole in one part. None stands for a part without a pair.
        """
        present = [part for part in parts if part is not None]
        if len(present) == 1:
            return cls(present)
        total = exact_sum(part.total_mass for part in present)
        return cls([part.weighing(part.total_mass / total) for part in present])

    @property
    def within_queries(self) -> bool:
        """Whether pairs are within queries."""
        return all(part.within_queries for part in self._parts)

    @property
    def total_mass(self) -> float:
        """What a mean is taken over: queries, or the weights of pairs."""
        return exact_sum(part.total_mass for part in self._parts)

    @property
    def share(self) -> float:
        """The risk is this many means."""
        return exact_sum(part.share for part in self._parts)

    def weighing(self, share: float) -> PairSumShard:
        """The mean, so many times: a part of a larger one."""
        factor = share / self.share
        return PairSumShard([part.weighing(factor * part.share) for part in self._parts])

    def ray(self, a: Handle, b: Handle) -> PairRaySum:
        """The risk along the line from a to b."""
        return PairRaySum(tuple(answers(part.ray(x, y) for part, x, y in self._of(a, b))))

    def smoothed(self, scores: Handle, h: float) -> RoundedPairs:
        """The risk rounded over h, in terms of the scores."""
        found: list[RoundedPairs] = answers(part.smoothed(s, h) for part, s in self._of(scores))
        return RoundedPairs(
            tuple(found),
            exact_sum(part.offset for part in found),
            exact_sum(part.value for part in found),
            exact_sum(part.error for part in found),
            sum(part.kinks for part in found),
        )

    def plane(self, smoothed: RoundedPairs, scores: Handle, h: float) -> ShardPlane:
        """The plane below the risk that a rounded one gives: a pass over the data."""
        return plane_sum(answers(part.plane(r, s, h) for part, r, s in self._of(smoothed.coef, scores)))

    def slope_along(self, smoothed: RoundedPairs, direction: Handle) -> float:
        """How a rounded risk rises along a direction."""
        return exact_sum(answers(part.slope_along(r, d) for part, r, d in self._of(smoothed.coef, direction)))

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array:
        """The slope for width h if the pairs within `reach` stayed on their kinks."""
        return added(answers(part.extrapolated(s, h, reach) for part, s in self._of(scores)))

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction."""
        return tuple(part.moved(s, d, t) for part, s, d in self._of(scores, direction))

    def sample(self, size: int, generator: np.random.Generator) -> PairSumShard | None:
        """About `size` of the examples, of each part as many as it has of all; None where these have no pair."""
        shares = [max(1, size * part.examples // self.examples) for part in self._parts]
        # A generator for each part, so that none waits for another.
        own = [generator] if len(self._parts) == 1 else generator.spawn(len(self._parts))
        every = answers(part.sample(share, each) for part, share, each in zip(self._parts, shares, own, strict=True))
        drawn = [part for part in every if part is not None]
        if len(drawn) == len(every):
            return PairSumShard(drawn)
        # The others stand for parts of which no pair was drawn.
        present = exact_sum(part.share for part in drawn)
        return PairSumShard([part.weighing(part.share * self.share / present) for part in drawn]) if drawn else None

    def curvature(self, scores: Handle, h: float) -> CurvatureSum:
        """An estimate of h times the second derivative of the rounded risk."""
        return CurvatureSum(tuple(part.curvature(s, h) for part, s in self._of(scores)))


@dataclass(frozen=True, slots=True)
class PairRaySum:
    """The pair risk along a line: the sum of the parts'."""

    parts: tuple[PairRayLike, ...]

    def at(self, t: float) -> tuple[float, float]:
        """The risk at t and its right derivative."""
        found = answers(part.at(t) for part in self.parts)
        return exact_sum(value for value, _ in found), exact_sum(slope for _, slope in found)

    def value(self, t: float) -> float:
        """The risk at t."""
        return self.at(t)[0]

    def slope(self, t: float) -> float:
        """The right derivative at t."""
        return self.at(t)[1]

    @property
    def accuracy(self) -> float:
        """The fraction of its descent that `minimise` may miss."""
        return self.parts[0].accuracy

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk, up to `accuracy` of the descent."""
        return bracketing.ray_minimum(self.at, quadratic, linear, C, accuracy=self.accuracy)


def by_queries(shard: PairShard, count: int) -> PairSumShard:
    """A shard cut into about so many parts of equally many examples, each with whole queries."""
    if count == 1:
        return PairSumShard([shard])
    sizes = shard.query_sizes
    if len(sizes) < 2:
        raise PairsAcrossPartsError
    # The query in which each part but the last would end belongs to the next one.
    ends = np.searchsorted(np.cumsum(sizes), np.arange(1, count) * (sizes.sum() / count))
    bounds = np.unique([0, *ends.tolist(), len(sizes)])
    return PairSumShard.mean_over([shard.of_queries(first, last) for first, last in pairwise(bounds.tolist())])

"""Rankings whose queries lie elsewhere, in parts: what a shard of each is made of, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from cutplane.risks.base import Risk, ScoreCut
from cutplane.shards.base import Array
from cutplane.shards.pair_sum import PairSumShard
from cutplane.shards.remote import RemoteCurvature, RemoteRay, RemoteShard
from cutplane.shards.rounds import Remote, asked, fact, kept
from cutplane.shards.scattered import RemoteExamples, ScatteredSource


class PairSurvey(NamedTuple):
    """What must be known of a part before the problem can be posed.

    Attributes
    ----------
    shape : tuple
        Numbers of examples and features.
    queries : array
        Those of the part, sorted.
    counted : int
        How many of them have an example that weighs something.
    groups, pairs : int
        Queries that have a pair, and how many pairs there are.
    mass : float
        What the mean is taken over.
    """

    shape: tuple[int, int]
    queries: NDArray[Any]
    counted: int
    groups: int
    pairs: int
    mass: float


class RemotePairRay(RemoteRay):
    """The pair risk of a part along a line."""

    facts = ("accuracy",)

    accuracy = fact("accuracy")
    at = asked("at")


class RemoteRounded(Remote):
    """A rounded risk of a part: see `RoundedPairs`."""

    facts = ("offset", "value", "error", "kinks")

    offset = fact("offset")
    value = fact("value")
    error = fact("error")
    kinks = fact("kinks")


class RemotePairShard(RemoteShard):
    """A shard of pairs that lies elsewhere, as a part of a sum."""

    facts = (*RemoteShard.facts, "within_queries", "total_mass", "share")
    inherited = RemoteShard.inherited | {"within_queries", "total_mass", "share"}

    within_queries = fact("within_queries")
    total_mass = fact("total_mass")
    share = fact("share")
    ray = kept("ray", lambda: RemotePairRay)
    plane = asked("plane")
    slope_along = asked("slope_along")
    extrapolated = asked("extrapolated")
    moved = kept("moved")
    sample = asked("sample")  # it comes here
    curvature = kept("curvature", lambda: RemoteCurvature)
    smoothed = kept("smoothed", lambda: RemoteRounded)

    def weighing(self, share: float) -> RemotePairShard:
        """The mean, so many times."""
        return self._derive(RemotePairShard, "weighing", (share,))


class RemoteQueries(RemoteExamples):
    """The queries of a part, which lie elsewhere."""

    pair_survey = asked("pair_survey")

    def pair_shard(self, equal_groups: bool, share: float) -> RemotePairShard:
        """See `PartQueries`."""
        return self._derive(RemotePairShard, "pair_shard", (equal_groups, share))


class ScatteredPairs(Risk):
    """The risk of a ranking whose queries lie elsewhere.

    Parameters
    ----------
    equal_groups : bool
        Whether each query weighs the same; else each pair does.
    surveys : sequence of PairSurvey
        Of the parts, each of which has a pair.
    """

    takes_intercept = False

    def __init__(self, surveys: Sequence[PairSurvey], *, equal_groups: bool) -> None:
        self.equal_groups = equal_groups
        self.masses = np.array([each.mass for each in surveys])
        self.n_groups, self.n_pairs = sum(each.groups for each in surveys), sum(each.pairs for each in surveys)
        self.total_weight = float(self.n_groups)

    def value(self, scores: Array) -> float:
        """Not here: the targets lie elsewhere."""
        raise NotImplementedError

    def cut(self, scores: Array) -> ScoreCut:
        """Not here: the targets lie elsewhere."""
        raise NotImplementedError


def scattered_pair_shard(source: ScatteredSource, risk: ScatteredPairs, intercept: bool) -> PairSumShard:
    """The sum of the parts' shards."""
    shares = risk.masses / risk.masses.sum()
    queries = cast(tuple[RemoteQueries, ...], source.parts)
    parts: list[Any] = [
        part.pair_shard(risk.equal_groups, float(share)) for part, share in zip(queries, shares, strict=True)
    ]
    return PairSumShard(parts)

"""The examples of one part of a ranking, in the process where they lie: whole queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.risks.pairs import NoPairsError
from cutplane.risks.ranking import RankingRisk
from cutplane.shards.base import Array
from cutplane.shards.part_examples import PartExamples
from cutplane.shards.registry import make_shard
from cutplane.shards.scattered_pairs import PairSurvey


class PartQueries(PartExamples):
    """The examples of one part, where they lie, and their queries.

    Parameters
    ----------
    X, y, weights
        As for `PartExamples`.
    queries : array
        The query of each example, of any type.
    """

    def __init__(self, X: Any, y: NDArray[Any], weights: Array | None, queries: NDArray[Any]) -> None:
        super().__init__(X, y, weights)
        self._queries = queries

    def mark(self) -> int:
        """A checksum, of the queries too."""
        return self._marked_with(self._queries)

    def pair_survey(self, *, equal_groups: bool) -> PairSurvey:
        """What must be known before the problem can be posed."""
        heavy = slice(None) if self._weights is None else self._weights > 0.0
        present = np.unique(self._queries[heavy])
        try:
            risk = self._risk(equal_groups)
        except NoPairsError:
            return PairSurvey(self._source.shape, np.unique(self._queries), len(present), 0, 0, 0.0)
        shape, queries = self._source.shape, np.unique(self._queries)
        return PairSurvey(shape, queries, len(present), risk.n_groups, risk.n_pairs, risk.total_mass)

    def pair_shard(self, equal_groups: bool, share: float) -> Any:
        """The sum over the pairs of these queries, which is so many of their mean."""
        return make_shard(self._source, self._risk(equal_groups).weighing(share))

    def _risk(self, equal_groups: bool) -> RankingRisk:
        return RankingRisk(self._y, self._queries, self._weights, equal_groups=equal_groups)

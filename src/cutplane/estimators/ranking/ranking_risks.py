"""The risks of rankings and of ordered classes, made where examples lie, and what is said of queries without a pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Codes
from cutplane.device.pair_risk import DevicePairRisk
from cutplane.device.rankings import ordinal_there, ranking_there
from cutplane.estimators.ranking.ranking_data import check_several, no_pair, warn_of_ignored
from cutplane.risks.ordinal import OrdinalRisk
from cutplane.risks.pairs import NoPairsError, PairRisk
from cutplane.risks.ranking import RankingRisk
from cutplane.shards.registry import device_kernels

Made = TypeVar("Made", bound=PairRisk | DevicePairRisk)


def made_ranking(
    rows: object,
    ranks: Array,
    queries: NDArray[Any] | None,
    weights: Array | None,
    *,
    equal_groups: bool,
    n_threads: int,
) -> RankingRisk | DevicePairRisk:
    """Pairs within queries (None: there is one)."""
    kernels = device_kernels(rows)
    settings: dict[str, Any] = {"equal_groups": equal_groups, "n_threads": n_threads}

    def make() -> RankingRisk | DevicePairRisk:
        if kernels is not None:
            return ranking_there(kernels, ranks, queries, weights, **settings)
        groups = np.zeros(len(ranks), dtype=np.int64) if queries is None else queries
        return RankingRisk(ranks, groups, weights, **settings)

    return _checked(make, len(ranks), "target", in_queries=queries is not None)


def made_ordinal(rows: object, codes: Codes, weights: Array | None, *, n_threads: int) -> OrdinalRisk | DevicePairRisk:
    """All pairs of different classes."""
    kernels = device_kernels(rows)

    def make() -> OrdinalRisk | DevicePairRisk:
        if kernels is not None:
            return ordinal_there(kernels, codes, weights, n_threads=n_threads)
        return OrdinalRisk(codes, weights, n_threads=n_threads)

    return _checked(make, len(codes), "class", in_queries=False)


def _checked(make: Callable[[], Made], n: int, what: str, *, in_queries: bool) -> Made:
    """At least two targets to compare; queries without are ignored, and that is said once."""
    check_several(n)
    try:
        risk = make()
    except NoPairsError:
        raise no_pair(what, in_queries=in_queries) from None
    warn_of_ignored(risk.all_groups - risk.n_groups, risk.all_groups)
    return risk

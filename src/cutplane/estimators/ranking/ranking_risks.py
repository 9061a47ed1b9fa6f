"""The risks of rankings and of ordered classes, made where examples lie, and what is said of queries without a pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Codes
from cutplane.device.kernels import Kernels
from cutplane.device.pair_risk import DevicePairRisk
from cutplane.device.rankings import ordinal_there, ranking_there
from cutplane.estimators.ranking.ranking_data import check_pairs, check_several, no_pair, warn_of_ignored
from cutplane.risks.ordinal import OrdinalRisk
from cutplane.risks.pairs import NoPairsError, dense_codes
from cutplane.risks.ranking import RankingRisk
from cutplane.shards.registry import device_kernels


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
    if kernels is not None:
        return _there(
            kernels, len(ranks), lambda on: ranking_there(on, ranks, queries, weights, **settings), "target", queries
        )
    codes = None if queries is None else dense_codes(queries)
    check_pairs(ranks, codes, weights)
    return RankingRisk(ranks, np.zeros(len(ranks), dtype=np.int64) if codes is None else codes, weights, **settings)


def made_ordinal(rows: object, codes: Codes, weights: Array | None, *, n_threads: int) -> OrdinalRisk | DevicePairRisk:
    """All pairs of different classes."""
    kernels = device_kernels(rows)
    if kernels is not None:
        return _there(kernels, len(codes), lambda on: ordinal_there(on, codes, weights, n_threads=n_threads), "class")
    check_pairs(codes.astype(np.float64), None, weights, what="class")
    return OrdinalRisk(codes, weights, n_threads=n_threads)


def _there(
    kernels: Kernels,
    n: int,
    make: Callable[[Kernels], DevicePairRisk],
    what: str,
    queries: NDArray[Any] | None = None,
) -> DevicePairRisk:
    """A risk on a device, whose pairs are counted there."""
    check_several(n)
    try:
        risk = make(kernels)
    except NoPairsError:
        raise no_pair(what, in_queries=queries is not None) from None
    warn_of_ignored(risk.all_groups - risk.n_groups, risk.all_groups)
    return risk

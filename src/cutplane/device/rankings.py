"""Risks of pairs on a device, from targets, queries and weights of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.device.kernels import Array, DeviceArray, Kernels
from cutplane.device.pair_risk import DevicePairRisk
from cutplane.device.rank_layout import PairsThere
from cutplane.risks.labels import coded_by_table
from cutplane.risks.pairs import dense_codes

# Whole numbers that differ by less are told apart as they are.
_NEAR = 1 << 31


def ranking_there(
    kernels: Kernels,
    targets: NDArray[Any],
    queries: NDArray[Any] | None,
    weights: Array | None,
    *,
    equal_groups: bool,
    n_threads: int = 0,
) -> DevicePairRisk:
    """As `RankingRisk`, on a device; None: all examples are one query."""
    coded = coded_by_table(targets, n_threads)
    ranks = _codes(kernels, targets) if coded is None else kernels.to_device(coded[1])
    groups = None if queries is None else _codes(kernels, queries)
    own = None if weights is None else kernels.to_device(weights)
    risk = DevicePairRisk(kernels, PairsThere(ranks, groups, own, equal_groups), n_threads=n_threads)
    risk.total_weight = float(risk.n_groups)
    return risk


def ordinal_there(
    kernels: Kernels, codes: NDArray[Any], weights: Array | None, *, n_threads: int = 0
) -> DevicePairRisk:
    """As `OrdinalRisk`, on a device, from classes by number."""
    own = None if weights is None else kernels.to_device(weights)
    return DevicePairRisk(kernels, PairsThere(kernels.to_device(codes), None, own, False), n_threads=n_threads)


def _codes(kernels: Kernels, values: NDArray[Any]) -> DeviceArray:
    """Whole numbers from 0 on in the order of the values: these themselves where they are whole and near each other."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < _NEAR:
            return kernels.to_device(np.ascontiguousarray(values)).astype(np.int64) - low
    if values.dtype.kind not in "iuf":
        return kernels.to_device(dense_codes(values))  # words, of which a device has none
    xp, given = kernels.xp, kernels.to_device(np.ascontiguousarray(values))
    order = xp.argsort(given)
    fresh, ordered = xp.zeros(len(given), np.int64), given[order]
    fresh[1:] = ordered[1:] != ordered[:-1]
    found = xp.empty(len(given), np.int64)
    found[order] = xp.cumsum(fresh)
    return found

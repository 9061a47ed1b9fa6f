"""Thresholds between ordered classes, from scores that lie on a device."""

from __future__ import annotations

import numpy as np

from cutplane import _core
from cutplane.device.kernels import Array, DeviceArray, Kernels
from cutplane.device.rank_sums import RankedExamples, RankLevel
from cutplane.risks.thresholds import between


def least_error_thresholds_there(
    kernels: Kernels, scores: DeviceArray, codes: DeviceArray, n_classes: int, weights: DeviceArray | None = None
) -> Array:
    """As `cutplane.risks.thresholds.least_error_thresholds`: scores are put on a grid, as where pairs are counted."""
    if weights is not None and not bool((weights > 0.0).all()):
        counted = weights > 0.0
        scores, codes, weights = scores[counted], codes[counted], weights[counted]
    xp, sums, n = kernels.xp, kernels.rank_sums(), len(scores)
    largest = float(abs(scores).max())
    order = sums.by_score(scores, _core.grid_step(n, largest), largest)
    # A threshold fits before the first, and between any two that differ; after the last, all are below.
    fits = xp.flatnonzero(xp.concatenate([xp.ones(1, dtype=bool), order.key[1:] > order.key[:-1]]))
    whole = RankLevel(kernels.to_device(np.array([0, n])), None, 0, xp.ones(1))
    found = np.empty(n_classes - 1)
    for k in range(n_classes - 1):
        higher = (codes > k).astype(np.int32)
        _, mass, low, high = sums.prefixes(order, RankedExamples(higher, higher, weights), whole)
        errors = high[:, 0] - low[:, 0]  # less those that a threshold before all makes
        chosen = errors[fits]
        least = float(chosen.min())
        place = int(fits[xp.flatnonzero(chosen == least)[0]])
        if float(errors[-1] + mass[-1]) < least:
            place = n
        below, above = float(order.key[max(place - 1, 0)]), float(order.key[min(place, n - 1)])
        found[k] = between(below, above, place, n)
    return found

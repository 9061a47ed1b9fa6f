"""Samples of the examples: how many."""

from __future__ import annotations

import numpy as np

from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike


def sample_sizes(objective: SmoothObjectiveLike, allowed_fraction: float) -> list[int]:
    """From a few examples a feature to a twelfth of all, four times as many each; no more than tell what is asked.

    `allowed_fraction` is the gap aimed at, relative to the objective.
    """
    features = objective.dimension
    telling = TUNING.sample_tells * features / (TUNING.sample_finer * allowed_fraction) if allowed_fraction else np.inf
    least = objective.least_drawn
    size = int(min(TUNING.largest_sample * objective.examples, objective.most_drawn, max(telling, least)))
    sizes = list[int]()
    while size >= max(TUNING.least_sample, TUNING.least_sample_per_feature * features, least):
        sizes.insert(0, size)
        size //= 4
    return sizes

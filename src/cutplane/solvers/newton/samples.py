"""Samples of the examples: how many."""

from __future__ import annotations

from cutplane.solvers.newton.tuning import TUNING


def sample_sizes(examples: int, features: int) -> list[int]:
    """From a few examples a feature to a twelfth of all, four times as many each."""
    size, sizes = int(TUNING.largest_sample * examples), list[int]()
    while size >= max(TUNING.least_sample, TUNING.least_sample_per_feature * features):
        sizes.insert(0, size)
        size //= 4
    return sizes

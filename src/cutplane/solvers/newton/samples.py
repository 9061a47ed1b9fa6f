"""Samples of the examples: how many."""

from __future__ import annotations

# With this many examples a feature, samples tell nearly all.
AMPLE = 2000
# The least sample: examples in all, and for each feature.
_LEAST, _LEAST_PER_FEATURE = 2000, 20
# The largest one, as a fraction of all: it is copied together, and a greater one would take more memory than training.
_LARGEST = 0.08


def sample_sizes(examples: int, features: int) -> list[int]:
    """From a few examples a feature to a twelfth of all, four times as many each."""
    size, sizes = int(_LARGEST * examples), list[int]()
    while size >= max(_LEAST, _LEAST_PER_FEATURE * features):
        sizes.insert(0, size)
        size //= 4
    return sizes

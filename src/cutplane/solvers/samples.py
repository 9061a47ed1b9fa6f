"""Samples of the examples: how many, and which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def spread(n: int, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """One example at random from each of so many equal stretches: in order, and sooner found than any others."""
    ends = np.arange(size + 1, dtype=np.int64) * n // size
    offsets = generator.random(size)
    offsets *= np.diff(ends)
    drawn: NDArray[np.int64] = offsets.astype(np.int64)
    drawn += ends[:-1]
    return drawn

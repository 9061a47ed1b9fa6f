"""Positions of examples drawn at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def one_of_each(n: int, size: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """One position of n at random from each of so many equal stretches: in order, and sooner found than any others."""
    ends = np.arange(size + 1, dtype=np.int64) * n // size
    offsets = generator.random(size)
    offsets *= np.diff(ends)
    drawn: NDArray[np.int64] = offsets.astype(np.int64)
    drawn += ends[:-1]
    return drawn

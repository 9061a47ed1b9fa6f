"""Sets of examples in memory, by their positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutplane.risks.stretches import one_of_each
from cutplane.solvers.base import Subset


@dataclass(frozen=True, slots=True)
class RowSet(Subset):
    """Positions in ascending order, none twice: an array of NumPy's, or of a library that takes its calls."""

    positions: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.positions)

    def union(self, *others: Subset) -> RowSet:
        """What is in this set or in any of the others."""
        together = np.sort(np.concatenate([self.positions, *map(positions_of, others)]))
        return RowSet(np.concatenate([together[:1], together[1:][together[1:] > together[:-1]]]))

    def minus(self, other: Subset) -> RowSet:
        """What is in this set and not in the other."""
        inside = np.isin(self.positions, positions_of(other), assume_unique=True)
        return RowSet(self.positions[~inside])


def positions_of(subset: Subset) -> NDArray[np.int64]:
    """Those of a set that a shard of this process has made."""
    assert isinstance(subset, RowSet)
    return subset.positions


def spread(n: int, size: int, generator: np.random.Generator) -> RowSet:
    """One example at random from each of so many equal stretches."""
    return RowSet(one_of_each(n, size, generator))

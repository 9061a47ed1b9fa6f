"""One class against the rest, for all classes of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cutplane._types import Array, Codes
from cutplane.risks.registry import Loss
from cutplane.sources import Source

# Sums over the examples of each class are formed for so many examples times classes at a time.
_AT_ONCE = 1 << 23


class AgainstRest(NamedTuple):
    """One class against the rest, for all classes: their examples' codes and weights (None: 1 each), and the loss."""

    name: object
    loss: Loss
    codes: Codes
    weights: Array | None
    n_classes: int

    @property
    def sides(self) -> Array:
        """What the examples of each class weigh, of a total of one."""
        found = np.bincount(self.codes, self.weights, self.n_classes)
        return np.asarray(found / found.sum())

    @property
    def total(self) -> float:
        """What all examples weigh: C per example is multiplied by it."""
        return float(len(self.codes)) if self.weights is None else float(self.weights.sum())

    def means_apart(self, source: Source, classes: Sequence[int]) -> dict[int, Array]:
        """The mean of a class' examples less that of the others, for the first of some classes: one pass."""
        some = np.array(classes[: max(1, _AT_ONCE // len(self.codes))])
        each = np.ones(len(self.codes)) if self.weights is None else self.weights
        sums = source.combine(np.where(self.codes[:, None] == some, each[:, None], 0.0))
        whole, sizes = source.combine(each), np.bincount(self.codes, each)[some]
        apart = sums / sizes - (whole[:, None] - sums) / (each.sum() - sizes)
        return dict(zip(some.tolist(), np.ascontiguousarray(apart.T), strict=True))

"""One class against the rest, for all classes of a fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutplane._types import Array, Codes
from cutplane.risks.registry import Loss


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

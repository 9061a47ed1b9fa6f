"""The area under the ROC curve: the share of pairs, a positive and a negative example, in the right order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cutplane.risks.base import Array
from cutplane.risks.pairs import NoPairsError, PairRisk
from cutplane.risks.thresholds import least_error_thresholds


class RocArea(PairRisk):
    """The mean over pairs of a positive and a negative example of max(0, 1 - (s_i - s_j)).

    At least one minus the area under the ROC curve.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 or +1.
    sample_weight : array of shape (n,), optional
        Non-negative; a pair weighs the product of its examples' weights.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.roc_area import RocArea
    >>> RocArea(np.array([1, -1, -1])).value(np.array([0.5, 0.0, -1.0]))
    0.25
    """

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        labels = np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        positive = labels > 0
        counted = positive if weights is None else positive[weights > 0.0]
        if not 0 < np.count_nonzero(counted) < len(counted):
            raise NoPairsError("There is no pair to compare: all examples have the same label.")
        self._set(positive.view(np.int8), None, weights, False, n_threads, 1.0, later=True)

    def threshold(self, scores: Array) -> float:
        """What to add to the scores for their signs to make the fewest errors."""
        return -float(least_error_thresholds(scores, self._ranks, 2, self._weights)[0])

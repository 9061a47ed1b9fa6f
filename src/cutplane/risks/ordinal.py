"""Ordinal regression: all pairs of examples of different rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cutplane.risks.pairs import PairRisk


class OrdinalRisk(PairRisk):
    """The mean over all pairs with y_i > y_j of max(0, 1 - (s_i - s_j)): Joachims 2006, OP4.

    Value, cut and slope take O(n log n), whatever the number of different targets.

    Parameters
    ----------
    y : array of shape (n,)
        Targets; only their order counts.
    sample_weight : array of shape (n,), optional
        Non-negative; a pair weighs the product of its examples' weights.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.ordinal import OrdinalRisk
    >>> risk = OrdinalRisk([1.0, 2.0, 5.0])
    >>> risk.n_pairs, risk.value(np.array([0.0, 0.5, 1.5]))
    (3, 0.16666666666666666)
    """

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        super().__init__(np.asarray(y), None, weights, n_threads=n_threads)

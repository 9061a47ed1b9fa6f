"""Ranking: pairs of examples of different rank within the same group, such as the answers to one query."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cutplane.risks.pairs import PairRisk


class RankingRisk(PairRisk):
    """The mean over groups, or over pairs, of max(0, 1 - (s_i - s_j)) for y_i > y_j in the same group.

    Parameters
    ----------
    y : array of shape (n,)
        Targets; only their order within a group counts.
    groups : array of shape (n,)
        The group of each example; they need not stand together.
    sample_weight : array of shape (n,), optional
        Non-negative; a pair weighs the product of its examples' weights.
    equal_groups : bool
        Whether each group that has a pair weighs the same; else each pair does.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.ranking import RankingRisk
    >>> risk = RankingRisk([0, 1, 0, 2], ["a", "a", "b", "b"])
    >>> risk.n_pairs, risk.value(np.array([0.0, 0.5, 3.0, 3.0]))
    (2, 0.75)
    """

    def __init__(
        self,
        y: ArrayLike,
        groups: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        equal_groups: bool = True,
        n_threads: int = 0,
    ) -> None:
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        super().__init__(np.asarray(y), np.asarray(groups), weights, equal_groups=equal_groups, n_threads=n_threads)
        self.total_weight = float(self.n_groups)

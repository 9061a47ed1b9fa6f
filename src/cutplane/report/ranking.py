"""How well scores rank examples with known grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Integers
from cutplane.metrics import mean_average_precision, ndcg, pair_accuracy

PLACES = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class RankingEvaluation:
    """Figures of merit of scores; means over the queries for which they are defined, NaN where there is none.

    Attributes
    ----------
    n_examples, n_queries : int
        How many examples and queries there were.
    ndcg : dict of int to float
        NDCG of the first 1, 5 and 10; empty where a target is negative, which is no grade.
    mean_average_precision : float
        Targets above 0 are relevant.
    pair_accuracy : float
        Share of pairs of different targets in the right order.
    roc_area : float
        Share of pairs, one relevant and one not, in the right order.
    """

    n_examples: int
    n_queries: int
    ndcg: dict[int, float]
    mean_average_precision: float
    pair_accuracy: float
    roc_area: float


def evaluate_ranking(y: NDArray[np.number], scores: Array, qid: Integers | None) -> RankingEvaluation:
    """Compare scores with targets, query by query; all examples are one query where `qid` is None."""
    graded = y.min() >= 0
    relevant = (y > 0).astype(np.int64)
    return RankingEvaluation(
        n_examples=len(y),
        n_queries=1 if qid is None else len(np.unique(qid)),
        ndcg={k: ndcg(y, scores, k=k, qid=qid) for k in PLACES} if graded else {},
        mean_average_precision=mean_average_precision(relevant, scores, qid=qid),
        pair_accuracy=pair_accuracy(y, scores, qid=qid),
        roc_area=pair_accuracy(relevant, scores, qid=qid),
    )

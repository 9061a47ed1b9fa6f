"""How well scores rank: pair accuracy, NDCG and mean average precision, query by query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane.risks.pairs import NoPairsError, PairRisk, check_query_names, dense_codes

Array = NDArray[np.float64]


def pair_accuracy(y_true: ArrayLike, y_score: ArrayLike, *, qid: ArrayLike | None = None) -> float:
    """The share of pairs of different targets that the scores put in the right order, averaged over the queries.

    With two targets and one query it is the area under the ROC curve. Equal scores count half.

    Parameters
    ----------
    y_true : array of shape (n,)
        Targets; only their order counts.
    y_score : array of shape (n,)
    qid : array of shape (n,), optional
        The query of each example; all are one if None. Queries without a pair are left out.

    Returns
    -------
    float
        NaN where no query has a pair.

    Examples
    --------
    >>> from cutplane.metrics import pair_accuracy
    >>> pair_accuracy([0, 1, 2], [0.1, 0.3, 0.2])
    0.6666666666666667
    """
    y, scores, queries = _checked(y_true, y_score, qid)
    # Scores two apart are told apart by a margin of one, whatever they were.
    places = 2.0 * dense_codes(scores).astype(np.float64)
    try:
        not_right = PairRisk(y, queries, equal_groups=True).cut(places).offset
        not_wrong = PairRisk(-y, queries, equal_groups=True).cut(places).offset
    except NoPairsError:
        return float("nan")
    return 0.5 * (1.0 - not_right + not_wrong)


def ndcg(y_true: ArrayLike, y_score: ArrayLike, *, k: int | None = 10, qid: ArrayLike | None = None) -> float:
    """Normalised discounted cumulative gain of the first k, averaged over the queries.

    The gain of a document is 2^y - 1, the discount of place p is log2(p + 1). Documents of equal score share their
    gains. Queries without a document of positive gain are left out.

    Parameters
    ----------
    y_true : array of shape (n,)
        Grades, 0 or greater.
    y_score : array of shape (n,)
    k : int or None
        None counts all.
    qid : array of shape (n,), optional
        The query of each example; all are one if None.

    Returns
    -------
    float
        NaN where no query has a document of positive gain.

    Examples
    --------
    >>> from cutplane.metrics import ndcg
    >>> round(ndcg([0, 2, 1], [3.0, 2.0, 1.0], k=2), 4)
    0.5213
    """
    y, scores, queries = _checked(y_true, y_score, qid)
    if y.min(initial=0.0) < 0.0:
        raise ValueError(f"y_true has the grade {y.min():g}; grades must be 0 or greater.")
    gains = np.exp2(y) - 1.0
    found = _discounted(gains, _ordered(scores, queries), k)
    ideal = _discounted(gains, _ordered(gains, queries), k)
    return _mean(found[ideal > 0.0] / ideal[ideal > 0.0])


def mean_average_precision(
    y_true: ArrayLike, y_score: ArrayLike, *, qid: ArrayLike | None = None, relevant: float = 1.0
) -> float:
    """The mean over queries of average precision: of the precision at the place of each relevant document.

    Documents of equal score stand at the last of their places. Queries without a relevant document are left out.

    Parameters
    ----------
    y_true : array of shape (n,)
    y_score : array of shape (n,)
    qid : array of shape (n,), optional
        The query of each example; all are one if None.
    relevant : float
        The least grade that is relevant.

    Returns
    -------
    float
        NaN where no query has a relevant document.

    Examples
    --------
    >>> from cutplane.metrics import mean_average_precision
    >>> mean_average_precision([0, 1, 1], [3.0, 2.0, 1.0])
    0.5833333333333333
    """
    y, scores, queries = _checked(y_true, y_score, qid)
    at = _ordered(scores, queries)
    hits = (y >= relevant).astype(np.float64)[at.order]
    seen = np.cumsum(hits)
    before = (seen - hits)[at.query_start]
    precision = (seen[at.tie_end] - before) / (at.tie_end - at.query_start + 1.0)
    total = np.bincount(at.query, weights=hits)
    summed = np.bincount(at.query, weights=hits * precision)
    return _mean(summed[total > 0.0] / total[total > 0.0])


class _Ordered(NamedTuple):
    """Examples by query and falling score; for each the first place of its query, first and last of its tie."""

    order: NDArray[np.intp]
    query: NDArray[np.int64]
    query_start: NDArray[np.intp]
    tie_start: NDArray[np.intp]
    tie_end: NDArray[np.intp]


def _ordered(scores: Array, queries: NDArray[np.int64]) -> _Ordered:
    order = np.lexsort((-scores, queries))
    query, ordered = queries[order], scores[order]
    new_query = np.ones(len(order), dtype=bool)
    new_query[1:] = query[1:] != query[:-1]
    new_tie = new_query.copy()
    new_tie[1:] |= ordered[1:] != ordered[:-1]
    first_of_tie = np.flatnonzero(new_tie)
    last_of_tie = np.append(first_of_tie[1:], len(order)) - 1
    tie = np.cumsum(new_tie) - 1
    return _Ordered(
        order, query, np.flatnonzero(new_query)[np.cumsum(new_query) - 1], first_of_tie[tie], last_of_tie[tie]
    )


def _discounted(gains: Array, at: _Ordered, k: int | None) -> Array:
    """DCG by query."""
    own = gains[at.order]
    sums = np.append(0.0, np.cumsum(own))
    shared = (sums[at.tie_end + 1] - sums[at.tie_start]) / (at.tie_end - at.tie_start + 1.0)
    place = np.arange(len(own)) - at.query_start
    counted = np.where(place < (len(own) if k is None else k), shared / np.log2(place + 2.0), 0.0)
    return np.asarray(np.bincount(at.query, weights=counted), dtype=np.float64)


def _checked(y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None) -> tuple[Array, Array, NDArray[np.int64]]:
    y, scores = np.asarray(y_true, dtype=np.float64), np.asarray(y_score, dtype=np.float64)
    if qid is not None:
        check_query_names(np.asarray(qid))
    queries = np.zeros(len(y), dtype=np.int64) if qid is None else dense_codes(np.asarray(qid))
    for name, values in (("y_score", scores), ("qid", queries)):
        if values.shape != y.shape or y.ndim != 1:
            raise ValueError(f"{name} has shape {values.shape} and y_true {y.shape}; they must have one entry each.")
    if not len(y):
        raise ValueError("y_true is empty; there must be at least one example.")
    for name, values in (("y_true", y), ("y_score", scores)):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} has the value {values[~np.isfinite(values)][0]}; every value must be finite.")
    return y, scores, queries


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")

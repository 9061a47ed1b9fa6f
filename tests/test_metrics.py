"""Ranking measures against their definitions and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from cutplane.metrics import mean_average_precision, ndcg, pair_accuracy

RNG = np.random.default_rng(0)
Y, S, QID = RNG.integers(0, 4, 80), RNG.integers(0, 9, 80) / 4.0, RNG.integers(0, 6, 80)
QUERIES = [np.flatnonzero(q == QID) for q in range(6)]


@pytest.mark.parametrize("k", [1, 5, 10, None])
def test_ndcg_is_that_of_scikit_learn_query_by_query(k: int | None) -> None:
    expected = np.mean([ndcg_score([2.0 ** Y[q] - 1.0], [S[q]], k=k) for q in QUERIES])
    assert ndcg(Y, S, k=k, qid=QID) == pytest.approx(expected)


def test_average_precision_is_that_of_scikit_learn_query_by_query() -> None:
    expected = np.mean([average_precision_score(Y[q] >= 2, S[q]) for q in QUERIES])
    assert mean_average_precision(Y, S, qid=QID, relevant=2) == pytest.approx(expected)


def test_pair_accuracy_counts_pairs() -> None:
    def one(q: np.ndarray) -> float:
        pairs = [(i, j) for i in q for j in q if Y[i] > Y[j]]
        return float(np.mean([0.5 + 0.5 * np.sign(S[i] - S[j]) for i, j in pairs]))

    assert pair_accuracy(Y, S, qid=QID) == pytest.approx(np.mean([one(q) for q in QUERIES]))
    assert pair_accuracy(Y > 1, S) == pytest.approx(roc_auc_score(Y > 1, S))


def test_queries_that_say_nothing_are_left_out() -> None:
    y, s, qid = [0, 0, 1, 0], [1.0, 2.0, 3.0, 1.0], [1, 1, 2, 2]
    assert ndcg(y, s, qid=qid) == mean_average_precision(y, s, qid=qid) == pair_accuracy(y, s, qid=qid) == 1.0
    assert np.isnan(ndcg([0, 0], [1.0, 2.0]))
    assert np.isnan(mean_average_precision([0, 0], [1.0, 2.0]))
    assert np.isnan(pair_accuracy([0, 0], [1.0, 2.0]))


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="y_score has shape"):
        ndcg([0, 1], [1.0])
    with pytest.raises(ValueError, match="grade -1"):
        ndcg([-1, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="y_score has the value nan"):
        pair_accuracy([0, 1], [np.nan, 1.0])

"""Rankings on collections of Dask: whole queries in each partition."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client
from numpy.testing import assert_allclose

from cutplane import RankSVM

D, SIZES = 5, (300, 500, 20, 400)


def sample() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(0)
    n = sum(SIZES)
    X = rng.normal(size=(n, D))
    y = np.rint(X[:, 0] - X[:, 1] + rng.normal(size=n))
    # Words, in no order within a partition; the third has a single query, of one target.
    number = np.concatenate([100 * part + rng.integers(0, size // 10, size) for part, size in enumerate(SIZES)])
    ends = np.cumsum(SIZES)
    number[ends[1] : ends[2]] = 200
    y[ends[1] : ends[2]] = 1.0
    return X, y, np.array([f"q{k}" for k in number]), rng.random(n) + 0.1


def scattered(*arrays: Any) -> list[Any]:
    return [da.from_array(each, chunks=(SIZES, *((D,) if each.ndim > 1 else ()))) for each in arrays]


@pytest.mark.parametrize("weighting", ["queries", "pairs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_ranking(client: Client, weighting: str, weighted: bool) -> None:
    X, y, queries, weights = sample()
    rows, targets, names, weigh = scattered(X, y, queries, weights)
    with pytest.warns(UserWarning, match="1 of 121 queries have one target only"):
        alone = RankSVM(weighting=weighting, tol=1e-6).fit(X, y, weights if weighted else None, qid=queries)
    with pytest.warns(UserWarning, match="1 of 121 queries have one target only"):
        found = RankSVM(weighting=weighting, tol=1e-6).fit(rows, targets, weigh if weighted else None, qid=names)
    assert (found.n_queries_, found.n_pairs_) == (alone.n_queries_, alone.n_pairs_)
    assert found.gap_ <= 1e-6
    assert found.lower_bound_ <= alone.objective_
    assert alone.lower_bound_ <= found.objective_
    assert_allclose(found.predict(rows).compute(), found.predict(X))
    assert found.score(rows, targets, qid=names) == pytest.approx(found.score(X, y, qid=queries), rel=1e-12)


def test_what_is_refused(client: Client) -> None:
    X, y, queries, _ = sample()
    rows, targets = scattered(X, y)
    with pytest.raises(ValueError, match="need qid"):
        RankSVM().fit(rows, targets)
    torn = queries.copy()
    torn[-1] = torn[0]
    with pytest.raises(ValueError, match=f"Query {torn[0]} lies in the partitions 0 and 3"):
        RankSVM().fit(rows, targets, qid=scattered(torn)[0])
    with pytest.raises(ValueError, match="no pair to compare"):
        RankSVM().fit(rows, 0.0 * targets, qid=scattered(queries)[0])

"""`RankSVM` as its users meet it."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cutplane import RankSVM, load
from cutplane.estimators.scorers import map_scorer, ndcg_scorer, pair_accuracy_scorer
from cutplane.testing import check_certificate


def queries(seed: int = 0, n: int = 60, count: int = 6) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(n, 4)), rng.integers(0, count, n)
    y = np.clip(np.rint(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)), 0, 3)
    return X, y, qid


def optimum(X: Any, y: Any, qid: Any, C: float, weighting: str) -> float:
    """By CVXPY, pair by pair."""
    w = cp.Variable(X.shape[1])
    groups = []
    for q in np.unique(qid):
        i, j = np.nonzero((y[:, None] > y) & (qid[:, None] == q) & (qid == q))
        if len(i):
            groups.append((len(i), cp.sum(cp.pos(1 - (X[i] - X[j]) @ w))))
    if weighting == "queries":
        risk = sum(total / count for count, total in groups) / len(groups)
    else:
        risk = sum(total for _, total in groups) / sum(count for count, _ in groups)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * len(groups) * risk))
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("weighting", ["queries", "pairs"])
def test_the_optimum_is_within_the_bounds(method: str, weighting: str) -> None:
    X, y, qid = queries()
    model = RankSVM(C=2.0, tol=1e-6, method=method, weighting=weighting).fit(X, y, qid=qid)
    check_certificate(
        model.history_, model.objective_, model.lower_bound_, optimum(X, y, qid, 2.0, weighting), accuracy=1e-6
    )
    assert model.gap_ <= 1e-6
    assert model.stop_reason_ == "gap"


def test_oca_needs_fewer_iterations_than_cpa() -> None:
    X, y, qid = queries(n=300, count=10)
    oca, cpa = (RankSVM(C=1.0, method=method).fit(X, y, qid=qid).n_iter_ for method in ("oca", "cpa"))
    assert oca < cpa


def test_the_order_of_the_examples_and_the_names_of_queries_do_not_matter() -> None:
    X, y, qid = queries()
    shuffled = np.random.default_rng(1).permutation(len(y))
    names = np.array(["b", "c", "a", "f", "d", "e"])
    one = RankSVM(tol=1e-8).fit(X, y, qid=qid)
    other = RankSVM(tol=1e-8).fit(X[shuffled], 10.0 * y[shuffled] - 7.0, qid=names[qid][shuffled])
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-3)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)


def test_dense_and_sparse_threads_and_types_agree() -> None:
    X, y, qid = queries()
    one = RankSVM(n_jobs=1).fit(X, y, qid=qid)
    assert np.array_equal(one.coef_, RankSVM(n_jobs=2).fit(X, y, qid=qid).coef_)
    sparse = RankSVM(n_jobs=1).fit(sp.csr_array(X), y, qid=qid)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), one.predict(X), atol=1e-2)


def test_a_saved_model_is_the_same(tmp_path: Any) -> None:
    X, y, qid = queries()
    model = RankSVM().fit(X, y, qid=qid)
    model.save(tmp_path / "m.safetensors")
    same = load(tmp_path / "m.safetensors")
    assert np.array_equal(same.predict(X), model.predict(X))
    assert (same.gap_, same.n_queries_, same.n_pairs_) == (model.gap_, model.n_queries_, model.n_pairs_)


def test_warm_starts_go_on() -> None:
    X, y, qid = queries(n=300)
    model = RankSVM(tol=1e-4, warm_start=True).fit(X, y, qid=qid)
    again = model.n_iter_
    assert model.fit(X, y, qid=qid).n_iter_ == 1 <= again


def test_searches_route_the_queries() -> None:
    X, y, qid = queries(n=240, count=24)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), RankSVM())
        search = GridSearchCV(pipeline, {"ranksvm__C": [0.01, 1.0]}, scoring=ndcg_scorer(5), cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
        scorers = {"ndcg": ndcg_scorer(), "map": map_scorer(), "pairs": pair_accuracy_scorer()}
        found = cross_validate(RankSVM(), X, y, params={"qid": qid, "groups": qid}, scoring=scorers, cv=GroupKFold(3))
        default = cross_validate(RankSVM(), X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3))
    assert search.best_score_ > 0.8
    assert found["test_pairs"].min() > 0.75
    np.testing.assert_allclose(default["test_score"], found["test_pairs"])


def test_queries_with_one_target_are_ignored_and_that_is_said_once() -> None:
    X, y, qid = queries(n=200)
    y = np.where(qid == 2, 1.0, y)
    with pytest.warns(UserWarning, match="1 of 6 queries have one target only") as caught:
        model = RankSVM().fit(X, y, qid=qid)
    assert len(caught) == 1
    assert model.n_queries_ == 5


def test_without_queries_it_is_said_what_was_assumed() -> None:
    X, y, _ = queries()
    with pytest.warns(UserWarning, match="qid is None: all 60 examples are taken for one query") as caught:
        model = RankSVM().fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(RankSVM().fit(X, y, qid=np.zeros(60)).coef_, model.coef_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qid": [1, 2, 3]}, r"qid has shape \(3,\); it must name the query of each of the 60 examples"),
        ({"y": np.ones(60)}, "There is no pair to compare: y has one target only"),
        ({"y": np.ones(60), "qid": np.arange(60)}, "no pair to compare: in every query, y has one target only"),
        ({"qid": np.arange(60)}, "no pair to compare"),
        ({"qid": np.full(60, np.nan)}, r"qid\[0\] is NaN; every example needs a query"),
        ({"y": np.array([np.inf] + [0.0] * 59)}, "y"),
        ({"y": np.array([np.nan] + [0.0] * 59)}, "NaN"),
        ({"sample_weight": -np.ones(60)}, r"sample_weight\[0\]=-1.0 is negative"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    X, y, _ = queries()
    with pytest.raises(ValueError, match=message):
        RankSVM().fit(X, **{"y": y, **change})


def test_bad_settings_are_named() -> None:
    X, y, qid = queries()
    with pytest.raises(ValueError, match="weighting='documents' must be one of 'queries', 'pairs'"):
        RankSVM(weighting="documents").fit(X, y, qid=qid)


def test_few_planes_do_at_small_C() -> None:
    rng = np.random.default_rng(3)
    X, qid = rng.random((400, 40)), np.repeat(np.arange(20), 20)
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.5).astype(int)
    small, planes = (RankSVM(C=0.01, method=method).fit(X, y, qid=qid) for method in ("auto", "oca"))
    assert [step.upper for step in small.history_] == [step.upper for step in planes.history_]
    large, planes = (RankSVM(C=100.0, method=method).fit(X, y, qid=qid) for method in ("auto", "oca"))
    assert large.n_iter_ < planes.n_iter_
    assert large.gap_ <= 1e-3


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_every_example_needs_a_query(nothing: Any) -> None:
    X, y, _ = queries()
    model = RankSVM().fit(X, y, qid=np.zeros(len(y)))
    for named in ([nothing] * len(y), [1, nothing] * (len(y) // 2)):
        for call in (RankSVM().fit, model.score):
            with pytest.raises(ValueError, match=r"^qid\[[01]\] is (None|NaN|nan); every example needs a query\.$"):
                call(X, y, qid=np.array(named, dtype=object))

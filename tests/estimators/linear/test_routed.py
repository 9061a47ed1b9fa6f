"""Metadata that cross-validated estimators hand on to their splitters and scorers: as scikit-learn's do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegressionCV as TheirsCV
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate

from cutplane import LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV, LogisticRegressionCV

GRID = [1e-3, 0.1, 10.0]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 4))
SCORES = X[:, 0] - X[:, 1] + RNG.normal(size=120)
Y = np.where(SCORES > 0.3, "yes", "no")
WEIGHTS = np.where(SCORES > 0.0, 9.0, 0.2) * RNG.random(120)
GROUPS = RNG.integers(0, 7, 120)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def ours(**how: Any) -> LogisticRegressionCV:
    return LogisticRegressionCV(Cs=GRID, tol=1e-9, **how)


def theirs(**how: Any) -> TheirsCV:
    how = {"scoring": "accuracy", **how}
    return TheirsCV(Cs=GRID, tol=1e-9, l1_ratios=(0,), use_legacy_attributes=False, max_iter=10_000, **how)


def same(mine: LogisticRegressionCV, other: TheirsCV) -> None:
    np.testing.assert_allclose(mine.scores_.T, np.asarray(other.scores_).reshape(mine.scores_.T.shape), atol=1e-5)
    assert mine.C_ == other.C_


def price(y: Any, answers: Any, *, prices: Any) -> float:
    return float(np.sum(prices * (y == answers)))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_groups_reach_the_splitter(scoring: str | None) -> None:
    how: dict[str, Any] = {"cv": GroupKFold(3), **({} if scoring is None else {"scoring": scoring})}
    same(ours(**how).fit(X, Y, groups=GROUPS), theirs(**how).fit(X, Y, groups=GROUPS))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("name", ["accuracy", "neg_log_loss"])
def test_weights_reach_a_scorer_that_asks_for_them(name: str, asked: bool) -> None:
    scorer = get_scorer(name).set_score_request(sample_weight=asked)
    mine, other = (each(cv=KFold(3), scoring=scorer).fit(X, Y, sample_weight=WEIGHTS) for each in (ours, theirs))
    same(mine, other)
    if asked:
        expected = other.score(X, Y, sample_weight=WEIGHTS)
        assert mine.score(X, Y, sample_weight=WEIGHTS) == pytest.approx(expected, abs=1e-4)
        return
    for model in (mine, other):
        with pytest.raises(TypeError, match="not routed to any object"):
            model.score(X, Y, sample_weight=WEIGHTS)


@pytest.mark.usefixtures("routing")
def test_other_metadata_comes_with_its_rows() -> None:
    prices = RNG.random(120)
    scorer = make_scorer(price).set_score_request(prices="fee")
    mine, other = (each(cv=KFold(3), scoring=scorer).fit(X, Y, fee=prices) for each in (ours, theirs))
    same(mine, other)
    assert mine.score(X, Y, fee=prices) == pytest.approx(other.score(X, Y, fee=prices))


@pytest.mark.usefixtures("routing")
def test_what_nobody_asked_for_is_refused_as_there() -> None:
    for make in (ours, theirs):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make(cv=KFold(3), scoring=get_scorer("accuracy")).fit(X, Y, sample_weight=WEIGHTS)
        with pytest.raises(TypeError, match="groups"):
            make(cv=3).fit(X, Y, groups=GROUPS)


@pytest.mark.usefixtures("routing")
def test_an_outer_search_hands_on_to_the_inner_one() -> None:
    how: dict[str, Any] = {"cv": GroupKFold(3), "params": {"groups": GROUPS}}
    found = [cross_validate(make(cv=GroupKFold(2)), X, Y, **how)["test_score"] for make in (ours, theirs)]
    np.testing.assert_allclose(*found, atol=1e-9)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("regression", [False, True])
def test_support_vectors_as_in_a_grid_search(regression: bool) -> None:
    chooser, plain = (LinearSVRCV, LinearSVR) if regression else (LinearSVCCV, LinearSVC)
    y = SCORES if regression else Y
    scorer = get_scorer("neg_mean_absolute_error" if regression else "accuracy").set_score_request(sample_weight=True)
    how: dict[str, Any] = {"cv": GroupKFold(3), "scoring": scorer}
    mine = chooser(GRID, tol=1e-8, **how).fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    model = plain(tol=1e-8).set_fit_request(sample_weight=True)
    search = GridSearchCV(model, {"C": GRID}, **how).fit(X, y, sample_weight=WEIGHTS, groups=GROUPS)
    expected = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(mine.scores_, expected, atol=1e-3)


@pytest.mark.usefixtures("routing")
def test_a_certified_choice_splits_by_groups() -> None:
    proven = LinearSVCCV(GRID, cv=GroupKFold(3), certify=0.2).fit(X, Y, groups=GROUPS)
    plain = LinearSVCCV(proven.Cs_, cv=GroupKFold(3), tol=1e-6).fit(X, Y, groups=GROUPS)
    np.testing.assert_allclose(proven.scores_, plain.scores_, atol=0.03)
    assert len({round(float(score), 6) for score in proven.scores_.ravel()}) > 1


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc"])
def test_weights_judge_logistic_regression_without_routing(scoring: str) -> None:
    mine, other = (make(cv=KFold(3), scoring=scoring).fit(X, Y, WEIGHTS) for make in (ours, theirs))
    same(mine, other)
    unweighted = LinearSVCCV(GRID, cv=KFold(3), scoring=scoring, loss="logistic", tol=1e-9).fit(X, Y, WEIGHTS)
    assert np.abs(unweighted.scores_ - mine.scores_).max() > 0.01  # as in a grid search


def test_a_scorer_that_knows_no_weights_is_not_handed_any() -> None:
    def right(model: Any, rows: Any, y: Any) -> float:
        return float(np.mean(model.predict(rows) == y))

    found = [
        ours(cv=KFold(3), scoring=scoring).fit(X, Y, WEIGHTS).scores_ for scoring in (right, make_scorer(same_words))
    ]
    np.testing.assert_array_equal(*found)


def same_words(y: Any, answers: Any) -> float:
    return float(np.mean(y == answers))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
def test_a_fold_need_not_hold_out_every_class(scoring: str, classes: int) -> None:
    y = np.where(SCORES > 0.3, 1, 0)
    y[:40] = 0
    y[60:100] += classes - 2
    same(*(make(cv=KFold(3), scoring=scoring).fit(X, y) for make in (ours, theirs)))


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", None])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_score_is_by_scoring(scoring: str | None, weights: Any) -> None:
    mine = ours(scoring=scoring).fit(X, Y)
    other = theirs(**({} if scoring is None else {"scoring": scoring})).fit(X, Y)
    assert mine.score(X, Y, weights) == pytest.approx(other.score(X, Y, sample_weight=weights), abs=1e-3)


@pytest.mark.parametrize(
    "model", [LogisticRegressionCV(), LinearSVCCV(), LinearSVRCV()], ids=lambda m: type(m).__name__
)
def test_without_routing_more_arguments_are_one_sentence(model: Any) -> None:
    words = r"\.fit was given groups, which goes to cv and scoring where scikit-learn routes metadata: .*\.$"
    with pytest.raises(ValueError, match=type(model).__name__ + words):
        model.fit(X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match=re.escape(".score was given fee, which goes to")):
        model.score(X, Y, fee=GROUPS)

"""A C that is proven best: no model with a C of the range may have fewer errors than its lower bound."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from tests.selection import first_cases

from cutplane import LinearSVC, LinearSVCCV, load
from cutplane.estimators.linear import certified_choice
from cutplane.estimators.linear.certified_cross_validation import _fold as folded
from cutplane.estimators.linear.certified_fold import certain_errors
from cutplane.risks.hinge import Hinge
from cutplane.solvers.run import Settings

RNG = np.random.default_rng(5)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def drawn(seed, n=60, classes=2):
    """Rows with ties, overlapping classes, weights of which some are zero."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    X = rng.integers(-2, 3, (n, d)) * 1.0 if rng.random() < 0.5 else rng.normal(size=(n, d)) + 0.4
    scores = X @ rng.normal(size=d) + 2.0 * rng.normal(size=n)
    y = np.digitize(scores, np.quantile(scores, np.arange(1, classes) / classes))
    weights = rng.integers(0, 3, n) * 0.5 + 0.0
    weights[rng.random(n) < 0.3] = 1.0
    return X, y, weights


CASES = {
    "none": {"fit_intercept": False},
    "free": {},
    "penalised": {"intercept_scaling": 1.5},
    "squared hinge": {"loss": "squared_hinge"},
    "logistic": {"loss": "logistic", "fit_intercept": False},
    "logistic, free": {"loss": "logistic"},
    "balanced": {"class_weight": "balanced"},
    "weights": {"weighted": True, "class_weight": {0: 2.0, 1: 1.0}},
    "prior": {"prior": True},
    "prior, none": {"prior": True, "fit_intercept": False},
    "nonnegative": {"nonnegative": [0], "prior": True, "intercept_scaling": 1.0},
    "three classes": {"classes": 3, "fit_intercept": False},
    "three classes, free": {"classes": 3, "loss": "squared_hinge"},
}


def case(name, seed):
    settings = dict(CASES[name])
    X, y, weights = drawn(seed, classes=settings.pop("classes", 2))
    if settings.pop("prior", False):
        settings["prior"] = np.random.default_rng(seed).normal(size=X.shape[1])
    given = weights if settings.pop("weighted", False) else None
    return X, y, given, settings


def most_errors(X, y, weights, settings, C):
    """The most errors that the exact optimum can have, from models with gaps that are next to nothing."""
    shares = []
    for train, test in FOLDS.split(X, y):
        given = None if weights is None else weights[train]
        model = LinearSVC(C, tol=1e-11, **settings).fit(X[train], y[train], given)
        model.certify_intercept(X[train], y[train], given)
        shares.append(1.0 - model.score_bounds(X[test], y[test])["accuracy"][0])
    return float(np.mean(shares))


@pytest.mark.parametrize("name", CASES)
def test_scores_of_the_exact_optimum_lie_between_their_ends(name):
    """Of rows left out, one of them the mean of the others: there a free intercept is all that there is to know."""
    X, y, weights, settings = case(name, list(CASES).index(name))
    train, test = np.arange(0, 40), np.arange(40, 60)
    X[40] = X[train].mean(axis=0)
    model = LinearSVC(**settings)
    training = model._training()
    prepared = model._prepare(training, X, y, weights)
    fold = folded(model, training, prepared, train, test, 0.01, weights)
    low_C, high_C = 0.1, 0.3
    models = [fold.train(C) for C in (low_C, high_C)]
    bounds = fold.between(*models, fold.reaches(*models))
    whole = bounds.ends(low_C, high_C)
    for C in np.geomspace(low_C, high_C, 4):
        given = None if weights is None else weights[train]
        exact = LinearSVC(C, tol=1e-11, **settings).fit(X[train], y[train], given)
        exact.certify_intercept(X[train], y[train], given)
        least, most = (each.reshape(len(test), -1) for each in exact.decision_bounds(X[test]))
        for low, high in (whole, bounds.ends(C, C)):
            assert (low <= most).all()
            assert (least <= high).all()
        assert (whole[1] - whole[0]).max() < 20.0  # they do say something


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["none", "free", "weights", "prior, none", "three classes"])
def test_no_model_has_fewer_errors_than_the_bound(name):
    X, y, weights, settings = case(name, list(CASES).index(name))
    model = LinearSVCCV((0.1, 2.0), cv=FOLDS, certify=0.1, max_fits=5, **settings).fit(X, y, weights)
    found = model.certified_
    assert found.lower_bound == found.lower_bounds.min()
    assert found.lower_bounds.max() > 0.0
    assert found.edges[[0, -1]].tolist() == [0.1, 2.0]
    assert (np.diff(found.edges) > 0.0).all()
    for C in (*found.edges[1:3], *np.exp(RNG.uniform(np.log(0.1), np.log(2.0), 4))):
        assert found.lower_bound_at(C) <= most_errors(X, y, weights, settings, C) + 1e-12


@pytest.mark.parametrize("intercept", [False, True])
def test_an_independent_solver_has_no_fewer_errors(intercept):
    X, y, _ = drawn(2)
    found = LinearSVCCV((0.05, 2.0), cv=FOLDS, certify=0.1, fit_intercept=intercept).fit(X, y).certified_
    assert found.proven
    assert found.stop_reason == "certified"
    signs = np.where(y == 1, 1.0, -1.0)
    for C in np.geomspace(0.05, 2.0, 4):
        shares = []
        for train, test in FOLDS.split(X, y):
            w, b = cp.Variable(X.shape[1]), cp.Variable() if intercept else cp.Constant(0.0)
            losses = cp.pos(1 - cp.multiply(signs[train], X[train] @ w + b))
            tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
            cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(losses))).solve(solver=cp.CLARABEL, **tight)
            shares.append(np.mean(signs[test] * (X[test] @ w.value + b.value) <= 1e-3))
        assert found.lower_bound_at(C) <= np.mean(shares) + 1e-12


def test_the_choice_is_within_what_was_asked_of_the_best_on_a_dense_grid():
    X, y, _ = drawn(7, n=100)
    for certify in (0.2, 0.05):
        model = LinearSVCCV((0.01, 1.0), cv=FOLDS, certify=certify, intercept_scaling=1.0).fit(X, y)
        dense = LinearSVCCV(np.geomspace(0.01, 1.0, 15), cv=FOLDS, tol=1e-9, intercept_scaling=1.0).fit(X, y)
        found = model.certified_
        assert found.proven
        assert found.error == pytest.approx(1.0 - model.scores_.mean(axis=1).max(), abs=1e-12)
        assert found.n_fits == len(model.Cs_) == len(model.scores_)
        assert model.C_ in model.Cs_
        assert (np.diff(model.Cs_) > 0.0).all()
        least = 1.0 - dense.scores_.mean(axis=1).max()
        assert found.lower_bound <= least + 1e-12
        assert found.error <= least + certify + 1e-12
        assert model.coef_.shape == (1, X.shape[1])
        assert model.gap_ <= model.tol


def test_more_fits_never_prove_less():
    X, y, _ = drawn(4)
    bounds = []
    for most in (3, 6, 9):
        model = LinearSVCCV((0.01, 10.0), cv=FOLDS, certify=1e-3, max_fits=most, fit_intercept=False)
        with pytest.warns(ConvergenceWarning, match=f"LinearSVCCV tried max_fits={most} values .* no C has less"):
            model.fit(X, y)
        assert model.certified_.n_fits == most
        assert model.certified_.stop_reason == "max_fits"
        assert not model.certified_.proven
        bounds.append([model.certified_.lower_bound_at(C) for C in np.geomspace(0.01, 10.0, 50)])
    assert (np.diff([min(each) for each in bounds]) >= 0.0).all()
    assert min(bounds[-1]) > min(bounds[0])


def test_pieces_keep_what_was_proven_of_the_range_before(monkeypatch):
    X, y, _ = drawn(4)
    seen = []
    look = certified_choice.Search._look_at_pairs

    def looked(self, *, thorough=False):
        look(self, thorough=thorough)
        seen.append([piece for pieces in self._pieces.values() for piece in pieces])

    monkeypatch.setattr(certified_choice.Search, "_look_at_pairs", looked)
    LinearSVCCV((0.01, 10.0), cv=FOLDS, certify=0.15, fit_intercept=False).fit(X, y)
    assert len(seen) > 2
    for before, after in pairwise(seen):
        for piece in after:
            around = [each.bound for each in before if each.high > piece.low and each.low < piece.high]
            assert piece.bound >= min(around)


def test_time_that_is_up_says_what_is_proven():
    X, y, _ = drawn(4)
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVCCV((0.01, 1.0, 10.0), cv=FOLDS, certify=0.01, time_limit=1e-9).fit(X, y)
    assert model.certified_.stop_reason == "time_limit"
    assert model.certified_.n_fits == 2  # the ends
    assert 0.0 <= model.certified_.lower_bound <= model.certified_.error


@pytest.mark.parametrize("asked", first_cases([3, 12, 40, 90], 2))
def test_nothing_is_looked_at_when_the_time_is_up(asked, monkeypatch):
    """The clock is asked so often before it says that; what was proven by then still holds."""
    X, y, _ = drawn(6)
    left, late = [float("inf")] * asked, []
    monkeypatch.setattr(Settings, "seconds_left", property(lambda self: left.pop() if left else -1.0))
    between = certified_choice.Search._between

    def looked(self, *of, **how):
        late.append(not left)
        return between(self, *of, **how)

    monkeypatch.setattr(certified_choice.Search, "_between", looked)
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        found = LinearSVCCV((0.01, 10.0), cv=FOLDS, certify=0.001, fit_intercept=False).fit(X, y).certified_
    assert found.stop_reason == "time_limit"
    assert sum(late) <= 1  # the look that was under way, or began with the last answer
    assert (found.edges[0], found.edges[-1]) == (0.01, 10.0)
    assert (np.diff(found.edges) > 0.0).all()
    monkeypatch.undo()
    whole = LinearSVCCV((0.01, 10.0), cv=FOLDS, certify=0.02, fit_intercept=False).fit(X, y)
    for low, high, bound in zip(found.edges, found.edges[1:], found.lower_bounds, strict=False):
        tried = [1.0 - scores.mean() for C, scores in zip(whole.Cs_, whole.scores_, strict=True) if low <= C <= high]
        assert bound <= min(tried, default=1.0) + 1e-9


def test_a_range_of_one_C_and_a_grid():
    X, y, _ = drawn(1)
    one = LinearSVCCV([0.5], cv=FOLDS, certify=0.05).fit(X, y).certified_
    assert one.proven
    assert one.n_fits == 1
    assert one.edges.tolist() == [0.5, 0.5]
    grid = [10.0, 0.1, 1.0]
    model = LinearSVCCV(grid, cv=FOLDS, certify=0.9).fit(X, y)
    assert model.Cs_.tolist() == sorted(grid)  # nothing more was needed


def test_sparse_rows_are_the_same():
    X, y, _ = drawn(1)
    both = [LinearSVCCV((0.1, 1.0), cv=FOLDS, certify=0.05).fit(kind(X), y) for kind in (np.asarray, sp.csr_array)]
    assert both[0].certified_.n_fits == both[1].certified_.n_fits
    assert np.allclose(both[0].certified_.lower_bounds, both[1].certified_.lower_bounds)


def test_certain_errors_of_several_classes():
    low = np.array([[0.0, 2.0, -1.0], [0.0, 0.5, -1.0], [3.0, 2.0, 2.5]])
    high = low + 1.0
    assert certain_errors(low, high, np.array([0, 0, 1])).tolist() == [True, False, False]
    assert certain_errors(low[:, 1:2], high[:, 1:2], np.array([0, 1, 1])).tolist() == [True, False, False]
    assert certain_errors(-high[:, 1:2], -low[:, 1:2], np.array([0, 1, 0])).tolist() == [False, True, False]


def test_a_saved_model_keeps_its_proof(tmp_path):
    X, y, _ = drawn(1)
    model = LinearSVCCV((0.1, 1.0), cv=FOLDS, certify=0.05).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors").certified_
    assert (loaded.edges == model.certified_.edges).all()
    assert (loaded.lower_bounds == model.certified_.lower_bounds).all()
    assert (loaded.error, loaded.n_fits, loaded.proven) == (model.certified_.error, model.certified_.n_fits, True)
    with pytest.raises(ValueError, match=r"outside of the range \[0.1, 1\]"):
        loaded.lower_bound_at(2.0)
    model.set_params(certify=None).fit(X, y)
    assert not hasattr(model, "certified_")


class Doubtful(Hinge):
    """A loss with a mind of its own."""

    def decide(self, scores):
        return np.ones(len(scores))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"certify": 0.0}, "certify=0.0 must be a number greater than 0 and at most 1"),
        ({"max_fits": 1}, "max_fits=1 must be a whole number, 2 or more"),
        ({"scoring": "roc_auc"}, "certify bounds the error rate: scoring='roc_auc' must be None or 'accuracy'"),
        ({"multi_class": "crammer_singer"}, "certify is for multi_class='ovr'"),
        ({"loss": "roc_area"}, "no sum over examples"),
        ({"loss": Doubtful}, "its own `decide`"),
    ],
)
def test_what_has_no_proof_is_refused(settings, message):
    X, y, _ = drawn(1)
    with pytest.raises(ValueError, match=message):
        LinearSVCCV((0.1, 1.0), cv=KFold(3), **{"certify": 0.05, **settings}).fit(X, y)

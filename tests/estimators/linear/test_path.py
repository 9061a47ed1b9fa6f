"""A path of C, and C by cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import cutplane
from cutplane import SVC, LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV
from cutplane.estimators.linear import c_path, folds
from cutplane.solvers.path import chains, follow
from cutplane.sources import as_source

RNG = np.random.default_rng(3)
X = RNG.normal(size=(240, 5))
SCORES = X @ np.array([1.0, -1.0, 0.5, 0.0, 0.0]) + 0.5 + RNG.normal(size=240)
Y = np.where(SCORES > 0.5, "b", "a")
THREE = np.digitize(SCORES, [-0.5, 1.0])
CS = [1.0, 1e-3, 30.0, 0.1, 1.0]


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_each_model_of_a_path_is_certified_and_as_good_as_alone(method, loss):
    tol = 0.05 if method == "cpa" else 1e-3
    models = LinearSVC(loss=loss, method=method, tol=tol).path(X, Y, CS)
    assert [model.C for model in models] == CS
    for C, model in zip(CS, models, strict=True):
        alone = LinearSVC(C, loss=loss, tol=1e-6).fit(X, Y)
        assert model.gap_ <= tol
        assert model.lower_bound_ <= alone.objective_ * (1 + 1e-9)
        assert alone.lower_bound_ <= model.objective_ * (1 + 1e-9)
        scores = model.decision_function(X)
        y = np.where(Y == "b", 1, -1)
        each = np.maximum(0.0, 1.0 - y * scores) ** (2 if loss == "squared_hinge" else 1)
        assert model.objective_ == pytest.approx(0.5 * np.sum(model.coef_**2) + C * each.sum())


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_path_with_examples_in_plenty(fit_intercept, loss, sparse):
    """Where samples tell nearly all, and have the slope of the whole."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 4)) * (rng.random((30_000, 4)) < 0.7)
    y = np.where(X @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=30_000) > 0.2, 1, -1)
    X = sp.csr_array(X) if sparse else X
    Cs = np.logspace(-5, 1, 7)
    model = LinearSVC(loss=loss, fit_intercept=fit_intercept)
    for C, found in zip(Cs, model.path(X, y, Cs), strict=True):
        close = LinearSVC(C, loss=loss, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
        assert found.gap_ <= 1e-3
        assert found.lower_bound_ <= close.objective_ * (1.0 + 1e-12)
        assert found.objective_ >= close.lower_bound_ * (1.0 - 1e-12)


def test_a_path_of_several_classes_and_of_a_regression():
    for model, y in ((LinearSVC(intercept_scaling=2.0), THREE), (LinearSVR(epsilon=0.1), SCORES)):
        path = model.path(sp.csr_matrix(X), y, [0.01, 1.0], np.linspace(0.5, 1.5, 240))
        assert not hasattr(model, "coef_")
        for C, found in zip([0.01, 1.0], path, strict=True):
            alone = clone(model).set_params(C=C).fit(X, y, np.linspace(0.5, 1.5, 240))
            assert found.objective_ == pytest.approx(alone.objective_, rel=2e-3)
            assert found.coef_.shape == alone.coef_.shape
            assert found.n_features_in_ == 5
            assert np.mean(found.predict(X) == alone.predict(X)) > 0.95 or model.__class__ is LinearSVR


def test_a_path_needs_fewer_iterations_than_its_models_alone():
    grid = np.logspace(-2, 2, 9)
    path = LinearSVC(method="oca").path(X, Y, grid)
    alone = [LinearSVC(C, method="oca").fit(X, Y) for C in grid]
    assert sum(model.n_iter_ for model in path) < 0.7 * sum(model.n_iter_ for model in alone)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 2.0, 60)])
def test_a_path_on_wide_data_falls_and_is_certified(fit_intercept, weights, monkeypatch):
    """With more features than examples dual variables are handed on from the largest C."""
    rng = np.random.default_rng(0)
    wide, labels = rng.normal(size=(60, 90)), rng.integers(0, 2, 60)
    orders = []
    split = c_path.chains
    monkeypatch.setattr(
        c_path, "chains", lambda grid, *, falling: orders.append(falling) or split(grid, falling=falling)
    )
    grid = np.logspace(-4, 2, 7)
    for model in LinearSVC(fit_intercept=fit_intercept, tol=1e-5).path(wide, labels, grid, weights):
        alone = LinearSVC(model.C, fit_intercept=fit_intercept, tol=1e-7).fit(wide, labels, weights)
        assert model.gap_ <= 1e-5
        assert model.objective_ == pytest.approx(alone.objective_, rel=1.1e-5)
    LinearSVC(method="oca").path(wide, labels, [0.1])
    LinearSVC(loss="squared_hinge").path(wide, labels, [0.1])
    LinearSVC().path(X, Y, [0.1])
    assert orders == [True, False, False, False]  # of a loss without kinks no dual variable stays


def test_planes_are_handed_on_along_a_chain():
    seen = []

    class Fake:
        stop_reason = "gap"

    def train(C, handover):
        seen.append((C, handover.planes, handover.more))
        handover.planes = f"of {C}"
        return Fake()

    assert list(follow([3.0, 1.0, 2.0], train)) == [3.0, 1.0, 2.0]
    assert seen == [(3.0, None, True), (1.0, "of 3.0", True), (2.0, "of 1.0", False)]


def many():
    """So many examples of so few entries that passes are made in single precision."""
    rng = np.random.default_rng(7)
    return rng.normal(size=(70_000, 3)), rng.integers(0, 2, 70_000)


SAME = {
    "text": (LinearSVC(), lambda: wide_problem()),
    "without an intercept": (LinearSVC(fit_intercept=False), lambda: (X, Y)),
    "single precision": (LinearSVC(fit_intercept=False), many),
    "squared": (LinearSVC(loss="squared_hinge"), lambda: (X, Y)),
    "logistic": (LinearSVC(loss="logistic", method="newton"), lambda: (X, Y)),
    "roc": (LinearSVC(loss="roc_area"), lambda: (X, Y)),
    "oca": (LinearSVC(method="oca"), lambda: (X, Y)),
    "three": (LinearSVC(), lambda: (X, THREE)),
    "joint": (LinearSVC(multi_class="crammer_singer"), lambda: (X, THREE)),
    "nonnegative": (LinearSVC(nonnegative=True), lambda: (X, Y)),
    "prior": (LinearSVC(prior=np.ones((1, 5))), lambda: (X, Y)),
    "regression": (LinearSVR(), lambda: (X, SCORES)),
}


@pytest.mark.parametrize("name", SAME)
def test_a_path_of_one_C_is_a_fit(name):
    model, data = SAME[name]
    examples, targets = data()
    alone = clone(model).set_params(C=0.3).fit(examples, targets)
    (only,) = clone(model).path(examples, targets, [0.3])
    assert np.array_equal(only.coef_, alone.coef_)
    assert np.array_equal(only.intercept_, alone.intercept_)
    assert np.array_equal(only.objective_, alone.objective_)
    assert np.array_equal(only.lower_bound_, alone.lower_bound_)


def test_the_largest_C_of_a_falling_path_are_a_chain_of_their_own():
    grid = [1.0, 100.0, 0.1, 30.0, 1.0]
    assert chains(grid, falling=False) == [[0.1, 1.0, 30.0, 100.0]]
    assert chains(grid, falling=True) == [[100.0, 30.0], [1.0, 0.1]]
    assert chains([2.0, 1.0], falling=True) == [[2.0, 1.0]]


def wide_problem():
    rng = np.random.default_rng(5)
    return rng.normal(size=(80, 120)), rng.integers(0, 2, 80)


def test_a_path_does_not_depend_on_threads():
    """Also where its chains run side by side."""
    grid = [0.001, 0.1, 3.0, 10.0]
    one, two, four = (LinearSVC(n_jobs=n).path(*wide_problem(), grid) for n in (1, 2, 4))
    for a, b, c in zip(one, two, four, strict=True):
        assert np.array_equal(a.coef_, b.coef_)
        assert np.array_equal(a.coef_, c.coef_)
        assert a.gap_ == b.gap_ == c.gap_


def test_chains_are_watched_one_step_at_a_time():
    inside, seen = [], []

    def watch(step):
        inside.append(step)
        assert len(inside) == 1
        seen.append(step.gap)
        inside.pop()

    models = LinearSVC(n_jobs=2, on_step=watch).path(*wide_problem(), np.logspace(-3, 1, 9))
    assert len(seen) == sum(model.n_iter_ for model in models)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("data", [(X, Y), wide_problem()])
def test_an_interrupted_path_ends(data, n_jobs):
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(on_step=lambda step: True, tol=1e-12, n_jobs=n_jobs).path(*data, [1.0, 20.0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_one_chain_ends_the_path(n_jobs):
    def fail(step):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        LinearSVC(on_step=fail, n_jobs=n_jobs).path(*wide_problem(), [1.0, 20.0])


def test_models_of_a_path_that_ran_out_of_time_say_so():
    with pytest.warns(UserWarning, match="reached max_iter in 2 of its 2 problems") as said:
        LinearSVC(max_iter=1, tol=1e-9).path(*wide_problem(), [1.0, 20.0])
    assert len(said) == 1


@pytest.mark.parametrize(
    ("Cs", "words"),
    [
        ([], "Cs is empty"),
        (3.0, r"Cs=3.0 must be a sequence"),
        ([1.0, -2.0], r"Cs\[1\]=-2.0 must be a finite number greater than 0"),
        (["x"], r"Cs\[0\]='x' must"),
    ],
)
def test_bad_grids_are_refused(Cs, words):
    with pytest.raises(ValueError, match=words):
        LinearSVC().path(X, Y, Cs)
    with pytest.raises(ValueError, match=words):
        LinearSVCCV(Cs).fit(X, Y)


@pytest.mark.parametrize(
    ("loss", "scoring"),
    [("hinge", None), ("hinge", "roc_auc"), ("hinge", "f1_macro"), ("logistic", None), ("logistic", "neg_log_loss")],
)
def test_scores_are_those_of_a_grid_search(loss, scoring):
    grid, folds = [0.01, 0.3], StratifiedKFold(3, shuffle=True, random_state=0)
    ours = LinearSVCCV(grid, cv=folds, scoring=scoring, loss=loss, tol=1e-7).fit(X, Y)
    search = GridSearchCV(LinearSVC(loss=loss, tol=1e-7), {"C": grid}, cv=folds, scoring=scoring).fit(X, Y)
    theirs = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)])
    assert ours.scores_ == pytest.approx(theirs, abs=2e-3)
    assert search.best_params_["C"] == ours.C_
    assert ours.predict(X).tolist() == LinearSVC(ours.C_, loss=loss, tol=1e-7).fit(X, Y).predict(X).tolist()


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1.5, 240)])
def test_balanced_weights_are_those_of_the_training_rows(weights):
    """Folds whose classes are out of proportion: each is balanced as a fit on its rows would be."""
    order = np.argsort(THREE + 0.3 * RNG.normal(size=240), kind="stable")
    folds = [(order[:200], order[200:]), (order[60:], order[:60])]
    balanced = {"class_weight": "balanced", "tol": 1e-7}
    model = LinearSVCCV([0.03], cv=folds, n_jobs=2, scoring="f1_macro", **balanced).fit(X, THREE, weights)
    for score, (train, test) in zip(model.scores_[0], folds, strict=True):
        alone = LinearSVC(0.03, **balanced).fit(X[train], THREE[train], None if weights is None else weights[train])
        assert score == pytest.approx(f1_score(THREE[test], alone.predict(X[test]), average="macro"), abs=1e-3)
    single = LinearSVC(0.03, **balanced).fit(X, THREE, weights)
    assert model.objective_ == pytest.approx(single.objective_)


@pytest.mark.parametrize("scaling", [None, 2.0])
def test_all_classes_together_by_cross_validation(scaling):
    joint = {"multi_class": "crammer_singer", "intercept_scaling": scaling, "tol": 1e-6}
    joint["cost_matrix"] = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    folds, grid = KFold(3), [1e-3, 0.1]
    model = LinearSVCCV(grid, cv=folds, **joint).fit(X, THREE)
    for k, (train, test) in enumerate(folds.split(X)):
        for C, score in zip(grid, model.scores_[:, k], strict=True):
            alone = LinearSVC(C, **joint).fit(X[train], THREE[train])
            assert score == pytest.approx(alone.score(X[test], THREE[test]), abs=0.02)
    assert model.objective_ == pytest.approx(LinearSVC(model.C_, **joint).fit(X, THREE).objective_)


def test_a_users_scorer_sees_the_examples():
    def far(model, X, y):
        assert X.shape[1] == 5
        return float(model.score(X, y))

    model = LinearSVCCV([0.01, 0.3], cv=3, scoring=far).fit(X, Y)
    assert model.scores_ == pytest.approx(LinearSVCCV([0.01, 0.3], cv=3).fit(X, Y).scores_)


def test_regression_by_cross_validation():
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    for scoring in (scorer, "neg_mean_absolute_error"):
        model = LinearSVRCV([1e-4, 1.0], cv=3, scoring=scoring).fit(X, SCORES)
        assert model.C_ == 1.0
    assert get_scorer("r2")(model, X, SCORES) > 0.5


def test_threads_do_not_change_the_choice():
    one, two = (LinearSVCCV([0.01, 0.1, 1.0], cv=3, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    assert np.array_equal(one.scores_, two.scores_)
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("model", [LinearSVCCV([0.1, 1.0], cv=2), LinearSVRCV([0.1, 1.0], cv=2)])
def test_cross_validated_models_are_saved(model, tmp_path):
    y = Y if isinstance(model, LinearSVCCV) else SCORES
    model = clone(model).fit(X, y)
    model.save(tmp_path / "model")
    copy = cutplane.load(tmp_path / "model")
    assert np.array_equal(copy.predict(X), model.predict(X))
    assert np.array_equal(copy.scores_, model.scores_)
    assert copy.C_ == model.C_


def test_a_scorer_of_ones_own_is_handed_rows_of_a_source():
    def right(model, rows, y):
        return float(np.mean(model.predict(rows) == y))

    matrix = LinearSVCCV([0.01, 0.3], cv=3, scoring=right).fit(X, Y)
    source = LinearSVCCV([0.01, 0.3], cv=3, scoring=right).fit(as_source(X), Y)
    assert np.array_equal(matrix.scores_, source.scores_)


def test_out_of_time_only_what_was_scored_decides():
    with pytest.warns(ConvergenceWarning, match="0 of 15 scores are known, and the C in the middle is"):
        model = LinearSVCCV(Cs=[1.0, 0.1, 10.0], time_limit=1e-9).fit(X, Y)
    assert model.C_ == 1.0
    assert model.stop_reason_ == "time_limit"
    assert np.isnan(model.scores_).all()
    scores = np.array([[0.9, np.nan], [0.8, 0.9], [np.nan, np.nan]])
    with pytest.warns(ConvergenceWarning, match="3 of 6 scores are known, and the best of these is taken"):
        assert folds._best([1.0, 2.0, 3.0], scores, "LinearSVCCV") == 1.0
    assert folds._best([3.0, 1.0], np.array([[0.5, 0.7], [0.6, 0.6]]), "LinearSVCCV") == 1.0


def test_a_method_hears_of_the_steps_of_clones():
    seen = []
    models = LinearSVC(on_step=seen.append).path(X, Y, [0.1, 1.0])
    assert len(seen) == sum(model.n_iter_ for model in models)
    assert clone(SVC(on_step=seen.append)).on_step.__self__ is seen


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", [{"fit_intercept": False}, {}, {"intercept_scaling": 1.0}], ids=str)
def test_paths_on_many_features_go_on_from_two_models(loss, intercept):
    rng = np.random.default_rng(7)
    rows = sp.random_array((150, 3000), density=0.01, format="csr", rng=rng)
    y = np.where(rng.random(150) < 0.4, 1, -1)
    for model in LinearSVC(loss=loss, tol=1e-5, **intercept).path(rows, y, [0.1, 0.5, 3.0, 3.0001, 1000.0]):
        alone = LinearSVC(model.C, loss=loss, tol=1e-5, **intercept).fit(rows, y)
        assert model.gap_ <= 1e-5
        assert model.lower_bound_ <= alone.objective_
        assert alone.lower_bound_ <= model.objective_

"""Logistic regression: scikit-learn's problem, two classes and more, with a certificate that holds."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import entr, softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.linear_model import LogisticRegressionCV as TheirsCV
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import cutplane
from cutplane import LinearSVC, LogisticRegression, LogisticRegressionCV
from cutplane.shards.softmax_curvature import SoftmaxCurvature
from cutplane.solvers.newton import classes
from cutplane.sources import as_source

IRIS, KINDS = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)


def draw(n: int = 60, d: int = 4, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def objective(model: Any, X: Any, y: np.ndarray, C: float, weights: Any = 1.0, scaling: float | None = None) -> float:
    p = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    penalty = np.square(model.coef_).sum() + (0.0 if scaling is None else np.square(model.intercept_ / scaling).sum())
    return 0.5 * float(penalty) - C * float((weights * p).sum())


def optimum(X: np.ndarray, y: np.ndarray, C: float, weights: np.ndarray, *, intercept: bool) -> float:
    """The least value, by an interior point."""
    k = int(y.max()) + 1
    W, b = cp.Variable((X.shape[1], k)), cp.Variable((1, k))
    scores = X @ W + (np.ones((len(X), 1)) @ b if intercept else 0.0)
    losses = cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(np.eye(k)[y], scores), axis=1)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(W) + C * (weights @ losses)))
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("k", [3, 5])
def test_bounds_enclose_the_optimum(k: int, C: float, intercept: bool) -> None:
    X, y = draw(k=k)
    weights = RNG.random(len(y)) + 0.1
    least = optimum(X, y, C, weights, intercept=intercept)
    for tol in (1e-2, 1e-8):
        model = LogisticRegression(C=C, tol=tol, fit_intercept=intercept).fit(X, y, weights)
        assert model.gap_ <= tol
        assert model.lower_bound_ <= least * (1.0 + 1e-7)
        assert model.objective_ >= least * (1.0 - 1e-7)
        assert model.objective_ == pytest.approx(objective(model, X, y, C, weights), rel=1e-12)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_problem_of_scikit_learn(classes: int, C: float, solver: str) -> None:
    X, y = IRIS[classes > KINDS], KINDS[classes > KINDS]
    ours = LogisticRegression(C=C, tol=1e-8, solver=solver).fit(X, y)
    theirs = Theirs(C=C, tol=1e-9, max_iter=20_000, solver=solver).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.lower_bound_ <= objective(theirs, X, y, C)


def test_a_wide_system_is_solved_by_class() -> None:
    X, y = load_digits(return_X_y=True)
    X = np.hstack([X / 16.0, X[:, ::-1] / 16.0])  # 1,290 unknowns
    model = LogisticRegression(tol=1e-6).fit(X, y)
    assert model.gap_ <= 1e-6
    theirs = Theirs(tol=1e-6, max_iter=2000).fit(X, y)
    assert model.lower_bound_ <= objective(theirs, X, y, 1.0) <= model.objective_ * (1.0 + 1e-4)


def test_a_whole_system_is_factorised_where_that_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    whole = SoftmaxCurvature.matrix
    monkeypatch.setattr(SoftmaxCurvature, "matrix", lambda self, most: asked.append(most) or whole(self, most))
    X, y = load_digits(return_X_y=True)  # as dear as a hundred products
    assert LogisticRegression().fit(X / 16.0, y).gap_ <= 1e-3
    assert not asked
    assert LogisticRegression().fit(IRIS, KINDS).gap_ <= 1e-3
    assert asked


def test_a_step_that_overshoots_is_cut_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end has little slope, next to the direction's, and lies above its start."""
    monkeypatch.setattr(classes, "TUNING", replace(classes.TUNING, residual=0.05))
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression(C=100.0).fit(StandardScaler().fit_transform(X), y)
    assert model.stop_reason_ == "gap"


def test_dual_points_by_brute_force() -> None:
    """No balanced probabilities prove more than the optimum, and those of the optimum prove it."""
    X, y = draw(n=12, d=2)
    C, rng = 2.0, np.random.default_rng(3)
    model = LogisticRegression(C=C, tol=1e-12).fit(X, y)
    one, share = np.eye(3)[y], np.bincount(y) / len(y)

    def dual(p: np.ndarray) -> float:
        assert np.abs((p - one).sum(axis=0)).max() < 1e-6
        return C * float(entr(p).sum()) - 0.5 * C**2 * float(np.square(X.T @ (p - one)).sum())

    for _ in range(200):
        p = rng.dirichlet(np.full(3, 0.7), len(y))
        for _ in range(200):  # rows that sum to one, columns to the shares of the classes
            p *= len(y) * share / p.sum(axis=0)
            p /= p.sum(axis=1, keepdims=True)
        assert dual(p) <= model.objective_ * (1.0 + 1e-6)
    at_optimum = softmax(X @ model.coef_.T + model.intercept_, axis=1)
    assert dual(at_optimum) == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_are_copies(fit_intercept: bool) -> None:
    X, y = draw()
    times = RNG.integers(0, 4, len(y))
    times[:3] = 1
    options: dict[str, Any] = {"tol": 1e-9, "fit_intercept": fit_intercept}
    weighted = LogisticRegression(**options).fit(X, y, times.astype(float))
    copied = LogisticRegression(**options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-4)
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-8)


def test_class_weights() -> None:
    X, y = draw()
    by_class = {0: 2.0, 1: 0.5, 2: 1.0}
    ours = LogisticRegression(class_weight=by_class, tol=1e-9).fit(X, y)
    same = LogisticRegression(tol=1e-9).fit(X, y, np.array([by_class[label] for label in y]))
    assert ours.objective_ == pytest.approx(same.objective_, rel=1e-12)
    balanced = LogisticRegression(class_weight="balanced", tol=1e-9).fit(X, y)
    theirs = Theirs(class_weight="balanced", tol=1e-9, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("scaling", [0.5, 4.0])
def test_penalised_intercepts_are_weights_of_a_constant_feature(scaling: float) -> None:
    X, y = draw()
    ours = LogisticRegression(intercept_scaling=scaling, tol=1e-9).fit(X, y)
    longer = np.column_stack([X, np.full(len(X), scaling)])
    same = LogisticRegression(fit_intercept=False, tol=1e-9).fit(longer, y)
    np.testing.assert_allclose(ours.coef_, same.coef_[:, :-1], atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, scaling * same.coef_[:, -1], atol=1e-4)
    assert ours.objective_ == pytest.approx(objective(ours, X, y, 1.0, scaling=scaling), rel=1e-12)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, np.asfortranarray, as_source])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_however_the_examples_are_stored(make: Any, dtype: Any) -> None:
    X, y = draw(n=120)
    X = np.where(RNG.random(X.shape) < 0.5, 0.0, X).astype(dtype)
    dense, other = (LogisticRegression(tol=1e-8).fit(rows, y) for rows in (X, make(X)))
    np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-3)
    assert other.gap_ <= 1e-8


def test_wide_sparse_rows_go_by_the_diagonal() -> None:
    X = sp.random(300, 2000, density=0.01, format="csr", random_state=0)
    y = np.arange(300) % 4
    model = LogisticRegression(tol=1e-6, C=10.0).fit(X, y)
    dense = LogisticRegression(tol=1e-6, C=10.0).fit(X.toarray(), y)
    assert model.gap_ <= 1e-6
    assert model.objective_ == pytest.approx(dense.objective_, rel=2e-6)


def test_many_examples_begin_with_samples() -> None:
    X, y = draw(n=6000, d=3)
    model = LogisticRegression(tol=1e-6).fit(X, y)
    assert model.gap_ <= 1e-6
    assert model.history_[0].upper < 1.2 * model.objective_  # of nothing, it would be far above
    theirs = Theirs(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=2e-2)


@pytest.mark.parametrize("k", [3, 10, 50])
def test_any_number_of_classes(k: int) -> None:
    X, y = draw(n=6 * k, d=5, k=k)
    model = LogisticRegression(tol=1e-5).fit(X, y)
    assert model.gap_ <= 1e-5
    assert model.coef_.shape == (k, 5)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_separable_classes(C: float) -> None:
    X = np.repeat([[-5.0, 0.0], [0.0, 5.0], [5.0, 0.0]], 5, axis=0) + 0.1 * RNG.standard_normal((15, 2))
    y = np.repeat(["left", "middle", "right"], 5)
    model = LogisticRegression(C=C, tol=1e-4).fit(X, y)
    assert model.gap_ <= 1e-4
    assert model.score(X, y) == 1.0


def test_one_feature_and_constant_features() -> None:
    _, y = draw()
    line = (y + 0.5 * RNG.standard_normal(len(y)))[:, None]
    model = LogisticRegression(tol=1e-8).fit(line, y)
    assert model.gap_ <= 1e-8
    both = LogisticRegression(tol=1e-8).fit(np.column_stack([line, np.zeros(len(y)), np.full(len(y), 3.0)]), y)
    np.testing.assert_allclose(both.coef_[:, 0], model.coef_[:, 0], atol=1e-3)
    np.testing.assert_allclose(both.coef_[:, 1:], 0.0, atol=1e-3)
    nothing = LogisticRegression(tol=1e-8).fit(np.zeros((len(y), 2)), y)
    np.testing.assert_allclose(nothing.predict_proba([[0.0, 0.0]])[0], np.bincount(y) / len(y), atol=1e-4)


@pytest.mark.parametrize("k", [2, 4])
def test_a_path_and_a_warm_start_are_of_the_same_problems(k: int) -> None:
    X, y = draw(k=k)
    grid = [10.0, 0.01, 1.0]
    models = LogisticRegression(tol=1e-7).path(X, y, grid)
    warm = LogisticRegression(tol=1e-7, warm_start=True)
    for C, model in zip(grid, models, strict=True):
        alone = LogisticRegression(C=C, tol=1e-7).fit(X, y)
        warm.set_params(C=C).fit(X, y)
        for other in (model, warm):
            assert other.gap_ <= 1e-7
            assert other.objective_ == pytest.approx(alone.objective_, rel=2e-7)
    steps = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= steps


def test_two_classes_are_those_of_linear_svc() -> None:
    X, y = draw(k=2)
    ours, same = LogisticRegression(tol=1e-6).fit(X, y), LinearSVC(loss="logistic", tol=1e-6).fit(X, y)
    assert ours.coef_.tobytes() == same.coef_.tobytes()
    np.testing.assert_array_equal(ours.predict_proba(X), same.predict_proba(X))
    proven = LogisticRegression(keep_proof=True).fit(X, y)
    (bounds,) = cutplane.verify(proven, X, y)
    assert bounds.gap <= 1e-3


def test_probabilities() -> None:
    X, y = draw()
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p, softmax(model.decision_function(X), axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"intercept_scaling": 1.0}])
def test_bounds_of_probabilities_hold_those_of_the_optimum(options: dict[str, Any]) -> None:
    X, y = draw()
    rough, fine = (LogisticRegression(tol=tol, **options).fit(X, y) for tol in (1e-2, 1e-9))
    low, high = rough.probability_bounds(X)
    p = fine.predict_proba(X)
    assert (low <= p).all()
    assert (p <= high).all()
    assert ((high - low).max(axis=1) < 1.0).any()
    labels, certain = rough.predict(X, return_certain=True)
    assert certain.any()
    np.testing.assert_array_equal(labels[certain], fine.predict(X)[certain])


@pytest.mark.parametrize("k", [2, 3])
def test_a_model_is_saved_pickled_cloned_and_given_to_scikit_learn(k: int, tmp_path: Any) -> None:
    X, y = draw(k=k)
    model = LogisticRegression(C=2.0, class_weight="balanced").fit(X, y)
    model.save(tmp_path / "m")
    plain = cutplane.load(tmp_path / "m", plain=True)
    twin = model.to_sklearn()
    assert isinstance(twin, Theirs)
    for other in (cutplane.load(tmp_path / "m"), pickle.loads(pickle.dumps(model)), plain, twin):
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), rtol=1e-12)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert cutplane.load(tmp_path / "m").gap_ == model.gap_
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": np.inf}, "Without a penalty .* no certificate"),
        ({"penalty": None}, "Without a penalty"),
        ({"penalty": "l1"}, "proven here is proven of"),
        ({"penalty": "elasticnet", "l1_ratio": 0.5}, "proven here is proven of"),
        ({"l1_ratio": 0.5}, "l1_ratio=0"),
        ({"penalty": "ridge"}, "must be one of"),
        ({"solver": "adam"}, "must be one of 'lbfgs'"),
        ({"keep_proof": True}, "has no proof file"),
    ],
)
def test_what_is_refused_is_one_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        LogisticRegression(**options).fit(IRIS, KINDS)
    assert "\n" not in str(caught.value)


def test_what_scikit_learn_accepts_changes_nothing() -> None:
    X, y = draw()
    plain = LogisticRegression().fit(X, y)
    for options in (
        {"penalty": "l2"},
        {"solver": "saga"},
        {"dual": True},
        {"l1_ratio": None},
        {"penalty": "elasticnet"},
    ):
        assert LogisticRegression(**options).fit(X, y).coef_.tobytes() == plain.coef_.tobytes()


def test_a_fit_that_is_cut_short_says_what_is_proven() -> None:
    X, y = draw(n=200, k=5)
    with pytest.warns(ConvergenceWarning, match="reached max_iter"):
        model = LogisticRegression(max_iter=1, tol=1e-9).fit(X, y)
    least = LogisticRegression(tol=1e-9).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert model.lower_bound_ <= least.objective_ <= model.objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hasty = LogisticRegression(time_limit=1e-9).fit(X, y)
    assert hasty.stop_reason_ == "time_limit"
    assert hasty.lower_bound_ <= least.objective_


def test_a_checkpoint_is_gone_on_from(tmp_path: Any) -> None:
    X, y = draw(n=200, k=5)
    file = tmp_path / "fit"
    seen = []

    def stop(step: Any) -> bool:
        seen.append(step)
        return len(seen) == 3

    watched = LogisticRegression(tol=1e-8, checkpoint=file, checkpoint_every=1e-9, on_step=stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watched.fit(X, y)
    assert watched.stop_reason_ == "interrupted"
    assert file.exists()
    model = LogisticRegression(tol=1e-8, checkpoint=file).fit(X, y)
    assert model.gap_ <= 1e-8
    assert not file.exists()


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
@pytest.mark.parametrize("k", [2, 3])
def test_the_c_that_is_chosen_is_scikit_learns(k: int, scoring: str | None) -> None:
    X, y = draw(n=120, k=k)
    grid, folds = [1e-3, 0.1, 10.0], KFold(3)
    ours = LogisticRegressionCV(Cs=grid, cv=folds, scoring=scoring, tol=1e-8).fit(X, y)
    theirs = TheirsCV(
        Cs=grid, cv=folds, scoring=scoring or "accuracy", tol=1e-8, l1_ratios=(0,), use_legacy_attributes=False
    ).fit(X, y)
    assert theirs.C_ == ours.C_
    np.testing.assert_allclose(ours.scores_.T, np.asarray(theirs.scores_).reshape(3, 3), atol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)


def test_a_number_of_values_of_c() -> None:
    X, y = draw()
    model = LogisticRegressionCV(Cs=3, cv=2).fit(X, y)
    np.testing.assert_allclose(model.Cs_, [1e-4, 1.0, 1e4])
    for wrong in ({"Cs": 0}, {"l1_ratios": [0.5]}, {"Cs": [np.inf]}):
        with pytest.raises(ValueError, match=r"\.$"):
            LogisticRegressionCV(**wrong).fit(X, y)


def test_the_accuracy_of_folds_is_scikit_learns() -> None:
    names = np.array(["setosa", "versicolor", "virginica"])[KINDS]
    counted = LogisticRegressionCV(Cs=3).fit(IRIS, names)
    scored = LogisticRegressionCV(Cs=3, scoring=make_scorer(accuracy_score, normalize=True)).fit(IRIS, names)
    assert counted.scores_.tolist() == scored.scores_.tolist()


def test_raw_features_of_several_classes_are_proven() -> None:
    """What planes lean along intercepts, and rounding of that, once cost more than the gap: raw features, large C."""
    rng = np.random.default_rng(0)
    scales, y = 10.0 ** rng.uniform(-1, 5, 12), rng.choice(5, 1500, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    centres = 0.7 * rng.normal(size=(5, 12))
    X = (centres[y] + rng.standard_t(3, (1500, 12)) + rng.normal(0, 3, 12)) * scales
    model = LogisticRegression().fit(X, y)
    assert (model.stop_reason_, model.gap_ <= 1e-3) == ("gap", True)
    digits, labels = load_digits(return_X_y=True)
    standard = (digits - digits.mean(axis=0)) / np.where(digits.std(axis=0) > 0.0, digits.std(axis=0), 1.0)
    model = LogisticRegression(C=1e4, tol=1e-6).fit(standard[:600], labels[:600])
    assert (model.stop_reason_, model.gap_ <= 1e-6) == ("gap", True)

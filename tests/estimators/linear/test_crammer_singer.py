"""`LinearSVC(multi_class="crammer_singer")`: what a user gets, and what is said of bad input."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris

import cutplane
from cutplane import LinearSVC
from cutplane.objectives.multiclass import MulticlassObjective
from cutplane.testing import check_certificate

TREE_COST = 4.0  # of a mistake between branches; 1 within


def joint(**settings: Any) -> LinearSVC:
    return LinearSVC(multi_class="crammer_singer", **settings)


def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def objective(model: LinearSVC, X: Any, codes: Any, cost: Any) -> float:
    scores = X @ model.coef_.T + model.intercept_
    own = scores[np.arange(len(codes)), codes]
    losses = (cost[codes] + scores).max(axis=1) - own
    return float(0.5 * np.sum(model.coef_**2) + model.C * losses.sum())


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_objective_is_that_of_the_model(method: str, fit_intercept: bool) -> None:
    X, y = iris()
    model = joint(method=method, fit_intercept=fit_intercept).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    assert model.gap_ <= 1e-3
    assert model.objective_ == pytest.approx(objective(model, X, codes, np.ones((3, 3)) - np.eye(3)), rel=1e-9)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.any() == fit_intercept
    assert model.score(X, y) > 0.94
    scores = model.decision_function(X)
    assert scores.shape == (150, 3)
    assert np.array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


def test_free_intercepts_take_any_shift_of_the_features() -> None:
    X, y = iris()
    here, there = joint(tol=1e-6).fit(X, y), joint(tol=1e-6).fit(X + 5.0, y)
    assert here.objective_ == pytest.approx(there.objective_, rel=2e-6)
    assert here.objective_ < joint(tol=1e-6, intercept_scaling=1.0).fit(X, y).objective_


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("method", ["auto", "cpa"])
def test_weights_that_must_not_be_negative(method: str, fit_intercept: bool) -> None:
    X, y = iris()
    codes, chosen, C = np.unique(y, return_inverse=True)[1], [0, 2], 0.05
    W, b = cp.Variable((3, 4)), cp.Variable((1, 3))
    scores = X @ W.T + (np.ones((150, 1)) @ b if fit_intercept else 0.0)
    own = cp.sum(cp.multiply(scores, np.eye(3)[codes]), axis=1)
    losses = cp.max(scores + 1.0 - np.eye(3)[codes], axis=1) - own
    goal = cp.Minimize(0.5 * cp.sum_squares(W) + C * cp.sum(losses))
    best = float(cp.Problem(goal, [W[:, chosen] >= 0]).solve(solver=cp.CLARABEL))
    tol = 1e-4 if method == "auto" else 0.02
    model = joint(C=C, nonnegative=chosen, method=method, fit_intercept=fit_intercept, tol=tol).fit(X, y)
    assert model.gap_ <= tol
    assert np.all(model.coef_[:, chosen] >= 0.0)
    assert np.any(model.coef_ < 0.0)
    check_certificate(model.history_, model.objective_, model.lower_bound_, best)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_a_prior(rescaling: str, method: str, fit_intercept: bool) -> None:
    X, y = iris()
    X, y = X[::3], y[::3]
    codes, C = np.unique(y, return_inverse=True)[1], 0.3
    prior = np.random.default_rng(0).normal(size=(3, 4))
    cost = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]])
    W, b = cp.Variable((3, 4)), cp.Variable((1, 3))
    scores = X @ W.T + (np.ones((50, 1)) @ b if fit_intercept else 0.0)
    away = scores - cp.reshape(cp.sum(cp.multiply(scores, np.eye(3)[codes]), axis=1), (50, 1), order="C") @ np.ones(
        (1, 3)
    )
    lines = cost[codes] + away if rescaling == "margin" else cp.multiply(cost[codes], 1.0 + away)
    goal = cp.Minimize(0.5 * cp.sum_squares(W - prior) + C * cp.sum(cp.max(lines, axis=1)))
    best = float(cp.Problem(goal).solve(solver=cp.CLARABEL))
    tol = 0.02 if method == "cpa" else 1e-4
    model = joint(
        C=C, prior=prior, cost_matrix=cost, rescaling=rescaling, method=method, fit_intercept=fit_intercept, tol=tol
    ).fit(X, y)
    assert model.gap_ <= tol
    check_certificate(model.history_, model.objective_, model.lower_bound_, best)
    found = X @ model.coef_.T + model.intercept_
    found -= found[np.arange(50), codes][:, None]
    losses = (cost[codes] + found if rescaling == "margin" else cost[codes] * (1.0 + found)).max(axis=1)
    value = 0.5 * np.sum((model.coef_ - prior) ** 2) + C * losses.sum()
    assert model.objective_ == pytest.approx(value, rel=1e-8)


def test_a_prior_of_two_classes_is_of_their_difference_and_bounds_go_along() -> None:
    X, y = iris()
    prior = np.array([1.0, -2.0, 0.5, 0.0])
    pair = joint(C=1e-9, prior=prior, fit_intercept=False).fit(X[50:], y[50:])
    assert pair.coef_ == pytest.approx(prior[None], abs=1e-6)
    # As for the problem itself, the binary one has C doubled.
    both = joint(C=0.5, prior=prior, tol=1e-6).fit(X[50:], y[50:])
    binary = LinearSVC(C=1.0, prior=prior, tol=1e-6).fit(X[50:], y[50:])
    assert 2.0 * both.objective_ == pytest.approx(binary.objective_, rel=1e-5)
    three = np.random.default_rng(1).normal(size=(3, 4))
    signed = joint(C=1e-9, prior=three, nonnegative=[1], tol=1e-6).fit(X, y)
    assert np.all(signed.coef_[:, 1] >= 0.0)
    assert signed.coef_[:, [0, 2, 3]] == pytest.approx(three[:, [0, 2, 3]], abs=1e-4)
    for words, bad in ((r"it must be \(3, 4\)", prior), ("not finite", np.full((3, 4), np.nan))):
        with pytest.raises(ValueError, match=words):
            joint(prior=bad).fit(X, y)


def test_bounds_need_three_classes_with_weights_of_their_own() -> None:
    X, y = iris()
    with pytest.raises(ValueError, match="three classes and more"):
        joint(nonnegative=True).fit(X[50:], y[50:])
    with pytest.raises(ValueError, match="class_features must be None"):
        joint(nonnegative=True, class_features=np.eye(3)).fit(X, y)
    with pytest.raises(ValueError, match="prior is for weights of each class"):
        joint(prior=np.ones((3, 4)), class_features=np.eye(3)).fit(X, y)


def test_a_fit_that_is_ended_early_has_proven_something() -> None:
    X, y = iris()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = joint(C=10.0, max_iter=1, tol=1e-9).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert 0.0 < model.history_[-1].lower == model.lower_bound_ <= model.objective_


def test_two_classes_are_the_binary_problem() -> None:
    # |w_1|² + |w_2|² is least at w_1 = -w_2 = w / 2, where it is ½|w|²: the binary problem with C doubled.
    X, y = iris()
    X, y = X[50:], y[50:]
    both, binary = joint(C=0.5, tol=1e-6).fit(X, y), LinearSVC(C=1.0, tol=1e-6).fit(X, y)
    assert both.coef_.shape == (1, 4)
    assert 2.0 * both.objective_ == pytest.approx(binary.objective_, rel=1e-5)
    assert np.mean(both.predict(X) == binary.predict(X)) > 0.98


def test_sample_weights_are_repetitions() -> None:
    X, y = iris()
    times = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = joint(tol=1e-5).fit(X, y, sample_weight=times)
    repeated = joint(tol=1e-5).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-5)
    by_class = joint(tol=1e-5, class_weight={"setosa": 2.0, "versicolor": 1.0, "virginica": 3.0}).fit(X, y)
    by_hand = joint(tol=1e-5).fit(X, y, sample_weight=np.repeat([2.0, 1.0, 3.0], 50))
    assert by_class.objective_ == pytest.approx(by_hand.objective_, rel=2e-5)


def test_warm_start_along_C_goes_on_from_its_planes() -> None:
    X, y = iris()
    model = joint(C=0.1, tol=1e-4, method="oca", warm_start=True).fit(X, y)
    warm = model.set_params(C=0.2).fit(X, y)
    cold = joint(C=0.2, tol=1e-4, method="oca").fit(X, y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-4)
    assert warm.n_iter_ < cold.n_iter_
    # Other costs are another problem.
    other = model.set_params(cost_matrix=[[0, 1, 9], [1, 0, 1], [9, 1, 0]]).fit(X, y)
    fresh = joint(C=0.2, tol=1e-4, method="oca", cost_matrix=[[0, 1, 9], [1, 0, 1], [9, 1, 0]]).fit(X, y)
    assert other.objective_ == pytest.approx(fresh.objective_, rel=2e-4)


def test_path_of_C_is_proven_at_every_C() -> None:
    X, y = iris()
    models = joint(tol=1e-4).path(X, y, [0.01, 0.1, 1.0])
    for model, C in zip(models, (0.01, 0.1, 1.0), strict=True):
        alone = joint(C=C, tol=1e-4).fit(X, y)
        assert model.gap_ <= 1e-4
        assert model.objective_ == pytest.approx(alone.objective_, rel=2e-4)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_path_with_examples_in_plenty_goes_on_by_samples(
    fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 2))
    y = np.argmax(X @ rng.normal(size=(2, 3)) + 0.7 * rng.normal(size=(30_000, 3)), axis=1)
    asked, anchored = [], MulticlassObjective.anchored

    def counted(self: MulticlassObjective, sample: Any, last: Any) -> Any:
        asked.append(last)
        return anchored(self, sample, last)

    monkeypatch.setattr(MulticlassObjective, "anchored", counted)
    Cs = np.logspace(-5, -2, 4)
    for C, model in zip(Cs, joint(fit_intercept=fit_intercept).path(X, y, Cs), strict=True):
        close = joint(C=C, fit_intercept=fit_intercept, tol=1e-6).fit(X, y)
        assert model.gap_ <= 1e-3
        assert model.lower_bound_ <= close.objective_ * (1.0 + 1e-9)
        assert model.objective_ >= close.lower_bound_ * (1.0 - 1e-9)
    assert asked


def test_saved_and_loaded(tmp_path: Any) -> None:
    X, y = iris()
    model = joint(rescaling="slack", cost_matrix=[[0, 1, 2], [1, 0, 1], [2, 1, 0]]).fit(X, y)
    model.save(tmp_path / "model")
    again = cutplane.load(tmp_path / "model")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.gap_ == model.gap_


def test_threads_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 30))
    y = np.argmax(X[:, :5] + rng.normal(size=(4000, 5)), axis=1)
    # The last go by the Gram matrix.
    for n, C in ((4000, 0.01), (400, 100.0)):
        one, two = (joint(n_jobs=jobs, C=C).fit(X[:n], y[:n]) for jobs in (1, 2))
        assert np.array_equal(one.coef_, two.coef_)
        assert np.array_equal(one.intercept_, two.intercept_)


def taxonomy(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Three branches of four classes: branches are told by many weak features, classes by their own few."""
    branches, each, d = 3, 4, 60
    geometry = np.random.default_rng(0)
    centres = np.repeat(geometry.normal(size=(branches, d)), each, axis=0) * 0.35
    centres = centres + 0.35 * geometry.normal(size=(branches * each, d))
    y = rng.integers(0, branches * each, n)
    return centres[y] + rng.normal(size=(n, d)), y


def test_taxonomy_makes_cheaper_mistakes() -> None:
    # Few examples: what branches share is worth knowing.
    classes, each = 12, 4
    branch = np.arange(classes) // each
    cost = np.where(branch[:, None] == branch, 1.0, TREE_COST)
    np.fill_diagonal(cost, 0.0)
    tree = np.hstack([np.eye(classes), (branch[:, None] == np.arange(3)).astype(float)])
    flat_costs, tree_costs = [], []
    for seed in range(1, 4):
        X, y = taxonomy(np.random.default_rng(seed), 120)
        X_new, y_new = taxonomy(np.random.default_rng(100 + seed), 2000)
        settings: dict[str, Any] = {"C": 0.01, "fit_intercept": False}
        flat = joint(**settings).fit(X, y)
        taught = joint(**settings, class_features=tree, cost_matrix=cost).fit(X, y)
        assert taught.coef_.shape == (classes, X.shape[1])
        flat_costs.append(cost[y_new, flat.predict(X_new)].mean())
        tree_costs.append(cost[y_new, taught.predict(X_new)].mean())
    assert max(t / f for t, f in zip(tree_costs, flat_costs, strict=True)) < 1.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cost_matrix": np.ones((2, 2))}, r"cost_matrix has 2 rows, but y has 3 classes \('setosa', 'versicolor'"),
        ({"cost_matrix": np.ones((4, 4))}, "A class that y has no example of cannot be learned"),
        ({"cost_matrix": np.ones((3, 3))}, r"cost_matrix\[0, 0\] is 1\.0; it must be 0"),
        ({"cost_matrix": "costly"}, "cost_matrix must be a table of numbers"),
        ({"cost_matrix": [1.0, 2.0, 3.0]}, r"cost_matrix has the shape \(3,\); it must be a table"),
        ({"rescaling": "none"}, "rescaling='none' must be"),
        ({"class_features": np.ones((2, 5))}, "class_features has 2 rows, but y has 3 classes"),
        ({"class_features": np.ones((3, 0))}, "class_features has no columns"),
        ({"class_features": [[1.0], [np.inf], [0.0]]}, r"class_features\[1, 0\] is inf"),
        ({"multi_class": "ovo"}, "multi_class='ovo' must be"),
        ({"multi_class": "ovr", "cost_matrix": np.ones((3, 3))}, "cost_matrix is for multi_class='crammer_singer'"),
        ({"multi_class": "ovr", "rescaling": "slack"}, "rescaling is for multi_class='crammer_singer'"),
        (
            {"class_weight": {"setosa": 0.0}, "cost_matrix": 1.0 - np.eye(3)},
            "All examples of class 'setosa' have weight zero",
        ),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], words: str) -> None:
    X, y = iris()
    with pytest.raises(ValueError, match=words):
        LinearSVC(**{"multi_class": "crammer_singer", **settings}).fit(X, y)


def test_one_class_is_refused_and_one_example_is_enough() -> None:
    X, y = iris()
    with pytest.raises(ValueError, match="y has only one class, 'setosa'"):
        joint().fit(X[:50], y[:50])
    lonely = joint(tol=1e-5).fit(X[:101], y[:101])  # a single virginica
    assert lonely.gap_ <= 1e-5
    assert list(lonely.classes_) == ["setosa", "versicolor", "virginica"]


def test_running_out_of_time_keeps_what_is_proven() -> None:
    X, y = iris()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = joint(C=100.0, method="oca", tol=1e-9, max_iter=5).fit(X, y)
    assert model.stop_reason_ == "max_iter"
    assert "reached max_iter" in str(caught[0].message)
    assert 0.0 < model.gap_ < 1.0


def test_examples_of_tiny_lengths_prove_no_more_than_there_is():
    """Scores are next to nothing, so the best objective is that of zero weights: C times a loss of one each."""
    rng = np.random.default_rng(2)
    X, y = 1e-12 * rng.integers(-7, 8, size=(47, 4)), np.arange(47) % 5
    for C in (5e-4, 1e-2):
        model = LinearSVC(C=C, multi_class="crammer_singer", tol=5e-4).fit(X, y)
        assert model.lower_bound_ <= C * 47 * (1.0 + 1e-12)
        assert model.lower_bound_ <= model.objective_

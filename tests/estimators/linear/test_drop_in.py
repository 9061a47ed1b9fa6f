"""Linear machines take the place of scikit-learn's: the same parameters, and the same model where the problem is."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression
from sklearn.ensemble import BaggingClassifier

import cutplane

NAMESAKES = ("LinearSVC", "LinearSVR", "SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")


@pytest.mark.parametrize("name", NAMESAKES)
def test_every_parameter_of_the_namesake_is_taken(name):
    theirs = inspect.signature(getattr(sklearn.svm, name)).parameters
    assert set(theirs) <= set(inspect.signature(getattr(cutplane, name)).parameters)


@pytest.mark.parametrize("classes", [2, 3])
def test_squared_hinge_and_a_penalised_intercept_are_theirs(classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    theirs = sklearn.svm.LinearSVC(tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    ours = cutplane.LinearSVC(loss="squared_hinge", intercept_scaling=1, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regressions_with_a_penalised_intercept_are_theirs(loss):
    X, y = make_regression(80, 4, noise=3.0, random_state=0)
    theirs = sklearn.svm.LinearSVR(loss=loss, epsilon=0.5, tol=1e-8, max_iter=10**6, random_state=0).fit(X, y)
    ours = cutplane.LinearSVR(loss=loss, epsilon=0.5, intercept_scaling=1.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dual", [True, False, "auto"])
def test_dual_changes_nothing(dual):
    X, y = load_iris(return_X_y=True)
    plain = cutplane.LinearSVC().fit(X, y)
    np.testing.assert_array_equal(clone(plain).set_params(dual=dual).fit(X, y).coef_, plain.coef_)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"penalty": "l1"}, "^penalty='l1' must be 'l2'"),
        ({"dual": "primal"}, "^dual='primal' must be True, False or 'auto'"),
        ({"verbose": -1}, "^verbose=-1 must be"),
    ],
)
def test_what_cannot_be_is_one_sentence(wrong, words):
    with pytest.raises(ValueError, match=words):
        cutplane.LinearSVC(**wrong).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kind", [cutplane.LinearSVC, cutplane.SVC])
def test_verbose_prints_a_line_for_a_step(kind, capsys):
    X, y = load_iris(return_X_y=True)
    seen = []
    model = kind(verbose=1, on_step=seen.append).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(seen) > 0
    assert all(line.startswith("[cutplane] problem ") for line in lines)
    assert kind().fit(X, y).predict(X).tolist() == model.predict(X).tolist()
    assert not capsys.readouterr().out


# Attributes that are scikit-learn's alone, or are something else in ours: each is in docs/coming-from-scikit-learn.md.
OTHERWISE = {
    "SVC": {"probA_", "probB_"},
    "NuSVC": {"probA_", "probB_"},
    "LogisticRegressionCV": {"C_", "n_iter_", "scores_", "coefs_paths_", "l1_ratio_", "l1_ratios_"},
}
# Of as many support vectors as there are.
BY_SUPPORT = ("support_", "support_vectors_", "dual_coef_")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", [*NAMESAKES, "LogisticRegression", "LogisticRegressionCV"])
def test_every_attribute_of_the_namesake_is_like_theirs_or_in_the_table(name, classes):
    page = (Path(__file__).parents[3] / "docs" / "coming-from-scikit-learn.md").read_text()
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    kind = getattr(sklearn.svm, name, None) or getattr(sklearn.linear_model, name)
    theirs, ours = kind().fit(X, y), getattr(cutplane, name)().fit(X, y)
    otherwise = set()
    for each in [each for each in dir(theirs) if each.endswith("_") and not each.startswith("_")]:
        if not hasattr(theirs, each):
            continue
        wanted, found = getattr(theirs, each), getattr(ours, each, None)
        shapes = each in BY_SUPPORT or np.shape(wanted) == np.shape(found)
        same = (
            np.isscalar(wanted) == np.isscalar(found) and np.asarray(wanted).dtype.kind == np.asarray(found).dtype.kind
        )
        if not (hasattr(ours, each) and same and shapes):
            otherwise.add(each)
    assert otherwise == OTHERWISE.get(name, set())
    assert all(f"`{each}`" in page for each in otherwise)


def classes_of_three():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3]


@pytest.mark.parametrize("weighted", [None, "balanced"])
@pytest.mark.parametrize(
    "kind", [cutplane.LinearSVC, cutplane.LogisticRegression, cutplane.SVC, cutplane.NuSVC, cutplane.SampledCutSVC]
)
def test_a_class_whose_weights_are_zero_is_left_out(kind, weighted):
    X, y = classes_of_three()
    own = {} if kind is cutplane.SampledCutSVC else {"class_weight": weighted}
    if "gamma" in kind().get_params():
        own["gamma"] = 0.25  # "scale" is that of all rows
    model = kind(**own).fit(X, y, sample_weight=(y != 1).astype(int))
    without = kind(**own).fit(X[y != 1], y[y != 1])
    assert model.classes_.tolist() == [0, 2]
    np.testing.assert_array_equal(model.predict(X), without.predict(X))


def test_bags_of_a_rare_class_are_trained():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [50, 25, 3])
    X = rng.normal(size=(78, 3)) + y[:, None]
    for seed in range(5):
        bag = BaggingClassifier(cutplane.LinearSVC(), n_estimators=20, random_state=seed).fit(X, y)
        assert set(bag.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("kind", [cutplane.LinearSVCCV, cutplane.LogisticRegressionCV])
def test_whole_numbers_are_weights_of_balanced_classes_in_cross_validation(kind):
    X, y = classes_of_three()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    whole, real = (
        kind(class_weight="balanced", cv=3).fit(X, y, sample_weight=each) for each in (weights, 1.0 * weights)
    )
    np.testing.assert_array_equal(whole.scores_, real.scores_)


@pytest.mark.parametrize("C", [1e-99, 1e99])
@pytest.mark.parametrize(
    "kind", [cutplane.LinearSVC, cutplane.LinearSVR, cutplane.LogisticRegression, cutplane.SVC, cutplane.SVR]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "error::RuntimeWarning")
def test_any_strength_of_a_search_has_true_bounds(kind, C):
    X, y = classes_of_three()
    model = kind(C=C, max_iter=200).fit(X, y)
    assert model.lower_bound_ <= model.objective_
    assert np.isfinite(model.objective_)
    if C < 1.0:
        assert model.gap_ <= 1e-3


def test_a_machine_without_a_margin_is_returned_with_a_warning():
    X, y = np.tile(np.eye(2), (3, 1)), np.repeat([0, 1, 0], 2)
    with pytest.warns(UserWarning, match=r"^nu=0.5 leaves no margin between classes 0 and 1: .*\.$"):
        model = cutplane.NuSVC(nu=0.5, kernel="linear").fit(X, y)
    assert set(model.predict(X)) <= {0, 1}
    assert model.lower_bound_ <= model.objective_


def test_multinomial_weights_are_centred():
    X, y = classes_of_three()
    model = cutplane.LogisticRegression(C=100.0, tol=1e-2).fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-14)
    assert abs(model.intercept_.sum()) <= 1e-13
    assert model.gap_ <= 1e-2

"""Linear machines take the place of scikit-learn's: the same parameters, and the same model where the problem is."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression

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

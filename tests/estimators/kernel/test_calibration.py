"""Probabilities: they never contradict `predict`, and they are worth something."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from cutplane import SVC, NuSVC
from cutplane.estimators.common.calibration import fit_curve
from cutplane.plain.one_vs_one import couple, pairs
from cutplane.plain.probabilities import agree

KINDS = ["sigmoid", "isotonic"]


# --- agreement, for all probabilities and predictions ---


@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_the_predicted_class_is_the_likeliest_and_nothing_nearer_would_do(k: int, seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), size=8)
    if ties:
        p = np.full((8, k), 1.0 / k)
    predicted = rng.integers(0, k, size=8)
    found = agree(p, predicted)
    np.testing.assert_array_equal(np.argmax(found, axis=1), predicted)
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # The nearest in least squares: the objective's slope towards any other such point is not negative.
    other = rng.dirichlet(np.ones(k), size=8)
    top = other.max(axis=1)
    other[np.arange(8), other.argmax(axis=1)] = other[np.arange(8), predicted]
    other[np.arange(8), predicted] = top
    assert np.all(np.sum((found - p) * (other - found), axis=1) >= -1e-9)
    already = np.argmax(p, axis=1) == predicted
    np.testing.assert_allclose(found[already], p[already], atol=1e-11)


@given(hnp.arrays(float, (5, 6), elements=st.floats(0.001, 0.999)))
def test_coupled_probabilities_are_the_minimiser(pairwise: Any) -> None:
    p = couple(pairwise, 4)
    assert np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)

    def objective(q: Any, row: Any) -> float:
        return sum((row[t] * q[j] - (1 - row[t]) * q[i]) ** 2 for t, (i, j) in enumerate(pairs(4)))

    rng = np.random.default_rng(0)
    for row, found in zip(pairwise, p, strict=True):
        assert all(objective(found, row) <= objective(q, row) + 1e-12 for q in rng.dirichlet(np.ones(4), size=20))


def test_pairs_that_agree_are_coupled_exactly() -> None:
    truth = np.array([0.5, 0.3, 0.2])
    pairwise = np.array([[truth[i] / (truth[i] + truth[j]) for i, j in pairs(3)]])
    np.testing.assert_allclose(couple(pairwise, 3), [truth])


# --- curves ---


def test_the_sigmoid_is_the_most_likely_one() -> None:
    rng = np.random.default_rng(0)
    decisions = rng.normal(size=300) * 3
    positive = rng.uniform(size=300) < 1 / (1 + np.exp(-(1.5 * decisions - 0.7)))
    weights = rng.uniform(0.5, 2, size=300)
    slope, offset = fit_curve("sigmoid", decisions, positive, weights).at
    up, down = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(ab: Any) -> float:
        z = ab[0] * decisions + ab[1]
        return float(weights @ (np.logaddexp(0, z) - target * z))

    best = minimize(loss, [0.0, 0.0]).x
    np.testing.assert_allclose([slope, offset], best, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_curves_rise(kind: str) -> None:
    rng = np.random.default_rng(1)
    decisions = rng.normal(size=200)
    for positive in (decisions + rng.normal(size=200) > 0, decisions + rng.normal(size=200) < 0):
        curve = fit_curve(kind, decisions, positive, np.ones(200))
        values = curve(np.linspace(-5, 5, 100))
        assert np.all(np.diff(values) >= 0)
        assert np.all((values > 0) & (values < 1))


# --- models ---


@pytest.mark.parametrize("params", [{}, {"multi_class": "ovr"}, {"break_ties": True}, {"class_weight": "balanced"}])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_never_contradict_predictions(classes: int, kind: str, params: Any) -> None:
    X, y = make_classification(
        200, 6, n_informative=5, n_redundant=0, n_classes=classes, flip_y=0.3, random_state=classes
    )
    model = SVC(probability=kind, **params).fit(X, y)
    grid = np.random.default_rng(0).normal(size=(1000, 6)) * 2
    p = model.predict_proba(grid)
    np.testing.assert_array_equal(model.classes_[np.argmax(p, axis=1)], model.predict(grid))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.all(p >= 0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(grid)), p, atol=1e-12)
    # And they change no prediction.
    np.testing.assert_array_equal(SVC(**params).fit(X, y).predict(grid), model.predict(grid))


def test_probabilities_of_two_classes_rise_with_the_decision() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for kind in KINDS:
        model = SVC(probability=kind).fit(X, y)
        order = np.argsort(model.decision_function(X))
        assert np.all(np.diff(model.predict_proba(X)[order, 1]) >= -1e-12)


@pytest.mark.parametrize(("load", "most"), [(load_iris, 0.25), (load_digits, 0.2), (load_breast_cancer, 0.3)])
@pytest.mark.parametrize("kind", [SVC, lambda **params: NuSVC(nu=0.1, **params)])
def test_probabilities_predict(load: Any, most: float, kind: Any) -> None:
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X[:900], y[:900], random_state=0)
    model = kind(probability=True).fit(X, y)
    assert log_loss(y_test, model.predict_proba(X_test)) < most


def test_folds_are_seeded() -> None:
    X, y = load_iris(return_X_y=True)
    first, second, third = (SVC(probability=True, random_state=seed).fit(X, y) for seed in (None, 0, 1))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    assert np.any(first.predict_proba(X) != third.predict_proba(X))


def test_weights_count_as_copies() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::3], y[::3]
    weights = np.where(y == 1, 20.0, 1.0)
    plain, weighted = SVC(probability=True, C=1e-3).fit(X, y), SVC(probability=True, C=1e-3).fit(X, y, weights)
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()

"""Priors and weights that must not be negative, against CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane import LinearSVC, LinearSVCCV, LinearSVR
from cutplane.risks.registry import BINARY
from cutplane.solvers.bundle.bounded import BoundedBundle
from cutplane.testing import check_certificate

RNG = np.random.default_rng(11)
N, D = 90, 5
X = RNG.normal(size=(N, D))
SCORES = X @ np.array([1.0, -1.0, 2.0, 0.0, -0.3]) + 0.7 + 0.5 * RNG.normal(size=N)
Y = np.where(SCORES > 0.5, 1, -1)
PRIOR = np.array([0.5, -2.0, 0.0, 1.0, -0.5])
LOSSES = {
    "hinge": lambda m: cp.sum(cp.pos(1 - cp.multiply(Y, m))),
    "logistic": lambda m: cp.sum(cp.logistic(-cp.multiply(Y, m))),
    "epsilon_insensitive": lambda m: cp.norm1(m - SCORES),
}


def fitted(loss, **parameters):
    if loss in BINARY:
        return LinearSVC(loss=loss, **parameters).fit(X, Y)
    return LinearSVR(loss=loss, **parameters).fit(X, SCORES)


def optimum(loss, C, *, prior=None, nonnegative=(), intercept=True):
    w, b = cp.Variable(D), cp.Variable()
    away = w if prior is None else w - prior
    constraints = [w[j] >= 0 for j in nonnegative]
    each = LOSSES[loss](X @ w + (b if intercept else 0.0))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(away) + C * each), constraints)
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_prior(loss, C, method):
    best = optimum(loss, C, prior=PRIOR)
    model = fitted(loss, C=C, prior=PRIOR, method=method, tol=1e-4)
    assert model.gap_ <= 1e-4
    check_certificate(model.history_, model.objective_, model.lower_bound_, best)
    scores = X @ model.coef_.ravel() + model.intercept_
    value = 0.5 * np.sum((model.coef_.ravel() - PRIOR) ** 2) + C * LOSSES[loss](scores).value
    assert model.objective_ == pytest.approx(value)


def test_a_strong_prior_is_the_model():
    model = LinearSVC(C=1e-9, prior=PRIOR).fit(X, Y)
    assert model.coef_[0] == pytest.approx(PRIOR, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", [None, PRIOR], ids=["", "prior"])
@pytest.mark.parametrize("chosen", [[1, 4], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("method", ["auto", "cpa"])
def test_weights_that_must_not_be_negative(loss, prior, chosen, method):
    tol = 1e-4 if method == "auto" else 0.02
    best = optimum(loss, 0.5, prior=prior, nonnegative=chosen)
    model = fitted(loss, C=0.5, prior=prior, nonnegative=chosen, method=method, tol=tol)
    assert model.gap_ <= tol
    assert np.all(model.coef_.ravel()[chosen] >= 0.0)
    check_certificate(model.history_, model.objective_, model.lower_bound_, best)


def test_ways_to_choose_features():
    every = LinearSVC(nonnegative=True).fit(X, Y).coef_
    assert np.array_equal(every, LinearSVC(nonnegative=np.ones(D, dtype=bool)).fit(X, Y).coef_)
    assert np.array_equal(every, LinearSVC(nonnegative=range(D)).fit(X, Y).coef_)
    assert np.array_equal(LinearSVC(nonnegative=[]).fit(X, Y).coef_, LinearSVC().fit(X, Y).coef_)


def test_paths_and_choices_of_C_keep_both():
    model = LinearSVC(prior=PRIOR, nonnegative=[1], intercept_scaling=1.0)
    for found in model.path(X, Y, [0.01, 1.0]):
        assert found.coef_[0, 1] >= 0.0
        alone = LinearSVC(found.C, prior=PRIOR, nonnegative=[1], intercept_scaling=1.0).fit(X, Y)
        assert found.objective_ == pytest.approx(alone.objective_, rel=2e-3)
    assert LinearSVCCV([0.01, 1.0], cv=3, prior=PRIOR, nonnegative=[1]).fit(X, Y).coef_[0, 1] >= 0.0


def test_priors_of_several_classes():
    y = np.digitize(SCORES, [-0.5, 1.0])
    prior = RNG.normal(size=(3, D))
    model = LinearSVC(C=1e-9, prior=prior).fit(X, y)
    assert model.coef_ == pytest.approx(prior, abs=1e-6)


def test_a_warm_start_sees_another_prior():
    model = LinearSVC(warm_start=True, prior=PRIOR).fit(X, Y)
    changed = model.set_params(prior=-PRIOR).fit(X, Y)
    assert np.array_equal(changed.coef_, LinearSVC(prior=-PRIOR).fit(X, Y).coef_)


@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_the_bounded_qp_is_solved(seed, log_C):
    rng = np.random.default_rng(seed)
    d, m = int(rng.integers(1, 8)), int(rng.integers(1, 12))
    slopes, offsets = rng.normal(size=(m, d)), rng.normal(size=m)
    bounds = np.where(rng.random(d) < 0.7, rng.normal(size=d), -np.inf)
    C = 10.0**log_C
    bundle = BoundedBundle(bounds)
    for slope, offset in zip(slopes, offsets, strict=True):
        bundle.add(slope, float(offset))
    found = bundle.solve(C)
    assert np.all(found.w >= bounds)
    assert found.lower <= 0.5 * found.w @ found.w + C * found.risk_model + 1e-9
    assert found.violation < 1e-6


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"prior": [1.0, 2.0]}, r"prior has the shape \(2,\); with 5 features it must be \(5,\)"),
        ({"prior": np.full(D, np.nan)}, "prior holds a number that is not finite"),
        ({"prior": "x"}, "prior='x' must be an array of numbers"),
        ({"nonnegative": [7]}, r"nonnegative=\[7\] must be True, indices of features between 0 and 4, or 5 booleans"),
        ({"nonnegative": [0.5]}, r"nonnegative=\[0.5\] must"),
        ({"nonnegative": True, "method": "newton"}, "method='newton' has no bounds on weights"),
    ],
)
def test_what_is_wrong_is_said(parameters, words):
    with pytest.raises(ValueError, match=words):
        LinearSVC(**parameters).fit(X, Y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize(
    "option",
    [
        {"fit_intercept": False},
        {},
        {"intercept_scaling": 2.0},
        {"prior": "normal"},
        {"prior": "normal", "intercept_scaling": 1.0},
        {"nonnegative": [0, 5]},
    ],
    ids=str,
)
def test_many_weights_that_must_not_be_negative(loss, option):
    """By dual ascent, which visits one example at a time: held against cutting planes."""
    rng = np.random.default_rng(5)
    rows = sp.random_array((60, 3000), density=0.02, format="csr", rng=rng)
    rows.data[:] = np.round(rng.normal(size=rows.nnz), 1)
    y = np.where(rng.random(60) < 0.4, 1, -1)
    settings = {"C": 3.0, "tol": 1e-5, "nonnegative": True, "loss": loss, **option}
    if "prior" in settings:
        settings["prior"] = np.round(rng.normal(size=3000), 1)
    model = LinearSVC(**settings).fit(rows, y)
    assert any("epochs" in step.phases for step in model.history_)
    chosen = slice(None) if settings["nonnegative"] is True else settings["nonnegative"]
    assert np.all(model.coef_[0, chosen] >= 0.0)
    assert model.gap_ <= 1e-5
    other = LinearSVC(**settings, method="oca").fit(rows, y)
    assert model.lower_bound_ <= other.objective_
    assert other.lower_bound_ <= model.objective_

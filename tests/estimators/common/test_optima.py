"""Every loss and every estimator against an independent solver: the optimum lies between the bounds."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC as LiblinearSVC
from sklearn.svm import LinearSVR as LiblinearSVR
from sklearn.svm import OneClassSVM

from cutplane import LinearOneClassSVM, LinearSVC, LinearSVR
from cutplane.testing import check_certificate

RNG = np.random.default_rng(5)
N, D = 80, 6
X = RNG.normal(size=(N, D)) + 0.3
SCORES = X @ RNG.normal(size=D) + RNG.standard_t(2.0, size=N) + 2.0
Y = np.where(SCORES > 2.0, 1, -1)
WEIGHTS = RNG.random(N) + 0.1

LOSSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "hinge": (lambda m, y: cp.pos(1 - cp.multiply(y, m)), {}),
    "squared_hinge": (lambda m, y: cp.square(cp.pos(1 - cp.multiply(y, m))), {}),
    "logistic": (lambda m, y: cp.logistic(-cp.multiply(y, m)), {}),
    "epsilon_insensitive": (lambda m, y: cp.pos(cp.abs(m - y) - 0.5), {"epsilon": 0.5}),
    "squared_epsilon_insensitive": (lambda m, y: cp.square(cp.pos(cp.abs(m - y) - 0.5)), {"epsilon": 0.5}),
    "huber": (lambda m, y: 0.5 * cp.huber(m - y, 0.7), {"delta": 0.7}),
    "quantile": (lambda m, y: 0.8 * cp.pos(y - m) + 0.2 * cp.pos(m - y), {"quantile": 0.8}),
}
BINARY = ("hinge", "squared_hinge", "logistic")


def optimum(loss: str, C: float, weights: Any, *, intercept: bool) -> float:
    w, b = cp.Variable(D), cp.Variable()
    each = LOSSES[loss][0](X @ w + (b if intercept else 0.0), Y if loss in BINARY else SCORES)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * cp.sum(cp.multiply(weights, each))))
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11))


def fitted(loss: str, C: float, weights: Any = None, **parameters: Any) -> Any:
    options = LOSSES[loss][1]
    if loss in BINARY:
        return LinearSVC(C, loss=loss, loss_options=options, **parameters).fit(X, Y, weights)
    return LinearSVR(C, loss=loss, loss_options=options, **parameters).fit(X, SCORES, weights)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_lies_between_the_bounds(loss, C, intercept):
    best = optimum(loss, C, WEIGHTS, intercept=intercept)
    for method, tol in (("auto", 1e-7), ("newton", 1e-5), ("oca", 1e-3), ("cpa", 0.1)):
        model = fitted(loss, C, WEIGHTS, method=method, tol=tol, fit_intercept=intercept)
        assert model.gap_ <= tol
        check_certificate(model.history_, model.objective_, model.lower_bound_, best)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_is_that_of_the_model(loss):
    model = fitted(loss, 0.5)
    scores = X @ model.coef_.ravel() + model.intercept_
    each = LOSSES[loss][0](scores, Y if loss in BINARY else SCORES).value
    assert model.objective_ == pytest.approx(0.5 * np.sum(model.coef_**2) + 0.5 * each.sum())


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_and_single_precision_data_give_the_same_model(loss):
    single = X.astype(np.float32)
    first = fitted(loss, 0.5, tol=1e-8)
    kind = LinearSVC if loss in BINARY else LinearSVR
    for data in (single, sp.csr_matrix(X)):
        again = kind(0.5, loss=loss, loss_options=LOSSES[loss][1], tol=1e-8).fit(data, Y if loss in BINARY else SCORES)
        assert again.coef_ == pytest.approx(first.coef_, rel=1e-3, abs=1e-4)


def test_scikit_learns_logistic_regression():
    theirs = LogisticRegression(C=0.7, tol=1e-10, max_iter=10_000).fit(X, Y)
    ours = LinearSVC(0.7, loss="logistic", tol=1e-11).fit(X, Y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-5)
    assert ours.predict_log_proba(X) == pytest.approx(np.log(ours.predict_proba(X)))


def test_scikit_learns_linear_svms():
    """LIBLINEAR penalises its intercept; with `intercept_scaling` so do we."""
    theirs = LiblinearSVC(C=0.7, loss="squared_hinge", dual=False, tol=1e-10, max_iter=100_000).fit(X, Y)
    ours = LinearSVC(0.7, loss="squared_hinge", intercept_scaling=1.0, tol=1e-12).fit(X, Y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    regression = LiblinearSVR(
        C=0.7, loss="squared_epsilon_insensitive", epsilon=0.5, dual=False, tol=1e-10, max_iter=100_000
    ).fit(X, SCORES)
    same = LinearSVR(0.7, loss="squared_epsilon_insensitive", epsilon=0.5, intercept_scaling=1.0, tol=1e-12)
    assert same.fit(X, SCORES).coef_ == pytest.approx(regression.coef_, abs=1e-5)
    assert same.predict(X) == pytest.approx(regression.predict(X), abs=1e-4)


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_class(nu, weighted):
    away = X + 4.0
    weights = WEIGHTS if weighted else np.ones(N)
    w, rho = cp.Variable(D), cp.Variable()
    losses = cp.sum(cp.multiply(weights / weights.sum(), cp.pos(rho - away @ w)))
    best = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) - rho + losses / nu)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11
    )
    model = LinearOneClassSVM(nu, tol=1e-5).fit(away, sample_weight=weights if weighted else None)
    assert model.gap_ <= 1e-5
    check_certificate(model.history_, model.objective_, model.lower_bound_, best)
    if not weighted and nu < 1.0:  # LIBSVM has no model with nu = 1
        assert np.mean(model.predict(away) < 0) <= nu
        theirs = OneClassSVM(kernel="linear", nu=nu, tol=1e-9).fit(away)
        # LIBSVM's problem is ours times nu·n.
        assert model.coef_ * nu * N == pytest.approx(theirs.coef_, rel=0.02, abs=0.02 * np.abs(theirs.coef_).max())


def test_one_class_around_the_origin_ends_with_nothing():
    surrounding = np.vstack([X - 0.3, 0.3 - X])
    with pytest.warns(UserWarning, match="decides nothing"):
        model = LinearOneClassSVM(1.0).fit(surrounding)
    assert model.stop_reason_ == "gap"
    assert np.abs(model.coef_).max() < 1e-3

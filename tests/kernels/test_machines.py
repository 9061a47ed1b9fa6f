"""Every machine as a dual problem, against scikit-learn's (LIBSVM) at the same parameters."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve

GAMMA = 0.2
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
Y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=len(X)) > 0, 1, -1)
TARGET = X[:, 0] ** 2 + 0.1 * rng.normal(size=len(X))
FRESH = rng.normal(size=(100, 5))
KERNEL = Kernel("rbf", gamma=GAMMA)


def run(problem, **settings):
    result = solve(problem, KernelMatrix(X, KERNEL), eps=1e-5, **settings)
    assert result.stop_reason == "kkt"
    assert -1e-9 <= result.gap < 1e-4
    return result


def decision(coef, offset):
    return KERNEL.product(FRESH, X, coef) - offset


@pytest.mark.parametrize("working_set", [2, None])
def test_classification(working_set):
    weights = rng.uniform(0.2, 3, size=len(X))
    peer = SVC(C=10.0, gamma=GAMMA, tol=1e-6).fit(X, Y, weights)
    result = run(DualProblem.classification(Y, 10.0 * weights), working_set=working_set)
    np.testing.assert_allclose(
        decision(Y * result.alpha, result.rho[0]), peer.decision_function(FRESH), atol=1e-3, rtol=1e-3
    )


@pytest.mark.parametrize("working_set", [2, None])
def test_regression(working_set):
    peer = SVR(C=3.0, epsilon=0.1, gamma=GAMMA, tol=1e-6).fit(X, TARGET)
    result = run(DualProblem.regression(TARGET, 3.0, 0.1), working_set=working_set)
    plus, minus = np.split(result.alpha, 2)
    np.testing.assert_allclose(decision(plus - minus, result.rho[0]), peer.predict(FRESH), atol=1e-3)


@pytest.mark.parametrize("working_set", [2, None])
def test_one_class(working_set):
    peer = OneClassSVM(nu=0.3, gamma=GAMMA, tol=1e-6).fit(X)
    result = run(DualProblem.one_class(len(X), 0.3), working_set=working_set)
    np.testing.assert_allclose(decision(result.alpha, result.rho[0]), peer.decision_function(FRESH), atol=1e-3)


@pytest.mark.parametrize("working_set", [2, None])
def test_nu_classification(working_set):
    peer = NuSVC(nu=0.4, gamma=GAMMA, tol=1e-7).fit(X, Y)
    result = run(DualProblem.nu_classification(Y, 0.4), working_set=working_set)
    margin = (result.rho[0] - result.rho[1]) / 2
    offset = (result.rho[0] + result.rho[1]) / 2
    found = decision(Y * result.alpha / margin, offset / margin)
    np.testing.assert_allclose(found, peer.decision_function(FRESH), atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("working_set", [2, None])
def test_nu_regression(working_set):
    peer = NuSVR(nu=0.4, C=3.0, gamma=GAMMA, tol=1e-6).fit(X, TARGET)
    result = run(DualProblem.nu_regression(TARGET, 3.0, 0.4), working_set=working_set)
    plus, minus = np.split(result.alpha, 2)
    found = decision(plus - minus, (result.rho[0] + result.rho[1]) / 2)
    np.testing.assert_allclose(found, peer.predict(FRESH), atol=1e-3)


def test_infeasible_nu_names_it():
    with pytest.raises(ValueError, match=r"nu=0\.9 is infeasible"):
        DualProblem.nu_classification(np.where(np.arange(100) < 10, 1, -1), 0.9)

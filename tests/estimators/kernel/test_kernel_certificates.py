"""Certificates of fitted kernel machines: what they are of, at which scales they hold, and where nothing is proven."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from tests.estimators.kernel.kernel_cases import ALL, fitted

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from cutplane.estimators.kernel import kernel_certificates
from cutplane.kernels import smo_workspace

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, 1, -1)
ASSUMED = " (assumed positive semi-definite)"


def exact_bounds(model: Any, K: Any, C: float) -> tuple[Any, Any]:
    """The primal and the dual objective of a fitted SVC, in extended precision, its equality's residue aside."""
    wide = np.longdouble
    b = np.zeros(len(Y), wide)
    b[model.support_] = model.dual_coef_[0].astype(wide)
    scores = K.astype(wide) @ b
    square = b @ scores
    hinge = np.maximum(1 - Y * (scores + wide(model.intercept_[0])), 0).sum()
    return square / 2 + wide(C) * hinge, np.abs(b).sum() - square / 2


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1e-20, 1e-18, 1e-3, 1e20, 1e60])
@pytest.mark.parametrize("kind", ALL)
def test_with_gamma_scale_the_units_of_X_do_not_matter(kind: Any, scale: float) -> None:
    target = X[:, 1] if kind in (SVR, NuSVR) else Y
    extra = {"nu": 0.8} if kind is NuSVC else {}
    one, other = fitted(kind, X, target, tol=1e-6, **extra), fitted(kind, X * scale, target, tol=1e-6, **extra)
    assert other.lower_bound_ == pytest.approx(one.lower_bound_, rel=1e-6)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-5)
    assert one.certificate_of_ == other.certificate_of_ == "kernel"


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "laplacian"])
def test_powers_of_two_change_no_bit_of_the_model(kernel: str) -> None:
    one = SVC(kernel=kernel, gamma=0.25, coef0=1.0).fit(X, Y)
    power = 20 if kernel == "laplacian" else 10
    other = SVC(kernel=kernel, gamma=0.25 * 2.0**20, coef0=1.0).fit(X * 2.0**-power, Y)
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("gamma", [1e-30, 1e-9, 1e9, 1e30])
@pytest.mark.parametrize("C", [1e-12, 1.0, 1e12])
def test_bounds_hold_at_any_gamma_and_C(gamma: float, C: float) -> None:
    examples = np.vstack([X, X[:10]])  # duplicates, some of them with another label
    labels = np.concatenate([Y, -Y[:5], Y[5:10]])
    model = SVC(gamma=gamma, C=C, max_iter=20_000).fit(examples, labels)
    assert model.lower_bound_ <= model.objective_
    assert model.lower_bound_ > -1e-6 * C  # zero is feasible, and its dual objective is 0
    assert model.lower_bound_ <= C * 70  # the objective of no machine at all


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_bounds_are_those_of_the_kernel_in_extended_precision(C: float) -> None:
    model = SVC(C=C, gamma=0.25).fit(X, Y)
    wide = X.astype(np.longdouble)
    K = np.exp(-np.longdouble(0.25) * ((wide[:, None] - wide[None]) ** 2).sum(-1))
    primal, dual = exact_bounds(model, K, C)
    assert primal <= model.objective_ <= primal * (1 + 1e-9)
    assert dual * (1 - 1e-9) <= model.lower_bound_ <= dual * (1 + 1e-14)


def test_C_above_1e10_is_honoured() -> None:
    """Two examples 1e-7 apart: the multipliers would be 2e14 without a bound."""
    model = SVC(kernel="linear", C=1e14).fit([[0.0], [1e-7]], [-1, 1])
    np.testing.assert_array_equal(np.abs(model.dual_coef_), [[1e14, 1e14]])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_beyond_double_precision_are_refused_in_one_sentence(kernel: str) -> None:
    with pytest.raises(ValueError, match=rf"X has values of up to .*{kernel} kernel.*too small.*between"):
        SVC(kernel=kernel, gamma=1.0).fit(X * 1e-160, Y)
    with pytest.raises(ValueError, match=r"every value must be below 1e\+70 in size"):
        SVC(kernel=kernel, gamma=1.0).fit(X * 1e160, Y)


def test_gamma_beyond_double_precision_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"gamma=1e\+200 is out of range"):
        SVC(gamma=1e200).fit(X, Y)
    with pytest.raises(ValueError, match=r"gamma='scale' is 1 / .n_features . X\.var"):
        SVC().fit(X * 1e-160, Y)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_a_linear_kernel_and_C_trade_their_units(kernel: str, scale: float) -> None:
    """½|w|² + C Σ loss: X in other units and C in those of 1 / X² is the same problem, times the one scale."""
    gram = X @ X.T
    one = SVC(kernel=kernel).fit(gram if kernel == "precomputed" else X, Y)
    scaled = gram * scale**2 if kernel == "precomputed" else X * scale
    other = SVC(kernel=kernel, C=1.0 / scale**2).fit(scaled, Y)
    assert other.objective_ * scale**2 == pytest.approx(one.objective_, rel=1e-3)
    assert other.lower_bound_ * scale**2 == pytest.approx(one.lower_bound_, rel=1e-3)
    assert other.gap_ < 1e-2


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_proven_of_a_matrix_that_is_not_positive_semi_definite(kind: Any) -> None:
    target = X[:, 1] if kind in (SVR, NuSVR) else Y
    if kind is NuSVC:
        K = rbf_kernel(X, gamma=0.25)
        K[0, 1] = K[1, 0] = 1.5
    else:
        K = -np.eye(60)
    with pytest.warns(ConvergenceWarning, match="kernel matrix is not positive semi-definite.*nothing is proven"):
        model = fitted(kind, K, target, kernel="precomputed", max_iter=1000)
    assert model.lower_bound_ == -np.inf
    assert model.gap_ == np.inf
    assert model.certificate_of_ == "kernel (not positive semi-definite)"
    assert model.predict(K).shape == (60,)


@pytest.mark.parametrize(
    "params", [{"kernel": "sigmoid", "gamma": 1.0}, {"kernel": "poly", "coef0": -1.0, "degree": 2}]
)
def test_named_kernels_that_need_not_be_definite_are_looked_at(params: dict[str, Any]) -> None:
    with pytest.warns(ConvergenceWarning, match=f"{params['kernel']} kernel is not positive semi-definite"):
        model = SVC(**params).fit(X, Y)
    assert model.lower_bound_ == -np.inf


def test_functions_are_looked_at() -> None:
    good = SVC(kernel=lambda A, B: A @ B.T).fit(X, Y)
    assert good.certificate_of_ == "kernel"
    assert good.gap_ < 1e-2
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        bad = SVC(kernel=lambda A, B: -((A[:, None] - B[None]) ** 2).sum(-1), max_iter=1000).fit(X, Y)
    assert bad.gap_ == np.inf


def test_matrices_of_many_rows_are_assumed_to_be_definite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutplane.kernels.certificate.MOST_ROWS", 59)
    model = SVC(kernel="precomputed").fit(rbf_kernel(X, gamma=0.25), Y)
    assert model.certificate_of_ == "kernel" + ASSUMED
    assert model.gap_ < 1e-2


@pytest.mark.parametrize("kind", ALL)
def test_where_double_precision_costs_too_much_the_certificate_says_what_it_is_of(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = X[:, 1] if kind in (SVR, NuSVR) else Y
    exact = fitted(kind, X, target)
    monkeypatch.setattr(kernel_certificates, "COSTS", replace(kernel_certificates.COSTS, always=0.0))
    model = fitted(kind, X, target)
    assert model.certificate_of_ == "single-precision kernel matrix" + ASSUMED
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-4)
    assert model.lower_bound_ <= model.objective_


def test_a_gap_that_single_precision_cannot_reach_is_not_claimed() -> None:
    with pytest.warns(ConvergenceWarning, match="no more progress"):
        model = SVC(stopping="gap", tol=1e-12, max_iter=100_000).fit(X, Y)
    assert model.gap_ > 1e-12
    assert model.stop_reason_ != "gap"


def test_values_that_are_not_finite_are_refused() -> None:
    K = rbf_kernel(X)
    K[3, 5] = np.nan
    with pytest.raises(ValueError, match="Row 3 of X has the value NaN in column 5"):
        SVC(kernel="precomputed").fit(K, Y)
    with pytest.raises(ValueError, match="kernel function returned nan at row 0, column 0; every value must be finite"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, Y)


@pytest.mark.parametrize("kind", [SVC, SVR, OneClassSVM, NuSVC, NuSVR])
def test_new_examples_may_be_as_far_away_as_they_like(kind: Any) -> None:
    """Their kernel values with all support vectors are 0: decisions are the intercept."""
    target = X[:, 1] if kind in (SVR, NuSVR) else Y
    model = fitted(kind, X, target, **({"nu": 0.8} if kind is NuSVC else {}))
    decide = model.predict if kind in (SVR, NuSVR) else model.decision_function
    np.testing.assert_array_equal(decide(np.full((1, 4), 1e69)), model.intercept_)


def test_models_do_not_depend_on_when_the_clock_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    many, labels = RNG.normal(size=(600, 3)), np.where(RNG.random(600) < 0.5, 1, -1)
    one = SVC(C=100.0, gamma=1.0, max_iter=3000).fit(many, labels)
    eager = replace(smo_workspace.TUNING, seconds_per_look=0.0)
    monkeypatch.setattr(smo_workspace, "TUNING", eager)
    for extra in ({}, {"working_set": 2}):
        other = SVC(C=100.0, gamma=1.0, max_iter=3000, **extra).fit(many, labels)
        if not extra:
            np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
        assert other.lower_bound_ <= other.objective_


@pytest.mark.parametrize("kind", ALL)
def test_a_fit_without_time_returns_what_it_has(kind: Any) -> None:
    target = X[:, 1] if kind in (SVR, NuSVR) else Y
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = fitted(kind, X, target, time_limit=1e-9)
    assert model.stop_reason_ == "time_limit"
    assert model.lower_bound_ <= model.objective_
    assert model.predict(X).shape == (60,)

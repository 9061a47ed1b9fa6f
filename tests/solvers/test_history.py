"""What `history_` reports on the way allows for rounding: no entry is below what is proven in the end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from cutplane import LinearSVC, LinearSVR


def test_the_first_point_of_a_path_allows_for_rounding() -> None:
    X = np.array(
        [
            [-699999977472.0, 799999983616.0, -599999971328.0],
            [1300000014336.0, 299999985664.0, -999999995904.0],
            [1500000026624.0, 699999977472.0, -1100000002048.0],
            [1900000051200.0, 299999985664.0, 499999997952.0],
        ]
    )
    model = LinearSVC(C=0.9, loss="f1", intercept_scaling=0.5, max_iter=30)
    with warnings.catch_warnings(action="ignore"):
        models = model.path(X, np.array([0, 1, 1, 0]), [2.7, 2.7, 0.36000000000000004, 0.9])
    for model in models:
        assert min(step.upper for step in model.history_) >= model.lower_bound_


def test_a_long_step_of_dual_ascent_does_not_multiply_rounding() -> None:
    X = np.array([[1.3], [0.9], [-1.1]], dtype=np.float32)
    model = LinearSVC(C=0.01, multi_class="crammer_singer")
    model.fit(X, np.array([0, 1, 1]), sample_weight=np.array([1.0, 2.0, 2.0]))
    assert min(step.upper for step in model.history_) >= model.lower_bound_


def test_a_run_that_finds_no_descent_stands_still() -> None:
    """With features of 1e12 and weights that may not be negative, planes are too much alike to be told apart."""
    tenths = "16 38 32 43 22 35 48 40 37 19 30 38 28 31 24 41 42 19 35 29 29 42 37 27 34 37 28 19 41 50 22"
    X = -1e11 * np.array(tenths.split(), dtype=float)[:, None]
    y = np.array([*map(int, "3411201224110300433242424043203")])
    weights = "1 .5 .5 1 3.7 .5 1 .5 .5 1 2 0 0 1 1 1 1 .5 2 1 1 2 2 3.7 1 2 .5 1 1 1 1"
    model = LinearSVC(C=600.0, multi_class="crammer_singer", fit_intercept=False, nonnegative=[0], rescaling="slack")
    model.set_params(class_weight="balanced", max_iter=700)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y, sample_weight=np.array(weights.split(), dtype=float))
    assert model.stop_reason_ == "stalled"
    assert model.n_iter_ < 200


def test_scores_that_a_path_hands_on_keep_the_rounding_they_have() -> None:
    rows = "-4 1, 5 6, -6 -13, 2 1, 7 -5, -6 2, 3 23, 3 -10, 12 -3, -2 -7"
    X = np.array([row.split() for row in rows.split(",")], dtype=float) / 10.0
    y = np.array([54, 36, 51, 65, 43, 54, 54, 43, 63, 44]) / 10.0
    model = LinearSVR(loss="huber", tol=2e-9, method="oca")
    for each in model.path(X, y, [4e-8, 4e-6, 2e-6, 3.9999999999999996e-05]):
        assert min(step.upper for step in each.history_) >= each.lower_bound_


def test_a_point_far_away_leaves_nothing_of_its_rounding() -> None:
    """The run comes from scores of 1e20, next to which those of the optimum are nothing."""
    X = np.array([[999999986991104.0, 999999995904.0], [1999999973982208.0, -999999995904.0], [-999999986991104.0, 0]])
    model = LinearSVC(C=0.4, loss="logistic", prior=np.array([1.5e-16, -3.5e-16]), max_iter=1000)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, np.array([0, 1, 0]))
    assert min(step.upper for step in model.history_) >= model.lower_bound_
    assert model.gap_ <= 1e-3


def test_small_costs_are_charged_for_rounding_of_their_own_size() -> None:
    model = LinearSVC(C=0.2, loss="error_cost").fit([[4.0], [2.0]], [1, 0], sample_weight=[1e-6, 1e-6])
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_gap_that_single_precision_cannot_show_is_shown_in_double(method: str) -> None:
    """With scores in single precision, allowances for rounding alone would keep the bounds apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(96_000, 12))
    y = X @ np.arange(12) + 5.0 * rng.normal(size=len(X)) > 0.5
    model = LinearSVC(tol=1e-5, fit_intercept=False, method=method).fit(X, y)
    assert model.stop_reason_ == "gap"
    assert model.n_iter_ < 50

"""Planes do not depend on C: another fit on the same data goes on from them, one on other data does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC

METHODS = (
    {"method": "auto"},
    {"method": "newton"},
    {"method": "oca"},
    {"method": "oca", "line_search": "three-point"},
    {"method": "cpa"},
)
methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(method.values()))


def data(seed: int = 0, n: int = 500, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.3, 1, -1)


def assert_certified(model: LinearSVC, X: np.ndarray, y: np.ndarray, weights: Any = None) -> None:
    cold = LinearSVC(C=model.C, tol=1e-7, method="newton", fit_intercept=model.fit_intercept)
    cold.fit(X, y, sample_weight=weights)
    assert model.stop_reason_ == "gap"
    assert model.gap_ <= model.tol
    assert model.lower_bound_ <= cold.objective_ * (1 + 1e-10)
    assert model.objective_ >= cold.lower_bound_ * (1 - 1e-10)


@methods
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_another_C_or_tolerance_is_certified(method: dict[str, Any], fit_intercept: bool) -> None:
    X, y = data()
    model = LinearSVC(0.1, warm_start=True, fit_intercept=fit_intercept, **method).fit(X, y)
    for C, tol in ((0.1, 1e-4), (0.3, 1e-4), (0.01, 1e-3), (3.0, 1e-3), (3.0, 1e-2)):
        assert_certified(model.set_params(C=C, tol=tol).fit(X, y), X, y)


def test_oca_needs_fewer_iterations() -> None:
    X, y = data(n=2000, d=20)
    for before, after in (({"C": 0.1}, {"C": 0.12}), ({"tol": 1e-2}, {"tol": 1e-4})):
        cold = LinearSVC(method="oca").set_params(**after).fit(X, y)
        warm = LinearSVC(method="oca", warm_start=True).set_params(**before).fit(X, y)
        warm.set_params(**after).fit(X, y)
        assert warm.n_iter_ < cold.n_iter_


def test_the_same_problem_again_takes_no_work() -> None:
    X, y = data()
    for method in METHODS:
        model = LinearSVC(warm_start=True, **method).fit(X, y)
        objective = model.objective_
        model.fit(X, y)
        assert model.n_iter_ == 1
        assert model.objective_ == pytest.approx(objective, rel=1e-12)
        assert model.gap_ <= model.tol


@methods
def test_other_data_start_afresh(method: dict[str, Any]) -> None:
    """Planes of one risk say nothing of another: each of these would make them wrong."""
    X, y = data()
    weights = np.random.default_rng(0).random(len(y)) * 1e-3
    model = LinearSVC(0.1, warm_start=True, **method).fit(X, y)
    assert_certified(model.fit(0.01 * X, y), 0.01 * X, y)
    assert_certified(model.fit(X, -y), X, -y)
    assert_certified(model.fit(X, y, sample_weight=weights), X, y, weights)
    assert_certified(model.set_params(fit_intercept=False).fit(X, y), X, y)
    assert_certified(model.set_params(fit_intercept=True).fit(X[::2], y[::2]), X[::2], y[::2])


def test_a_fit_that_failed_leaves_no_planes_for_the_next() -> None:
    """The planes kept must belong to the data they are kept for, also if a fit in between came to nothing."""

    def fail(step: Any) -> None:
        raise ZeroDivisionError

    easy, labels = data()
    easy[:, 0] += 5.0 * labels  # an objective far below that of the next
    X, y = data(1)
    hard = 0.1 * X
    model = LinearSVC(1.0, warm_start=True, method="oca").fit(hard, y)
    with pytest.raises(ZeroDivisionError):
        model.set_params(on_step=fail).fit(easy, labels)
    assert_certified(model.set_params(on_step=None).fit(easy, labels), easy, labels)


def test_without_warm_start_nothing_is_kept() -> None:
    X, y = data()
    first = LinearSVC(method="oca").fit(X, y)
    iterations = first.n_iter_
    assert first.fit(X, y).n_iter_ == iterations


def test_classes_one_against_the_rest() -> None:
    X, _ = data()
    y = np.arange(len(X)) % 3
    X[:, 0] += y
    model = LinearSVC(0.05, warm_start=True, method="oca").fit(X, y)
    model.set_params(C=0.06, tol=1e-5).fit(X, y)
    cold = LinearSVC(0.06, tol=1e-5, method="oca").fit(X, y)
    for warm, other in zip(model.certificates_, cold.certificates_, strict=True):
        assert warm.gap <= 1e-5
        assert warm.lower_bound <= other.objective * (1 + 1e-10)
        assert other.lower_bound <= warm.objective * (1 + 1e-10)


def test_on_step_may_end_a_warm_fit_at_once() -> None:
    X, y = data()
    model = LinearSVC(0.1, warm_start=True, method="oca").fit(X, y)
    with pytest.warns(UserWarning, match="interrupted after 1 iteration"):
        model.set_params(C=50.0, on_step=lambda step: True).fit(X, y)
    assert model.n_iter_ == 1

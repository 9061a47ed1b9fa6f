"""When a run ends, and what it hands over: always its best model with the gap that is proven."""

from __future__ import annotations

import signal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from cutplane import LinearSVC
from cutplane.solvers.result import Step
from cutplane.solvers.stopping import Stopping

METHODS = ({"method": "auto"}, {"method": "newton"}, {"method": "oca"}, {"method": "cpa"})
methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method["method"])


def data(n: int = 600, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.3, 1, -1)


def data_for_several_iterations() -> tuple[np.ndarray, np.ndarray]:
    """Too large for an interior point over all examples, which is one iteration."""
    return data(900, 150)


def assert_incumbent(model: LinearSVC, X: np.ndarray, y: np.ndarray) -> None:
    """The model is the best point that was evaluated, and its gap is proven."""
    w, b = model.coef_[0], model.intercept_[0]
    value = 0.5 * w @ w + model.C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert model.objective_ <= min(step.upper for step in model.history_) * (1.0 + 1e-9)
    good = LinearSVC(C=model.C, tol=1e-6).fit(X, y)
    assert model.lower_bound_ <= good.objective_
    assert model.objective_ >= good.lower_bound_


@methods
@pytest.mark.parametrize("most", [1, 3])
def test_max_iter(method: dict[str, Any], most: int) -> None:
    X, y = data_for_several_iterations()
    with pytest.warns(ConvergenceWarning, match=rf"reached max_iter after {most} iterations; .* within "):
        model = LinearSVC(C=10.0, tol=1e-9, max_iter=most, **method).fit(X, y)
    assert model.n_iter_ == most
    assert model.stop_reason_ == "max_iter"
    assert_incumbent(model, X, y)


@methods
def test_time_limit(method: dict[str, Any]) -> None:
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVC(tol=1e-9, time_limit=1e-9, **method).fit(X, y)
    assert model.stop_reason_ == "time_limit"
    assert_incumbent(model, X, y)


@methods
def test_absolute_tol(method: dict[str, Any]) -> None:
    X, y = data()
    model = LinearSVC(tol=1e-12, absolute_tol=5.0, **method).fit(X, y)
    assert model.stop_reason_ == "gap"
    assert 1e-12 * model.objective_ < model.objective_ - model.lower_bound_ <= 5.0
    assert_incumbent(model, X, y)


@methods
def test_risk_tol(method: dict[str, Any]) -> None:
    """The mean loss is proven within risk_tol: SVM-perf's epsilon."""
    X, y = data()
    C = 0.5
    model = LinearSVC(C=C, tol=1e-12, risk_tol=0.01, **method).fit(X, y)
    assert model.stop_reason_ == "gap"
    assert (model.objective_ - model.lower_bound_) / (C * len(y)) <= 0.01
    assert model.gap_ > 1e-9, "it need not have gone on"


@given(st.floats(1e-6, 1e6), st.floats(0, 1), st.floats(0, 1), st.floats(0, 10), st.floats(0, 1))
def test_a_gap_is_proven_by_the_first_rule_that_holds(
    upper: float, fraction: float, relative: float, absolute: float, epsilon: float
) -> None:
    lower, C = fraction * upper, 3.0
    stopping = Stopping(relative, absolute, epsilon)
    gap = upper - lower
    assert stopping.proven(upper, lower, C) == (gap <= relative * upper or gap <= absolute or gap <= epsilon * C)


@methods
def test_on_step_sees_every_iteration(method: dict[str, Any]) -> None:
    X, y = data()
    seen: list[Step] = []
    model = LinearSVC(tol=1e-5, on_step=seen.append, **method).fit(X, y)
    # The bounds of the last one are restated by the prover, which charges for rounding in full.
    assert seen[:-1] == model.history_[:-1]
    assert seen[-1].upper == pytest.approx(model.objective_, rel=1e-9)
    assert seen[-1].lower == pytest.approx(model.lower_bound_, rel=1e-9)
    assert [step.iteration for step in seen] == list(range(1, len(seen) + 1))
    assert all(before.seconds <= after.seconds for before, after in pairwise(seen))
    assert model.history_[-1].gap == model.gap_


@methods
def test_on_step_may_end_the_fit(method: dict[str, Any]) -> None:
    X, y = data_for_several_iterations()
    with pytest.warns(ConvergenceWarning, match="was interrupted after 2 iterations"):
        model = LinearSVC(tol=1e-9, on_step=lambda step: step.iteration == 2, **method).fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == 2
    assert_incumbent(model, X, y)


def test_only_true_ends_the_fit() -> None:
    X, y = data()
    model = LinearSVC(on_step=lambda step: 1).fit(X, y)
    assert model.stop_reason_ == "gap"


@methods
@pytest.mark.parametrize("after", [1, 4])
def test_ctrl_c_returns_the_incumbent(method: dict[str, Any], after: int) -> None:
    def interrupt(step: Step) -> None:
        if step.iteration == after:
            raise KeyboardInterrupt

    X, y = data_for_several_iterations()
    with pytest.warns(ConvergenceWarning, match="was interrupted"):
        model = LinearSVC(C=10.0, tol=1e-9, on_step=interrupt, **method).fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert model.n_iter_ == after
    assert_incumbent(model, X, y)


@pytest.mark.parametrize("by", ["on_step", "a signal", "an exception"])
def test_ctrl_c_with_classes_left_to_train_returns_what_there_is(by: str) -> None:
    """Classes that were not begun never win a prediction."""

    def interrupt(step: Step) -> bool:
        if step.problem == 1:
            if by == "an exception":
                raise KeyboardInterrupt
            if by == "a signal":
                signal.raise_signal(signal.SIGINT)
            return by == "on_step"
        return False

    X, y = data()
    labels = np.arange(len(y)) % 4
    with pytest.warns(ConvergenceWarning, match="was interrupted in 3 of its 4 problems"):
        model = LinearSVC(on_step=interrupt, tol=1e-9, method="oca").fit(X, labels)
    assert [each.stop_reason for each in model.certificates_] == ["gap", *["interrupted"] * 3]
    assert model.stop_reason_ == "interrupted"
    assert not model.coef_[2:].any()
    assert set(model.predict(X)) <= {0, 1}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    for k, scores in enumerate(model.decision_function(X).T):
        loss = np.maximum(0.0, 1.0 - np.where(labels == k, scores, -scores)).sum()
        objective = 0.5 * model.coef_[k] @ model.coef_[k] + loss
        assert model.certificates_[k].objective == pytest.approx(objective, rel=1e-9)


def test_other_errors_come_through() -> None:
    def fail(step: Step) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        LinearSVC(on_step=fail).fit(*data())


@methods
def test_phases_are_parts_of_an_iteration(method: dict[str, Any]) -> None:
    model = LinearSVC(tol=1e-6, **method).fit(*data())
    before = 0.0
    for step in model.history_:
        assert step.phases, "what an iteration spent its time on is known"
        assert sum(step.phases.values()) <= step.seconds - before, "no time is counted twice"
        before = step.seconds

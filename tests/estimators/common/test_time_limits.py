"""A time limit is for the whole fit: problems that are not reached any more have the best weights known, certified."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import LinearSVC, LinearSVCCV, LogisticRegressionCV
from cutplane.solvers.path import outward

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5))
Y = np.digitize(X[:, 0] + RNG.normal(size=200), [-0.5, 0.5])


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
def test_no_time_at_all_gives_zero_with_its_certificate(method: str) -> None:
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVC(method=method, time_limit=1e-9).fit(X, Y)
    assert [each.stop_reason for each in model.certificates_] == ["time_limit"] * 3
    assert not model.coef_.any()
    # The best that an intercept alone can do: one loss of 2 for each example of the smaller side.
    smaller = np.minimum(np.bincount(Y), len(Y) - np.bincount(Y))
    np.testing.assert_allclose([each.objective for each in model.certificates_], 2.0 * smaller, rtol=1e-12)
    exact = LinearSVC(tol=1e-8).fit(X, Y)
    for one, other in zip(model.certificates_, exact.certificates_, strict=True):
        assert one.lower_bound <= other.objective
        assert other.lower_bound <= one.objective


def test_bounds_on_weights_are_kept() -> None:
    prior = np.full((3, 5), -1.0)
    with pytest.warns(ConvergenceWarning):
        model = LinearSVC(time_limit=1e-9, nonnegative=True, prior=prior).fit(X, Y)
    assert (model.coef_ >= 0.0).all()


class Clock:
    """A clock that only steps move: how fast the machine is does not count."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def slow(self, step: Any) -> None:
        self.now += 0.3


def test_all_classes_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Clock(monkeypatch).slow
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVC(method="cpa", tol=1e-9, time_limit=0.25, on_step=slow).fit(X, Y)
    assert [each.n_iter for each in model.certificates_] == [2, 1, 1]  # the clock is looked at before `on_step`
    assert model.coef_[0].any()
    assert not model.coef_[1:].any()
    assert (model.predict(X) == 0).all(), "classes without time win no prediction"


def test_a_class_that_never_ends_leaves_the_others_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first round serves every class; those that are not done then go on where they were."""
    clock = Clock(monkeypatch)
    served: list[int] = []

    def slow(step: Any) -> None:
        clock.now += 1.0
        served.append(step.problem)

    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVC(method="cpa", tol=1e-12, time_limit=30.0, on_step=slow).fit(X, Y)
    assert min(served.count(k) for k in range(3)) >= 9, "each has its share"
    assert len(served) <= 33
    assert all(each.gap < 0.5 for each in model.certificates_)
    again = LinearSVC(method="cpa", tol=1e-12, max_iter=max(each.n_iter for each in model.certificates_))
    with pytest.warns(ConvergenceWarning):
        again.fit(X, Y)
    assert model.objective_ >= again.lower_bound_


def test_a_round_goes_on_with_what_the_first_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    served: list[int] = []

    def slow(step: Any) -> None:
        clock.now += 1.0 if step.problem == 0 else 0.01
        served.append(step.problem)

    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVC(method="cpa", tol=1e-6, time_limit=30.0, on_step=slow).fit(X, Y)
    assert [each.stop_reason for each in model.certificates_] == ["time_limit", "gap", "gap"]
    first = served.index(1)
    assert 0 in served[first:], "the first class is gone on with"
    assert model.certificates_[0].n_iter == served.count(0)
    assert [s.iteration for s in model.certificates_[0].history] == list(range(1, served.count(0) + 1))


def test_all_C_of_a_path_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Clock(monkeypatch).slow
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        models = LinearSVC(method="oca", tol=1e-9, time_limit=0.25, on_step=slow).path(X, Y == 1, [0.1, 1.0, 10.0])
    assert [model.stop_reason_ for model in models] == ["time_limit"] * 3
    assert [len(model.history_) for model in models] == [2, 1, 1]  # the clock is looked at before `on_step`
    for model in models:
        exact = LinearSVC(C=model.C, tol=1e-8).fit(X, Y == 1)
        assert model.lower_bound_ <= exact.objective_
        assert exact.lower_bound_ <= model.objective_


def test_choosing_C_begins_in_the_middle_and_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fold has its share; the model begins where those of the folds ended."""
    slow = Clock(monkeypatch).slow
    with pytest.warns(ConvergenceWarning) as said:
        model = LinearSVCCV(
            Cs=[1e-4, 1e-2, 1.0, 1e2, 1e4], cv=3, method="cpa", tol=1e-9, time_limit=9.0, on_step=slow
        ).fit(X, Y)
    known = ~np.isnan(model.scores_)
    assert known[2].all(), "the C in the middle is known in every fold"
    assert model.C_ != 1e-4
    assert model.stop_reason_ == "time_limit"
    assert model.coef_[0].any()
    assert model.coef_[2].any()
    texts = [str(each.message) for each in said]
    assert len(texts) == 2, texts
    assert "of 15 scores are known, some of them of models that were cut short" in texts[0]
    assert "of its 3 problems" in texts[1]


def test_ctrl_c_while_C_is_chosen_gives_the_best_model_there_is() -> None:
    seen: list[Any] = []

    def strike(step: Any) -> None:
        seen.append(step)
        if len(seen) == 12:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)  # the main thread hears of it

    with pytest.warns(ConvergenceWarning, match="was interrupted in cross-validation"):
        model = LogisticRegressionCV(Cs=[0.1, 1.0, 10.0], tol=1e-8, on_step=strike).fit(X, Y)
    assert len(seen) < 60
    assert model.stop_reason_ == "interrupted"
    assert np.isnan(model.scores_).any()
    assert model.score(X, Y) > 0.5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_outward_from_the_middle() -> None:
    assert outward([10.0, 0.1, 1.0, 100.0, 0.01]) == [1.0, 10.0, 0.1, 100.0, 0.01]
    assert outward([2.0, 1.0]) == [2.0, 1.0]


def test_choosing_C_leaves_time_for_the_model() -> None:
    with pytest.warns(ConvergenceWarning, match="ran out of time"):
        model = LinearSVCCV(Cs=[0.1, 1.0], cv=3, time_limit=1e-9).fit(X, Y == 1)
    assert model.stop_reason_ == "time_limit"
    assert model.time_limit == 1e-9


def test_a_fit_that_proves_little_speaks_of_scales() -> None:
    wide = X * [1e-3, 1.0, 1.0, 1.0, 1e5]
    with pytest.warns(ConvergenceWarning, match=r"is \de\+0\d times the smallest in size; scaled alike, as by sklearn"):
        LinearSVC(time_limit=1e-9).fit(wide, Y)
    with pytest.warns(ConvergenceWarning, match=r"\(relative\)\.$"):
        LinearSVC(time_limit=1e-9).fit(X, Y)

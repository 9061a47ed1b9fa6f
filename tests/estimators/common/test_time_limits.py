"""A time limit is for the whole fit: problems that are not reached any more have the best weights known, certified."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import LinearSVC, LinearSVCCV

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

"""Tubes wider than the targets are apart: the optimum is exactly 0, and is proven to be."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cutplane import LinearSVR

LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["auto", "newton"])
def test_an_optimum_of_zero_is_proven(loss: str, seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(50, 3000)), 10.0 ** rng.uniform(-3.0, 1.0)
    X, middle = rng.normal(size=(n, 20)), rng.normal() * 10.0 ** rng.uniform(-3.0, 3.0)
    y = middle + width * rng.uniform(-1.0, 1.0, n)
    epsilon = width * rng.choice([1.001, 1.5, 3.0])
    model = LinearSVR(loss=loss, epsilon=epsilon, method=method, tol=1e-6).fit(X, y)
    assert model.stop_reason_ == "gap"
    assert (model.objective_, model.lower_bound_, model.gap_) == (0.0, 0.0, 0.0)
    assert not np.any(model.coef_)
    assert np.abs(y - model.intercept_).max() < epsilon


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tube_that_touches_its_targets_is_off_by_rounding(loss: str) -> None:
    """No intercept is inside: an absolute tolerance ends the run, a relative one cannot."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.where(np.arange(60) % 2, 0.1, -0.1)
    with pytest.warns(ConvergenceWarning):
        model = LinearSVR(loss=loss, epsilon=0.1, tol=1e-6).fit(X, y)
    assert model.stop_reason_ == "stalled"
    assert 0.0 < model.objective_ < 1e-12
    assert LinearSVR(loss=loss, epsilon=0.1, tol=1e-6, absolute_tol=1e-12).fit(X, y).stop_reason_ == "gap"

"""A penalised intercept: dual ascent goes by a shorter constant feature, and ends where the long one would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import LinearSVC, LinearSVR
from cutplane.objectives.factory import make_objective
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.sources import as_source
from cutplane.sources.augmented import AugmentedSource

LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive", "squared_epsilon_insensitive", "huber")


def text(seed: int = 0, n: int = 300, d: int = 400) -> tuple[Any, Any]:
    """Rows of unit length, more positive than negative ones, and numbers far from zero."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=20 / d, rng=rng, format="csr")
    X = sp.csr_array(sp.diags_array(1.0 / np.maximum(sp.linalg.norm(X, axis=1), 1e-3)) @ X)
    return X, 3.0 * (X @ rng.normal(size=d)) + 2.0 + 0.3 * rng.normal(size=n)


def target(loss: str, numbers: Any) -> Any:
    return np.where(numbers > 1.5, 1.0, -1.0) if loss in BINARY else numbers


def ascending(loss: str, C: float, constant: float) -> tuple[ExampleAscent, Any]:
    X, numbers = text()
    risk = {**BINARY, **REGRESSION}[loss](target(loss, numbers))
    objective = make_objective(AugmentedSource(as_source(X), constant), risk, intercept=False)
    ascent = objective.dual_ascent(C * len(numbers), seed=0)
    assert isinstance(ascent, ExampleAscent)
    return ascent, sp.hstack([X, sp.csr_array(np.full((X.shape[0], 1), constant))])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("constant", [-3.0, 0.01, 1.0, 100.0])
def test_the_variables_weigh_the_whole_feature(loss: str, constant: float) -> None:
    ascent, whole = ascending(loss, 1.0, constant)
    for epochs in (1, 5):
        for _ in range(epochs):
            ascent.epoch()
        coef = -np.asarray(ascent._ascent.coefficients(1.0, False))
        v = np.asarray(ascent._ascent.v)
        np.testing.assert_allclose(v, whole.T @ coef, atol=1e-9 * np.abs(v).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("constant", [0.01, 1.0, 10.0, 100.0])
def test_variables_and_weights_end_at_one_intercept(loss: str, constant: float) -> None:
    ascent, _ = ascending(loss, 0.1, constant)
    for _ in range(300):
        ascent.epoch()
    v, (w, b) = np.asarray(ascent._ascent.v), ascent.weights
    assert b == 0.0  # it is a feature's weight
    assert constant * abs(w[-1] - v[-1]) <= 1e-2 * (1.0 + constant * abs(w[-1]))
    plane = ascent.plane()  # moves variables into the balance that is left to find
    C = 0.1 * 300
    assert ascent.estimate == pytest.approx(C * plane.offset - 0.5 * C * C * float(plane.slope @ plane.slope), rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("constant", [0.1, 1.0, 10.0, 100.0])
def test_it_is_the_problem_with_a_constant_column(loss: str, constant: float) -> None:
    X, numbers = text(1)
    y, kind = target(loss, numbers), LinearSVC if loss in BINARY else LinearSVR
    column = sp.csr_array(np.full((X.shape[0], 1), constant))
    for C in (1e-3, 1.0):
        apart = kind(loss=loss, C=C, tol=1e-6, intercept_scaling=constant).fit(X, y)
        whole = kind(loss=loss, C=C, tol=1e-6, fit_intercept=False).fit(sp.csr_array(sp.hstack([X, column])), y)
        assert apart.gap_ <= 1e-6
        assert apart.lower_bound_ <= whole.objective_
        assert whole.lower_bound_ <= apart.objective_


def epochs_to(constant: float, gap: float = 1e-4) -> int:
    """Single sweeps until what variables promise is so close to where they end."""
    values = []
    for count in (200, 60):
        ascent, _ = ascending("squared_hinge", 1.0, constant)
        ascent._ascent.sweeps = 1
        for _ in range(count):
            ascent.epoch()
            values.append(ascent.estimate)
    best = values[199]
    return next(k for k, value in enumerate(values[200:], 1) if abs(value - best) <= gap * best)


def test_a_long_feature_takes_no_more_epochs_than_one_as_long_as_the_examples() -> None:
    """Visited as it is, it would be most of what bends: every example shares it with every other."""
    without = epochs_to(1e-6)
    assert without > 2
    assert max(epochs_to(constant) for constant in (1.0, 30.0, 1000.0)) <= 2 * without

"""Certificates of multi-class problems against their optima, found by an interior-point solver."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from cutplane.estimators.common.training import prover_of
from cutplane.objectives.factory import make_multiclass
from cutplane.risks.multiclass import Multiclass
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings, run
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.testing import check_certificate

CLASSES = 4


def train(objective: Any, settings: Settings) -> Result:
    return run(objective, settings, prover_of(objective, settings))


def problem(seed: int = 0, n: int = 50, d: int = 4) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argmax(X + rng.normal(size=(n, CLASSES)), axis=1)
    y[:CLASSES] = np.arange(CLASSES)
    cost = rng.uniform(0.3, 2.0, (CLASSES, CLASSES))
    np.fill_diagonal(cost, 0.0)
    return X, y, cost


def optimum(X: Any, y: Any, risk: Multiclass, C: float, features: Any, intercept: bool) -> float:
    phi = np.eye(CLASSES) if features is None else features
    W, b = cp.Variable((X.shape[1], phi.shape[1])), cp.Variable((1, CLASSES))
    scores = X @ W @ phi.T + (np.ones((len(y), 1)) @ b if intercept else 0)
    losses = []
    for i, k in enumerate(y):
        differences = scores[i, :] - scores[i, k]
        z = cp.multiply(risk.cost[k], 1 + differences) if risk.rescaling == "slack" else risk.cost[k] + differences
        losses.append(cp.max(z))
    weights = np.full(len(y), risk.each) if risk.weights is None else risk.weights
    goal = 0.5 * cp.sum_squares(W) + C * (weights @ cp.hstack(losses))
    return float(cp.Problem(cp.Minimize(goal)).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_bounds_hold_the_optimum(rescaling: str, shared: bool, intercept: bool) -> None:
    X, y, cost = problem()
    features = np.random.default_rng(1).normal(size=(CLASSES, 3)) if shared else None
    risk = Multiclass(y, CLASSES, cost, rescaling=rescaling)
    for C in (1.0, 60.0):
        best = optimum(X, y, risk, C, features, intercept)
        for method in ("oca", "cpa", "newton", "auto"):
            objective = make_multiclass(as_source(X), risk, class_features=features, intercept=intercept)
            result = train(objective, Settings(C, Stopping(1e-5, max_iter=600), method))
            assert result.stop_reason == "gap", method
            check_certificate(result.history, result.upper, result.lower, best)
            # The objective is that of the weights and intercepts that are returned.
            there = objective.score(result.w, result.intercept)
            assert result.upper == pytest.approx(0.5 * result.w @ result.w + C * objective.value(there), rel=1e-9)


def test_weights_and_three_points() -> None:
    X, y, cost = problem(3)
    weights = np.random.default_rng(3).uniform(0.0, 2.0, len(y))
    risk = Multiclass(y, CLASSES, cost, sample_weight=weights)
    best = optimum(X, y, risk, 20.0, None, False)
    for method, search in (("oca", "three-point"), ("auto", "exact")):
        objective = make_multiclass(as_source(X), risk)
        result = train(objective, Settings(20.0, Stopping(1e-5, max_iter=600), method, search))
        assert result.stop_reason == "gap"
        check_certificate(result.history, result.upper, result.lower, best)


@pytest.mark.parametrize(("classes", "intercept"), [(3, False), (30, False), (3, True)])
def test_dual_ascent_reaches_the_optimum_of_cutting_planes(classes: int, intercept: bool) -> None:
    rng = np.random.default_rng(classes)
    X = sp.random(300, 40, 0.2, "csr", random_state=0, data_rvs=rng.standard_normal)
    X.sort_indices()
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 300 - classes)])
    risk = Multiclass(y, classes)
    objective = make_multiclass(as_source(X), risk, intercept=intercept)
    ascent = objective.dual_ascent(15.0, seed=0)
    assert ascent is not None
    estimates = []
    for _ in range(60):
        ascent.epoch()
        estimates.append(ascent.estimate)
    exact = train(objective, Settings(15.0, Stopping(1e-4, max_iter=2000), "oca"))
    plane = ascent.plane()
    v = 15.0 * plane.slope
    proven = 15.0 * plane.offset - 0.5 * float(v @ v)
    assert proven <= exact.upper * (1 + 1e-12)
    # Intercepts are found by multipliers, which takes longer.
    assert proven >= exact.lower * (1 - (1e-2 if intercept else 2e-3))
    if not intercept:
        assert proven == pytest.approx(estimates[-1], rel=1e-9)
        assert np.all(np.diff(estimates) >= -1e-9)  # every block step climbs
    scores = risk.shift(np.zeros((300, classes)))  # any intercepts: the plane does not see them
    point = objective.score(np.zeros(objective.dimension), scores)
    assert plane.offset <= risk.value(point.scores) + 1e-12


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_long_rows_go_by_the_gram_matrix_to_the_same_optimum(weighted: bool, intercept: bool) -> None:
    rng = np.random.default_rng(11)
    X, (_, y, cost) = rng.normal(size=(40, 90)), problem(11, n=40)
    weights = rng.integers(0, 3, 40).astype(float) if weighted else None
    risk = Multiclass(y, CLASSES, cost, sample_weight=weights)
    objective = make_multiclass(as_source(X), risk, intercept=intercept)
    C = 1e4  # separable: nothing is at its bound in the end
    ascent = objective.dual_ascent(C, seed=0)
    assert ascent is not None
    estimates = []
    for _ in range(40):
        ascent.epoch()
        estimates.append(ascent.estimate)
    assert ascent.by_gram
    plane = ascent.plane()
    proven = C * plane.offset - 0.5 * C**2 * float(plane.slope @ plane.slope)
    best = optimum(X, y, risk, C, None, intercept)
    assert proven <= best * (1 + 1e-6)
    assert proven >= best * (1 - (1e-2 if intercept else 1e-4))
    if not intercept:
        assert proven == pytest.approx(estimates[-1], rel=1e-6)
        assert np.all(np.diff(estimates) >= -1e-6 * best)  # every block step climbs
    result = train(objective, Settings(C, Stopping(1e-4, max_iter=600)))
    assert result.stop_reason == "gap"
    check_certificate(result.history, result.upper, result.lower, best)


def test_short_rows_are_visited_one_by_one() -> None:
    X, y, cost = problem(5, n=80)
    ascent = make_multiclass(as_source(X), Multiclass(y, CLASSES, cost)).dual_ascent(1.0, seed=0)
    for _ in range(20):
        ascent.epoch()
    assert not ascent.by_gram


@pytest.mark.parametrize("layout", ["csr", "c", "f", "float32"])
def test_dual_ascent_sees_every_layout_alike(layout: str) -> None:
    X, y, cost = problem(5, n=80)
    X = np.round(X, 2)  # so that single precision is close
    laid = {"csr": sp.csr_matrix(X), "c": X, "f": np.asfortranarray(X), "float32": X.astype(np.float32)}[layout]
    risk = Multiclass(y, CLASSES, cost)
    reference, other = (make_multiclass(as_source(each), risk).dual_ascent(40.0, seed=0) for each in (X, laid))
    for _ in range(5):
        reference.epoch()
        other.epoch()
    np.testing.assert_allclose(other.weights[0], reference.weights[0], rtol=1e-4, atol=1e-5)


def test_newton_preconditioner_is_the_curvature() -> None:
    X, y, cost = problem(7)
    rng = np.random.default_rng(7)
    for rescaling in ("margin", "slack"):
        for features in (None, rng.normal(size=(CLASSES, 3))):
            for intercept in (False, True):
                risk = Multiclass(y, CLASSES, cost, rescaling=rescaling)
                objective = make_multiclass(as_source(X), risk, class_features=features, intercept=intercept)
                point = objective.at(0.2 * rng.normal(size=objective.dimension))
                curvature = objective.curvature(point, 2.0)
                columns = [curvature.product(e) for e in np.eye(objective.dimension)]
                np.testing.assert_allclose(curvature.matrix(), np.array(columns), atol=1e-6)

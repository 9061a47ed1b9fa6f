"""The interior point solves the problem of the near examples, and what it proves holds for all of them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane import LinearSVC
from cutplane.datasets import load_adult
from cutplane.objectives.factory import make_objective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.hinge import Hinge
from cutplane.shards.near_hinges import NearHinges, NearIterate
from cutplane.solvers.base import ScoredPoint
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import InteriorPoint, finish
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

intercepts = pytest.mark.parametrize("intercept", [False, True])


def make(seed: int, n: int = 80, d: int = 5, *, intercept: bool, weighted: bool = True) -> RoundedObjective:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.3, 1, -1)
    y[:2] = 1, -1
    weights = np.where(rng.random(n) < 0.1, 0.0, rng.random(n) + 0.1) if weighted else None
    return make_objective(as_source(sp.csr_array(X) if seed % 2 else X), Hinge(y, weights), intercept=intercept)


def books(C: float, d: int, gap: float) -> Ledger:
    return Ledger(C, Bundle(d), Stopping(relative_gap=gap))


def optimum(objective: RoundedObjective, near: NearHinges | None, C: float) -> float:
    """Clarabel's, of all examples, or of the near ones with the tangents of the others."""
    risk, d = objective.shard.risk, objective.dimension
    X = np.column_stack([objective.shard.source.scores(unit) for unit in np.eye(d)])
    w, b = cp.Variable(d), cp.Variable()
    weights = np.full(len(X), risk.each) if risk.weights is None else risk.weights
    y, c, rest = risk.y, weights, 0.0
    if near is not None:
        X = np.column_stack([near.scores(unit) for unit in np.eye(d)])
        y, c = near.signs, near.weights
        rest = near.rest_slope @ w + (near.rest_balance * b if objective.intercept else 0.0)
    losses = cp.pos(1 - cp.multiply(y, X @ w + b)) if objective.intercept else cp.pos(1 - cp.multiply(y, X @ w))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * (c @ losses + rest)))
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11))


@intercepts
@pytest.mark.parametrize("seed", range(4))
def test_the_small_problem_is_solved(intercept: bool, seed: int) -> None:
    C = 30.0
    objective = make(seed, intercept=intercept)
    point = objective.at(np.full(5, 0.1))
    near = objective.near_hinges(point, 0.8, 60)
    interior = InteriorPoint(near, C, point.w, point.intercept)
    interior.run(1e-9, books(C, 5, 1e-9))
    scores = near.scores(interior.w) + interior.intercept
    value = 0.5 * interior.w @ interior.w + C * (
        near.weights @ np.maximum(1 - near.signs * scores, 0)
        + near.rest_slope @ interior.w
        + near.rest_balance * interior.intercept
    )
    assert value == pytest.approx(optimum(objective, near, C), rel=1e-7, abs=1e-7)
    assert isinstance(interior.at, NearIterate)
    assert (interior.at.dual > 0).all()
    assert (interior.at.dual < interior.at.bound).all()


def test_it_does_not_end_out_of_balance() -> None:
    """With most examples of one class near their kinks and an intercept below zero, the sum of the two once did."""
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 12), density=0.1, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=12) + 0.2 * rng.normal(size=400) > 0.6, 1, -1)
    C = 40.0
    objective = make_objective(as_source(X), Hinge(y), intercept=True)
    point = objective.score(np.zeros(12), -1.02)
    near = objective.near_hinges(point, 3.0, 400)
    interior = InteriorPoint(near, C, point.w, -1.02)
    interior.run(1e-9, books(C, 12, 1e-9))
    _, balance = near.dual_sums(interior.at)
    assert balance == pytest.approx(C * near.rest_balance, abs=1e-8)
    plane = near.plane(interior.at)
    assert C * plane.offset - 0.5 * C * C * plane.slope @ plane.slope == pytest.approx(
        optimum(objective, None, C), rel=1e-7
    )


@given(st.integers(0, 500), st.booleans(), st.floats(0.05, 3.0), st.integers(5, 80))
def test_any_shares_make_a_plane_below_the_risk(seed: int, intercept: bool, radius: float, most: int) -> None:
    objective = make(seed, intercept=intercept)
    rng = np.random.default_rng(seed)
    near = objective.near_hinges(objective.at(rng.normal(size=5)), radius, most)
    assert len(near.signs) <= most
    assert (near.weights > 0).all()
    anywhere = np.ones(len(near.signs))
    plane = near.plane(NearIterate(rng.random(len(near.signs)), anywhere, anywhere, anywhere))
    for _ in range(5):
        w = rng.normal(size=5) * 3
        assert plane.slope @ w + plane.offset <= objective.value(objective.at(w)) + 1e-12


@intercepts
@pytest.mark.parametrize("C", [0.1, 10.0, 1e5])
def test_rounds_end_with_a_proof(intercept: bool, C: float) -> None:
    objective = make(3, intercept=intercept)
    ledger = books(C, 5, 1e-8)
    start = LinearSVC(C=C * 1.02, tol=1e-3, fit_intercept=intercept)
    X = np.column_stack([objective.shard.source.scores(unit) for unit in np.eye(5)])
    start.fit(X, objective.shard.risk.y, sample_weight=objective.shard.risk.weights)
    point: ScoredPoint = objective.at(start.coef_[0])
    ledger.offer(point, objective.value(point))
    reason = finish(objective, ledger, point, point, 0.5, 60)
    best = optimum(objective, None, C)
    assert ledger.lower <= best * (1 + 1e-8)
    assert ledger.upper >= best * (1 - 1e-8)
    assert reason == "gap"


def test_no_example_near() -> None:
    objective = make(1, intercept=False)
    near = objective.near_hinges(objective.at(np.zeros(5)), 1e-3, 60)
    interior = InteriorPoint(near, 2.0, np.zeros(5), 0.0)
    interior.run(1e-9, books(2.0, 5, 1e-9))
    assert len(near.signs) == 0
    np.testing.assert_array_equal(interior.w, -2.0 * near.rest_slope)


def test_dense_rows_end_as_sparse_ones_do() -> None:
    """Systems of dense rows, summed up in single precision, once had no factor near the end: no step helped."""
    rng = np.random.default_rng(0)
    X = np.maximum(rng.normal(size=(3000, 40)) @ rng.normal(size=(40, 300)) / 6.0 + rng.normal(size=(3000, 300)), 0.0)
    y = np.where(X @ rng.normal(size=300) + rng.normal(size=3000) > 0.0, 1, -1)
    for rows in (X, np.asfortranarray(X), X.astype(np.float32)):
        objective = make_objective(as_source(rows), Hinge(y), intercept=True)
        point = objective.at(LinearSVC(C=0.01, tol=1e-2).fit(X, y).coef_[0])
        near = objective.near_hinges(point, 0.3, 600)
        assert near.examples > 300
        interior = InteriorPoint(near, 30.0, point.w, float(point.intercept))
        interior.run(1e-9, books(30.0, 300, 1e-9))
        residual, imbalance = interior._residual()
        assert interior._gap(residual, imbalance) <= 1e-9


@intercepts
def test_a_tight_tolerance_ends_with_it(intercept: bool) -> None:
    X, y = load_adult()
    model = LinearSVC(C=0.03, tol=1e-6, fit_intercept=intercept).fit(X, y)
    other = LinearSVC(C=0.03, tol=1e-6, fit_intercept=intercept, method="newton").fit(X, y)
    assert model.gap_ <= 1e-6
    assert model.objective_ == pytest.approx(other.objective_, rel=2e-6)
    assert any("interior_point" in step.phases for step in model.history_)

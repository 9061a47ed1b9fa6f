"""Tubes near their kinks: an interior point solves their problem, and what it proves holds for all examples."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from cutplane.objectives.factory import objective_of
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.epsilon_insensitive import EpsilonInsensitive
from cutplane.risks.quantile import Quantile
from cutplane.shards.near_hinges import NearHinges, NearIterate
from cutplane.shards.registry import make_shard
from cutplane.shards.rows import RowSet
from cutplane.shards.sum import SumShard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import InteriorPoint, finish, most_examples
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.sources.augmented import AugmentedSource

N, D, C = 90, 4, 25.0
TUBES: dict[str, Any] = {
    "wide": lambda y, weights: EpsilonInsensitive(y, weights, epsilon=0.5),
    "narrow": lambda y, weights: EpsilonInsensitive(y, weights, epsilon=1e-3),
    "absolute": lambda y, weights: EpsilonInsensitive(y, weights, epsilon=0.0),
    "quantile": lambda y, weights: Quantile(y, weights, quantile=0.8),
}
intercepts = pytest.mark.parametrize("intercept", [False, True])
tubes = pytest.mark.parametrize("tube", TUBES)


def shard_of(tube: str, seed: int = 0, *, intercept: bool, n: int = N, constant: float = 0.0) -> Any:
    """Features and targets in halves, so that examples share scores, and lie on kinks; some weigh nothing."""
    rng = np.random.default_rng(seed)
    X = np.rint(2.0 * rng.normal(size=(n, D))) / 2.0
    y = np.rint(2.0 * (X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n)) + 1.0) / 2.0
    weights = None if seed % 3 == 0 else np.where(rng.random(n) < 0.1, 0.0, rng.random(n) + 0.1)
    source = as_source(sp.csr_array(X) if seed % 2 else X)
    return make_shard(
        AugmentedSource(source, constant) if constant else source, TUBES[tube](y, weights), intercept=intercept
    )


def made(tube: str, seed: int = 0, *, intercept: bool) -> RoundedObjective:
    return objective_of(shard_of(tube, seed, intercept=intercept), intercept=intercept)


def books(d: int = D, gap: float = 1e-9) -> Ledger:
    return Ledger(C, Bundle(d), Stopping(relative_gap=gap))


def features(source: Any) -> Any:
    return np.column_stack([source.scores(unit) for unit in np.eye(source.shape[1])])


def optimum(shard: Any, *, intercept: bool) -> float:
    """Clarabel's, of all examples."""
    X, terms = features(shard.source), shard.risk.terms
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    above, below, epsilon = terms.parameters.values()
    error = X @ w + (b if intercept else 0.0) - terms.y
    losses = above * cp.pos(error - epsilon) + below * cp.pos(-error - epsilon)
    each = np.full(len(X), terms.each) if terms.weights is None else terms.weights
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * (each @ losses)))
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11))


def optimum_near(near: NearHinges) -> float:
    """Clarabel's, of the near hinges with the tangents of the others."""
    X = np.column_stack([near.scores(unit) for unit in np.eye(D)])
    w, b = cp.Variable(D), cp.Variable()
    scores = X @ w + (b if near.intercept else 0.0)
    rest = near.rest_slope @ w + (near.rest_balance * b if near.intercept else 0.0)
    risk = near.weights @ cp.pos(near.levels - cp.multiply(near.signs, scores)) + rest
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * risk))
    return float(problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11))


@tubes
@intercepts
@pytest.mark.parametrize("seed", range(4))
def test_the_small_problem_is_solved(tube: str, intercept: bool, seed: int) -> None:
    objective = made(tube, seed, intercept=intercept)
    point = objective.at(np.full(D, 0.25))
    near: Any = objective.near_hinges(point, 0.8, 2 * N)
    assert near.examples > 10
    interior = InteriorPoint(near, C, point.w, float(point.intercept))
    interior.run(1e-9, books())
    scores = near.scores(interior.w) + interior.intercept
    value = 0.5 * interior.w @ interior.w + C * (
        near.weights @ np.maximum(near.levels - near.signs * scores, 0.0)
        + near.rest_slope @ interior.w
        + near.rest_balance * interior.intercept
    )
    assert value == pytest.approx(optimum_near(near), rel=1e-7, abs=1e-7)


@given(st.sampled_from(sorted(TUBES)), st.integers(0, 500), st.booleans(), st.floats(0.05, 3.0), st.integers(1, 2 * N))
def test_any_shares_make_a_plane_below_the_risk(
    tube: str, seed: int, intercept: bool, radius: float, most: int
) -> None:
    objective = made(tube, seed, intercept=intercept)
    rng = np.random.default_rng(seed)
    near: Any = objective.near_hinges(objective.at(np.rint(rng.normal(size=D))), radius, most)
    assert near.examples <= most
    assert (near.weights > 0).all()
    ones = np.ones(near.examples)
    # Shares of 0 and 1 among them: both ends of what the slopes may be.
    shares = np.clip(1.4 * rng.random(near.examples) - 0.2, 0.0, 1.0)
    plane = near.plane(NearIterate(shares, ones, ones, ones))
    assert plane.mass >= np.abs(plane.coef).sum()
    for _ in range(5):
        w = rng.normal(size=D) * 3
        assert plane.slope @ w + plane.offset <= objective.value(objective.at(w)) + 1e-12


@tubes
def test_the_tangents_and_the_near_hinges_are_the_risk(tube: str) -> None:
    """Where no example crosses a kink that is not near, the small problem is the whole one."""
    shard = shard_of(tube, 2, intercept=False)
    w = np.array([0.9, -0.4, 0.1, 0.0])
    near = shard.near_problem(shard.at(w), 0.4, 2 * N, intercept=False)

    def small(v: Any) -> float:
        return float(near.weights @ np.maximum(near.levels - near.signs * near.scores(v), 0.0) + near.rest_slope @ v)

    reach = 0.4 / np.linalg.norm(features(shard.source), axis=1).max()
    for step in np.random.default_rng(0).normal(size=(10, D)):
        v = w + reach * step / np.linalg.norm(step)
        assert small(v) - small(w) == pytest.approx(shard.value(shard.at(v)) - shard.value(shard.at(w)), abs=1e-13)


@tubes
@pytest.mark.parametrize(("intercept", "constant"), [(False, 0.0), (True, 0.0), (False, 2.0)])
@pytest.mark.parametrize("seed", range(3))
def test_rounds_end_with_a_proof(tube: str, intercept: bool, constant: float, seed: int) -> None:
    shard = shard_of(tube, seed, intercept=intercept, constant=constant)
    objective: Any = objective_of(shard, intercept=intercept)
    assert most_examples(objective) > 0
    d = objective.dimension
    ledger = books(d, 1e-8)
    point = objective.at(np.array([1.0, -0.5, 0.0, 0.0, 0.25])[:d])
    ledger.offer(point, objective.value(point))
    assert finish(objective, ledger, point, point, 1.0, 2 * N) == "gap"
    best = optimum(shard, intercept=intercept)
    assert ledger.lower <= best * (1 + 1e-8)
    assert ledger.upper >= best * (1 - 1e-8)


@tubes
@intercepts
@pytest.mark.parametrize("sizes", [(N,), (30, 60), (30, 0, 60), (7, 23, 40, 20)])
def test_every_step_is_that_of_all_examples(tube: str, intercept: bool, sizes: tuple[int, ...]) -> None:
    shard = shard_of(tube, 1, intercept=intercept)
    rows = [RowSet(np.arange(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    together = SumShard([shard.part(some, gathered=True) for some in rows])
    ends: list[Any] = []
    for each in (shard, together):
        objective: Any = objective_of(each, intercept=intercept)
        point = objective.at(np.full(D, 0.25))
        # Both kinks of an example may be near: more hinges than examples.
        interior = InteriorPoint(objective.near_hinges(point, 4.0, 2 * N), C, point.w, point.intercept)
        interior.run(1e-6, books())
        ends.append(interior)
    assert_allclose(ends[1].w, ends[0].w, atol=1e-8)
    assert ends[1].intercept == pytest.approx(ends[0].intercept, abs=1e-8)

"""Several classes over several shards: the sum is the shard of all their examples."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.objectives.factory import objective_of
from cutplane.risks.multiclass import Multiclass, balancing_flows
from cutplane.shards.multiclass import MulticlassShard
from cutplane.shards.multiclass_sum import MulticlassSumShard
from cutplane.shards.rows import RowSet
from cutplane.solvers.auto import Auto
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.sources.class_scores import ClassScores

N, D, K = 300, 4, 3
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [1.5, 1.0, 0.0]])
PHI = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]])
KINDS: dict[str, tuple[str, Any]] = {
    "margin": ("margin", None),
    "slack": ("slack", None),
    "shared": ("margin", PHI),  # classes that share weights
}
intercepts = pytest.mark.parametrize("intercept", [False, True])
kinds = pytest.mark.parametrize("kind", KINDS)
sizes = pytest.mark.parametrize("sizes", [(N,), (110, 190), (110, 0, 190), (7, 73, 60, 40, 40, 50, 30)])


def whole(kind: str) -> MulticlassShard:
    rescaling, features = KINDS[kind]
    rng = np.random.default_rng(7)
    y = np.sort(rng.integers(0, K, N))  # so that some parts have some of the classes only
    X = rng.normal(size=(N, D)) + y[:, None] * np.array([0.8, -0.5, 0.0, 0.0])
    risk = Multiclass(y, K, COST, rescaling=rescaling, sample_weight=rng.random(N) + 0.1)
    return MulticlassShard(ClassScores(as_source(X), features, K), risk)


def in_parts(shard: MulticlassShard, sizes: tuple[int, ...]) -> MulticlassSumShard:
    if len(sizes) == 1:
        return MulticlassSumShard([shard])
    rows = [RowSet(np.arange(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    return MulticlassSumShard([shard.part(some, gathered=True) for some in rows])


def both(kind: str, sizes: tuple[int, ...]) -> tuple[MulticlassShard, MulticlassSumShard]:
    # Solvers are called here without `run`, which begins with a shard of its own: each keeps its last slope.
    return whole(kind), in_parts(whole(kind), sizes)


@kinds
@sizes
def test_sums_are_those_of_all_examples(kind: str, sizes: tuple[int, ...]) -> None:
    shard, parts = both(kind, sizes)
    assert (parts.examples, parts.dimension, parts.n_classes) == (N, shard.dimension, K)
    rng = np.random.default_rng(1)
    w, v, h = rng.normal(size=shard.dimension), rng.normal(size=shard.dimension), 0.7
    a, b, c, d = shard.at(w), shard.at(v), parts.at(w), parts.at(v)
    for plane, expected in ((parts.cut(c), shard.cut(a)), (parts.smoothed(c, h), shard.smoothed(a, h))):
        assert_allclose(plane.slope, expected.slope, atol=1e-12)
        assert plane[1:5] == pytest.approx(expected[1:5], rel=1e-9, abs=1e-12)
    assert_allclose(parts.extrapolated(c, h, 1.1), shard.extrapolated(a, h, 1.1), atol=1e-12)
    assert parts.along(c, d, [0.3], h)[0] == pytest.approx(shard.along(a, b, [0.3], h)[0], rel=1e-10)
    ray, other = shard.ray(a, b), parts.ray(c, d)
    assert ray is not None
    assert other is not None
    t, found = (each.minimise(1e-2, -1e-3, 3.0) for each in (ray, other))
    assert found == pytest.approx(t, rel=1e-9)


@kinds
@sizes
@intercepts
def test_curvature_is_that_of_all_examples(kind: str, sizes: tuple[int, ...], intercept: bool) -> None:
    shard, parts = both(kind, sizes)
    rng = np.random.default_rng(5)
    w, v = rng.normal(size=(2, shard.dimension))
    here, there = (each.curvature(each.at(w), 0.7, centred=intercept) for each in (shard, parts))
    assert there.examples == here.examples > 0
    assert_allclose(there.product(v), here.product(v), rtol=1e-9, atol=1e-12)
    assert_allclose(there.shift(v), here.shift(v), rtol=1e-9, atol=1e-12)
    assert_allclose(np.tril(there.matrix()), np.tril(here.matrix()), rtol=1e-5, atol=1e-6)


@kinds
@sizes
def test_intercepts_are_the_best_ones(kind: str, sizes: tuple[int, ...]) -> None:
    shard, parts = both(kind, sizes)
    w = np.random.default_rng(3).normal(size=shard.dimension)
    scores, each = shard.at(w), parts.at(w)
    (b, h), (found, width) = shard.close_shift(scores, 1e-6), parts.close_shift(each, 1e-6)
    assert width == h
    value = shard.value(shard.shifted(scores, b))
    assert parts.value(parts.shifted(each, found)) == pytest.approx(value, rel=1e-5)
    rest = np.array([0.02, -0.03, 0.01])
    assert_allclose(parts.rounded_shift(each, 0.5, rest), shard.rounded_shift(scores, 0.5, rest), atol=1e-7)


@kinds
@sizes
def test_planes_lean_on_no_intercept(kind: str, sizes: tuple[int, ...]) -> None:
    shard, parts = both(kind, sizes)
    objective, of_parts = (objective_of(each, intercept=True) for each in (shard, parts))
    rng = np.random.default_rng(4)
    # At intercepts that are far from balance: what flows between classes is scaled down until it is in balance.
    point = of_parts.score(rng.normal(size=shard.dimension), np.array([0.4, -0.1, -0.3]))
    planes = [of_parts.smoothed(point, 0.3), of_parts.cut(point)]
    for plane in planes:
        assert plane.mass < 10.0  # which is charged for any lean, and dearly
        for w in 2.0 * rng.normal(size=(10, shard.dimension)):
            b = objective.shard.close_shift(objective.shard.at(w), 0.0)[0]
            value = objective.value(objective.score(w, b))
            assert float(plane.slope @ w) + plane.offset <= value + 1e-10
    closely = of_parts.balance(point, 0.3)
    plane = of_parts.smoothed(closely, 0.3)
    height = float(plane.slope @ closely.w) + plane.offset + plane.error
    assert height == pytest.approx(of_parts.value(closely), abs=0.3)
    assert height == pytest.approx(plane.value, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_flows_that_are_kept_are_in_balance(seed: int) -> None:
    flows = np.random.default_rng(seed).random((5, 5)) * (np.random.default_rng(seed + 50).random((5, 5)) < 0.6)
    np.fill_diagonal(flows, 0.0)
    kept = balancing_flows(flows)
    assert (kept >= 0.0).all()
    assert (kept <= 1.0 + 1e-15).all()
    assert_allclose((kept * flows).sum(axis=0), (kept * flows).sum(axis=1), atol=1e-14)


def run(shard: Any, solver: Any, *, intercept: bool, gap: float = 1e-4) -> Ledger:
    objective = objective_of(shard, intercept=intercept, relative_gap=gap)
    ledger = Ledger(
        20.0, Bundle(objective.dimension), Stopping(relative_gap=gap, max_iter=2000), rounding=objective.rounding
    )
    assert solver.run(objective, ledger) == "gap"
    return ledger


SOLVERS: dict[str, Any] = {
    "newton": SmoothedNewton,
    "oca": lambda: CuttingPlane(ExactLineSearch()),
    "cpa": CuttingPlane.cpa,
}


@cache
def run_on_all(kind: str, solver: str, *, intercept: bool, gap: float) -> Ledger:
    """The same however the examples are shared out."""
    return run(whole(kind), SOLVERS[solver](), intercept=intercept, gap=gap)


@kinds
@sizes
@intercepts
@pytest.mark.parametrize("solver", SOLVERS)
def test_models_are_those_of_all_examples(kind: str, sizes: tuple[int, ...], intercept: bool, solver: str) -> None:
    gap = 1e-4 if solver == "newton" else 1e-2
    alone = run_on_all(kind, solver, intercept=intercept, gap=gap)
    together = run(in_parts(whole(kind), sizes), SOLVERS[solver](), intercept=intercept, gap=gap)
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper
    if len(sizes) == 1:  # a sum of one is that one
        assert alone.incumbent is not None
        assert together.incumbent is not None
        assert_array_equal(alone.incumbent.w, together.incumbent.w)
        assert_array_equal(alone.incumbent.intercept, together.incumbent.intercept)
        assert (alone.upper, alone.lower) == (together.upper, together.lower)


@intercepts
def test_auto_goes_without_dual_ascent(intercept: bool) -> None:
    shard, parts = both("margin", (110, 190))
    alone, together = (run(each, Auto(), intercept=intercept) for each in (shard, parts))
    assert together.upper == pytest.approx(alone.upper, rel=2e-4)

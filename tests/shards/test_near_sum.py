"""The interior point on hinges that lie in several shards ends where that on all of them ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.datasets import load_adult
from cutplane.objectives.factory import objective_of
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.hinge import Hinge
from cutplane.risks.logistic import Logistic
from cutplane.shards.registry import make_shard
from cutplane.shards.rows import RowSet
from cutplane.shards.sum import SumShard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import InteriorPoint, finish, most_examples
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

N, D, C = 400, 5, 20.0
intercepts = pytest.mark.parametrize("intercept", [False, True])
sizes = pytest.mark.parametrize("sizes", [(N,), (150, 250), (150, 0, 250), (7, 93, 100, 50, 50, 60, 40)])


def both(sizes: tuple[int, ...], *, intercept: bool) -> tuple[RoundedObjective, RoundedObjective]:
    """The objective of all examples, and that of the sum of its parts; examples far from a plane come first."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    z = X[:, 0] - 0.5 * X[:, 1] + 0.4 * rng.normal(size=N) + 0.3
    order = np.argsort(-np.abs(z))
    shard: Any = make_shard(as_source(X[order]), Hinge(np.sign(z[order]), rng.random(N) + 0.1), intercept=intercept)
    return objective_of(shard, intercept=intercept), objective_of(parts_of(shard, sizes), intercept=intercept)


def parts_of(shard: Any, sizes: tuple[int, ...]) -> SumShard:
    if len(sizes) == 1:
        return SumShard([shard])
    rows = [RowSet(np.arange(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    return SumShard([shard.part(some, gathered=True) for some in rows])


def books(objective: RoundedObjective, gap: float = 1e-7) -> Ledger:
    return Ledger(C, Bundle(D), Stopping(relative_gap=gap, max_iter=100), rounding=objective.rounding)


def finished(objective: RoundedObjective) -> tuple[Ledger, str]:
    ledger = books(objective)
    point = objective.at(np.array([1.5, -0.8, 0.0, 0.0, 0.0]))
    ledger.offer(point, objective.value(point))
    ledger.add(objective.cut(point))
    ledger.solve()
    return ledger, finish(objective, ledger, point, point, 0.7, N)


@sizes
@intercepts
def test_rounds_end_with_the_model_of_all_examples(sizes: tuple[int, ...], intercept: bool) -> None:
    (alone, reason), (together, same_reason) = map(finished, both(sizes, intercept=intercept))
    assert reason == same_reason == "gap"
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper
    assert alone.incumbent is not None
    assert together.incumbent is not None
    assert_allclose(together.incumbent.w, alone.incumbent.w, atol=1e-6)
    if len(sizes) == 1:  # a sum of one is that one
        assert_array_equal(alone.incumbent.w, together.incumbent.w)
        assert (alone.upper, alone.lower) == (together.upper, together.lower)


@sizes
@intercepts
def test_every_step_is_that_of_all_examples(sizes: tuple[int, ...], intercept: bool) -> None:
    ends = []
    for objective in both(sizes, intercept=intercept):
        point = objective.at(np.full(D, 0.1))
        interior = InteriorPoint(objective.near_hinges(point, 0.4, N), C, point.w, point.intercept)
        interior.run(1e-6, books(objective))
        ends.append(interior)
    alone, together = ends
    assert_allclose(together.w, alone.w, atol=1e-9)
    assert together.intercept == pytest.approx(alone.intercept, abs=1e-9)


@sizes
@intercepts
@pytest.mark.parametrize("most", [N, 40])
def test_planes_are_below_the_risk(sizes: tuple[int, ...], intercept: bool, most: int) -> None:
    objective, of_parts = both(sizes, intercept=intercept)
    rng = np.random.default_rng(4)
    point = of_parts.at(rng.normal(size=D))
    problem = of_parts.near_hinges(point, 0.8, most)
    assert 0 < problem.examples <= most
    assert problem.radius <= 0.8
    plane = problem.plane(problem.start(C))
    assert plane.mass < 10.0  # which is charged for any lean on the intercept, and dearly
    for w in 3.0 * rng.normal(size=(20, D)):
        assert float(plane.slope @ w) + plane.offset <= objective.value(objective.at(w)) + 1e-12


@sizes
def test_examples_at_one_distance_are_all_near_or_none(sizes: tuple[int, ...]) -> None:
    _, of_parts = both(sizes, intercept=False)
    problem = of_parts.near_hinges(of_parts.at(np.zeros(D)), 2.0, 10)  # every margin is 0
    assert problem.examples == 0
    plane = problem.plane(problem.start(C))
    assert plane.offset == pytest.approx(1.0, rel=1e-9)


@intercepts
def test_newton_on_parts_ends_with_an_interior_point(intercept: bool) -> None:
    X, y = load_adult()
    shard: Any = make_shard(as_source(X), Hinge(np.where(y == y[0], 1, -1)), intercept=intercept)
    n, weight = shard.examples, 0.3 * shard.examples
    uppers, lowers = [], []
    for each in (shard, parts_of(shard, (n // 3, n // 3, n - 2 * (n // 3)))):
        objective = objective_of(each, intercept=intercept)
        bundle, stopping = Bundle(shard.dimension), Stopping(relative_gap=1e-8, max_iter=1000)
        ledger = Ledger(weight, bundle, stopping, rounding=objective.rounding)
        assert SmoothedNewton().run(objective, ledger) == "gap"
        uppers.append(ledger.upper)
        lowers.append(ledger.lower)
        phases = {name for step in ledger.history for name in step.phases}
    assert max(lowers) <= min(uppers)
    assert "interior_point" in phases  # of the parts


def test_a_sum_has_a_near_problem_where_all_its_parts_have() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, D)), np.sign(rng.normal(size=N))
    hinge, logistic = (make_shard(as_source(X), risk(y)) for risk in (Hinge, Logistic))
    assert most_examples(RoundedObjective(SumShard([hinge, hinge]))) > 0  # type: ignore[list-item]
    assert most_examples(RoundedObjective(SumShard([hinge, logistic]))) == 0  # type: ignore[list-item]

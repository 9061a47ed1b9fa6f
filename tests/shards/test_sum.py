"""The sum of several shards is the shard of all their examples."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.objectives.factory import objective_of
from cutplane.risks.base import Risk, RoundedRisk, ScoreCut
from cutplane.risks.hinge import Hinge
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards.host import HostShard
from cutplane.shards.registry import make_shard
from cutplane.shards.rows import RowSet
from cutplane.shards.sum import SumShard
from cutplane.shards.sum_base import PlaneSumShard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

N, D = 400, 5
# Every loss there is that is a sum over the examples and can round its kinks.
RISKS: dict[str, Any] = {
    name: loss
    for name, loss in {**BINARY, **REGRESSION}.items()
    if isinstance(loss, type) and issubclass(loss, RoundedRisk)
}
intercepts = pytest.mark.parametrize("intercept", [False, True])
every_risk = pytest.mark.parametrize("name", RISKS)
sizes = pytest.mark.parametrize("sizes", [(N,), (150, 250), (150, 0, 250), (7, 93, 100, 50, 50, 60, 40)])


def whole(name: str, *, intercept: bool, weighted: bool = True) -> Any:
    rng = np.random.default_rng(sorted(RISKS).index(name))
    X = rng.normal(size=(N, D))
    z = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N) + 0.3
    risk: RoundedRisk = RISKS[name](np.sign(z) if name in BINARY else z, rng.random(N) + 0.1 if weighted else None)
    return make_shard(as_source(X), risk, intercept=intercept)


def in_parts(shard: Any, sizes: tuple[int, ...]) -> SumShard:
    if len(sizes) == 1:
        return SumShard([shard])
    rows = [RowSet(np.arange(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    return SumShard([shard.part(some, gathered=True) for some in rows])


def both(name: str, sizes: tuple[int, ...], *, intercept: bool) -> tuple[Any, SumShard]:
    shard = whole(name, intercept=intercept)
    return shard, in_parts(shard, sizes)


def test_every_loss_that_is_a_sum_is_looked_at() -> None:
    assert {"hinge", "squared_hinge", "logistic", "epsilon_insensitive", "huber", "quantile"} <= RISKS.keys()


@every_risk
@sizes
def test_sums_are_those_of_all_examples(name: str, sizes: tuple[int, ...]) -> None:
    shard, parts = both(name, sizes, intercept=False)
    assert (parts.examples, parts.dimension) == (N, D)
    rng = np.random.default_rng(1)
    w, v, h = rng.normal(size=D), rng.normal(size=D), 0.4
    a, b = shard.at(w), shard.at(v)
    c, d = parts.at(w), parts.at(v)
    assert parts.value(c) == pytest.approx(shard.value(a), rel=1e-12)
    for plane, expected in ((parts.cut(c), shard.cut(a)), (parts.smoothed(c, h), shard.smoothed(a, h))):
        assert_allclose(plane.slope, expected.slope, atol=1e-12)
        assert plane[1:6] == pytest.approx(expected[1:6], rel=1e-6, abs=1e-12)
    assert_allclose(parts.extrapolated(c, h, 0.8), shard.extrapolated(a, h, 0.8), atol=1e-12)
    assert parts.rounding_error(c, h) == pytest.approx(shard.rounding_error(a, h), rel=1e-9, abs=1e-15)
    assert parts.along(c, d, [0.3], h)[0] == pytest.approx(shard.along(a, b, [0.3], h)[0], rel=1e-10)
    blended = parts.blend(c, d, 0.3)
    assert parts.value(blended) == pytest.approx(shard.value(shard.blend(a, b, 0.3)), rel=1e-12)
    moved = parts.moved(c, parts.difference(d, c), 0.5)
    assert parts.value(moved) == pytest.approx(shard.value(shard.at(0.5 * (w + v))), rel=1e-10)


@every_risk
@sizes
@pytest.mark.parametrize("quadratic", [0.0, 1e-3, 10.0])
def test_line_searches_end_at_the_same_place(name: str, sizes: tuple[int, ...], quadratic: float) -> None:
    shard, parts = both(name, sizes, intercept=False)
    rng = np.random.default_rng(2)
    for _ in range(5):
        w, v = rng.normal(size=(2, D))
        ray, other = shard.ray(shard.at(w), shard.at(v)), parts.ray(parts.at(w), parts.at(v))
        t, found = (each.minimise(quadratic, -1e-3, 3.0) for each in (ray, other))

        def along(t: float, ray: Any = ray) -> float:
            return 0.5 * quadratic * t * t - 1e-3 * t + 3.0 * ray.value(t)

        assert along(found) <= along(t) * (1.0 + 1e-9) + 1e-12


@every_risk
@sizes
def test_intercepts_are_the_best_ones(name: str, sizes: tuple[int, ...]) -> None:
    shard, parts = both(name, sizes, intercept=True)
    w = np.random.default_rng(3).normal(size=D)
    scores, each = shard.at(w), parts.at(w)
    settled = shard.shifted(scores, shard.best_shift(scores))
    settled_parts = parts.shifted(each, parts.best_shift(each))
    assert parts.value(settled_parts) == pytest.approx(shard.value(settled), rel=1e-12)
    cut = parts.balanced_cut(settled_parts)
    height = float(cut.slope @ w) + cut.offset
    assert height == pytest.approx(cut.value, rel=1e-9)  # without an intercept in it: it does not lean


@every_risk
@sizes
@intercepts
def test_rounded_planes_are_below_the_risk(name: str, sizes: tuple[int, ...], intercept: bool) -> None:
    shard, parts = both(name, sizes, intercept=intercept)
    objective, of_parts = (objective_of(each, intercept=intercept) for each in (shard, parts))
    rng = np.random.default_rng(4)
    for h in (2.0, 0.1):
        point = of_parts.balance(of_parts.score(rng.normal(size=D), 0.1), h)
        plane = of_parts.smoothed(point, h)
        assert float(plane.slope @ point.w) + plane.offset + plane.error == pytest.approx(plane.value, rel=1e-9)
        for w in 3.0 * rng.normal(size=(20, D)):
            assert float(plane.slope @ w) + plane.offset <= objective.value(objective.at(w)) + 1e-11


@every_risk
@sizes
def test_planes_are_balanced_wherever_they_are_taken(name: str, sizes: tuple[int, ...]) -> None:
    shard, parts = both(name, sizes, intercept=True)
    objective, of_parts = (objective_of(each, intercept=True) for each in (shard, parts))
    w = np.random.default_rng(4).normal(size=D)
    plane = of_parts.smoothed(of_parts.score(w, 0.7), 0.3)  # its intercept is not the best one
    assert plane.mass <= 2.0 * objective.smoothed(objective.score(w, 0.7), 0.3).mass  # any lean is charged, and dearly
    for v in 3.0 * np.random.default_rng(5).normal(size=(20, D)):
        assert float(plane.slope @ v) + plane.offset <= objective.value(objective.at(v)) + 1e-11


@every_risk
@sizes
@intercepts
def test_curvature_is_that_of_all_examples(name: str, sizes: tuple[int, ...], intercept: bool) -> None:
    shard, parts = both(name, sizes, intercept=intercept)
    rng = np.random.default_rng(5)
    w, v = rng.normal(size=(2, D))
    here, there = (each.curvature(each.at(w), 0.7, centred=intercept) for each in (shard, parts))
    assert there.examples == here.examples
    assert_allclose(there.product(v), here.product(v), rtol=1e-9, atol=1e-12)
    assert there.shift(v) == pytest.approx(here.shift(v), rel=1e-9)
    assert_allclose(np.tril(there.matrix()), np.tril(here.matrix()), rtol=1e-5, atol=1e-6)


@sizes
def test_sets_of_examples(sizes: tuple[int, ...]) -> None:
    shard, parts = both("hinge", sizes, intercept=False)
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(2, D))
    near, near_parts = shard.near(shard.at(a), 0.5), parts.near(parts.at(a), 0.5)
    crossed, crossed_parts = shard.crossed(shard.at(a), shard.at(b)), parts.crossed(parts.at(a), parts.at(b))
    assert len(near_parts) == len(near)
    assert len(near_parts.union(crossed_parts)) == len(near.union(crossed))
    assert len(crossed_parts.minus(near_parts)) == len(crossed.minus(near))
    some = parts.part(near_parts)
    assert some.examples == len(near)
    scores = parts.restricted(parts.at(a), near_parts)
    expected = shard.part(near).value(shard.restricted(shard.at(a), near))
    assert some.value(scores) == pytest.approx(expected, rel=1e-12)
    drawn = parts.draw(100, np.random.default_rng(0))
    assert 100 <= len(drawn) <= 100 + len(sizes)


def run(shard: Any, solver: Any, *, intercept: bool, gap: float = 1e-5) -> Ledger:
    objective = objective_of(shard, intercept=intercept)
    ledger = Ledger(20.0, Bundle(D), Stopping(relative_gap=gap, max_iter=1000), rounding=objective.rounding)
    assert solver.run(objective, ledger) == "gap"
    return ledger


SOLVERS = {"newton": SmoothedNewton, "oca": lambda: CuttingPlane(ExactLineSearch()), "cpa": CuttingPlane.cpa}


@cache
def run_on_all(name: str, solver: str, *, intercept: bool) -> Ledger:
    """The same however the examples are shared out."""
    return run(whole(name, intercept=intercept), SOLVERS[solver](), intercept=intercept)


@every_risk
@sizes
@intercepts
@pytest.mark.parametrize("solver", ["newton", "oca"])
def test_models_are_those_of_all_examples(name: str, sizes: tuple[int, ...], intercept: bool, solver: str) -> None:
    _, parts = both(name, sizes, intercept=intercept)
    alone = run_on_all(name, solver, intercept=intercept)
    together = run(parts, SOLVERS[solver](), intercept=intercept)
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper
    if len(sizes) == 1:  # a sum of one is that one
        assert alone.incumbent is not None
        assert together.incumbent is not None
        assert_array_equal(alone.incumbent.w, together.incumbent.w)
        assert alone.upper == together.upper


def test_cpa_on_parts() -> None:
    shard, parts = both("hinge", (150, 0, 250), intercept=True)
    alone, together = (run(each, CuttingPlane.cpa(), intercept=True) for each in (shard, parts))
    assert together.upper == pytest.approx(alone.upper, rel=2e-5)


def test_no_example_at_all_is_a_part_of_nothing() -> None:
    shard = whole("hinge", intercept=False)
    parts = in_parts(shard, (0, 0, 0))
    assert parts.value(parts.at(np.ones(D))) == 0.0


@pytest.mark.parametrize("solver", ["newton", "oca"])
def test_parts_in_single_precision(solver: str) -> None:
    """Scores are kept in single precision in those parts where that pays: where examples are many."""
    rng = np.random.default_rng(8)
    n = 80_000
    X = rng.normal(size=(n, D)).astype(np.float32)
    shard: Any = make_shard(as_source(X), Hinge(np.where(X[:, 0] + rng.normal(size=n) > 0.2, 1, -1)))
    parts = [shard.part(RowSet(np.arange(a, b)), gathered=True) for a, b in ((0, 70_000), (70_000, n))]
    together = SumShard(parts).in_single()
    assert together is not together.in_double()
    assert together.in_single() is together
    assert together.rounding(by_columns=True).unit > SumShard(parts).rounding(by_columns=True).unit
    shards = shard.in_single(), together, together.in_double()
    alone, single, other = (run(each, SOLVERS[solver](), intercept=False, gap=1e-3) for each in shards)
    for ledger in (single, other):
        assert alone.lower <= ledger.upper
        assert ledger.lower <= alone.upper


@intercepts
def test_a_part_may_be_a_sum(intercept: bool) -> None:
    shard = whole("hinge", intercept=intercept)
    a, b, c = (shard.part(RowSet(np.arange(*ends)), gathered=True) for ends in ((0, 90), (90, 220), (220, N)))
    nested = SumShard([SumShard([a, b]), c])
    alone, together = (run(each, SmoothedNewton(), intercept=intercept, gap=1e-9) for each in (shard, nested))
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper
    point = objective_of(nested, intercept=intercept).at(np.full(D, 0.1))
    problem = nested.near_problem(point.scores, 0.5, N, intercept=intercept)
    assert problem.examples == len(shard.near(shard.shifted(shard.at(point.w), point.intercept), 0.5))


class Absolute(Risk):
    """A user's own: the sum of weights[i] |score - y[i]|, without kinks that can be rounded."""

    takes_intercept = True

    def __init__(self, y: Any, weights: Any) -> None:
        self.y, self.weights = y, weights

    def value(self, scores: Any) -> float:
        return float(self.weights @ np.abs(scores - self.y))

    def cut(self, scores: Any) -> ScoreCut:
        coef = self.weights * np.sign(scores - self.y)
        return ScoreCut(coef, -float(coef @ self.y), self.value(scores))


@intercepts
@pytest.mark.parametrize("sizes", [(N,), (150, 250), (150, 0, 250), (7, 93, 100, 50, 50, 60, 40)])
def test_a_risk_of_the_user_that_is_a_sum(intercept: bool, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(9)
    X, weights = rng.normal(size=(N, D)), rng.random(N) / N
    y = X[:, 0] + 0.3 * rng.normal(size=N) + 0.5
    cuts = [slice(a, b) for a, b in pairwise(np.cumsum((0, *sizes)))]
    parts = [HostShard(as_source(X[rows]), Absolute(y[rows], weights[rows])) for rows in cuts]
    ledgers = []
    for shard in (HostShard(as_source(X), Absolute(y, weights)), PlaneSumShard(parts)):
        objective = objective_of(shard, intercept=intercept)
        ledger = Ledger(20.0, Bundle(D), Stopping(relative_gap=1e-3, max_iter=1000), rounding=objective.rounding)
        assert CuttingPlane().run(objective, ledger) == "gap"
        ledgers.append(ledger)
    alone, together = ledgers
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper
    if len(sizes) == 1:
        assert (alone.upper, alone.lower) == (together.upper, together.lower)

"""Examples that lie in several shards prove a model themselves: nobody needs to have all of them in one place."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cutplane.estimators.common.training import prover_of
from cutplane.objectives.factory import objective_of
from cutplane.proof.evaluation import Evaluation, evaluation_sum
from cutplane.proof.prover import Prover
from cutplane.risks.base import Risk, RoundedRisk, ScoreCut
from cutplane.risks.hinge import Hinge
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.ranking import RankingRisk
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards.host import HostShard
from cutplane.shards.multiclass import MulticlassShard
from cutplane.shards.multiclass_sum import MulticlassSumShard
from cutplane.shards.pair_sum import PairSumShard
from cutplane.shards.pairs import PairShard
from cutplane.shards.registry import make_shard
from cutplane.shards.rows import RowSet
from cutplane.shards.sum import SumShard
from cutplane.shards.sum_base import PlaneSumShard
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings, run
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.sources.class_scores import ClassScores

N, D, C, GAP = 280, 4, 20.0, 1e-3
Sizes = tuple[int, ...]
every_size = pytest.mark.parametrize("sizes", [(N,), (100, 180), (7, 73, 0, 60, 40, 40, 60)])
intercepts = pytest.mark.parametrize("intercept", [False, True])
# Every loss there is that is a sum over the examples.
RISKS: dict[str, Any] = {
    name: loss
    for name, loss in {**BINARY, **REGRESSION}.items()
    if isinstance(loss, type) and issubclass(loss, RoundedRisk)
}


class Absolute(Risk):
    """A user's own: the sum of weights[i] |score - y[i]|, of which the prover knows its planes alone."""

    def __init__(self, y: Any, weights: Any) -> None:
        self.y, self.weights = y, weights

    def value(self, scores: Any) -> float:
        return float(self.weights @ np.abs(scores - self.y))

    def cut(self, scores: Any) -> ScoreCut:
        coef = self.weights * np.sign(scores - self.y)
        return ScoreCut(coef, -float(coef @ self.y), self.value(scores))


def examples() -> tuple[Any, Any, Any]:
    """Features, targets in order (so that some parts have one label or some classes only), weights."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, D))
    z = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N) + 0.3
    order = np.argsort(z)
    return X[order], z[order], (rng.random(N) + 0.1)


def cut_up(shard: Any, sizes: Sizes) -> list[Any]:
    rows = [RowSet(np.arange(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    return [shard] if len(sizes) == 1 else [shard.part(some, gathered=True) for some in rows]


def separable(name: str, sizes: Sizes, *, intercept: bool) -> tuple[Any, Any]:
    X, z, weights = examples()
    shard = make_shard(as_source(X), RISKS[name](np.sign(z) if name in BINARY else z, weights), intercept=intercept)
    return shard, SumShard(cut_up(shard, sizes))


def classes(rescaling: str, sizes: Sizes, *, intercept: bool) -> tuple[Any, Any]:
    X, z, weights = examples()
    cost = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [1.5, 1.0, 0.0]])
    risk = Multiclass(np.digitize(z, [-0.5, 0.8]), 3, cost, rescaling=rescaling, sample_weight=weights)
    shard = MulticlassShard(ClassScores(as_source(X), None, 3), risk)
    return shard, MulticlassSumShard(cut_up(shard, sizes))


def pairs(equal_groups: bool, sizes: Sizes, *, intercept: bool) -> tuple[Any, Any]:
    X, z, _ = examples()
    queries = np.repeat(np.arange(N // 10), 10)
    risk = RankingRisk(np.rint(np.random.default_rng(0).permutation(z)), queries, equal_groups=equal_groups)
    shard = PairShard(as_source(X), risk)
    if len(sizes) == 1:
        return shard, PairSumShard([shard])
    ends = pairwise(np.cumsum((0, *sizes)) // 10)
    return shard, PairSumShard.mean_over([shard.of_queries(a, b) if b > a else None for a, b in ends])


def of_the_user(sizes: Sizes, *, intercept: bool) -> tuple[Any, Any]:
    X, z, weights = examples()
    weights = weights / weights.sum()

    def of(rows: slice) -> HostShard:
        return HostShard(as_source(X[rows]), Absolute(z[rows], weights[rows]))

    parts = [of(slice(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    return of(slice(None)), PlaneSumShard(parts)


PROBLEMS: dict[str, Any] = {
    **{name: partial(separable, name) for name in RISKS},
    "classes, margin": partial(classes, "margin"),
    "classes, slack": partial(classes, "slack"),
    "pairs": partial(pairs, False),
    "queries": partial(pairs, True),
    "a user's own": of_the_user,
}
SUMS = [name for name in PROBLEMS if name not in ("pairs", "queries")]  # these are means, and have no intercept
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def proven(
    shard: Any, *, intercept: bool, method: str = "auto", gap: float = GAP
) -> tuple[Result, Prover, list[Ledger]]:
    """A run on a shard that the shard itself has proven, who proved it, and the ledger of the run."""
    objective = objective_of(shard, intercept=intercept)
    settings = Settings(C, Stopping(relative_gap=gap, max_iter=3000), method)
    prover = prover_of(objective, settings)
    ledgers: list[Ledger] = []
    return run(objective, settings, prover, None, ledgers.append), prover, ledgers


def test_every_loss_that_is_a_sum_is_looked_at() -> None:
    assert {"hinge", "squared_hinge", "logistic", "epsilon_insensitive", "huber", "quantile"} <= RISKS.keys()


@every_problem
@every_size
@intercepts
@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_sum_proves_its_own_model(name: str, sizes: Sizes, intercept: bool, method: str) -> None:
    shard, parts = PROBLEMS[name](sizes, intercept=intercept)
    found, prover, (ledger,) = proven(parts, intercept=intercept, method=method)
    alone, prover_of_all, (ledger_of_all,) = proven(shard, intercept=intercept, method=method)
    assert found.stop_reason == alone.stop_reason == "gap"
    assert found.lower <= found.upper
    assert found.gap <= GAP
    # The optimum is between the bounds of either.
    assert found.lower <= alone.upper
    assert alone.lower <= found.upper
    # Both provers are of one problem: what they say of the same model and the same plane differs by rounding.
    upper = prover_of_all.upper(found.w, found.intercept)
    assert upper == pytest.approx(found.upper, rel=1e-11)
    assert prover_of_all.lower(ledger.witness, found.w, upper) == pytest.approx(found.lower, rel=1e-9)
    if len(sizes) == 1:  # a sum of one is that one
        assert prover.upper(alone.w, alone.intercept) == alone.upper
        assert prover.lower(ledger_of_all.witness, alone.w, alone.upper) == alone.lower


@every_problem
@intercepts
def test_bounds_hold_the_optimum(name: str, intercept: bool) -> None:
    shard, parts = PROBLEMS[name]((7, 73, 0, 60, 40, 40, 60), intercept=intercept)
    closely = proven(shard, intercept=intercept, gap=1e-5)[0]
    found = proven(parts, intercept=intercept, gap=1e-2)[0]
    assert found.lower <= closely.upper
    assert closely.lower <= found.upper


@pytest.mark.parametrize("name", SUMS)
@every_size
def test_no_best_intercept_is_beyond_its_bound(name: str, sizes: Sizes) -> None:
    shard, parts = PROBLEMS[name](sizes, intercept=True)
    bound, bound_of_all = parts.intercept_bound(), shard.intercept_bound()
    for w in np.random.default_rng(1).normal(size=(5, shard.dimension)) * 10.0:
        point = objective_of(parts, intercept=True).at(w)
        value, spread = parts.value(point.scores), parts.size(parts.at(w))
        furthest = np.ptp(point.intercept) if np.ndim(point.intercept) else abs(point.intercept)
        assert furthest <= bound(value, spread) < np.inf
        assert bound(value, spread) <= 10.0 * bound_of_all(value, spread)
        if len(sizes) == 1:
            assert bound(value, spread) == bound_of_all(value, spread)


def test_one_label_alone_bounds_no_intercept() -> None:
    X, _, _ = examples()
    part, other = (make_shard(as_source(X), Hinge(np.full(N, sign)), intercept=True) for sign in (1, -1))
    assert SumShard([part, part]).intercept_bound()(1.0, 1.0) == np.inf
    assert SumShard([part, other]).intercept_bound()(1.0, 1.0) < np.inf


@intercepts
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
def test_bounds_are_inequalities_of_real_numbers(intercept: bool, scale: float) -> None:
    """The hinge of a sum's model in whole numbers over a power of two: there is no rounding in it."""
    X, z, weights = examples()
    X, y, n = (scale * X).astype(np.float32), np.sign(z), 60
    X, y, weights = (array[:: N // n][:n] for array in (X, y, weights))
    shard: Any = make_shard(as_source(X), Hinge(y, weights), intercept=intercept)
    c = shard.risk.weights
    parts = SumShard([shard.part(RowSet(np.arange(*ends)), gathered=True) for ends in ((0, 11), (11, 40), (40, n))])
    for gap in (1e-1, 1e-4):
        found = proven(parts, intercept=intercept, gap=gap)[0]
        w, b = [Fraction(v) for v in found.w.tolist()], Fraction(float(found.intercept))
        truth = sum((v * v for v in w), Fraction(0)) / 2
        for row, label, weight in zip(X.tolist(), y.tolist(), c.tolist(), strict=True):
            score = sum((Fraction(x) * v for x, v in zip(row, w, strict=True)), b)
            truth += Fraction(C) * Fraction(weight) * max(Fraction(0), 1 - Fraction(label) * score)
        assert Fraction(found.lower) <= truth <= Fraction(found.upper)


@intercepts
def test_scores_in_single_precision_are_proven_in_double(intercept: bool) -> None:
    rng = np.random.default_rng(8)
    n = 80_000
    X = rng.normal(size=(n, D)).astype(np.float32)
    shard: Any = make_shard(as_source(X), Hinge(np.where(X[:, 0] + rng.normal(size=n) > 0.2, 1, -1)))
    parts = [shard.part(RowSet(np.arange(a, b)), gathered=True) for a, b in ((0, 70_000), (70_000, n))]
    single = SumShard(parts).in_single()
    assert single.rounding(by_columns=True).unit > SumShard(parts).rounding(by_columns=True).unit
    w = rng.normal(size=D)
    value, error = single.evaluated(w, 0.1, 0.0)
    assert (value, error) == SumShard(parts).evaluated(w, 0.1, 0.0)
    assert error < 1e-12


@intercepts
def test_a_part_may_be_a_sum(intercept: bool) -> None:
    shard, _ = separable("hinge", (N,), intercept=intercept)
    a, b, c = cut_up(shard, (90, 110, 80))
    found = proven(SumShard([SumShard([a, b]), c]), intercept=intercept)[0]
    alone = proven(shard, intercept=intercept)[0]
    assert found.lower <= alone.upper
    assert alone.lower <= found.upper
    assert found.gap <= GAP


@pytest.mark.parametrize("name", SUMS)
def test_the_sum_of_no_examples_costs_nothing(name: str) -> None:
    shard, parts = PROBLEMS[name]((0, 0, 0), intercept=False)
    assert parts.evaluated(np.ones(shard.dimension), 0.0, 0.0)[0] == 0.0


def test_a_sum_that_is_too_large_proves_nothing() -> None:
    assert evaluation_sum([Evaluation(1e308, 1.0), Evaluation(1e308, 1.0)]) == (np.inf, np.inf)


@pytest.mark.parametrize("count", [2, 7, 1000])
def test_a_sum_is_charged_for_its_own_rounding(count: int) -> None:
    rng = np.random.default_rng(count)
    parts = [Evaluation(float(v), float(e)) for v, e in zip(rng.random(count), 1e-16 * rng.random(count), strict=True)]
    value, error = evaluation_sum(parts)
    truth = sum((Fraction(part.value) for part in parts), Fraction(0))
    most = sum((Fraction(part.error) for part in parts), Fraction(0))
    assert abs(Fraction(value) - truth) + most <= Fraction(error)


def test_models_are_the_same_whoever_proves_them() -> None:
    shard, parts = classes("margin", (N,), intercept=True)
    found, alone = (proven(each, intercept=True, method="newton")[0] for each in (parts, shard))
    assert_array_equal(found.w, alone.w)
    assert (found.upper, found.lower) == (alone.upper, alone.lower)

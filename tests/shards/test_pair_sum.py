"""Pairs within queries over several shards: the sum of parts with whole queries is the shard of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.objectives.pairs import PairObjective
from cutplane.risks.ranking import RankingRisk
from cutplane.risks.roc_area import RocArea
from cutplane.shards.pair_sum import PairsAcrossPartsError, PairSumShard, by_queries
from cutplane.shards.pairs import PairShard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.newton.sampled import SampledNewton
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

N, D, QUERIES = 400, 5, 40
counts = pytest.mark.parametrize("count", [1, 2, 7])
equal = pytest.mark.parametrize("equal_groups", [True, False])
weighted = pytest.mark.parametrize("weighted", [False, True])


def whole(*, equal_groups: bool, weighted: bool = False, n: int = N) -> PairShard:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, D))
    queries = rng.integers(0, n // 10, n) ** 2  # their examples do not stand together
    y = np.rint(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n))
    y[queries == queries.min()] = 0.0  # the first has no pair
    weights = rng.random(n) if weighted else None
    return PairShard(as_source(X), RankingRisk(y, queries, weights, equal_groups=equal_groups))


@counts
@equal
@weighted
def test_sums_are_those_of_all_examples(count: int, equal_groups: bool, weighted: bool) -> None:
    shard = whole(equal_groups=equal_groups, weighted=weighted)
    parts = by_queries(shard, count)
    assert parts.share == pytest.approx(1.0)
    assert parts.total_mass == pytest.approx(shard.total_mass)
    rng = np.random.default_rng(1)
    (w, v), h = rng.normal(size=(2, D)), 0.6
    a, b, c, d = shard.at(w), shard.at(v), parts.at(w), parts.at(v)
    assert parts.value(c) == pytest.approx(shard.value(a), rel=1e-12)
    assert_allclose(parts.cut(c).slope, shard.cut(a).slope, atol=1e-12)
    rounded, expected = parts.smoothed(c, h), shard.smoothed(a, h)
    assert rounded[1:4] == pytest.approx(expected[1:4], rel=1e-9)
    plane, whole_plane = parts.plane(rounded, c, h), shard.plane(expected, a, h)
    assert_allclose(plane.slope, whole_plane.slope, atol=1e-12)
    assert plane.offset == pytest.approx(whole_plane.offset, rel=1e-9)
    assert parts.slope_along(rounded, d) == pytest.approx(shard.slope_along(expected, b), rel=1e-9)
    assert_allclose(parts.extrapolated(c, h, 1.2), shard.extrapolated(a, h, 1.2), atol=1e-12)
    ray, other = shard.ray(a, b), parts.ray(c, d)
    assert other.at(0.4) == pytest.approx(ray.at(0.4), rel=1e-9)
    here, there = shard.curvature(a, h), parts.curvature(c, h)
    assert_allclose(there.product(v), here.product(v), rtol=1e-9, atol=1e-12)
    assert_allclose(there.matrix(), here.matrix(), rtol=1e-4, atol=1e-6)


@counts
def test_no_query_is_cut(count: int) -> None:
    shard = whole(equal_groups=False)
    parts = by_queries(shard, count)
    assert parts.examples == N
    assert parts.total_mass == shard.risk.n_pairs  # every pair of the whole is a pair of some part


def test_a_part_without_a_pair_is_left_out() -> None:
    shard = whole(equal_groups=True)
    first, second = shard.of_queries(0, 20), shard.of_queries(20, 10_000)
    assert shard.of_queries(0, 1) is None
    parts = PairSumShard.mean_over([None, first, second])
    w = np.ones(D)
    assert parts.value(parts.at(w)) == pytest.approx(shard.value(shard.at(w)), rel=1e-12)


def test_a_part_may_be_a_sum() -> None:
    shard = whole(equal_groups=True)
    first, second = shard.of_queries(0, 15), shard.of_queries(15, 10_000)
    assert first is not None
    parts = PairSumShard.mean_over([by_queries(first, 2), second])
    w = np.ones(D)
    assert parts.value(parts.at(w)) == pytest.approx(shard.value(shard.at(w)), rel=1e-12)


def test_samples_estimate_the_whole() -> None:
    shard = whole(equal_groups=True, n=20_000)
    parts = by_queries(shard, 7)
    part = parts.sample(4000, np.random.default_rng(0))
    assert part is not None
    assert part.share == pytest.approx(1.0)
    assert 3000 < part.examples < 5000
    w = np.array([1.0, -0.5, 0.0, 0.0, 0.0])
    assert part.value(part.at(w)) == pytest.approx(shard.value(shard.at(w)), rel=0.05)


def test_samples_stand_for_parts_of_which_no_pair_was_drawn() -> None:
    shard = whole(equal_groups=True, n=20_000)
    parts = PairSumShard.mean_over([shard.of_queries(1, 3), shard.of_queries(3, 20_000)])
    for seed in range(10):
        part = parts.sample(2000, np.random.default_rng(seed))
        assert part is not None
        assert part.share == pytest.approx(1.0)


def test_pairs_across_all_examples_are_no_sum() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, D)), np.sign(rng.normal(size=50))
    area = PairShard(as_source(X), RocArea(y))
    one_query = PairShard(as_source(X), RankingRisk(y, np.zeros(50)))
    for shard in (area, one_query):
        with pytest.raises(PairsAcrossPartsError, match=r"qid"):
            by_queries(shard, 2)
        alone = by_queries(shard, 1)
        assert alone.value(alone.at(np.ones(D))) == shard.value(shard.at(np.ones(D)))
    with pytest.raises(PairsAcrossPartsError, match=r"qid"):
        PairSumShard([area, area])


def run(shard: Any, solver: Any, gap: float) -> Ledger:
    objective = PairObjective(shard)
    ledger = Ledger(20.0, Bundle(D), Stopping(relative_gap=gap, max_iter=1000), rounding=objective.rounding)
    assert solver.run(objective, ledger) == "gap"
    return ledger


SOLVERS: dict[str, Any] = {
    "newton": SampledNewton,
    "oca": lambda: CuttingPlane(ExactLineSearch()),
    "cpa": CuttingPlane.cpa,
}


@counts
@equal
@pytest.mark.parametrize("solver", SOLVERS)
def test_models_are_those_of_all_examples(count: int, equal_groups: bool, solver: str) -> None:
    gap = 1e-5 if solver == "newton" else 1e-3
    shard = whole(equal_groups=equal_groups)
    parts = by_queries(whole(equal_groups=equal_groups), count)
    alone, together = (run(each, SOLVERS[solver](), gap) for each in (shard, parts))
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper
    if count == 1:  # a sum of one is that one
        assert alone.incumbent is not None
        assert together.incumbent is not None
        assert_array_equal(alone.incumbent.w, together.incumbent.w)
        assert (alone.upper, alone.lower) == (together.upper, together.lower)


@counts
def test_newton_starts_from_samples(count: int) -> None:
    shard = whole(equal_groups=True, n=6000)
    alone, together = (run(each, SampledNewton(), 1e-4) for each in (shard, by_queries(shard, count)))
    assert "sample" in together.history[0].phases
    assert alone.lower <= together.upper
    assert together.lower <= alone.upper


def test_scores_that_are_written_over_are_sorted_anew() -> None:
    shard, other = whole(equal_groups=True), whole(equal_groups=True)
    a, b = shard.at(np.zeros(D)), shard.at(np.arange(D) / D)
    shard.value(b)
    mixed = shard.blend(a, b, 0.3, b)
    assert mixed is b
    assert shard.value(mixed) == other.value(mixed.copy())
    assert shard.ray(mixed, a).at(0.0) == pytest.approx(other.risk.ray(mixed, a).at(0.0), rel=1e-12)

"""Runs on the same objective know nothing of one another, but for what is handed over."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cutplane.estimators.common.training import prover_of
from cutplane.objectives.factory import objective_of
from cutplane.risks.hinge import Hinge
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.ranking import RankingRisk
from cutplane.shards.multiclass import MulticlassShard
from cutplane.shards.multiclass_sum import MulticlassSumShard
from cutplane.shards.pairs import PairShard
from cutplane.shards.registry import make_shard
from cutplane.shards.rows import RowSet
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings, run
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.sources.class_scores import ClassScores

N, K = 600, 4
rng = np.random.default_rng(3)
CODES = rng.integers(0, K, N)
X = rng.normal(size=(N, 6)) + CODES[:, None] * np.linspace(0.3, -0.2, 6)


def classes(rescaling: str) -> MulticlassShard:
    return MulticlassShard(ClassScores(as_source(X), None, K), Multiclass(CODES, K, rescaling=rescaling))


def in_parts() -> MulticlassSumShard:
    whole = classes("margin")
    return MulticlassSumShard([whole.part(RowSet(np.arange(*ends)), gathered=True) for ends in ((0, 200), (200, N))])


SHARDS: dict[str, Any] = {
    "two classes": lambda: make_shard(as_source(X), Hinge(np.where(CODES > 1, 1, -1))),
    "classes, margin": lambda: classes("margin"),
    "classes, slack": lambda: classes("slack"),
    "classes in parts": in_parts,
    "pairs": lambda: PairShard(as_source(X), RankingRisk(CODES, np.arange(N) // 20)),
}
methods = pytest.mark.parametrize("method", ["auto", "oca", "cpa"])


def trained(objective: Any, C: float, method: str) -> Result:
    settings = Settings(C, Stopping(relative_gap=1e-3, max_iter=2000), method, n_threads=1)
    return run(objective, settings, prover_of(objective, settings))


def assert_same(a: Result, b: Result) -> None:
    """To the last bit: the model, what is proven of it, and every step on the way."""
    assert_array_equal(a.w, b.w)
    assert_array_equal(a.intercept, b.intercept)
    assert (a.upper, a.lower, a.stop_reason) == (b.upper, b.lower, b.stop_reason)
    assert [(step.upper, step.lower) for step in a.history] == [(step.upper, step.lower) for step in b.history]


@pytest.mark.parametrize("name", SHARDS)
@pytest.mark.parametrize("intercept", [False, True])
@methods
def test_what_was_trained_before_changes_nothing(name: str, intercept: bool, method: str) -> None:
    used = objective_of(SHARDS[name](), intercept=intercept)
    for C in (100.0, 0.5):
        trained(used, C, method)
    assert_same(trained(used, 20.0, method), trained(objective_of(SHARDS[name](), intercept=intercept), 20.0, method))


@pytest.mark.parametrize("name", SHARDS)
@methods
def test_side_by_side_runs_give_what_each_gives_alone(name: str, method: str) -> None:
    shared, grid = objective_of(SHARDS[name]()), (0.5, 5.0, 20.0, 100.0)
    with ThreadPoolExecutor(len(grid)) as pool:
        together = list(pool.map(lambda C: trained(shared, C, method), grid))
    for C, result in zip(grid, together, strict=True):
        assert_same(result, trained(objective_of(SHARDS[name]()), C, method))


def test_an_objective_is_left_as_it_was() -> None:
    objective = objective_of(classes("margin"))
    begun = objective.begun()
    assert begun.shard is not objective.shard
    assert begun.examples == objective.examples
    hinge = objective_of(SHARDS["two classes"]())
    assert hinge.begun() is hinge  # which keeps nothing

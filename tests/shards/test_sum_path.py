"""A path of C over a sum of shards gives the models of all examples."""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cutplane.estimators.common.training import prover_of
from cutplane.estimators.linear.c_path import _follow_all
from cutplane.objectives.factory import objective_of
from cutplane.risks.hinge import Hinge
from cutplane.risks.logistic import Logistic
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from cutplane.shards.multiclass import MulticlassShard
from cutplane.shards.multiclass_sum import MulticlassSumShard
from cutplane.shards.registry import make_shard
from cutplane.shards.rows import RowSet
from cutplane.shards.sum import SumShard
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source
from cutplane.sources.class_scores import ClassScores

N, D, GAP = 4000, 4, 1e-4
GRID = [0.1, 1.0, 3.0, 100.0]
intercepts = pytest.mark.parametrize("intercept", [False, True])
methods = pytest.mark.parametrize("method", ["auto", "newton", "oca"])
sizes = pytest.mark.parametrize("sizes", [(N,), (1500, 0, 2500), (70, 930, 1000, 500, 500, 600, 400)])


def examples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, D))
    return X, X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N) + 0.3


def two_classes(risk: Any, intercept: bool) -> Any:
    X, z = examples()
    return make_shard(as_source(X), risk(np.sign(z)), intercept=intercept)


def targets(intercept: bool) -> Any:
    X, z = examples()
    return make_shard(as_source(X), SquaredEpsilonInsensitive(z), intercept=intercept)


def several_classes(intercept: bool) -> Any:
    X, z = examples()
    risk = Multiclass(np.digitize(z, [-0.5, 0.8]), 3)
    return MulticlassShard(ClassScores(as_source(X), None, 3), risk)


SHARDS: dict[str, tuple[Any, type[SumShard]]] = {
    "hinge": (partial(two_classes, Hinge), SumShard),
    "logistic": (partial(two_classes, Logistic), SumShard),
    "squared epsilon": (targets, SumShard),
    "classes": (several_classes, MulticlassSumShard),
}


def path_of(objective: Any, method: str) -> dict[float, Result]:
    settings = Settings(1.0, Stopping(relative_gap=GAP, max_iter=2000), method)
    return _follow_all(objective, settings, 1.0, GRID, partial(prover_of, objective))


@cache
def path_of_all(kind: str, intercept: bool, method: str) -> dict[float, Result]:
    """The same however the examples are shared out."""
    objective = objective_of(SHARDS[kind][0](intercept), intercept=intercept)
    return path_of(objective, method)


@pytest.mark.parametrize("kind", SHARDS)
@sizes
@intercepts
@methods
def test_paths_are_those_of_all_examples(kind: str, sizes: tuple[int, ...], intercept: bool, method: str) -> None:
    make, add_up = SHARDS[kind]
    _shard, other = make(intercept), make(intercept)
    rows = [RowSet(np.arange(a, b)) for a, b in pairwise(np.cumsum((0, *sizes)))]
    parts = add_up([other] if len(sizes) == 1 else [other.part(some, gathered=True) for some in rows])
    alone = path_of_all(kind, intercept, method)
    together = path_of(objective_of(parts, intercept=intercept), method)
    assert list(alone) == list(together) == GRID
    for C in GRID:
        a, b = alone[C], together[C]
        assert a.stop_reason == b.stop_reason == "gap"
        assert a.lower <= b.upper  # each proven where its examples lie
        assert b.lower <= a.upper
        assert b.gap <= GAP
        if len(sizes) == 1 and method != "auto":  # which has dual ascent, where examples can be visited one by one
            assert_array_equal(a.w, b.w)
            assert (a.upper, a.lower) == (b.upper, b.lower)


@pytest.mark.parametrize("count", [1, 2, 7])
@intercepts
def test_samples_show_the_way_along_a_path(count: int, intercept: bool) -> None:
    """With ample examples the first steps are made on a sample, which is kept for the next C."""
    rng = np.random.default_rng(3)
    n = 70_000
    X = rng.normal(size=(n, D)).astype(np.float32)
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n) > -0.3, 1, -1)
    whole: Any = make_shard(as_source(X), Hinge(y), intercept=intercept)
    rows = [RowSet(np.arange(k * n // count, (k + 1) * n // count)) for k in range(count)]
    parts = SumShard([whole] if count == 1 else [whole.part(some, gathered=True) for some in rows])
    objective = objective_of(whole, intercept=intercept)
    alone = path_of(objective, "newton")
    together = path_of(objective_of(parts, intercept=intercept), "newton")
    for C in GRID:
        assert alone[C].lower <= together[C].upper
        assert together[C].lower <= alone[C].upper
        assert together[C].gap <= GAP
        if count == 1:
            assert_array_equal(alone[C].w, together[C].w)
    assert any("sample" in step.phases for step in together[GRID[0]].history)

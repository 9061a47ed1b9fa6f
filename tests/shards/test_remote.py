"""Shards that lie elsewhere answer as those of this process do, to the bit."""

from __future__ import annotations

import gc
import itertools
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.estimators.common.training import prover_of
from cutplane.objectives.factory import in_single, objective_of
from cutplane.risks.base import RoundedRisk
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards.registry import make_shard
from cutplane.shards.remote import RemoteRoundedShard, RemoteShard
from cutplane.shards.rounds import Errand, Host, Line
from cutplane.shards.rows import RowSet
from cutplane.shards.sum import SumShard
from cutplane.shards.sum_base import PlaneSumShard
from cutplane.solvers.base import ShardLostError
from cutplane.solvers.run import Settings, run
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

N, D = 600, 5
SIZES = (150, 300, 0, 150)
RISKS: dict[str, Any] = {
    name: loss
    for name, loss in {**BINARY, **REGRESSION}.items()
    if isinstance(loss, type) and issubclass(loss, RoundedRisk)
}


class Post:
    """Takes errands to hosts and answers back, as bytes: nothing else gets through."""

    def __init__(self, shards: list[Any]) -> None:
        self.hosts = [Host(shard) for shard in shards]

    def __call__(self, errands: Mapping[int, Errand]) -> Mapping[int, Any]:
        there = pickle.loads(pickle.dumps(dict(errands)))
        return pickle.loads(pickle.dumps({part: self.hosts[part].run(errand) for part, errand in there.items()}))


def parts(name: str, *, intercept: bool) -> list[Any]:
    rng = np.random.default_rng(sorted(RISKS).index(name))
    X = rng.normal(size=(N, D))
    z = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N) + 0.3
    risk: RoundedRisk = RISKS[name](np.sign(z) if name in BINARY else z, rng.random(N) + 0.1)
    shard = make_shard(as_source(X), risk, intercept=intercept)
    ends = np.cumsum((0, *SIZES))
    return [shard.part(RowSet(np.arange(a, b)), gathered=True) for a, b in itertools.pairwise(ends)]


def remote(shards: list[Any], kind: type[RemoteShard] = RemoteRoundedShard) -> tuple[list[Any], Line, Post]:
    post = Post(shards)
    line = Line(post)
    return [kind.first(line, number) for number in range(len(shards))], line, post


def trained(shard: Any, *, intercept: bool, method: str, C: float = 3.0) -> Any:
    objective = in_single(objective_of(shard, intercept=intercept), 1e-3)
    settings = Settings(C, Stopping(relative_gap=1e-6 if method != "cpa" else 1e-2), method=method)
    return run(objective, settings, prover_of(objective, settings))


@pytest.mark.parametrize("name", RISKS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_run_is_the_same_to_the_bit(name: str, intercept: bool, method: str) -> None:
    here = trained(SumShard(parts(name, intercept=intercept)), intercept=intercept, method=method)
    there, line, _ = remote(parts(name, intercept=intercept))
    found = trained(SumShard(there), intercept=intercept, method=method)
    assert found.stop_reason == here.stop_reason
    assert_array_equal(found.w, here.w)
    assert (found.upper, found.lower) == (here.upper, here.lower)
    assert line.rounds > 0


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_part_alone(name: str, intercept: bool) -> None:
    """All rows of a cluster in one partition."""
    only = parts(name, intercept=intercept)[1:2]
    here = trained(SumShard(only), intercept=intercept, method="auto")
    there, _, _ = remote(parts(name, intercept=intercept)[1:2])
    found = trained(SumShard(there), intercept=intercept, method="auto")
    assert found.lower <= here.upper
    assert here.lower <= found.upper
    assert found.upper - found.lower <= 1e-6 * found.upper


def test_what_centres_a_curvature_comes_with_it() -> None:
    here = SumShard(parts("squared_hinge", intercept=True))
    there, line, _ = remote(parts("squared_hinge", intercept=True))
    shard, v = SumShard(there), np.arange(1.0, D + 1.0)
    for ask in ("matrix", "product"):
        expected = here.curvature(here.at(v), 0.5, centred=True)
        before = line.rounds
        curvature = shard.curvature(shard.at(v), 0.5, centred=True)
        arguments = (v,) if ask == "product" else ()
        assert_array_equal(getattr(curvature, ask)(*arguments), getattr(expected, ask)(*arguments))
        assert curvature.shift(v) == expected.shift(v) != 0.0
        assert line.rounds == before + 1


def test_cutting_planes_alone() -> None:
    here = trained(PlaneSumShard(parts("hinge", intercept=True)), intercept=True, method="cpa")
    there, _, _ = remote(parts("hinge", intercept=True), RemoteShard)
    found = trained(PlaneSumShard(there), intercept=True, method="cpa")
    assert_array_equal(found.w, here.w)
    assert (found.upper, found.lower) == (here.upper, here.lower)


def test_handles_wait_for_no_round() -> None:
    there, line, _ = remote(parts("hinge", intercept=False))
    whole = SumShard(there)
    before = line.rounds
    w = np.ones(D)
    a, b = whole.at(w), whole.at(2.0 * w)
    c = whole.blend(a, b, 0.3)
    d = whole.shifted(c, 0.1)
    assert line.rounds == before
    whole.value(d)
    assert line.rounds == before + 1
    whole.cut(d)
    assert line.rounds == before + 2


def test_what_nobody_holds_is_forgotten() -> None:
    there, _, post = remote(parts("hinge", intercept=False))
    whole = SumShard(there)
    for _ in range(20):
        whole.value(whole.at(np.ones(D)))
    gc.collect()
    whole.value(whole.at(np.ones(D)))
    assert all(len(host._objects) <= 4 for host in post.hosts)


def test_what_goes_wrong_there_goes_wrong_here() -> None:
    there, _, _ = remote(parts("hinge", intercept=False))
    whole = SumShard(there)
    with pytest.raises(ValueError, match="one row per feature"):
        whole.value(whole.at(np.ones(D + 1)))
    assert whole.value(whole.at(np.zeros(D))) == pytest.approx(1.0)


class LosingPost(Post):
    """Loses all that was made of the shards in some rounds."""

    def __init__(self, shards: list[Any]) -> None:
        super().__init__(shards)
        self.shards = shards
        self.rounds = 0
        self.losing: set[int] = set()

    def __call__(self, errands: Mapping[int, Errand]) -> Mapping[int, Any]:
        self.rounds += 1
        if self.rounds not in self.losing:
            return super().__call__(errands)
        self.hosts = [Host(shard) for shard in self.shards]
        raise ShardLostError


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_run_that_loses_its_shards_goes_on(name: str, intercept: bool, method: str) -> None:
    here = trained(SumShard(parts(name, intercept=intercept)), intercept=intercept, method=method)
    post = LosingPost(parts(name, intercept=intercept))
    line = Line(post)
    whole = SumShard([RemoteRoundedShard.first(line, number) for number in range(len(SIZES))])
    objective = in_single(objective_of(whole, intercept=intercept), 1e-3)
    settings = Settings(3.0, Stopping(relative_gap=1e-4), method=method)
    prover = prover_of(objective, settings)
    before = post.rounds
    run(objective, settings, prover)
    needed = post.rounds - before
    for share in (0.0, 0.4, 0.9):
        first = post.rounds + max(1, int(share * needed))
        post.losing = {first, first + needed // 5 + 1}
        losses = line.losses
        found = run(objective, settings, prover)
        assert line.losses > losses
        assert found.stop_reason == "gap"
        assert found.lower <= here.upper
        assert here.lower <= found.upper


def test_facts_of_a_lost_round_are_asked_again() -> None:
    post = LosingPost(parts("hinge", intercept=False))
    shard = RemoteRoundedShard.first(Line(post), 0)
    derived = shard.keeping().begun()
    subset = derived.near(derived.at(np.zeros(D)), 1.0)
    post.losing = {post.rounds + 1}
    with pytest.raises(ShardLostError):
        shard.value(shard.at(np.ones(D))).now()
    assert derived.keeps
    assert derived.examples == SIZES[0]
    with pytest.raises(ShardLostError):
        len(subset)


@pytest.mark.parametrize("name", RISKS)
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array])
def test_shards_can_be_sent(name: str, layout: Any) -> None:
    rng = np.random.default_rng(2)
    X = layout(np.round(rng.normal(size=(40, D)), 1))
    y, weights = np.sign(rng.normal(size=40)), rng.random(40)
    shard = make_shard(as_source(X), RISKS[name](y, weights)).part(RowSet(np.arange(5, 30)), scale=2.0)
    sent = pickle.loads(pickle.dumps(shard))
    w = rng.normal(size=D)
    assert sent.examples == 25
    # rows that lie apart are summed up in another order
    assert sent.value(sent.at(w)) == pytest.approx(shard.value(shard.at(w)), rel=1e-14)
    assert_allclose(sent.cut(sent.at(w)).slope, shard.cut(shard.at(w)).slope, rtol=1e-13)

"""Rankings whose queries lie elsewhere: as those of this process, to the bit."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cutplane.estimators.common.training import prover_of
from cutplane.objectives.factory import objective_of
from cutplane.risks.ranking import RankingRisk
from cutplane.shards.pair_sum import PairSumShard, by_queries
from cutplane.shards.pairs import PairShard
from cutplane.shards.rounds import Errand, Host, Line
from cutplane.shards.scattered_pairs import RemotePairShard
from cutplane.solvers.run import Settings, run
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

N, D, PARTS = 6000, 5, 3


def whole(*, equal_groups: bool) -> PairShard:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    queries = np.sort(rng.integers(0, N // 12, N))
    y = np.rint(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=N))
    return PairShard(as_source(X), RankingRisk(y, queries, rng.random(N) + 0.5, equal_groups=equal_groups))


class Post:
    """Takes errands to hosts and answers back, as bytes: nothing else gets through."""

    def __init__(self, shards: list[Any]) -> None:
        self.hosts = [Host(shard) for shard in shards]

    def __call__(self, errands: Mapping[int, Errand]) -> Mapping[int, Any]:
        there = pickle.loads(pickle.dumps(dict(errands)))
        return pickle.loads(pickle.dumps({part: self.hosts[part].run(errand) for part, errand in there.items()}))


@pytest.mark.parametrize("equal_groups", [True, False])
@pytest.mark.parametrize("method", ["auto", "oca"])
def test_a_run_is_the_same_to_the_bit(equal_groups: bool, method: str) -> None:
    parts = by_queries(whole(equal_groups=equal_groups), PARTS)._parts
    line = Line(Post(list(parts)))
    there = [RemotePairShard.first(line, number) for number in range(PARTS)]
    found = []
    for shard in (PairSumShard(parts), PairSumShard(there)):
        objective = objective_of(shard)
        settings = Settings(30.0, Stopping(relative_gap=1e-5), method=method)
        found.append(run(objective, settings, prover_of(objective, settings)))
    here, elsewhere = found
    assert here.stop_reason == elsewhere.stop_reason == "gap"
    assert_array_equal(here.w, elsewhere.w)
    assert (here.upper, here.lower) == (elsewhere.upper, elsewhere.lower)
    assert line.rounds > 0


def test_pairs_can_be_sent() -> None:
    shard = whole(equal_groups=True).weighing(0.25)
    sent = pickle.loads(pickle.dumps(shard))
    w = np.linspace(-1.0, 1.0, D)
    assert sent.value(sent.at(w)) == shard.value(shard.at(w))
    assert (sent.share, sent.total_mass, sent.risk.total_weight) == (0.25, shard.total_mass, shard.risk.total_weight)


def test_parts_are_cut_between_queries() -> None:
    queries = whole(equal_groups=True).risk.groups
    assert queries is not None
    assert all(a <= b for a, b in pairwise(queries))

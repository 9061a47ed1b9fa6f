"""Newton's method from a width that is too narrow: examples with a feature to themselves are far from their kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane.objectives.factory import objective_of
from cutplane.risks.epsilon_insensitive import EpsilonInsensitive
from cutplane.shards.registry import make_shard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.newton.start import Start
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

N, RARE = 4000, 40


@pytest.mark.parametrize("each", [2, 5])
@pytest.mark.parametrize("off", [1.0, 5.0])
def test_rare_features_that_the_start_knows_nothing_of(each: int, off: float) -> None:
    """As after a sample that has none of their examples: the rounded risk does not bend in their weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3 + RARE))
    X[:, 3:] = 0.0
    rows = np.arange(each * RARE)
    X[rows, 3 + rows // each] = 1.0
    y = X[:, 0] + 0.3 * rng.normal(size=N)
    y[rows] += np.repeat(off * rng.normal(size=RARE), each)
    shard: Any = make_shard(as_source(X), EpsilonInsensitive(y, epsilon=0.1))
    objective: Any = objective_of(shard)
    stopping = Stopping(relative_gap=1e-6, max_iter=200)
    ledger = Ledger(10.0 * N, Bundle(3 + RARE), stopping, rounding=objective.rounding)
    w = np.eye(3 + RARE)[0]
    # By the narrow width alone it gave up after 18 to 21 steps, with a gap of 0.97 or more.
    assert SmoothedNewton().run(objective, ledger, Start(w, 0.0, 0.02, scored=objective.at(w))) == "gap"

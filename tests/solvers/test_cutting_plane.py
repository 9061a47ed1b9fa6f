"""Where cutting planes are taken, and what comes of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC
from cutplane.objective import Objective
from cutplane.risks.hinge import Hinge
from cutplane.solvers.bundle import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

SOLVERS = {"nearer": CuttingPlane(), "published": CuttingPlane.published(ExactLineSearch()), "cpa": CuttingPlane.cpa()}


class Recorder(Objective):
    """Keeps the steps and how far ahead planes were taken."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.taken: list[tuple[float, float]] = []

    def advance(self, a: Any, b: Any, step: float, mu: float, C: float) -> Any:
        self.taken.append((step, mu))
        return super().advance(a, b, step, mu, C)


def taken(solver: CuttingPlane, *, intercept: bool) -> np.ndarray:
    """Rows of step and mu."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0.0, 1, -1)
    objective = Recorder(as_source(X), Hinge(y), intercept=intercept)
    solver.run(objective, Ledger(100.0, Bundle(8), Stopping(relative_gap=1e-4, max_iter=1000)))
    return np.array(objective.taken)


def test_planes_are_taken_twice_as_far_ahead_as_the_step_went() -> None:
    step, mu = taken(SOLVERS["nearer"], intercept=False).T
    assert (mu == np.clip(2.0 * step, 0.005, 0.1)).all()
    assert mu.min() == 0.005
    assert mu.max() == 0.1
    assert ((mu > 0.005) & (mu < 0.1)).any()


@pytest.mark.parametrize(
    ("name", "intercept", "mu"), [("nearer", True, 0.1), ("published", False, 0.1), ("cpa", False, 1.0)]
)
def test_planes_are_taken_at_a_fixed_part_of_the_way(name: str, intercept: bool, mu: float) -> None:
    assert (taken(SOLVERS[name], intercept=intercept)[:, 1] == mu).all()


def test_where_classes_cannot_be_told_apart_near_planes_prove_it_sooner() -> None:
    iterations = {"exact": 0, "published": 0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.random((800, 10)), rng.choice(8, size=800, p=[0.5, 0.42, 0.02, 0.02, 0.01, 0.01, 0.01, 0.01])
        models = []
        for search in iterations:
            model = LinearSVC(
                20.0, multi_class="crammer_singer", method="oca", line_search=search, tol=0.01, fit_intercept=False
            ).fit(X, y)
            assert all(after.upper <= before.upper for before, after in pairwise(model.history_))
            iterations[search] += model.n_iter_
            models.append(model)
        assert max(model.lower_bound_ for model in models) <= min(model.objective_ for model in models)
    assert 2 * iterations["exact"] < iterations["published"]

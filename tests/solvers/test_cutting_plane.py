"""Where cutting planes are taken, and what comes of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC
from cutplane.objectives.generic import Objective
from cutplane.objectives.intercepts import FreeIntercept, NoIntercept
from cutplane.risks.hinge import Hinge
from cutplane.shards.host import HostShard
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.stopping import Stopping
from cutplane.sources import as_source

SOLVERS = {"default": CuttingPlane(), "published": CuttingPlane.published(ExactLineSearch()), "cpa": CuttingPlane.cpa()}


class Recorder(Objective):
    """Keeps the steps and how far ahead planes were taken."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.taken: list[tuple[float, float]] = []

    def advance(self, a: Any, b: Any, step: float, mu: float, C: float) -> Any:
        self.taken.append((step, mu))
        return super().advance(a, b, step, mu, C)


def taken(solver: CuttingPlane, *, intercept: bool, iterations: int = 50) -> np.ndarray:
    """Rows of step and mu."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0.0, 1, -1)
    kind = FreeIntercept if intercept else NoIntercept
    objective = Recorder(HostShard(as_source(X), Hinge(y)), intercept=kind)
    solver.run(objective, Ledger(100.0, Bundle(8), Stopping(relative_gap=0.0, max_iter=iterations)))
    return np.array(objective.taken)


class Script:
    """A line search that has been told what to find."""

    def __init__(self, steps: list[float]) -> None:
        self._steps = iter(steps)

    def step(self, objective: Any, incumbent: Any, candidate: Any, C: float) -> float:
        return next(self._steps)


def ahead(steps: list[float]) -> list[float]:
    """Where planes are taken after these steps."""
    return taken(CuttingPlane(Script(steps)), intercept=False, iterations=len(steps))[:, 1].tolist()


def test_planes_are_taken_twice_as_far_ahead_as_the_longer_of_two_steps_went() -> None:
    assert ahead([0.3, 0.05, 0.02, 0.004, 0.001, 0.001]) == [0.1, 0.1, 0.1, 0.04, 0.008, 0.005]


def test_planes_come_closer_while_no_step_is_better() -> None:
    assert ahead([0.0, 0.0, 0.0, 0.001, 0.0]) == pytest.approx([0.005, 0.004, 0.0032, 0.005, 0.005])
    assert ahead([0.0] * 30)[-1] == pytest.approx(1e-4)


@pytest.mark.parametrize(
    ("name", "intercept", "mu"), [("default", True, 0.1), ("published", False, 0.1), ("cpa", False, 1.0)]
)
def test_planes_are_taken_at_a_fixed_part_of_the_way(name: str, intercept: bool, mu: float) -> None:
    assert (taken(SOLVERS[name], intercept=intercept)[:, 1] == mu).all()


def test_where_classes_cannot_be_told_apart_near_planes_prove_it_sooner() -> None:
    iterations = {"adaptive": 0, "exact": 0}
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
    assert 2 * iterations["adaptive"] < iterations["exact"]

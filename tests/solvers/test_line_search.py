"""Line searches on functions whose minimum is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.objectives.generic import Objective
from cutplane.risks.hinge import Hinge
from cutplane.shards.host import HostShard
from cutplane.solvers.line_search import ExactLineSearch, NoLineSearch, ThreePointLineSearch
from cutplane.sources import DenseSource


class Line(NamedTuple):
    objective: Objective
    start: np.ndarray
    end: np.ndarray
    C: float

    def value(self, k: float) -> float:
        w = self.start + k * (self.end - self.start)
        return 0.5 * float(w @ w) + self.C * self.objective.value(self.objective.at(w))

    def step(self, search) -> float:
        return search.step(self.objective, self.objective.at(self.start), self.objective.at(self.end), self.C)


class NoRay(Hinge):
    """A risk that offers no exact ray."""

    def ray(self, start, end):
        return None


def make(seed: int, log_C: float, risk: type[Hinge] = Hinge) -> Line:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=50) > 0, 1, -1)
    return Line(Objective(HostShard(DenseSource(X), risk(y))), *rng.normal(size=(2, 3)), 10.0**log_C)


seeds, logs = st.integers(0, 10_000), st.floats(-2, 4)


@given(seeds, logs)
def test_the_exact_step_is_the_best(seed: int, log_C: float) -> None:
    line = make(seed, log_C)
    k = line.step(ExactLineSearch())
    assert k >= 0.0
    best = min(line.value(t) for t in np.concatenate([np.linspace(0, 4, 81), k + np.linspace(0, 0.01, 5)]))
    assert line.value(k) <= best * (1 + 1e-12)


@given(seeds, logs)
def test_without_a_ray_values_are_compared(seed: int, log_C: float) -> None:
    exact = make(seed, log_C)
    sought = make(seed, log_C, NoRay)
    assert sought.value(sought.step(ExactLineSearch())) <= exact.value(exact.step(ExactLineSearch())) * (1 + 1e-6)
    assert sought.step(ThreePointLineSearch()) == pytest.approx(exact.step(ThreePointLineSearch()))


@given(seeds, logs)
def test_three_points_end_with_the_lowest_in_the_middle(seed: int, log_C: float) -> None:
    """Of a convex function the minimum is then between the outer two."""
    line = make(seed, log_C)
    search = ThreePointLineSearch()
    k = line.step(search)
    exact = min(np.linspace(-6, 8, 1401), key=line.value)
    assert abs(k - exact) <= max(0.04, 4.0 * abs(k - 1.0)), "the last stride is about as long as all before it"
    assert line.value(k) <= line.value(1.0), "where it began"
    assert search.start == k, "the next search begins where this one ended"


def test_there_is_no_way_to_nowhere() -> None:
    line = make(0, 0.0)._replace(end=make(0, 0.0).start)
    assert line.step(ExactLineSearch()) == 0.0
    assert np.isfinite(line.step(ThreePointLineSearch()))


def test_cpa_takes_the_candidate() -> None:
    assert make(0, 0.0).step(NoLineSearch()) == 1.0

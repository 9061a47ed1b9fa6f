"""What a step of Newton's method looks at: samples of all examples, and the examples near their kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cutplane.shards.rows import RowSet, spread
from cutplane.solvers.base import SmoothedCut
from cutplane.solvers.newton.neighbourhood import Neighbourhood
from cutplane.solvers.newton.rounded import Evaluation


@given(st.integers(1, 200), st.integers(0, 300), st.integers(0, 5))
def test_a_sample_has_one_example_of_each_stretch(size: int, more: int, seed: int) -> None:
    n = size + more
    drawn = spread(n, size, np.random.default_rng(seed)).positions
    ends = np.arange(size + 1) * n // size
    assert np.all(ends[:-1] <= drawn)
    assert np.all(drawn < ends[1:])


class Line:
    """Examples with kinks at 0, 1, 2, ... on a line; a point is a place, and those within a distance of it are near."""

    def __init__(self, examples: int, kinks: int) -> None:
        self.examples = examples
        self.kinks = kinks

    def evaluated(self, residual: float = 1.0) -> Evaluation:
        cut = SmoothedCut(np.zeros(1), 0.0, 0.0, 1.0, self.kinks)
        return Evaluation(cut, np.zeros(1), 1.0, 0.0, residual, 1.0)

    def near_kinks(self, place: float, radius: float) -> RowSet:
        return RowSet(np.flatnonzero(np.abs(np.arange(self.examples) - place) <= radius))

    def near(self, place: float, whole: SmoothedCut, h: float, subset: RowSet) -> Any:
        return subset.positions

    def crossed(self, place: float, direction: float) -> RowSet:
        at = np.arange(self.examples)
        return RowSet(np.flatnonzero((at > place) & (at <= place + direction)))


def test_few_examples_met_on_the_way_are_near_from_then_on() -> None:
    line, near = Line(1000, 10), Neighbourhood(0.2)
    assert_array_equal(near.restrict(line, 500.0, line.evaluated(), 16.0, 0.7), np.arange(452, 549))
    assert not near.learn(line, 500.0, 50.0, ("end", 1.0), 0.3)  # 549 and 550 were met: two of 97
    assert_array_equal(near.restrict(line, 500.0, line.evaluated(), 8.0, 0.7), np.arange(452, 551))
    assert near.learn(line, 500.0, 40.0, ("end", 1.0), 1.0)  # none: they are forgotten
    assert_array_equal(near.restrict(line, 500.0, line.evaluated(), 16.0, 0.7), np.arange(452, 549))


def test_many_examples_met_on_the_way_widen_what_is_near() -> None:
    line, near = Line(1000, 10), Neighbourhood(0.2)
    near.restrict(line, 500.0, line.evaluated(), 16.0, 0.7)
    assert not near.learn(line, 500.0, 300.0, ("end", 1.0), 0.2)
    assert near.reach == 6.0
    assert_array_equal(near.restrict(line, 500.0, line.evaluated(), 16.0, 0.7), np.arange(404, 597))
    assert near.learn(line, 500.0, 300.0, ("end", 1.0), 0.6)  # the greater part was taken: no further
    assert near.reach == 6.0


@pytest.mark.parametrize(("kinks", "h"), [(40, 1.0), (10, 40.0)])
def test_all_examples_where_too_many_are_near(kinks: int, h: float) -> None:
    line = Line(1000, kinks)
    assert Neighbourhood(0.2).restrict(line, 500.0, line.evaluated(), h, 0.7) is None


def test_all_examples_where_the_first_point_is_far_off_or_a_step_was_lost() -> None:
    line, near = Line(1000, 10), Neighbourhood(0.2)
    assert near.restrict(line, 500.0, line.evaluated(1e3), 1.0, 0.7) is None
    assert near.restrict(line, 500.0, line.evaluated(1e3), 1.0, 0.7) is not None  # the first point only
    assert not near.learn(line, 500.0, 300.0, ("end", 1.0), 0.01)
    assert near.restrict(line, 500.0, line.evaluated(), 1.0, 0.7) is None
    assert near.restrict(line, 500.0, line.evaluated(), 1.0, 0.7) is not None


@pytest.mark.parametrize(
    ("kinks", "residual", "shrunk"),
    [
        (40, 1.0, 0.7),  # the next width is hardly finer
        (40, 2.0, 0.5),  # too far from the rounded optimum
        (39, 1.0, 0.5),  # too few on kinks of that width
    ],
)
def test_examples_on_kinks_alone_where_these_are_plenty_and_settled(kinks: int, residual: float, shrunk: float) -> None:
    bold = Neighbourhood(0.2, bold=True)
    line = Line(1000, 40)
    assert_array_equal(bold.restrict(line, 500.0, line.evaluated(), 40.0, 0.5), np.arange(480, 521))
    assert Neighbourhood(0.2).restrict(line, 500.0, line.evaluated(), 40.0, 0.5) is None
    line = Line(1000, kinks)
    assert bold.restrict(line, 500.0, line.evaluated(residual), 40.0, shrunk) is None

"""Distances and spreads of runs are those of their bounds."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from cutplane.report.run_shapes import above, below, gaps, spread
from cutplane.solvers.result import Step

values = st.lists(st.tuples(st.floats(0.0, 10.0), st.floats(1.0, 9.0), st.floats(0.0, 1.0)), min_size=1, max_size=12)


def run(found: list[tuple[float, float, float]]) -> list[Step]:
    """Steps in the order of time, with bounds that hold: the optimum is 1."""
    return [Step(i, second, upper, lower) for i, (second, upper, lower) in enumerate(sorted(found), 1)]


@given(values)
def test_the_optimum_is_no_further_than_the_distances_say(found: list[tuple[float, float, float]]) -> None:
    steps = run(found)
    for distance, true in ((above, lambda step: step.upper - 1.0), (below, lambda step: 1.0 - step.lower)):
        points = distance(steps)
        at = dict(zip(points.seconds, points.values, strict=True))
        for step in steps:
            if step.seconds in at and [other.seconds for other in steps].count(step.seconds) == 1:
                assert at[step.seconds] >= true(step) - 1e-12


@given(st.lists(values, min_size=1, max_size=5))
def test_every_run_is_between_the_worst_and_the_best(found: list[list[tuple[float, float, float]]]) -> None:
    runs = [run(each) for each in found]
    moments, worst, best = spread(runs)
    assert all(low <= high for low, high in zip(best, worst, strict=True))
    shown = [points for points in map(gaps, runs) if points.seconds]
    if moments:
        assert worst[-1] == max(points.values[-1] for points in shown)
        assert best[-1] == min(points.values[-1] for points in shown)
        assert moments[0] == max(points.seconds[0] for points in shown)
    else:
        assert not shown


def test_what_has_no_logarithm_is_left_out() -> None:
    steps = [Step(1, 0.1, math.inf, -math.inf), Step(2, 0.2, 2.0, 1.0), Step(3, 0.3, 1.0, 1.0)]
    assert gaps(steps) == ([0.2], [0.5])
    assert above(steps) == ([0.2], [1.0])
    assert below(steps) == ([], [])

"""What a history looks like on a logarithmic axis: the distances of both bounds, and the worst of several runs."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cutplane.solvers.result import Step


class Points(NamedTuple):
    """Values over the seconds of training, all of them positive and finite."""

    seconds: list[float]
    values: list[float]


def gaps(run: Sequence[Step]) -> Points:
    """The proven relative gap; one of exactly 0 has no place on a logarithmic axis."""
    return _positive((step.seconds, step.gap) for step in run)


def above(run: Sequence[Step]) -> Points:
    """How far the objective is above the last lower bound, which the optimum is not below."""
    last = max(step.lower for step in run)
    return _positive((step.seconds, step.upper - last) for step in run)


def below(run: Sequence[Step]) -> Points:
    """How far the lower bound is below the last objective, which the optimum is not above."""
    last = min(step.upper for step in run)
    return _positive((step.seconds, last - step.lower) for step in run)


class Spread(NamedTuple):
    """The largest and the smallest of several runs' gaps over time."""

    seconds: list[float]
    worst: list[float]
    best: list[float]


def spread(runs: Sequence[Sequence[Step]]) -> Spread:
    """The gap of the worst and of the best run, from the moment on when each has proven one.

    Each run has its own clock; one that has ended keeps its last gap. A gap of 0 is left out of the best.
    """
    found = [points for points in map(gaps, runs) if points.seconds]
    if not found:
        return Spread([], [], [])
    begin = max(points.seconds[0] for points in found)
    moments = sorted({begin, *(second for points in found for second in points.seconds if second > begin)})
    now = [[_at(points, moment) for points in found] for moment in moments]
    return Spread(moments, [max(each) for each in now], [min(each) for each in now])


def _at(points: Points, moment: float) -> float:
    """The last value until then."""
    return points.values[bisect_right(points.seconds, moment) - 1]


def _positive(pairs: Iterable[tuple[float, float]]) -> Points:
    kept = [(second, value) for second, value in pairs if 0.0 < value < math.inf]
    return Points([second for second, _ in kept], [value for _, value in kept])

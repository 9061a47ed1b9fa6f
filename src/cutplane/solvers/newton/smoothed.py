"""Smoothed Newton: round the kinks, solve, round more finely; every evaluation is also a plane.

With v = -C·slope, the plane of an evaluation proves C·offset - ½|v|², and the gap it leaves is ½|w - v|² plus C·error:
the distance from the rounded optimum, and what rounding costs. The width h is narrowed when the first falls below half
the second.

Few passes over all the data are needed, because most work is done on few examples: first on a sample, then on the
examples near their kinks, the others replaced by their tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cutplane.solvers.base import Evaluated, Point, ScoredPoint, SmoothedCut, bare
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import most_examples
from cutplane.solvers.newton.neighbourhood import Neighbourhood
from cutplane.solvers.newton.progress import Progress, Within
from cutplane.solvers.newton.rounded import FOR_ROUNDING, Evaluation, evaluate, next_width, shrinking, widened
from cutplane.solvers.newton.samples import sample_sizes
from cutplane.solvers.newton.start import Start, worth_a_sample
from cutplane.solvers.newton.step import is_far_enough, newton_direction, search
from cutplane.solvers.newton.system import NewtonSystem
from cutplane.solvers.protocols import SmoothObjectiveLike
from cutplane.solvers.result import StopReason

# The width after one that is solved, relative to it; less where samples have shown the way, for they are many.
_NARROWING, _NARROWING_ON_SAMPLES = 0.15, 0.25
# Scores are not known more finely, relative to the first width.
_LEAST_WIDTH = 2.5e-13
# How close a sample comes to the whole, relative to its features over its examples; where it has the slope of the whole
# at some point, relative to the gap there.
_SAMPLE_TELLS, _ANCHORED_TELLS = 1.0, 0.01
# Where the examples near their kinks are fewer than this fraction, steps are made on these alone.
_FEW = 0.2
_FEW_OF_NEAR = 0.3
_FEW_OF_SAMPLE = 0.15


@dataclass
class SmoothedNewton:
    """Newton's method on the rounded objective, certified by the bundle.

    Parameters
    ----------
    seed : int
        For the samples the first steps are made on.
    """

    seed: int = 0

    def run(self, objective: SmoothObjectiveLike, ledger: Ledger, start: Start | None = None) -> StopReason:
        """Go on until the ledger says why to stop, or "stalled" if no step helps any more."""
        system = NewtonSystem(objective.dimension)
        # About twice as many are within a width of their kinks, which is as far as they move.
        progress = Progress(objective, ledger, most_examples(objective) // 2)
        narrowing = _NARROWING
        if start is None:
            narrowing = _NARROWING_ON_SAMPLES
            start = self._from_samples(objective, ledger, system)
        elif start.anchor is not None:
            start = self._from_anchored_sample(objective, ledger, start.anchor, system)
        elif start.known is None and worth_a_sample(objective, ledger):
            # Even where a sample would lead astray from the last model: from here it is less far.
            with ledger.phase("cut"):
                point, h, cut = _check(objective, ledger.C, start)
                now = evaluate(cut or objective.smoothed(point, h), point.w, ledger.C)
            if progress.done(point, now, 0.0, h, 1):
                return progress.reason or "stalled"
            start = self._from_anchored_sample(objective, ledger, Evaluated(point, now.cut, h), system)
            del point
        begin = partial(_check, objective, ledger.C, start)
        _minimise(objective, ledger, begin, system, progress, few=_FEW, narrowing=narrowing, known=start.known)
        return progress.reason or ("time_limit" if ledger.overdue else "stalled")

    def _from_samples(self, objective: SmoothObjectiveLike, ledger: Ledger, system: NewtonSystem) -> Start:
        """A good start from growing samples, as far as samples can tell."""
        n, d = objective.examples, objective.dimension
        start = Start(np.zeros(d), 0.0, objective.first_width)
        generator = np.random.default_rng(self.seed)
        with ledger.phase("sample"):
            for size in sample_sizes(n, d):
                sample = objective.draw(size, generator)
                part = objective.estimate(sample)
                if ledger.handover.more:
                    ledger.handover.keep_sample(sample)
                # A closer fit to the sample says nothing of the whole, and leaves a width too narrow to go on with.
                within = Within(max(ledger.allowed_fraction, _SAMPLE_TELLS * d / size), 30)
                point, h = _on_sample(part, ledger, partial(_check, part, ledger.C, start), system, within)
                value = 0.5 * float(point.w @ point.w) + ledger.C * part.value(point)
                start = Start(point.w, point.intercept, h, value)
                del sample, part, point  # makes room for the next copy
                if ledger.overdue:
                    break
        return start

    def _from_anchored_sample(
        self, objective: SmoothObjectiveLike, ledger: Ledger, anchor: Evaluated, system: NewtonSystem
    ) -> Start:
        """A start from a sample that has the slope of the whole at some point, and tells more for it."""
        n = objective.examples
        with ledger.phase("sample"):
            if ledger.handover.sample is None:
                size = sample_sizes(n, objective.dimension)[-1]
                ledger.handover.keep_sample(objective.draw(size, np.random.default_rng(self.seed)))
            part, there = ledger.handover.on_sample(objective, anchor)
            scale = abs(ledger.upper)
            within = Within(max(ledger.allowed_fraction, _ANCHORED_TELLS * (ledger.upper - ledger.lower) / scale), 30)
            aim = FOR_ROUNDING * within.tolerance * scale
            h = min(objective.first_width, widened(anchor.h, ledger.C * anchor.cut.error, aim))
            point, h = _on_sample(part, ledger, partial(_balanced, part, there, h), system, within)
        return Start(point.w, point.intercept, h)


# A point to begin at, the width of rounding, and the plane there if it is known.
_Beginning = tuple[ScoredPoint, float, SmoothedCut | None]


def _balanced(objective: SmoothObjectiveLike, point: ScoredPoint, h: float) -> _Beginning:
    return objective.balance(point, h), h, None


def _check(objective: SmoothObjectiveLike, C: float, start: Start) -> _Beginning:
    """The start that a sample suggests, or a more cautious one where the sample has misled."""
    point, h, cut = start.scored, start.h, None
    if point is None:
        point, cut = objective.stepped(None, start.w, h) or (objective.score(start.w, start.intercept), None)
    if np.isfinite(start.expected):
        value = 0.5 * float(start.w @ start.w) + C * (objective.value(point) if cut is None else cut.value)
        if value > 1.5 * start.expected:
            point, h, cut = objective.score(np.zeros_like(start.w), 0.0), objective.first_width, None
        else:
            # What rounding costs falls as h²: choose h so that it costs about what the sample was off.
            error = C * (objective.rounding_error(point, h) if cut is None else cut.error)
            off = 0.25 * (value - start.expected)
            if off > error > 0.0:
                h, cut = min(objective.first_width, widened(h, error, off)), None
    return objective.balance(point, h), h, cut


def _on_sample(
    part: SmoothObjectiveLike,
    ledger: Ledger,
    begin: Callable[[], _Beginning],
    system: NewtonSystem,
    within: Within,
) -> tuple[ScoredPoint, float]:
    return _minimise(part, ledger, begin, system, within, few=_FEW_OF_SAMPLE, narrowing=_NARROWING_ON_SAMPLES)


def _minimise(
    objective: SmoothObjectiveLike,
    ledger: Ledger,
    begin: Callable[[], _Beginning],
    system: NewtonSystem,
    until: Any,
    *,
    few: float,
    narrowing: float,
    known: Evaluation | None = None,
) -> tuple[ScoredPoint, float]:
    """Newton steps; each is many steps on the examples near their kinks, where these are a fraction below `few`.

    `begin` makes the first point and width: with many examples, scores are most of what training takes, and no one but
    the loop holds on to those it has left behind. `known` is the evaluation there, where it has been made before and
    did not end the run.
    """
    C = ledger.C
    neighbourhood = Neighbourhood(few, bold=until.bold)
    step, tries = 1.0, 0
    with until.phase("scores"):
        point, h, cut = begin()
    while True:
        tries += 1
        if known is None:
            with until.phase("cut"):
                now = evaluate(cut or objective.smoothed(point, h), point.w, C)
            if until.done(point, now, step, h, tries) or ledger.overdue:
                return point, h
        else:
            now, known = known, None
        with until.phase("newton"):
            inner = _near_step(objective, ledger, point, now, h, neighbourhood, system, until, narrowing)
            if inner is not None:
                end, h_next, inner_tries = inner
                p, shift = end.w - point.w, end.intercept - point.intercept
            else:
                h_next = max(_LEAST_WIDTH * objective.first_width, next_width(now, h, narrowing, until.tolerance))
                p, shift = newton_direction(objective, C, point, now, h, h_next, system, bold=until.bold)
        if until.proven(0.0) if inner is not None else ledger.overdue:
            return point, h
        with until.phase("scores"):
            # Scores and plane of a whole step are found in one pass; after a shorter one, the next may be as well.
            whole = step == 1.0 and h_next == h and inner is None and until.goes_whole(now)
            tried = objective.stepped(point, p, h) if whole else None
            if tried is not None and is_far_enough(now, C, p, *tried):
                (point, cut), step = tried, 1.0
                continue
            direction = objective.score(p, shift) if tried is None else objective.between(point, tried[0])
            cut = tried = None
        with until.phase("line_search"):
            first = float(now.gradient @ p) if h_next == h and not objective.intercept else None
            step = search(objective, point, direction, h_next, C, first)
        if h_next < h and step < 0.15:
            narrowing = 0.5  # too many examples met their kinks on the way: narrow with more care
        if inner is not None:
            tries = inner_tries
            if not neighbourhood.learn(objective, point, direction, (end, h_next), step):
                h_next = h
        elif h_next != h:
            tries = 0
        moved = objective.move(point, direction, step)
        if not ledger.moved(direction, step):
            moved = objective.score(moved.w, moved.intercept)
        point, h = objective.balance(moved, h_next), h_next
        del direction, moved


def _near_step(
    objective: SmoothObjectiveLike,
    ledger: Ledger,
    point: ScoredPoint,
    now: Evaluation,
    h: float,
    neighbourhood: Neighbourhood,
    system: NewtonSystem,
    until: Any,
    narrowing: float,
) -> tuple[Point, float, int] | None:
    """Where many steps on the examples near their kinks end; None where these are many.

    Also the width reached, and the steps since it was last narrowed.
    """
    if until.in_one_step(now):
        return None
    near = neighbourhood.restrict(objective, point, now, h, shrinking(now, narrowing, until.tolerance))
    if near is None:
        return None
    within = Within(until.tolerance_near, 30, until.few_kinks, bold=True, proves=until.proves)

    def begin() -> _Beginning:
        return *neighbourhood.start(near, point, h), None

    known = now if neighbourhood.starts_afresh else None
    end, h_next = _minimise(near, ledger, begin, system, within, few=_FEW_OF_NEAR, narrowing=narrowing, known=known)
    return bare(end), h_next, within.tries

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

import numpy as np

from cutplane.solvers.base import Evaluated, ScoredPoint
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import most_examples
from cutplane.solvers.newton.minimiser import Beginning, Minimiser
from cutplane.solvers.newton.progress import Progress, Within
from cutplane.solvers.newton.rounded import evaluate, widened
from cutplane.solvers.newton.samples import sample_sizes
from cutplane.solvers.newton.start import Start, worth_a_sample
from cutplane.solvers.newton.system import NewtonSystem
from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike
from cutplane.solvers.result import StopReason


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
        narrowing = TUNING.narrowing
        if start is None:
            narrowing = TUNING.narrowing_on_samples
            start = self._from_samples(objective, ledger, system)
        elif start.anchor is not None:
            start = self._from_anchored_sample(objective, ledger, start.anchor, system)
        elif start.known is None and worth_a_sample(objective, ledger):
            # Even where a sample would lead astray from the last model: from here it is less far.
            with ledger.phase("cut"):
                point, h, cut = _check(objective, ledger.C, start)
                now = evaluate(cut or objective.smoothed(point, h), point.w, ledger.C)
            if progress.record(point, now, 0.0, h, 1):
                return progress.reason or "stalled"
            start = self._from_anchored_sample(objective, ledger, Evaluated(point, now.cut, h), system)
            del point
        begin = partial(_check, objective, ledger.C, start)
        Minimiser(objective, ledger, system, progress, few=TUNING.few, narrowing=narrowing).run(begin, start.known)
        return progress.reason or ("time_limit" if ledger.overdue else "stalled")

    def _from_samples(self, objective: SmoothObjectiveLike, ledger: Ledger, system: NewtonSystem) -> Start:
        """A good start from growing samples, as far as samples can tell."""
        d = objective.dimension
        start = Start(np.zeros(d), 0.0, objective.first_width)
        generator = np.random.default_rng(self.seed)
        with ledger.phase("sample"):
            sizes = sample_sizes(objective, ledger.allowed_fraction)
            for size, sample in zip(sizes, objective.samples(sizes, generator), strict=True):
                part = objective.estimate(sample)
                if ledger.handover.more:
                    ledger.handover.keep_sample(sample)
                # A closer fit to the sample says nothing of the whole, and leaves a width too narrow to go on with.
                within = Within(max(ledger.allowed_fraction, TUNING.sample_tells * d / size), TUNING.most_inner_steps)
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
        with ledger.phase("sample"):
            if ledger.handover.sample is None:
                size = sample_sizes(objective, ledger.allowed_fraction)[-1]
                ledger.handover.keep_sample(objective.draw(size, np.random.default_rng(self.seed)))
            part, there = ledger.handover.on_sample(objective, anchor)
            scale = abs(ledger.upper)
            within = Within(
                max(ledger.allowed_fraction, TUNING.anchored_sample_tells * (ledger.upper - ledger.lower) / scale),
                TUNING.most_inner_steps,
            )
            aim = TUNING.for_rounding * within.tolerance * scale
            h = min(objective.first_width, widened(anchor.h, ledger.C * anchor.cut.error, aim))
            point, h = _on_sample(part, ledger, partial(_balanced, part, there, h), system, within)
        return Start(point.w, point.intercept, h)


def _balanced(objective: SmoothObjectiveLike, point: ScoredPoint, h: float) -> Beginning:
    return objective.balance(point, h), h, None


def _check(objective: SmoothObjectiveLike, C: float, start: Start) -> Beginning:
    """The start that a sample suggests, or a more cautious one where the sample has misled."""
    point, h, cut = start.scored, start.h, None
    if point is None:
        point, cut = objective.stepped(None, start.w, h) or (objective.score(start.w, start.intercept), None)
    if np.isfinite(start.expected):
        value = 0.5 * float(start.w @ start.w) + C * (objective.value(point) if cut is None else cut.value)
        if value > TUNING.misled * start.expected:
            point, h, cut = objective.score(np.zeros_like(start.w), 0.0), objective.first_width, None
        else:
            # What rounding costs falls as h²: choose h so that it costs about what the sample was off.
            error = C * (objective.rounding_error(point, h) if cut is None else cut.error)
            off = TUNING.for_sample_error * (value - start.expected)
            if off > error > 0.0:
                h, cut = min(objective.first_width, widened(h, error, off)), None
    return objective.balance(point, h), h, cut


def _on_sample(
    part: SmoothObjectiveLike, ledger: Ledger, begin: Callable[[], Beginning], system: NewtonSystem, within: Within
) -> tuple[ScoredPoint, float]:
    few, narrowing = TUNING.few_of_sample, TUNING.narrowing_on_samples
    return Minimiser(part, ledger, system, within, few=few, narrowing=narrowing).run(begin)

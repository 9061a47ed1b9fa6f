"""Smoothed Newton: round the kinks, solve, round more finely; every evaluation is also a plane.

With v = -C·slope, the plane of an evaluation proves C·offset - ½|v|², and the gap it leaves is ½|w - v|² plus C·error:
the distance from the rounded optimum, and what rounding costs. The width h is narrowed when the first falls below half
the second.

Few passes over all the data are needed, because most work is done on few examples: first on a sample, then on the
examples near their kinks, the others replaced by their tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np

from cutplane.solvers.base import Array, Curvature, Point, SmoothedCut, bare
from cutplane.solvers.interior_point import NearHingesLike, finish, most_examples
from cutplane.solvers.ledger import IDLE_SOLVES, Ledger
from cutplane.solvers.neighbourhood import Neighbourhood
from cutplane.solvers.newton_step import newton_direction, search
from cutplane.solvers.newton_system import NewtonSystem
from cutplane.solvers.result import StopReason
from cutplane.solvers.rounded import Evaluation, evaluate, next_width, shrinking
from cutplane.solvers.samples import AMPLE, sample_sizes, spread

# The width after one that is solved, relative to it; less where samples have shown the way, for they are many.
_NARROWING, _NARROWING_ON_SAMPLES = 0.15, 0.25
# Scores are not known more finely, relative to the first width.
_LEAST_WIDTH = 2.5e-13
# A start from elsewhere is rounded so that this costs the given fraction of the gap it leaves; less where nearly all is
# left, which is no measure of how far the weights are off.
_START_ERROR, _START_ERROR_IF_FAR, _FAR = 0.15, 0.07, 0.5
# Where the error of a start is foreseen, rounding may cost as much as that, or this fraction of the gap aimed at.
_LEAST_ERROR = 0.3
# A start from elsewhere goes by a sample where these tell nearly all and the gap is above this.
_WORTH_A_SAMPLE = 0.03
# What the gap of a sample may be, of the one aimed at, where it has the slope of the whole at the start.
_ANCHORED = 0.5
# How close a sample comes to the whole, relative to its features over its examples.
_SAMPLE_TELLS = 1.0
# Where the examples near their kinks are fewer than this fraction, steps are made on these alone.
_FEW = 0.2
_FEW_OF_NEAR = 0.3
_FEW_OF_SAMPLE = 0.15
# What their own problem may leave of the gap aimed at.
_FOR_NEAR = 0.5
# Where the gap asked for is this much less than what rounding costs, several narrowings away, and the last one took
# this many steps, an interior point ends the run as soon as few enough examples are near their kinks.
_FAR_OFF = 20.0
_MANY_STEPS = 7


class SmoothObjectiveLike(Protocol):
    """An objective that can round its kinks: see `cutplane.objective.SmoothObjective`."""

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def examples(self) -> int: ...  # noqa: D102

    @property
    def first_width(self) -> float: ...  # noqa: D102

    def score(self, w: Array, intercept: float) -> Any: ...  # noqa: D102

    def settle(self, point: Any) -> Any: ...  # noqa: D102

    def value(self, point: Any) -> float: ...  # noqa: D102

    def balance(self, point: Any, h: float) -> Any: ...  # noqa: D102

    def smoothed(self, point: Any, h: float) -> SmoothedCut: ...  # noqa: D102

    def rounding_error(self, point: Any, h: float) -> float: ...  # noqa: D102

    def extrapolated_slope(self, point: Any, h: float, reach: float) -> Array: ...  # noqa: D102

    def curvature(self, point: Any, h: float) -> Curvature: ...  # noqa: D102

    def move(self, point: Any, direction: Any, t: float) -> Any: ...  # noqa: D102

    def smoothed_ray(self, point: Any, direction: Any, t: float, h: float) -> tuple[float, float, float]: ...  # noqa: D102

    @property
    def anchors_samples(self) -> bool: ...  # noqa: D102

    @property
    def proves_by_parts(self) -> bool: ...  # noqa: D102

    def sample(self, rows: Any, anchor: Any = None) -> SmoothObjectiveLike: ...  # noqa: D102

    def near_rows(self, point: Any, radius: float) -> Any: ...  # noqa: D102

    def near(self, point: Any, whole: SmoothedCut, h: float, rows: Any) -> SmoothObjectiveLike: ...  # noqa: D102

    def crossed(self, point: Any, direction: Any) -> Any: ...  # noqa: D102

    def most_near_hinges(self, work: float) -> int: ...  # noqa: D102

    def near_hinges(self, point: Any, radius: float, most: int) -> NearHingesLike: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin: weights, intercept, width of rounding, and the objective that a sample promised there."""

    w: Array
    intercept: float
    h: float
    expected: float = float("inf")
    scored: Any = None  # the same as a point of the objective, where it is known


def narrowed_start(objective: SmoothObjectiveLike, ledger: Ledger) -> Start | None:
    """The incumbent, with a rounding that costs about as much as the gap still open."""
    point = ledger.incumbent
    if point is None:
        return None
    h, gap = objective.first_width, ledger.upper - ledger.lower
    allowed = gap * (_START_ERROR_IF_FAR if gap > _FAR * ledger.upper else _START_ERROR)
    allowed = min(allowed, max(ledger.foreseen_error, _LEAST_ERROR * ledger.allowed_fraction * abs(ledger.upper)))
    least = 2.5e-7 * h
    while h > least and (error := ledger.C * objective.rounding_error(point, h)) > allowed:
        # It falls no faster than h², mostly.
        h *= 0.5 ** max(1, int(0.5 * np.log2(error / allowed)))
    return Start(point.w, point.intercept, h, scored=point)


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
        sizes, narrowing = sample_sizes(objective.examples, objective.dimension), _NARROWING
        if start is None:
            narrowing = _NARROWING_ON_SAMPLES
            start = Start(np.zeros(objective.dimension), 0.0, objective.first_width)
        else:
            # A sample tells nothing of what is nearer than this.
            tells = bool(sizes) and ledger.upper - ledger.lower > _WORTH_A_SAMPLE * ledger.upper
            sizes = sizes[-1:] if tells and objective.examples >= AMPLE * objective.dimension else []
        # About twice as many are within a width of their kinks, which is as far as they move.
        progress = _Progress(objective, ledger, most_examples(objective) // 2)
        if sizes and start.scored is not None and objective.anchors_samples:
            anchor = objective.balance(start.scored, start.h)
            with ledger.phase("cut"):
                now = evaluate(objective.smoothed(anchor, start.h), anchor.w, ledger.C)
            if progress.done(anchor, now, 0.0, start.h, 1):
                return progress.reason or "stalled"
            with ledger.phase("sample"):
                start = self._from_anchored_sample(objective, ledger, anchor, start.h, now.cut, system, sizes[-1])
            del anchor
        elif sizes:
            with ledger.phase("sample"):
                start = self._from_samples(objective, ledger, start, system, sizes)
        begin = partial(_check, objective, ledger.C, start)
        _minimise(objective, ledger, begin, system, progress, few=_FEW, narrowing=narrowing)
        return progress.reason or ("time_limit" if ledger.overdue else "stalled")

    def _from_samples(
        self, objective: SmoothObjectiveLike, ledger: Ledger, start: Start, system: NewtonSystem, sizes: list[int]
    ) -> Start:
        """A good start from growing samples, as far as samples can tell."""
        n, d = objective.examples, objective.dimension
        generator = np.random.default_rng(self.seed)
        for size in sizes:
            part = objective.sample(spread(n, size, generator))
            # A closer fit to the sample says nothing of the whole, and leaves a width too narrow to go on with.
            tolerance = max(ledger.allowed_fraction, _SAMPLE_TELLS * d / size)
            start = self._from_sample(part, ledger, start, system, tolerance)
            del part  # makes room for the next copy
        return start

    def _from_anchored_sample(
        self,
        objective: SmoothObjectiveLike,
        ledger: Ledger,
        anchor: Any,
        h: float,
        whole: SmoothedCut,
        system: NewtonSystem,
        size: int,
    ) -> Start:
        """A start from a sample that has the slope of the whole at some point, and tells more for it."""
        rows = spread(objective.examples, size, np.random.default_rng(self.seed))
        part = objective.sample(rows, (anchor, whole, h))
        within = _Within(_ANCHORED * ledger.allowed_fraction, 30)
        begin = partial(_check, part, ledger.C, Start(anchor.w, anchor.intercept, h))
        point, h = _minimise(part, ledger, begin, system, within, few=_FEW_OF_SAMPLE, narrowing=_NARROWING_ON_SAMPLES)
        return Start(point.w, point.intercept, h)

    @staticmethod
    def _from_sample(
        part: SmoothObjectiveLike, ledger: Ledger, start: Start, system: NewtonSystem, tolerance: float
    ) -> Start:
        within = _Within(tolerance, 30)
        begin = partial(_check, part, ledger.C, replace(start, scored=None))
        point, h = _minimise(part, ledger, begin, system, within, few=_FEW_OF_SAMPLE, narrowing=_NARROWING_ON_SAMPLES)
        value = 0.5 * float(point.w @ point.w) + ledger.C * part.value(point)
        return Start(point.w, point.intercept, h, value)


@dataclass
class _Within:
    """Ends when the gap of an auxiliary problem is small enough, after so many steps, or where few kinks are left."""

    tolerance: float
    steps: int
    few_kinks: int = 0
    bold: bool = False  # as a part of the whole; an attempt that fails costs a sample more than it may save
    proves: Ledger | None = None  # where planes of the auxiliary problem are planes of the whole
    tries: int = 0

    @property
    def tolerance_near(self) -> float:
        """The relative gap that a problem of the near examples may leave: some for their tangents, once."""
        return self.tolerance if self.bold else _FOR_NEAR * self.tolerance

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Not timed: its caller is."""
        return nullcontext()

    def proven(self, step: float) -> bool:
        """Whether planes found since the last evaluation have proven the gap of the best point of all."""
        return self.proves is not None and self.proves.proven

    def done(self, point: Any, now: Evaluation, step: float, h: float, tries: int) -> bool:
        """Whether to end here."""
        self.steps -= 1
        self.tries = tries
        if self.proves is not None and _prove(self.proves, now):
            return True
        if self.steps < 0 or now.upper - now.lower <= self.tolerance * abs(now.upper):
            return True
        return _hard_to_narrow(now, tries, self.tolerance, self.few_kinks)


@dataclass
class _Progress:
    """Ends when the ledger says so; every evaluation on the way is certified and entered there."""

    objective: SmoothObjectiveLike
    ledger: Ledger
    few_kinks: int
    reason: StopReason | None = None
    idle: int = 0
    bold: ClassVar[bool] = True

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Time for the books."""
        return self.ledger.phase(name)

    @property
    def proves(self) -> Ledger | None:
        """The books that planes of a part of the examples go to, with tangents for the others.

        Where another C comes next, good weights to start from are worth more than a proof of those there are.
        """
        proves = self.objective.proves_by_parts and not self.ledger.keeps_scores
        return self.ledger if proves else None

    def proven(self, step: float) -> bool:
        """Whether planes found since the last evaluation have proven the gap of the best point."""
        if not self.ledger.proven:
            return False
        self.reason = self.ledger.close_iteration(step)
        return True

    @property
    def tolerance(self) -> float:
        """The relative gap aimed at."""
        return self.ledger.allowed_fraction

    @property
    def tolerance_near(self) -> float:
        """The relative gap that a problem of the near examples may leave."""
        return _FOR_NEAR * self.tolerance

    def done(self, point: Any, now: Evaluation, step: float, h: float, tries: int) -> bool:
        """Whether to end here."""
        ledger = self.ledger
        before = ledger.upper - ledger.lower
        settled = self.objective.settle(point)
        value = now.cut.value if settled is point else self.objective.value(settled)
        better = ledger.offer(settled if ledger.keeps_scores else bare(settled), value)
        ledger.prove(now.lower)
        with ledger.phase("qp"):
            ledger.bundle.add(now.cut.slope, now.cut.offset)
            if not ledger.proven:
                ledger.prove(ledger.bundle.solve(ledger.C).lower)
                ledger.bundle.prune(IDLE_SOLVES)
        self.reason = ledger.close_iteration(step)
        self.idle = 0 if ledger.upper - ledger.lower < 0.98 * before else self.idle + 1
        if self.reason is None and _hard_to_narrow(now, tries, self.tolerance, self.few_kinks):
            base = settled if better else self._incumbent()
            ended = finish(self.objective, ledger, point, base, h, 2 * self.few_kinks)
            self.few_kinks = 0  # once
            self.reason = None if ended == "stalled" else ended
        return self.reason is not None or self.idle >= 15

    def _incumbent(self) -> Any:
        """The best point known, scored again: the books mostly hold weights alone, for scores take much room."""
        best = self.ledger.incumbent
        assert best is not None
        return self.objective.settle(self.objective.score(best.w, best.intercept))


def _prove(ledger: Ledger, now: Evaluation) -> bool:
    """Enter a plane that may raise the lower bound; whether that is enough."""
    if now.lower > ledger.lower:
        ledger.bundle.add(now.cut.slope, now.cut.offset)
        ledger.prove(now.lower)
        if not ledger.proven:
            ledger.prove(ledger.bundle.solve(ledger.C).lower)
    return ledger.proven


def _hard_to_narrow(now: Evaluation, tries: int, tolerance: float, few_kinks: int) -> bool:
    """Whether the rounded problem took many steps, much finer rounding is needed, and few are on their kinks."""
    solved = now.residual < 0.5 * now.error and tries >= _MANY_STEPS
    return solved and now.cut.kinks <= few_kinks and now.error > _FAR_OFF * tolerance * abs(now.upper)


def _check(objective: SmoothObjectiveLike, C: float, start: Start) -> tuple[Any, float]:
    """The start that a sample suggests, or a more cautious one where the sample has misled."""
    point, h = start.scored, start.h
    if point is None:
        point = objective.score(start.w, start.intercept)
    if np.isfinite(start.expected):
        value = 0.5 * float(start.w @ start.w) + C * objective.value(point)
        if value > 1.5 * start.expected:
            point, h = objective.score(np.zeros_like(start.w), 0.0), objective.first_width
        else:
            # What rounding costs falls as h²: choose h so that it costs about what the sample was off.
            error = C * objective.rounding_error(point, h)
            off = 0.25 * (value - start.expected)
            if off > error > 0.0:
                h = min(objective.first_width, h * float(np.sqrt(off / error)))
    return objective.balance(point, h), h


def _minimise(
    objective: SmoothObjectiveLike,
    ledger: Ledger,
    begin: Callable[[], tuple[Any, float]],
    system: NewtonSystem,
    until: Any,
    *,
    few: float,
    narrowing: float,
    known: Evaluation | None = None,
) -> tuple[Any, float]:
    """Newton steps; each is many steps on the examples near their kinks, where these are a fraction below `few`.

    `begin` makes the first point and width: with many examples, scores are most of what training takes, and no one but
    the loop holds on to those it has left behind. `known` is the evaluation there, where it has been made before.
    """
    C = ledger.C
    neighbourhood = Neighbourhood(few, bold=until.bold)
    step, tries = 1.0, 0
    with until.phase("scores"):
        point, h = begin()
    while True:
        with until.phase("cut"):
            now, known = known or evaluate(objective.smoothed(point, h), point.w, C), None
        tries += 1
        if until.done(point, now, step, h, tries) or ledger.overdue:
            return point, h
        with until.phase("newton"):
            inner = _near_step(objective, ledger, point, now, h, neighbourhood, system, until, narrowing)
            if inner is not None:
                end, h_next, inner_tries = inner
                p, shift = end.w - point.w, end.intercept - point.intercept
            else:
                h_next = max(_LEAST_WIDTH * objective.first_width, next_width(now, h, narrowing, until.tolerance))
                p, shift = newton_direction(objective, C, point, now, h, h_next, system, bold=until.bold)
        if inner is not None and until.proven(0.0):
            return point, h
        with until.phase("scores"):
            direction = objective.score(p, shift)
        with until.phase("line_search"):
            step = search(objective, point, direction, h_next, C)
        if h_next < h and step < 0.15:
            narrowing = 0.5  # too many examples met their kinks on the way: narrow with more care
        if inner is not None:
            tries = inner_tries
            if not neighbourhood.learn(objective, point, direction, (end, h_next), step):
                h_next = h
        elif h_next != h:
            tries = 0
        point, h = objective.balance(objective.move(point, direction, step), h_next), h_next
        del direction


def _near_step(
    objective: SmoothObjectiveLike,
    ledger: Ledger,
    point: Any,
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
    near = neighbourhood.restrict(objective, point, now, h, shrinking(now, narrowing, until.tolerance))
    if near is None:
        return None
    within = _Within(until.tolerance_near, 30, until.few_kinks, bold=True, proves=until.proves)

    def begin() -> tuple[Any, float]:
        return neighbourhood.start(near, point, h)

    known = now if neighbourhood.starts_afresh else None
    end, h_next = _minimise(near, ledger, begin, system, within, few=_FEW_OF_NEAR, narrowing=narrowing, known=known)
    return bare(end), h_next, within.tries

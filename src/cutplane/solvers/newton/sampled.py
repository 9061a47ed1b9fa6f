"""Smoothed Newton where every example is near some kink: few evaluations, with the curvature of a sample.

As in `newton.smoothed`, each evaluation of the rounded objective is also a plane, and the gap it leaves is
½|w - v|² plus what rounding costs. But of pairs, some are on their kinks wherever an example is, so none can be put
aside. What costs is to sort and to sweep all the scores: the slope at the end of a step tells whether it was a good
one, so that most steps take one sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane.solvers.base import Array, ScoredPoint
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.rounded import Evaluation, evaluate, next_width
from cutplane.solvers.newton.system import NewtonSystem
from cutplane.solvers.protocols import PairObjectiveLike, RoundedPairs
from cutplane.solvers.result import StopReason


@dataclass(frozen=True, slots=True)
class PairTuning:
    """The numbers of Newton's method on pairs; chosen by hand. benchmarks/ranking.py shows what they do."""

    first_width: float = 4.0
    #: The width after one that is solved, relative to it.
    narrowing: float = 0.25
    least_width: float = 1e-10
    #: A step is taken when this fraction of the slope is left, else another is tried, so many in all.
    slope_left: float = 0.5
    most_trials: int = 8
    #: The first sample: examples in all, and for each feature; and how close it comes to the whole.
    least_sample: int = 2000
    least_sample_per_feature: int = 10
    sample_tells: float = 0.5
    #: Steps on a sample, and steps without a gain of 2 % on the whole, before giving up.
    most_steps_on_sample: int = 30
    most_idle: int = 12
    idle: float = 0.98
    #: A start from elsewhere is rounded so that this costs the given fraction of the gap it leaves, no finer than that.
    start_error: float = 0.15
    least_start_width: float = 1e-6


TUNING = PairTuning()


class _State(NamedTuple):
    """A point, the width it was evaluated with, and the rounded risk there."""

    point: ScoredPoint
    h: float
    smoothed: RoundedPairs


@dataclass
class SampledNewton:
    """Newton's method on the rounded objective, certified by the bundle.

    Parameters
    ----------
    seed : int
        For the samples the first steps are made on.
    afresh : bool
        Whether the incumbent is no place to start from.
    """

    seed: int = 0
    afresh: bool = False

    def run(self, objective: PairObjectiveLike, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop, or "stalled" if no step helps any more."""
        system = NewtonSystem(objective.dimension)
        if ledger.incumbent is not None and not self.afresh:
            state = _narrowed(objective, ledger)
        else:
            with ledger.phase("sample"):
                w, h = self._from_samples(objective, ledger, system)
            with ledger.phase("scores"):
                point = objective.at(w)
            with ledger.phase("sweep"):
                state = _State(point, h, objective.smoothed(point, h))
        return _certify(objective, ledger, state, system)

    def _from_samples(self, objective: PairObjectiveLike, ledger: Ledger, system: NewtonSystem) -> tuple[Array, float]:
        """Weights and a width from growing samples, as far as samples can tell."""
        n, d = objective.examples, objective.dimension
        generator = np.random.default_rng(self.seed)
        w, h = np.zeros(d), TUNING.first_width
        size = max(TUNING.least_sample, TUNING.least_sample_per_feature * d)
        while size * 2 <= n and size <= objective.most_drawn:
            part = objective.sample(size, generator)
            if part is None:
                break
            tolerance = max(ledger.allowed_fraction, TUNING.sample_tells * d / size)
            point = part.at(w)
            state = _State(point, h, part.smoothed(point, h))
            for _ in range(TUNING.most_steps_on_sample):
                now = evaluate(part.plane(state.smoothed, state.point, state.h), state.point.w, ledger.C)
                if now.upper - now.lower <= tolerance * now.upper or ledger.overdue:
                    break
                state = _step(part, state, now, ledger.C, tolerance, system)[0]
            w, h = state.point.w, state.h
            if ledger.overdue:
                break
            size *= 4
        return w, h


def _narrowed(objective: PairObjectiveLike, ledger: Ledger) -> _State:
    """The incumbent, with a rounding that costs about as much as the gap still open."""
    best = ledger.incumbent
    assert best is not None
    point = best if isinstance(best, ScoredPoint) else objective.at(best.w)
    h, gap = TUNING.first_width, ledger.upper - ledger.lower
    smoothed = objective.smoothed(point, h)
    while h > TUNING.least_start_width and ledger.C * smoothed.error > TUNING.start_error * gap:
        h *= 0.5
        smoothed = objective.smoothed(point, h)
    return _State(point, h, smoothed)


def _certify(objective: PairObjectiveLike, ledger: Ledger, state: _State, system: NewtonSystem) -> StopReason:
    """Steps on the whole objective, each entered in the ledger with its plane."""
    step, idle = 1.0, 0
    while True:
        with ledger.phase("cut"):
            now = evaluate(objective.plane(state.smoothed, state.point, state.h), state.point.w, ledger.C)
        before = ledger.upper - ledger.lower
        ledger.offer(state.point, now.cut.value)
        with ledger.phase("qp"):
            ledger.enter(now.cut)
        reason = ledger.close_iteration(step)
        if reason is not None:
            return reason
        idle = 0 if ledger.upper - ledger.lower < TUNING.idle * before else idle + 1
        if idle >= TUNING.most_idle:
            return "stalled"
        with ledger.phase("newton"):
            last, (state, step) = state, _step(objective, state, now, ledger.C, ledger.allowed_fraction, system)
        if state is last:
            return "time_limit"


def _step(
    objective: PairObjectiveLike, state: _State, now: Evaluation, C: float, tolerance: float, system: NewtonSystem
) -> tuple[_State, float]:
    """A Newton step, cut short or lengthened until it leaves little of the slope; none where the time is up."""
    h = max(TUNING.least_width, next_width(now, state.h, TUNING.narrowing, tolerance))
    gradient = now.gradient
    if h < state.h:
        gradient = state.point.w + C * objective.extrapolated_slope(state.point, h, state.h)
    p = system.solve(objective.curvature(state.point, state.h), C / h, gradient)
    if time_is_up():
        return state, 0.0
    direction = objective.direction(p)
    first = float(gradient @ p)
    low, high, t = (0.0, first), None, 1.0
    for _ in range(TUNING.most_trials):
        point = objective.move(state.point, direction, t)
        smoothed = objective.smoothed(point, h)
        slope = float(point.w @ p) + C * objective.slope_along(smoothed, direction)
        if abs(slope) <= TUNING.slope_left * abs(first) or time_is_up():
            break
        if slope > 0.0:
            high = (t, slope)
        else:
            low = (t, slope)
        t = _secant(low, high)
    return _State(point, h, smoothed), t


def _secant(low: tuple[float, float], high: tuple[float, float] | None) -> float:
    """Between a falling and a rising slope, kept off the ends; twice as far while none rises."""
    if high is None:
        return 2.0 * low[0]
    fraction = low[1] / (low[1] - high[1])
    return low[0] + min(max(fraction, 0.1), 0.9) * (high[0] - low[0])

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

_FIRST_WIDTH = 4.0
_NARROWING = 0.25
_LEAST_WIDTH = 1e-10
# A step is taken when this fraction of the slope is left, else another is tried.
_SLOPE_LEFT = 0.5
_MOST_TRIALS = 8
# Steps on a sample, and steps without a gain of 2 % on the whole, before giving up.
_MOST_STEPS_ON_SAMPLE = 30
_MOST_IDLE = 12
# A start from elsewhere is rounded so that this costs the given fraction of the gap it leaves.
_START_ERROR = 0.15


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
    """

    seed: int = 0

    def run(self, objective: PairObjectiveLike, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop, or "stalled" if no step helps any more."""
        system = NewtonSystem(objective.dimension)
        if ledger.incumbent is not None:
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
        w, h = np.zeros(d), _FIRST_WIDTH
        size = max(2000, 10 * d)
        while size * 2 <= n:
            part = objective.sample(size, generator)
            if part is None:
                break
            tolerance = max(ledger.allowed_fraction, 0.5 * d / size)
            point = part.at(w)
            state = _State(point, h, part.smoothed(point, h))
            for _ in range(_MOST_STEPS_ON_SAMPLE):
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
    h, gap = _FIRST_WIDTH, ledger.upper - ledger.lower
    smoothed = objective.smoothed(point, h)
    while h > 1e-6 and ledger.C * smoothed.error > _START_ERROR * gap:
        h *= 0.5
        smoothed = objective.smoothed(point, h)
    return _State(point, h, smoothed)


def _certify(objective: PairObjectiveLike, ledger: Ledger, state: _State, system: NewtonSystem) -> StopReason:
    """Steps on the whole objective, every one entered in the books with its plane."""
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
        idle = 0 if ledger.upper - ledger.lower < 0.98 * before else idle + 1
        if idle >= _MOST_IDLE:
            return "stalled"
        with ledger.phase("newton"):
            last, (state, step) = state, _step(objective, state, now, ledger.C, ledger.allowed_fraction, system)
        if state is last:
            return "time_limit"


def _step(
    objective: PairObjectiveLike, state: _State, now: Evaluation, C: float, tolerance: float, system: NewtonSystem
) -> tuple[_State, float]:
    """A Newton step, cut short or lengthened until it leaves little of the slope; none where the time is up."""
    h = max(_LEAST_WIDTH, next_width(now, state.h, _NARROWING, tolerance))
    gradient = now.gradient
    if h < state.h:
        gradient = state.point.w + C * objective.extrapolated_slope(state.point, h, state.h)
    p = system.solve(objective.curvature(state.point, state.h), C / h, gradient)
    if time_is_up():
        return state, 0.0
    direction = objective.at(p)
    first = float(gradient @ p)
    low, high, t = (0.0, first), None, 1.0
    for _ in range(_MOST_TRIALS):
        point = objective.move(state.point, direction, t)
        smoothed = objective.smoothed(point, h)
        slope = float(point.w @ p) + C * objective.slope_along(smoothed, direction)
        if abs(slope) <= _SLOPE_LEFT * abs(first) or time_is_up():
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

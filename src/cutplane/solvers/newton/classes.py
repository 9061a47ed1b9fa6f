"""Newton's method on the softmax risk of several classes: every evaluation is also a plane.

With the gradient g of ½|w|² + C·R at weights w with their best intercepts, the plane at w proves
C·offset - ½|C·slope|², and the gap it leaves is ½|g|²: systems are solved until what is left of the gradient is short
enough for the gap that is aimed at, or a tenth of what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane.solvers.base import Array, Cut, Intercept, ScoredPoint
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.class_system import ClassCurvature, ClassSystem
from cutplane.solvers.protocols import ObjectiveLike
from cutplane.solvers.result import StopReason


@dataclass(frozen=True, slots=True)
class ClassNewtonTuning:
    """How steps are made; chosen by hand. benchmarks/logistic.py shows what that does."""

    #: Of the gradient, what a system leaves...
    residual: float = 0.1
    #: ... and of the gradient that is short enough, what it may leave at least.
    short_enough: float = 0.5
    #: Of the slope along a step, what a search leaves.
    slope_left: float = 0.3
    #: Examples for each weight that make a sample worth a start, and those of the first one.
    ample: float = 40.0
    first_sample: float = 10.0
    #: Each sample is so many times larger than the last.
    growth: int = 8
    #: A sample is minimised up to this gap, times weights for each of its examples.
    sample_tells: float = 0.1
    most_steps: int = 60


TUNING = ClassNewtonTuning()


class ClassPlane(Protocol):
    """What an evaluation finds: see `cutplane.shards.softmax.SoftmaxPlane`."""

    @property
    def slope(self) -> Array: ...  # noqa: D102

    @property
    def totals(self) -> Array: ...  # noqa: D102

    @property
    def value(self) -> float: ...  # noqa: D102


class ClassObjectiveLike(ObjectiveLike[ScoredPoint], Protocol):
    """See `cutplane.objectives.softmax.SoftmaxObjective`."""

    @property
    def n_classes(self) -> int: ...  # noqa: D102

    def evaluate(self, point: ScoredPoint) -> Any: ...  # noqa: D102

    def cut_of(self, found: Any) -> Cut: ...  # noqa: D102

    def curvature(self, found: Any) -> ClassCurvature: ...  # noqa: D102

    def score(self, w: Array, intercept: Intercept) -> ScoredPoint: ...  # noqa: D102

    def direction(self, p: Array, shift: Array) -> ScoredPoint: ...  # noqa: D102

    def moved(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint: ...  # noqa: D102

    def along(  # noqa: D102
        self, point: ScoredPoint, direction: ScoredPoint, t: float
    ) -> tuple[float, float, float]: ...

    def sample(self, size: int, generator: np.random.Generator) -> Self: ...  # noqa: D102


class _At(NamedTuple):
    """A point, what was found there, the objective, and the gradient with a last row for free intercepts."""

    point: ScoredPoint
    found: ClassPlane
    value: float
    gradient: Array

    free: bool

    @property
    def weights_gap(self) -> float:
        """What the plane would leave open, relative to the objective, if intercepts were the best."""
        own = self.gradient[:-1] if self.free else self.gradient
        return 0.5 * float(np.vdot(own, own)) / max(abs(self.value), 1e-300)

    @property
    def leans(self) -> bool:
        """Whether intercepts could be better."""
        return self.free and bool(self.gradient[-1].any())


@dataclass
class ClassNewton:
    """Newton's method, from samples on where examples are many.

    Parameters
    ----------
    seed : int
        For the samples.
    """

    seed: int = 0

    def run(self, objective: ClassObjectiveLike, ledger: Ledger, start: ScoredPoint | None = None) -> StopReason:
        """Go on until the ledger says why to stop, or "stalled" if no step helps any more."""
        if start is None:
            with ledger.phase("sample"):
                w, b = self._from_samples(objective, ledger)
            start = objective.score(w, b)
        steps = _Steps(objective, ledger.C)
        length = 0.0
        with ledger.phase("cut"):
            now = steps.evaluated(start)
        while True:
            self._enter(objective, ledger, now)
            if not ledger.proven and now.weights_gap <= ledger.allowed_fraction and now.leans:
                with ledger.phase("intercepts"):
                    now = steps.evaluated(objective.fit_intercept(now.point))
                self._enter(objective, ledger, now)
            reason = ledger.close_iteration(length)
            if reason is not None:
                ledger.add(objective.cut_of(now.found))
                return reason
            following = steps.next(now, ledger.allowed_fraction, ledger)
            if following is None:
                return "time_limit" if ledger.overdue else "stalled"
            now, length = following

    @staticmethod
    def _enter(objective: ClassObjectiveLike, ledger: Ledger, now: _At) -> None:
        ledger.offer(now.point, now.found.value)
        ledger.prove_by(objective.cut_of(now.found))

    def _from_samples(self, objective: ClassObjectiveLike, ledger: Ledger) -> tuple[Array, Intercept]:
        """Weights and intercepts that growing samples lead to; zeros where no sample is worth it."""
        w, b = np.zeros(objective.dimension), np.zeros(objective.n_classes)
        size, n = int(TUNING.first_sample * objective.dimension), objective.examples
        generator = np.random.default_rng(self.seed)
        while size * TUNING.growth <= n and n >= TUNING.ample * objective.dimension and not time_is_up():
            part = objective.sample(size, generator)
            steps = _Steps(part, ledger.C)
            enough = max(ledger.allowed_fraction, TUNING.sample_tells * objective.dimension / size)
            now = steps.evaluated(part.score(w, b))
            for _ in range(TUNING.most_steps):
                following = None if now.weights_gap <= enough or time_is_up() else steps.next(now, enough)
                if following is None:
                    break
                now = following[0]
            w, b = now.point.w, np.asarray(now.point.intercept)
            size *= TUNING.growth
        return w, b


class _Steps:
    """Newton steps on one objective."""

    def __init__(self, objective: ClassObjectiveLike, C: float) -> None:
        self._objective, self._C, self._free = objective, C, objective.intercept
        rows = objective.dimension // objective.n_classes + self._free
        self._shape = rows, objective.n_classes
        self._system = ClassSystem(self._shape, free=self._free)

    def evaluated(self, point: ScoredPoint) -> _At:
        """What is to be known of a point: one pass."""
        found, C = self._objective.evaluate(point), self._C
        gradient = (point.w + C * found.slope).reshape(-1, self._shape[1])
        if self._free:
            gradient = np.vstack([gradient, C * found.totals])
        return _At(point, found, 0.5 * float(point.w @ point.w) + C * found.value, gradient, self._free)

    def next(self, now: _At, aim: float, ledger: Ledger | None = None) -> tuple[_At, float] | None:
        """The next point and the length of the step to it; None where nothing descends any more."""
        length = float(np.linalg.norm(now.gradient))
        short = np.sqrt(2.0 * aim * abs(now.value))
        target = max(TUNING.residual * length, TUNING.short_enough * short)
        if target >= length:  # of a gap that is short enough but for the intercepts
            target = TUNING.residual * length
        p = self._system.solve(self._objective.curvature(now.found), self._C, now.gradient, target)
        slope = float(np.vdot(now.gradient, p))
        # Out of time, a step is made from zero alone: what is known already is the better one to prove.
        if not slope < 0.0 or (time_is_up() and now.point.w.any()):
            return None
        return self._move(now, p, slope, ledger)

    def _move(self, now: _At, p: Array, slope: float, ledger: Ledger | None) -> tuple[_At, float] | None:
        objective = self._objective
        weights = np.ascontiguousarray(p[:-1] if self._free else p).ravel()
        direction = objective.direction(weights, p[-1] if self._free else np.zeros(self._shape[1]))
        step = self._search(now, direction, slope)
        moved = objective.moved(now.point, direction, step)
        if ledger is not None and not ledger.moved(direction, step):
            moved = objective.score(moved.w, moved.intercept)
        there = self.evaluated(moved)
        return (there, step) if there.value < now.value else None

    def _search(self, now: _At, direction: ScoredPoint, first: float) -> float:
        """A step down that leaves a fraction of the slope: Newton's method in a bracket.

        The direction's own slope may be far steeper than that of the step's end: where the model overshoots, as it
        does where most probabilities are nearly one, an end with little slope may lie above the start.
        """
        quadratic, linear = float(direction.w @ direction.w), float(now.point.w @ direction.w)
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(60):
            value, slope, curvature = self._objective.along(now.point, direction, t)
            rise = t * (linear + 0.5 * quadratic * t) + self._C * (value - now.found.value)
            slope, curvature = quadratic * t + linear + self._C * slope, quadratic + self._C * curvature
            if (abs(slope) <= TUNING.slope_left * abs(first) and rise <= 0.0) or time_is_up():
                break
            low, high = (low, t) if slope > 0.0 else (t, high)
            step = t - slope / curvature if curvature > 0.0 else np.inf
            if not low < step < high:
                step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * t
            t = float(step)
        return t

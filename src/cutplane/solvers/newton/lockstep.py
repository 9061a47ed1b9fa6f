"""Smoothed Newton for many classes, each against the rest, in lockstep.

Every class has its own width of rounding and its own step, and leaves when it is close enough. Bounds on the way are
estimates in single precision: what comes of it is proven afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutplane.solvers.base import Array
from cutplane.solvers.result import Estimate, Step


@dataclass(frozen=True, slots=True)
class LockstepTuning:
    """Chosen by hand: embeddings of 1.28 million x 768 with 1,000 classes, MNIST, random Fourier features of it."""

    #: The gap that a class leaves with, of the one asked for: the rest is for rounding.
    leave: float = 0.8
    #: The next width, relative to the last, at the least.
    narrowing: float = 0.25
    #: A narrower width is in reach where the optimum is off by no more than this times what rounding costs.
    in_reach: float = 10.0
    #: What rounding may cost in the end, of the gap aimed at.
    for_rounding: float = 0.4
    #: A class gives up after so many steps at one width that left it no nearer than this to the rounded optimum.
    patience: int = 8
    idle: float = 0.9
    #: Columns of classes that have left are dropped when no more than this share goes on.
    crowded: float = 0.75
    most_steps: int = 100


TUNING = LockstepTuning()


class Looks(NamedTuple):
    """Where classes stand: estimates of their bounds, and how far they are from their rounded optima."""

    upper: Array
    lower: Array
    residual: Array

    @property
    def error(self) -> Array:
        """What rounding costs."""
        return np.maximum(self.upper - self.lower - self.residual, 0.0)


class LockstepLike(Protocol):
    """The classes under way: see `cutplane.shards.lockstep.LockstepShard`."""

    @property
    def shape(self) -> tuple[int, int]: ...  # noqa: D102

    @property
    def first_width(self) -> float: ...  # noqa: D102

    @property
    def has_kinks(self) -> bool: ...  # noqa: D102

    @property
    def factors_cost(self) -> float: ...  # noqa: D102

    @property
    def weights(self) -> tuple[Array, Array]: ...  # noqa: D102

    def begin(self, w: Array, intercept: Array, h: Array) -> None: ...  # noqa: D102

    def keep(self, columns: NDArray[np.int32]) -> None: ...  # noqa: D102

    def look(self, h: Array) -> Looks: ...  # noqa: D102

    def step(  # noqa: D102
        self, h: Array, reach: Array, going: NDArray[np.bool_], directly: NDArray[np.bool_]
    ) -> NDArray[np.int64]: ...


@dataclass
class Reached:
    """Where the classes ended: weights, a column each, intercepts, widths, and the steps of each."""

    w: Array
    intercept: Array
    h: Array
    history: list[list[Step]] = field(default_factory=list)


class _Standstill:
    """How long classes have come no nearer to their rounded optima."""

    def __init__(self, n_classes: int) -> None:
        self._h, self._nearest = np.zeros(n_classes), np.full(n_classes, np.inf)
        self._steps = np.zeros(n_classes, np.int64)

    def note(self, here: NDArray[np.int64], h: Array, residual: Array) -> None:
        """A look at some classes."""
        nearer = (residual < TUNING.idle * self._nearest[here]) | (h != self._h[here])
        self._steps[here] = np.where(nearer, 0, self._steps[here] + 1)
        self._nearest[here] = np.where(nearer, residual, self._nearest[here])
        self._h[here] = h

    @property
    def idle(self) -> NDArray[np.bool_]:
        """Which have come no nearer for too long."""
        return self._steps >= TUNING.patience


class Lockstep:
    """Newton's method on many classes.

    Parameters
    ----------
    allowed : callable
        From objectives to the gaps asked for.
    overdue : callable
        Whether the time is up.
    first : int
        The place of the first class in the history of all of them.
    """

    def __init__(self, allowed: Callable[[Array], Array], overdue: Callable[[], bool], first: int = 0) -> None:
        self._allowed, self._overdue, self._first = allowed, overdue, first

    def run(self, shard: LockstepLike, start: Reached | None = None) -> Reached:
        """Until every class is close enough, or gives up, or the time is up; `start` is where a sample has led."""
        began, (n_features, n_classes) = time.perf_counter(), shard.shape
        h = np.full(n_classes, shard.first_width if shard.has_kinks else 1.0) if start is None else start.h
        reached = Reached(np.zeros((n_features, n_classes)), np.zeros(n_classes), h, [[] for _ in range(n_classes)])
        if start is not None:
            shard.begin(start.w, start.intercept, h)
        here = np.arange(n_classes)  # the class of each column
        going = np.ones(n_classes, bool)  # of the columns
        directly, standstill = np.zeros(n_classes, bool), _Standstill(n_classes)
        for iteration in range(1, TUNING.most_steps + 1):
            h = reached.h[here]
            looks = shard.look(h)
            seconds = time.perf_counter() - began
            for k, upper, lower in zip(here[going], looks.upper[going], looks.lower[going], strict=True):
                estimate = Estimate(float(upper), float(lower))
                place = self._first + int(k)
                reached.history[k].append(Step(iteration, seconds, np.inf, -np.inf, problem=place, estimate=estimate))
            standstill.note(here, h, looks.residual)
            ends = going & (self._close(looks) | standstill.idle[here])
            if self._overdue() or iteration == TUNING.most_steps:
                ends = going
            going &= ~ends
            if ends.any():
                self._keep(shard, reached, here, ends)
            if not going.any():
                break
            narrower = self._narrowed(shard, looks, h) if shard.has_kinks else h
            if going.sum() <= TUNING.crowded * len(here):
                columns = np.flatnonzero(going).astype(np.int32)
                shard.keep(columns)
                here, h, narrower, directly = here[columns], h[columns], narrower[columns], directly[columns]
                going = np.ones(len(here), bool)
            directly |= shard.step(narrower, h, going, directly) >= shard.factors_cost
            reached.h[here[going]] = narrower[going]
        return reached

    def _close(self, looks: Looks) -> NDArray[np.bool_]:
        return np.asarray(looks.upper - looks.lower <= TUNING.leave * self._allowed(looks.upper))

    def _keep(self, shard: LockstepLike, reached: Reached, here: NDArray[np.int64], ends: NDArray[np.bool_]) -> None:
        w, b = shard.weights
        # Where a class has left single precision, it goes on from zero by itself.
        lost = ~(np.isfinite(w).all(axis=0) & np.isfinite(b))
        w[:, lost], b[lost] = 0.0, 0.0
        reached.w[:, here[ends]], reached.intercept[here[ends]] = w[:, ends], b[ends]

    def _narrowed(self, shard: LockstepLike, looks: Looks, h: Array) -> Array:
        """The widths of the next step: narrower where the rounded optimum is near, and rounding costs too much."""
        error, wanted = looks.error, TUNING.for_rounding * self._allowed(looks.upper)
        ready = (looks.residual <= TUNING.in_reach * error) & (error > wanted)
        # What rounding costs falls no slower than the width.
        enough = np.sqrt(wanted / np.maximum(error, 1e-300))
        return np.where(ready, h * np.maximum(TUNING.narrowing, np.minimum(enough, 0.8)), h)

"""Smoothed Newton for many classes, each against the rest, in lockstep.

Every class has its own width of rounding and its own step, and leaves when it is close enough. Bounds on the way are
estimates in single precision: what comes of it is proven afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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
    #: A class gives up after so many steps that have not made its gap smaller than this times what it was.
    patience: int = 3
    idle: float = 0.5
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
    """Where the classes ended: weights, a column each, intercepts, widths, the steps of each, and who gave up."""

    w: Array
    intercept: Array
    h: Array
    history: list[list[Step]] = field(default_factory=list)
    gave_up: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))

    def of(self, classes: NDArray[np.int64]) -> Reached:
        """Of some of them."""
        history = [self.history[k] for k in classes]
        return Reached(self.w[:, classes], self.intercept[classes], self.h[classes], history, self.gave_up[classes])


class _Standstill:
    """How long gaps of classes have not become much smaller."""

    def __init__(self, n_classes: int) -> None:
        self._least, self._steps = np.full(n_classes, np.inf), np.zeros(n_classes, np.int64)

    def note(self, here: NDArray[np.int64], gap: Array) -> None:
        """A look at some classes."""
        nearer = gap < TUNING.idle * self._least[here]
        self._steps[here] = np.where(nearer, 0, self._steps[here] + 1)
        self._least[here] = np.where(nearer, gap, self._least[here])

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
    places : array
        The places of the classes in the history of all of them.
    """

    def __init__(
        self, allowed: Callable[[Array], Array], overdue: Callable[[], bool], places: NDArray[np.int32]
    ) -> None:
        self._allowed, self._overdue, self._places = allowed, overdue, places

    def run(self, shard: LockstepLike, start: Reached | None = None) -> Reached:
        """Until every class is close enough, or gives up, or the time is up; `start` is where a sample has led."""
        began, (n_features, n_classes) = time.perf_counter(), shard.shape
        here, h = np.arange(n_classes), np.full(n_classes, shard.first_width if shard.has_kinks else 1.0)
        reached = Reached(np.zeros((n_features, n_classes)), np.zeros(n_classes), h, [[] for _ in here], here < 0)
        if start is not None:
            reached = replace(start, history=[[] for _ in here], gave_up=here < 0)
            shard.begin(start.w, start.intercept, start.h)
        self._steps(shard, reached, here, began)
        return reached

    def _steps(self, shard: LockstepLike, reached: Reached, here: NDArray[np.int64], began: float) -> None:
        """Of the classes `here`, a column each."""
        going = np.ones(len(here), bool)
        directly, standstill = np.zeros(len(here), bool), _Standstill(len(reached.h))
        for iteration in range(1, TUNING.most_steps + 1):
            h = reached.h[here]
            looks = shard.look(h)
            self._note(reached, here[going], Looks(*(each[going] for each in looks)), iteration, began)
            standstill.note(here, looks.upper - looks.lower)
            close = self._close(looks)
            ends = going & (close | standstill.idle[here])
            if self._overdue() or iteration == TUNING.most_steps:
                ends = going
            going = going & ~ends
            if ends.any():
                self._keep(shard, reached, here, ends)
                reached.gave_up[here[ends]] = ~close[ends]
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

    def _note(self, reached: Reached, classes: NDArray[np.int64], looks: Looks, iteration: int, began: float) -> None:
        seconds = time.perf_counter() - began
        for k, upper, lower in zip(classes, looks.upper, looks.lower, strict=True):
            estimate, place = Estimate(float(upper), float(lower)), int(self._places[k])
            reached.history[k].append(Step(iteration, seconds, np.inf, -np.inf, problem=place, estimate=estimate))

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

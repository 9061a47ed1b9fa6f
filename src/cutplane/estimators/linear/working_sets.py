"""Classes of a device that few examples decide: each is trained on the host, with these alone.

No loss is negative, so that what is proven from below with some of the examples holds for all of them. A class is
trained on the examples of the smallest margins, then with those that its model is least sure of among all, until the
model is worth nearly as little on all examples as is proven: at once, where C is large and classes are far apart.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import one_wish
from cutplane._runtime.side_by_side import side_by_side
from cutplane._types import Array, Codes
from cutplane.device.class_sums import ClassExamples, ClassSums, DeviceArray, RoundedSums
from cutplane.device.source import DenseRows
from cutplane.estimators.common.training import prover_of
from cutplane.estimators.linear.against_rest import AgainstRest
from cutplane.objectives.factory import in_single, make_objective
from cutplane.solvers.newton.lockstep import Reached
from cutplane.solvers.result import Estimate, Result
from cutplane.solvers.run import Settings, run
from cutplane.sources.matrix import as_source

# Examples to begin with, and those that join them later; as many at most, all in all.
_FIRST, _MORE, _MOST = 3072, 1024, 8192
# The part of the gap that is for what is left to gain on the set; and when the rest is close enough.
_ON_SET, _CLOSE = 0.3, 0.9
# A class gives up when a round has not made its gap smaller than this times what it was, or after so many.
_IDLE, _MOST_ROUNDS = 0.9, 6
# Dual ascent on so few rows costs next to nothing: so many epochs, and no other method for long.
_EPOCHS, _MOST_STEPS = (float("inf"), 8_000.0), 14
# Kinks are rounded over this much to count the examples that have a loss.
_COUNTED = 1e-3
# Sets that are on the host at a time, for each thread.
_SETS_A_THREAD = 4
# What the rounding of weights and of C can add to a bound, and more.
_OUTWARD = 1.0 + 1e-12
_Rows = NDArray[np.int64]


class _Open:
    """The classes under way: weights, the best of them by what they are worth, and what is proven."""

    def __init__(self, begin: Reached) -> None:
        count = len(begin.intercept)
        self.w, self.intercept = begin.w.copy(), begin.intercept.copy()
        self.best = replace(begin, w=begin.w.copy(), intercept=begin.intercept.copy())
        self.upper, self.lower = np.full(count, np.inf), np.full(count, -np.inf)
        self.gap, self.sets = np.full(count, np.inf), [np.zeros(0, np.int64)] * count

    def worth(self, places: _Rows, upper: Array, seconds: float) -> None:
        """What the weights of some are worth on all examples, nearly."""
        for place, value in zip(places.tolist(), upper.tolist(), strict=True):
            if value < self.upper[place]:
                self.upper[place], self.best.intercept[place] = value, self.intercept[place]
                self.best.w[:, place] = self.w[:, place]
            history = self.best.history[place]
            estimate = Estimate(value, float(self.lower[place]))
            last = history[-1]
            history.append(replace(last, iteration=last.iteration + 1, seconds=seconds, estimate=estimate))

    def goes_on(self, places: _Rows, allowed: Array) -> _Rows:
        """Which of them are not close enough, and getting there."""
        gap = self.upper[places] - self.lower[places]
        on = (gap > _CLOSE * allowed) & ((gap < _IDLE * self.gap[places]) | np.isinf(gap))
        self.gap[places] = gap
        return np.asarray(places[on])

    def trained(self, place: int, result: Result) -> None:
        """On its set."""
        self.w[:, place], self.intercept[place] = result.w, float(np.asarray(result.intercept))
        self.lower[place] = max(self.lower[place], result.lower / _OUTWARD if result.lower > 0.0 else -np.inf)


class WorkingSets:
    """Training on few examples.

    Parameters
    ----------
    against : AgainstRest
    rows : DenseRows
    settings : Settings
        With C of the whole risk.
    intercept : bool
        Whether each class has one, free.
    """

    def __init__(self, against: AgainstRest, rows: DenseRows, settings: Settings, *, intercept: bool) -> None:
        self._against, self._rows, self._settings, self._intercept = against, rows, settings, intercept
        self._threads = int(_core.thread_count(settings.n_threads))

    def run(self, sums: ClassSums, X: DeviceArray, of: ClassExamples, begin: Reached) -> tuple[Reached, Array]:
        """The best weights of each class, and what is proven from below."""
        settings, began = self._settings, time.perf_counter()
        found, places = _Open(begin), np.arange(len(of.classes))
        with one_blas_thread():
            for round_ in range(_MOST_ROUNDS + 1):
                part = of._replace(classes=np.ascontiguousarray(of.classes[places]))
                S = sums.multiply(X, sums.in_single(np.ascontiguousarray(found.w[:, places])), rough=False)
                sums.mix(S, None, np.ones(len(places)), found.intercept[places])
                risk = sums.smoothed(part, S, np.full(len(places), _COUNTED))
                upper = 0.5 * (found.w[:, places] ** 2).sum(axis=0) + settings.C * risk.value
                found.worth(places, upper, _seconds(begin) + time.perf_counter() - began)
                allowed = np.array([settings.stopping.allowed(each, settings.C) for each in found.upper[places]])
                on = np.intersect1d(found.goes_on(places, allowed), places[self._inside(risk) <= _MOST])
                if not len(on) or round_ == _MOST_ROUNDS or settings.overdue:
                    break
                columns = np.flatnonzero(np.isin(places, on)).astype(np.int32)
                part = of._replace(classes=np.ascontiguousarray(of.classes[on]))
                most = max(_FIRST, max(len(found.sets[k]) for k in on) + _MORE)  # those of the set are among them
                nearest = sums.nearest(part, sums.picked(S, columns), most)
                del S
                places = self._train(found, on, part.classes, nearest)
                if not len(places):
                    break
        return found.best, found.lower

    def _inside(self, risk: RoundedSums) -> Array:
        """How many examples of each class have a loss, nearly: what a set must hold in the end."""
        share = risk.offset if self._against.name == "hinge" else 0.5 * risk.bend / _COUNTED
        return np.asarray(share * len(self._against.codes))

    def _train(self, found: _Open, places: _Rows, classes: Codes, nearest: list[DeviceArray]) -> _Rows:
        """Each class on its set; those that could be trained."""
        done, batch = [], _SETS_A_THREAD * self._threads
        for begin in range(0, len(places), batch):
            if self._settings.overdue:
                break
            tasks, at = [], []
            for k in range(begin, min(begin + batch, len(places))):
                more = np.asarray(self._rows.kernels.to_host(nearest[k]), np.int64)
                # None leaves: what is proven never falls.
                rows = found.sets[places[k]] = np.union1d(found.sets[places[k]], more)
                y = np.where(self._against.codes[rows] == classes[k], 1, -1).astype(np.int8)
                if len(rows) <= _MOST and np.abs(y.sum()) < len(y):
                    there = self._rows.kernels.to_device(rows)
                    tasks.append(partial(self._solve, self._rows.take(there).on_host(), y, rows))
                    at.append(int(places[k]))
            with one_wish() as wish:
                trained = side_by_side(tasks, self._threads, wish.stop)
            for place, each in zip(at, trained, strict=True):
                found.trained(place, each)
            done += at
        return np.array(done, np.int64)

    def _solve(self, X: Any, y: NDArray[np.int8], rows: _Rows) -> Result:
        against, settings = self._against, self._settings
        weights = None if against.weights is None else against.weights[rows]
        total = float(len(rows)) if weights is None else float(weights.sum())
        gap = _ON_SET * settings.stopping.relative_gap
        stopping = replace(settings.stopping, relative_gap=gap, max_iter=_MOST_STEPS)
        settings = replace(settings, C=settings.C * (total / against.total), stopping=stopping)
        settings = replace(settings, n_threads=1, ascent_epochs=_EPOCHS)
        objective = make_objective(as_source(X, n_threads=1), against.loss(y, weights), intercept=self._intercept)
        return run(in_single(objective, gap), settings, prover_of(objective, settings))


def _seconds(begin: Reached) -> float:
    """Since the classes began."""
    return max((history[-1].seconds for history in begin.history if history), default=0.0)

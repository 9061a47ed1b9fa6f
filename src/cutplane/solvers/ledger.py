"""The books of a run: incumbent, bounds, time by phase, history. Every solver keeps these, none by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from cutplane import _core
from cutplane.solvers.base import Evaluated, Point, SmoothedCut
from cutplane.solvers.bundle import Bundle
from cutplane.solvers.result import Duals, Result, Step, StopReason
from cutplane.solvers.stopping import Stopping

# Planes that carried no weight for this many solves are dropped.
IDLE_SOLVES = 50


class Ledger:
    """Keeps what a run has reached and says when to stop.

    Parameters
    ----------
    C : float
        Of ½|w|² + C·R.
    bundle : Bundle
        The planes found so far; a warm start hands over a filled one.
    stopping : Stopping
    on_step : callable, optional
        Called with each `Step`; returning True ends the run.
    """

    def __init__(
        self, C: float, bundle: Bundle, stopping: Stopping, on_step: Callable[[Step], Any] | None = None
    ) -> None:
        self.C = C
        self.bundle = bundle
        self.stopping = stopping
        self.upper = float("inf")
        self.lower = C * bundle.lower_bound
        self.incumbent: Point | None = None
        self.another_next = False  # whether a run for another C follows: scores are kept for it, though they take room
        self.evaluated: Evaluated | None = None  # the last one of Newton's method, in this run or the one before
        self.foreseen_error = float("inf")  # what the incumbent is thought to be above the optimum at most
        self.duals: Duals | None = None  # of the last dual ascent, in this run or the one it goes on from
        self.history: list[Step] = []
        self._on_step = on_step
        self._start = time.perf_counter()
        self._phases: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self._start

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Charge the time spent inside to a phase of the current iteration."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._phases[name] = self._phases.get(name, 0.0) + time.perf_counter() - begin

    def offer(self, point: Point, risk: float) -> bool:
        """Note an exactly evaluated point; True if it is the new incumbent."""
        value = 0.5 * _core.inner(point.w, point.w) + self.C * risk
        if not value < self.upper:
            return False
        self.upper = value
        self.incumbent = point
        self.foreseen_error = float("inf")
        return True

    def restate(self, risk: float) -> None:
        """Note the risk of the incumbent exactly, where it was not at first: as part of the last iteration."""
        assert self.incumbent is not None
        self.upper = 0.5 * _core.inner(self.incumbent.w, self.incumbent.w) + self.C * risk
        if self.history:
            last, more, self._phases = self.history[-1], self._phases, {}
            phases = {**last.phases, **{name: last.phases.get(name, 0.0) + spent for name, spent in more.items()}}
            lower = min(self.lower, self.upper)
            self.history[-1] = replace(last, seconds=self.seconds, upper=self.upper, lower=lower, phases=phases)

    def prove(self, lower: float) -> None:
        """Note a lower bound on the optimum."""
        self.lower = max(self.lower, lower)

    def enter(self, cut: SmoothedCut, lower: float) -> None:
        """Note a plane and its own bound; where that is not enough, all planes together may give more."""
        self.prove(lower)
        self.bundle.add(cut.slope, cut.offset)
        if not self.proven:
            self.prove(self.bundle.solve(self.C).lower)
            self.bundle.prune(IDLE_SOLVES)

    @property
    def proven(self) -> bool:
        """Whether the bounds are as close as was asked for."""
        return self.stopping.proven(self.upper, self.lower, self.C)

    @property
    def allowed_fraction(self) -> float:
        """The largest difference of the bounds that ends the run, relative to the upper one."""
        if self.upper == 0.0:
            return self.stopping.relative_gap
        # Before any point is known: as if the risk were one, what the hinge is at w = 0.
        upper = self.C if self.upper == float("inf") else self.upper
        return self.stopping.allowed(upper, self.C) / abs(upper)

    @property
    def overdue(self) -> bool:
        """Whether the time is up."""
        limit = self.stopping.time_limit
        return limit is not None and self.seconds >= limit

    @property
    def ending(self) -> bool:
        """Whether the iteration under way is the last, whatever it proves."""
        most = self.stopping.max_iter
        return self.overdue or (most is not None and len(self.history) + 1 >= most)

    def close_iteration(self, step: float) -> StopReason | None:
        """Enter an iteration into the history; returns why to stop, if there is a reason."""
        entry = Step(
            len(self.history) + 1,
            self.seconds,
            self.upper,
            min(self.lower, self.upper),
            len(self.bundle),
            step,
            self._phases,
        )
        self._phases = {}
        self.history.append(entry)
        reason = self.stopping.reason(entry, self.C)
        if self._on_step is not None and self._on_step(entry) is True and reason is None:
            return "interrupted"
        return reason

    def result(self, reason: StopReason) -> Result:
        """Close the books."""
        if self.incumbent is None:
            raise RuntimeError("a run must evaluate at least one point")
        return Result(
            self.incumbent.w,
            self.incumbent.intercept,
            self.upper,
            min(self.lower, self.upper),
            self.history,
            reason,
            self.bundle,
            self.duals,
        )

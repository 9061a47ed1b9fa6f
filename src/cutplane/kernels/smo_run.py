"""The loop of SMO around slices of the core's work: when to look, and when to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cutplane.kernels.smo_result import SMOResult, SMOStopReason
from cutplane.kernels.smo_settings import Stopping
from cutplane.kernels.smo_standstill import Standstill
from cutplane.kernels.smo_workspace import Workspace
from cutplane.proof.certificate import relative_gap
from cutplane.solvers.result import OnStep, Step


@dataclass
class Run:
    """The loop around slices of the core's work."""

    workspace: Workspace
    standstill: Standstill
    stopping: Stopping
    tol: float
    max_iter: int | None
    slice_steps: int  # between two looks at the bounds
    on_step: OnStep | None
    should_stop: Callable[[], bool] | None
    start: float
    size: int = 2  # variables worked on at a time
    ends: float = math.inf  # when the time is up
    history: list[Step] = field(default_factory=list)
    _gap: float = math.inf  # for the kernel values as they are

    def to_the_end(self) -> SMOResult:
        """Pair steps until there is a reason to stop; once more after a time that was not the last."""
        try:
            return self._to_the_end()
        except MemoryError:
            raise MemoryError(
                f"There is no memory for the {self.size:,} kernel rows of {self.workspace.row_bytes:,} bytes that are "
                "worked on at a time; a smaller cache or working set would leave more."
            ) from None

    def _to_the_end(self) -> SMOResult:
        reason = self._called_off()
        try:
            while reason is None:
                most = self.workspace.steps + self.slice_steps
                progress, reason = self._advance(most if self.max_iter is None else min(most, self.max_iter))
                if reason is None:
                    reason = self._reason(progress == "finished", self._note())
        except KeyboardInterrupt:
            reason = "interrupted"
        self.workspace.solver.settle()
        self._note()
        return self.workspace.result(self.history, reason)

    def _advance(self, most: int) -> tuple[str, SMOStopReason | None]:
        """Pair steps until there are `most`; a reason if the time or the caller ends them before."""
        while (progress := self.workspace.advance(most)) == "paused":
            if (reason := self._called_off()) is not None:
                return progress, reason
        return progress, None

    def _called_off(self) -> SMOStopReason | None:
        if self.should_stop is not None and self.should_stop():
            return "interrupted"
        return "time_limit" if time.perf_counter() >= self.ends else None

    def _note(self) -> Step:
        best = self.history[-1].lower if self.history else -math.inf
        step, self._gap = self.workspace.step(time.perf_counter() - self.start, best)
        self.history.append(step)
        return step

    def _reason(self, finished: bool, step: Step) -> SMOStopReason | None:
        stop = self.on_step is not None and self.on_step(step) is True
        if self.stopping == "gap" and (reason := self._by_gap(step)) is not None:
            return reason
        if finished:
            return "stalled" if self.workspace.solver.stuck or self.stopping == "gap" else self.stopping
        if self.max_iter is not None and step.iteration >= self.max_iter:
            return "max_iter"
        if time.perf_counter() >= self.ends:
            return "time_limit"
        if stop or (self.should_stop is not None and self.should_stop()):
            return "interrupted"
        return "stalled" if self.standstill.reached else None

    def _by_gap(self, step: Step) -> SMOStopReason | None:
        if self._gap <= self.tol:
            dual, primal, _ = self.workspace.bounds()
            if relative_gap(primal, dual) <= self.tol:
                return "gap"
        return "stalled" if self.standstill.only_double_rounding_is_left(step.violation, self.tol) else None

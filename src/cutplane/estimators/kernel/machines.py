"""Dual problems solved to certified machines: one, or several at once on one kernel matrix."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from sklearn.exceptions import ConvergenceWarning

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.side_by_side import side_by_side
from cutplane.estimators.common.certificates import steps_of
from cutplane.kernels.device_matrix import DeviceKernelMatrix
from cutplane.kernels.device_smo import DeviceRun, solve_on_device
from cutplane.kernels.matrix import KernelMatrix, Rows
from cutplane.kernels.problems import DualProblem
from cutplane.kernels.smo import solve
from cutplane.kernels.smo_result import SMOResult
from cutplane.kernels.smo_settings import Selection, Stopping, rows_for, working_set_for
from cutplane.solvers.result import OnStep, Step

#: A kernel matrix, wherever it lies.
AnyMatrix: TypeAlias = KernelMatrix | DeviceKernelMatrix
# What is left to a machine whose turn comes after the time is up: it stops at its first look at the clock.
_NO_TIME = 1e-9


def history_of(result: SMOResult, machine: int) -> list[Step]:
    """The looks at a run; the last one says where the time went."""
    steps = steps_of(result.history, machine)
    return [*steps[:-1], replace(steps[-1], phases={name: s for name, s in result.phases.items() if s > 0.0})]


@dataclass(frozen=True)
class Machine:
    """A dual problem on some rows of the kernel matrix."""

    problem: DualProblem
    rows: Rows


@dataclass(frozen=True)
class MachineTraining:
    """The settings of a run. Results do not depend on the number of threads."""

    tol: float
    selection: Selection
    stopping: Stopping
    shrinking: bool
    working_set: int | None
    max_iter: int | None
    time_limit: float | None
    n_threads: int
    on_step: OnStep | None = field(default=None, repr=False)
    began: float = field(default_factory=time.perf_counter, repr=False)

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.time_limit is not None and time.perf_counter() - self.began >= self.time_limit

    def silent(self) -> MachineTraining:
        """The same for machines that nobody watches; the clock runs on."""
        return replace(self, on_step=None)

    def run(self, matrix: AnyMatrix, machines: Sequence[Machine]) -> list[SMOResult]:
        """Train each machine; after Ctrl-C, what each had reached until then."""
        if isinstance(matrix, DeviceKernelMatrix):
            return self._run_on_device(matrix, machines)
        threads = int(_core.thread_count(self.n_threads))
        workers = min(len(machines), threads)
        most = max(working_set_for(len(m.problem.y), self.stopping, self.working_set) for m in machines)
        matrix.warn_before(max(rows_for(most), workers * most), stacklevel=4)
        run = _Run(self, matrix, threads, len(machines))
        # Looks at the bounds are sums that a BLAS would share out from 10,000 variables on.
        with matrix.without_warnings(), one_blas_thread():
            results = [run.train(machines[0], 0)] if len(machines) == 1 else run.train_all(machines, workers)
        matrix.warn_after(stacklevel=4)
        return results

    def _run_on_device(self, matrix: DeviceKernelMatrix, machines: Sequence[Machine]) -> list[SMOResult]:
        def listen(step: Step, number: int) -> bool:
            assert self.on_step is not None
            return self.on_step(replace(step, problem=number)) is True

        run = DeviceRun(
            self.tol,
            self.max_iter,
            self.time_limit,
            self.working_set,
            None if self.on_step is None else listen,
            self.began,
        )
        return solve_on_device([each.problem for each in machines], [each.rows for each in machines], matrix, run)


class _Run:
    """What the machines of one run share: the kernel matrix, the clock, and the wish to stop."""

    def __init__(self, training: MachineTraining, matrix: KernelMatrix, threads: int, machines: int) -> None:
        self.training = training
        self.matrix = matrix
        self.threads = threads
        self.left = machines
        self.start = training.began
        self.stopped = False
        self.listening = threading.Lock()

    def stop(self) -> None:
        """Every machine ends at its next look, and those to come at their first."""
        self.stopped = True

    def threads_each(self) -> int:
        """Of a machine now: once fewer are left than there are threads, they share those of the others."""
        return max(1, self.threads // max(1, self.left))

    def train(self, machine: Machine, number: int) -> SMOResult:
        training = self.training
        left = training.time_limit
        if left is not None:
            left = max(_NO_TIME, left - (time.perf_counter() - self.start))

        def listen(step: Step) -> bool:
            assert training.on_step is not None
            with self.listening:  # a caller need not think of threads
                if training.on_step(replace(step, problem=number)) is True:
                    self.stop()
            return self.stopped

        result = solve(
            machine.problem,
            self.matrix,
            rows=machine.rows,
            selection=training.selection,
            stopping=training.stopping,
            eps=training.tol,
            tol=training.tol,
            shrinking=training.shrinking,
            working_set=training.working_set,
            max_iter=training.max_iter,
            time_limit=left,
            on_step=None if training.on_step is None else listen,
            should_stop=lambda: self.stopped,
            n_threads=self.threads_each,
        )
        with self.listening:
            self.left -= 1
        if result.stop_reason == "interrupted":
            self.stop()
        return _met(result, training)

    def train_all(self, machines: Sequence[Machine], workers: int) -> list[SMOResult]:
        """In threads, the largest first. Ctrl-C and errors, also of one machine, end all of them."""
        order = sorted(range(len(machines)), key=lambda number: -len(machines[number].rows))
        tasks = [partial(self.train, machines[number], number) for number in order]
        results = dict(zip(order, side_by_side(tasks, workers, self.stop), strict=True))
        return [results[number] for number in range(len(machines))]


def _met(result: SMOResult, training: MachineTraining) -> SMOResult:
    """The result, its reason corrected: a run that was cut short may still have met its stopping rule."""
    reached = {"kkt": result.violation, "gap": result.gap}.get(training.stopping, float("inf"))
    if result.stop_reason in ("stalled", "max_iter", "time_limit") and reached <= training.tol:
        return replace(result, stop_reason=training.stopping)
    return result


def warn_unless_proven(results: Sequence[SMOResult], training: MachineTraining, what: str) -> None:
    """One sentence on machines that ended before they met the rule they were to stop by."""
    short = [result for result in results if result.stop_reason != training.stopping]
    if not short:
        return
    why = {
        "max_iter": f"reached max_iter={training.max_iter}",
        "time_limit": f"ran out of time (time_limit={training.time_limit})",
        "interrupted": "was interrupted",
        "stalled": "made no more progress (kernel values are single precision)",
    }
    several = f" in {len(short)} of its {len(results)} machines" if len(results) > 1 else ""
    reasons = " or ".join(why[reason] for reason in why if any(r.stop_reason == reason for r in short))
    violation, gap = max(r.violation for r in short), max(r.gap for r in short)
    warnings.warn(
        f"{what} {reasons}{several}; what was reached is kept, with a violation of {violation:.2g} "
        f"(tol={training.tol:g}) and a relative duality gap of {gap:.2g}.",
        ConvergenceWarning,
        stacklevel=4,
    )

"""Dual problems solved to certified machines: one, or several at once on one kernel matrix."""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from sklearn.exceptions import ConvergenceWarning

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.interrupts import ctrl_c_calls
from cutplane._runtime.side_by_side import side_by_side
from cutplane.estimators.common.certificates import steps_of
from cutplane.kernels.device_matrix import DeviceKernelMatrix
from cutplane.kernels.device_smo import DeviceRun, solve_on_device
from cutplane.kernels.matrix import KernelMatrix, Rows
from cutplane.kernels.problems import DualProblem
from cutplane.kernels.smo import Method, by_means, results_together
from cutplane.kernels.smo_result import SMOResult, SMOStopReason
from cutplane.kernels.smo_run import Run
from cutplane.kernels.smo_settings import TUNING, Selection, Stopping, check_rows, rows_for, working_set_for
from cutplane.solvers.result import OnStep, Step

#: A kernel matrix, wherever it lies.
AnyMatrix: TypeAlias = KernelMatrix | DeviceKernelMatrix


def history_of(result: SMOResult, machine: int) -> list[Step]:
    """The looks at a run; the last one says where the time went."""
    last, phases = result.history[-1], {name: s for name, s in result.phases.items() if s > 0.0}
    if len(result.history) == 1 and last.problem == machine and not phases:
        return result.history
    bounds = last.iteration, last.seconds, last.upper, last.lower
    end = Step(*bounds, phases=phases, violation=last.violation, problem=machine)  # what `replace` makes slowly
    return [*steps_of(result.history[:-1], machine), end]


@dataclass(frozen=True, slots=True)
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
    def ends(self) -> float:
        """When the time is up, by the clock of `perf_counter`."""
        return math.inf if self.time_limit is None else self.began + self.time_limit

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() >= self.ends

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
            alone = len(machines) == 1
            results = [run.train(run.begun(machines[0], 0))] if alone else run.train_all(machines, workers)
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
        self.ends = training.ends
        self.stopped = False
        self.listening = threading.Lock()
        self.method = Method(
            training.selection,
            training.stopping,
            training.tol,
            training.tol,
            training.shrinking,
            training.working_set,
            training.max_iter,
        )

    def stop(self) -> None:
        """Every machine ends at its next look, and those to come at their first."""
        self.stopped = True

    def threads_each(self) -> int:
        """Of a machine now: once fewer are left than there are threads, they share those of the others."""
        return max(1, self.threads // max(1, self.left))

    def begun(self, machine: Machine, number: int, solver: _core.SmoSolver | None = None) -> Run:
        """The run of a machine; its time is that of all."""
        training = self.training

        def listen(step: Step) -> bool:
            assert training.on_step is not None
            with self.listening:  # a caller need not think of threads
                if training.on_step(replace(step, problem=number)) is True:
                    self.stop()
            return self.stopped

        on_step = None if training.on_step is None else listen
        check_rows(machine.problem, self.matrix, machine.rows)
        run = self.method.run(
            machine.problem, self.matrix, machine.rows, self.threads_each, on_step, lambda: self.stopped, solver
        )
        run.ends = self.ends
        return run

    def train(self, run: Run, *, last: bool = True) -> SMOResult:
        """Take a machine to its end, or to that of its turn."""
        result = run.to_the_end()
        if last or result.stop_reason != "time_limit":
            with self.listening:
                self.left -= 1
        if result.stop_reason == "interrupted":
            self.stop()
        return _met(result, self.training)

    def train_all(self, machines: Sequence[Machine], workers: int) -> list[SMOResult]:
        """In threads, the largest first. Ctrl-C and errors, also of one machine, end all of them.

        Small ones are trained together before. Where the time is limited, each has an equal share of it first, and what
        others leave of theirs goes to those that could use more.
        """
        results, runs = {}, {}
        small = [number for number, machine in enumerate(machines) if self._is_small(machine)]
        with ctrl_c_calls(self.stop):
            for number, found in self._together(machines, small):
                if isinstance(found, SMOResult):
                    results[number] = found
                else:
                    runs[number] = found
        self.left -= len(results)
        order = sorted(set(range(len(machines))) - set(results), key=lambda number: -len(machines[number].rows))
        if order and math.isfinite(self.ends):  # a first turn for each, one after the other in every thread
            now, turns = time.perf_counter(), -(-len(order) // workers)
            each = max(0.0, self.ends - now) / turns
            until = {number: now + (rank // workers + 1) * each for rank, number in enumerate(order)}
            results |= self._turns(machines, runs, until, workers, last=False)
            order = [number for number in order if results[number].stop_reason == "time_limit"]
        if order and time.perf_counter() < self.ends:
            results |= self._turns(machines, runs, dict.fromkeys(order, self.ends), workers, last=True)
        return [results[number] for number in range(len(machines))]

    def _turns(
        self, machines: Sequence[Machine], runs: dict[int, Run], until: dict[int, float], workers: int, *, last: bool
    ) -> dict[int, SMOResult]:
        """What machines have come to when their turns are over."""

        def turn(number: int) -> SMOResult:
            if number not in runs:
                runs[number] = self.begun(machines[number], number)
            runs[number].ends = until[number]
            return self.train(runs[number], last=last)

        tasks = [partial(turn, number) for number in until]
        return dict(zip(until, side_by_side(tasks, workers, self.stop), strict=True))

    def _is_small(self, machine: Machine) -> bool:
        """Whether a call of the core may train it among others."""
        training, problem = self.training, machine.problem
        usual = training.stopping == "kkt" and training.working_set is None and training.on_step is None
        alone = problem.start is None and len(problem.y) == len(machine.rows) <= TUNING.small
        return usual and alone and self.matrix.kernel.name != "callable"

    def _together(self, machines: Sequence[Machine], small: list[int]) -> Iterator[tuple[int, SMOResult | Run]]:
        """Small machines: what each has come to, or a run to go on with; where there is no time, the nearer means."""
        waiting = sorted(small, key=lambda number: -len(machines[number].rows))
        now, ends = time.perf_counter(), self.ends
        if math.isfinite(ends):
            ends -= min(TUNING.after * (now - self.training.began), 0.5 * (ends - now))
        # Rows that are worked on outgrow the cache otherwise.
        core, rows_each = self.matrix.core, rows_for(TUNING.smallest_set)
        most = max(1, len(waiting) if self.matrix.whole else max(self.threads, core.capacity // rows_each))
        at_once = min(most, 4 * self.threads)
        while waiting and not self.stopped and (began := time.perf_counter()) < ends:
            chosen, waiting = waiting[:at_once], waiting[at_once:]
            problems, rows = [machines[n].problem for n in chosen], [machines[n].rows for n in chosen]
            share = (ends - began) * self.threads / (len(chosen) + len(waiting))
            solvers = self.method.advanced(problems, self.matrix, rows, self.threads, seconds=share)
            solved = [
                (n, s) for n, s in zip(chosen, solvers, strict=True) if s is not None and s.finished and not s.stuck
            ]
            if solved:
                numbers, done = zip(*solved, strict=True)
                each = (time.perf_counter() - began) / len(chosen)
                found = results_together(
                    done, numbers, [machines[n].problem for n in numbers], self.matrix, each, "kkt"
                )
                yield from zip(numbers, found, strict=True)
            for number, solver in zip(chosen, solvers, strict=True):
                if solver is not None and (solver.stuck or not solver.finished):
                    yield number, self.begun(machines[number], number, solver)
            waiting = [n for n, s in zip(chosen, solvers, strict=True) if s is None] + waiting
            seconds = time.perf_counter() - began
            at_once = max(1, min(most, 4 * at_once, int(at_once * TUNING.seconds_per_look / max(seconds, 1e-9))))
        if waiting:
            reason: SMOStopReason = "interrupted" if self.stopped else "time_limit"
            problems, rows = [machines[n].problem for n in waiting], [machines[n].rows for n in waiting]
            found = by_means(waiting, problems, rows, self.matrix, reason)
            yield from zip(waiting, found, strict=True)


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

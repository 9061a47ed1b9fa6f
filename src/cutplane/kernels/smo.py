"""Kernel machines by sequential minimal optimisation.

`solve(problem, matrix)` takes a `DualProblem` and a `KernelMatrix` and returns an `SMOResult`. How the machines map:

    machine            problem                                             decision function
    C-SVC              DualProblem.classification(y, C)                    (y a) @ K(SV, x) - rho[0]
    epsilon-SVR        DualProblem.regression(target, C, epsilon)          (a[:n] - a[n:]) @ K(X, x) - rho[0]
    one-class          DualProblem.one_class(n, nu)                        a @ K(X, x) - rho[0]
    nu-SVC             DualProblem.nu_classification(y, nu)                divide y a and offset by the margin
    nu-SVR             DualProblem.nu_regression(target, C, nu)            (a[:n] - a[n:]) @ K(X, x) - offset, see there

C per example carries sample and class weights. One-vs-one machines share one `KernelMatrix` over all examples: each is
`solve(problem, matrix, rows=...)` with the positions of its two classes, and may run in its own Python thread (the GIL
is released; give each n_threads=1 and the same `should_stop`). Sort examples by class first: rows that lie together
are read faster.

Which certificate: for ANY a within its bounds, -(½ a'Qa + p'a) is at most the optimum of the primal problem, which is
at most the primal objective of the machine that a and rho define. `dual` and `primal` are these, with the rounding of
every sum charged, for the kernel matrix in single precision that was trained on. `cutplane.kernels.certificate`
evaluates them for the kernel itself.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from cutplane import _core
from cutplane.kernels.certificate import Flat, prove_together
from cutplane.kernels.functions import SINGLE_PRECISION
from cutplane.kernels.matrix import KernelMatrix, Rows
from cutplane.kernels.problems import DualProblem, Signs
from cutplane.kernels.smo_result import Array, SMOResult, SMOStopReason
from cutplane.kernels.smo_run import Run
from cutplane.kernels.smo_settings import (
    DEFAULT_SELECTION,
    TUNING,
    Selection,
    Stopping,
    check_rows,
    check_settings,
    fitting,
    rows_for,
    steps_per_slice,
    working_set_for,
)
from cutplane.kernels.smo_standstill import Standstill
from cutplane.kernels.smo_workspace import Workspace, in_units
from cutplane.proof.certificate import Certificate
from cutplane.solvers.result import OnStep, Step

# Rows, labels, p, upper and a start, as the core takes them.
Posed: TypeAlias = tuple[Rows | None, Signs, Array, Array, Array | None]


def solve(
    problem: DualProblem,
    matrix: KernelMatrix,
    *,
    rows: Rows | None = None,
    selection: Selection = DEFAULT_SELECTION,
    stopping: Stopping = "kkt",
    eps: float = 1e-3,
    tol: float = 1e-3,
    least_gain: float = 0.0,
    shrinking: bool = True,
    working_set: int | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
    on_step: OnStep | None = None,
    should_stop: Callable[[], bool] | None = None,
    n_threads: int | Callable[[], int] = 0,
) -> SMOResult:
    """Solve a dual problem.

    Parameters
    ----------
    problem : DualProblem
    matrix : KernelMatrix
    rows : array of int64, optional
        Positions in `matrix` of the problem's rows; all of them if None.
    selection : {"second-order", "conjugate", "ofs2", "ofs1", "mvp", "hmg"}
        How a pair is chosen. "conjugate" is "second-order" with steps along conjugate directions within working sets;
        one pair at a time it is "second-order" itself.
    stopping : {"kkt", "gap", "pair"}
        "kkt": the maximal violation is at most `eps` (LIBSVM's rule). "gap": the relative duality gap is at most
        `tol`. "pair": the pair selected violates less than `eps`, or its gain is less than `least_gain`, as the OFS
        paper has it: not a proof of anything.
    eps, tol, least_gain : float
    shrinking : bool
        Leave out variables that seem to stay at a bound; all are looked at again before the end.
    working_set : int, optional
        Variables worked on at a time. 2 takes one pair of all variables after the other, as LIBSVM does and the papers
        describe. More: pairs among the most violating variables, whose kernel rows are computed together, then one
        product brings the gradient up to date; several times as fast. None chooses.
    max_iter : int, optional
        Pair steps.
    time_limit : float, optional
        Seconds.
    on_step : callable, optional
        Called with a `Step` between slices of work; returning True ends the run.
    should_stop : callable, optional
        Asked between slices of work, for runs in several threads: returning True ends this one.
    n_threads : int or callable
        0 leaves it to OpenMP. A function is asked between slices of work, so that a run can take over the threads of
        others that have ended. Results do not depend on it.

    Returns
    -------
    SMOResult
        Also after Ctrl-C ("interrupted"): the point reached, with its gap.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> result = solve(DualProblem.classification(y, C=10.0), KernelMatrix(X, Kernel("linear")))
    >>> result.stop_reason, (result.alpha.round(3) + 0.0).tolist(), round(result.rho[0], 3)
    ('kkt', [0.0, 0.5, 0.5, 0.0], 2.0)
    """
    check_settings(selection, stopping, eps, tol, working_set, max_iter, time_limit)
    check_rows(problem, matrix, rows)
    method = Method(selection, stopping, eps, tol, shrinking, working_set, max_iter, least_gain)
    matrix.warn_before(rows_for(method.wanted(len(problem.y))))
    threads = n_threads if callable(n_threads) else lambda: n_threads
    run = method.run(problem, matrix, rows, threads, on_step, should_stop)
    run.ends = run.start + (math.inf if time_limit is None else time_limit)
    result = run.to_the_end()
    matrix.warn_after()
    return result


@dataclass(frozen=True)
class Method:
    """How runs go about their problems; see `solve`."""

    selection: Selection
    stopping: Stopping
    eps: float
    tol: float
    shrinking: bool
    working_set: int | None
    max_iter: int | None
    least_gain: float = 0.0

    def wanted(self, variables: int) -> int:
        """How many of so many variables to work on at a time."""
        return working_set_for(variables, self.stopping, self.working_set)

    def run(
        self,
        problem: DualProblem,
        matrix: KernelMatrix,
        rows: Rows | None,
        threads: Callable[[], int],
        on_step: OnStep | None = None,
        should_stop: Callable[[], bool] | None = None,
        solver: _core.SmoSolver | None = None,
    ) -> Run:
        """A run that is to begin, or to go on with a solver."""
        start, n = time.perf_counter(), len(problem.y)
        size = self._fitting(self.wanted(n), matrix)

        def conjugate_at(start: Array, most: int | None) -> _core.SmoSolver:
            variables = fitting(working_set_for(n, self.stopping), matrix)
            chosen = replace(self, selection="conjugate", max_iter=most)
            return chosen._created(
                matrix, [_posed(problem, matrix, rows, start)], problem.grouped, variables, threads()
            )[0]

        if solver is None:
            solver = self._created(matrix, [_posed(problem, matrix, rows)], problem.grouped, size, threads())[0]
        workspace = Workspace(solver, problem, matrix, matrix.size if rows is None else len(rows), threads)
        may_change = self.stopping != "pair" and (self.selection != "conjugate" or size == 2)
        standstill = Standstill(workspace, self.max_iter, conjugate_at if may_change else None)
        slice_steps = steps_per_slice(self.stopping, n, pairs=size == 2)
        return Run(
            workspace,
            standstill,
            self.stopping,
            self.tol,
            self.max_iter,
            slice_steps,
            on_step,
            should_stop,
            start,
            size,
        )

    def advanced(
        self,
        problems: Sequence[DualProblem],
        matrix: KernelMatrix,
        rows: Sequence[Rows],
        n_threads: int,
        *,
        seconds: float,
    ) -> Sequence[_core.SmoSolver | None]:
        """Solvers of small problems, made and advanced side by side, each for so long; None: its turn did not come.

        All are of as many variables to a row, and grouped or not.
        """
        posed = [_posed(problem, matrix, own) for problem, own in zip(problems, rows, strict=True)]
        size = self._fitting(self.wanted(TUNING.small), matrix)
        # Of a single problem nothing is advanced.
        twice = posed if len(posed) > 1 else 2 * posed
        each = TUNING.seconds_per_look
        found = self._created(matrix, twice, problems[0].grouped, size, n_threads, min(each, seconds), each)
        return found[: len(posed)]

    def _fitting(self, wanted: int, matrix: KernelMatrix) -> int:
        return wanted if self.working_set is not None else fitting(wanted, matrix)

    def _created(
        self, matrix: KernelMatrix, posed: list[Posed], grouped: bool, variables: int, n_threads: int, *seconds: float
    ) -> list[_core.SmoSolver]:
        return _core.SmoSolver.create(
            matrix.core,
            posed,
            grouped,
            self.selection,
            self.stopping,
            self.eps,
            self.least_gain,
            self.shrinking,
            variables,
            self.max_iter,
            n_threads,
            *seconds,
        )


def _posed(problem: DualProblem, matrix: KernelMatrix, rows: Rows | None, start: Array | None = None) -> Posed:
    """The problem as the core takes it, multipliers in units of the matrix; from a start in these units."""
    upper = np.ldexp(problem.upper, matrix.exponent) if matrix.exponent else problem.upper
    if start is None and problem.start is not None:
        start = np.ldexp(problem.start, matrix.exponent)
    return None if rows is None else np.ascontiguousarray(rows, np.int64), problem.y, problem.p, upper, start


def results_together(
    solvers: Sequence[_core.SmoSolver],
    numbers: Sequence[int],
    problems: Sequence[DualProblem],
    matrix: KernelMatrix,
    seconds: float,
    reason: SMOStopReason,
) -> list[SMOResult]:
    """What solvers of problems as `Flat` takes them have come to: they took so long each, and ended for this reason."""
    scaled = np.concatenate([solver.alpha() for solver in solvers])
    gradient = np.concatenate([solver.gradient() for solver in solvers])
    flat = Flat.of(problems)
    looks = np.array([solver.bounds()[2:] for solver in solvers])
    spread = np.array([solver.drift for solver in solvers]) + 2.0**-52 * flat.largest(np.abs(flat.p))
    alpha = in_units(scaled, flat.upper, matrix.exponent)
    scores = flat.y * (gradient - flat.p)
    proofs = prove_together(flat, alpha, looks[:, 1:], scores, flat.spread(spread), matrix.largest_value)
    steps = [solver.iterations for solver in solvers]
    return _parted(flat, alpha, gradient, looks, proofs, numbers, steps, seconds, reason)


def by_means(
    machines: Sequence[int],
    problems: Sequence[DualProblem],
    rows: Sequence[Rows],
    matrix: KernelMatrix,
    reason: SMOStopReason,
) -> list[SMOResult]:
    """Machines that there was no time for, as `Flat` takes them: the examples of a side weigh the same.

    That is the classifier by the nearer mean; its best scale is that of the multipliers. Of very many examples some
    make the means.
    """
    flat, at = Flat.of(problems), np.concatenate(rows)
    weight = np.zeros(matrix.size)
    weight[at] = flat.upper
    sides: dict[bytes, int] = {}
    members: list[Rows] = []
    numbers = np.zeros((2, len(problems)), np.int64)
    for k, (problem, own) in enumerate(zip(problems, rows, strict=True)):
        for side in (0, 1):
            of_side = own[problem.y > 0] if side == 0 else own[problem.y < 0]
            numbers[side, k] = number = sides.setdefault(of_side.tobytes(), len(sides))
            if number == len(members):
                members.append(of_side)
    different, place = np.unique(at, return_inverse=True)
    every = -(-(len(different) ** 2) // TUNING.values_for_means)
    chosen = np.zeros(matrix.size, bool)
    right = np.concatenate([some[::every] for some in members])
    chosen[right] = True
    alpha, scores = np.zeros((2, len(at)))
    # The same examples may weigh otherwise in other machines, where parts are left out: there is no common mean then.
    if matrix.kernel.computed and np.array_equal(weight[at], flat.upper) and all(map(len, members)):
        kernel, ends = matrix.kernel, np.cumsum([len(some[::every]) for some in members]).tolist()
        examples = kernel.examples(matrix.X[right], n_threads=matrix.n_threads)
        columns = weight[right][:, None]
        sums = kernel.products(matrix.X[different], examples, columns, ends, n_threads=matrix.n_threads)[:, :, 0]
        totals = np.add.reduceat(weight[right], [0, *ends[:-1]])[numbers]
        most = totals.min(axis=0)
        share = np.where(totals > 0.0, most / np.where(totals > 0.0, totals, 1.0), 0.0)
        first, second = (flat.spread(numbers[side]) for side in (0, 1))
        scores = flat.spread(share[0]) * sums[place, first] - flat.spread(share[1]) * sums[place, second]
        alpha = np.where(chosen[at], flat.upper * np.where(flat.y > 0, *map(flat.spread, share)), 0.0)
        square, linear = np.add.reduceat([flat.y * alpha * scores, flat.p * alpha], flat.starts, axis=1)
        scale = np.clip(np.where(square > 0.0, -linear / np.where(square > 0.0, square, 1.0), 1.0), 0.0, 1.0)
        alpha, scores = flat.spread(scale) * alpha, flat.spread(scale) * scores
    signs = np.stack([flat.y > 0, flat.y < 0]).astype(np.float64)
    middle = 0.5 * (np.add.reduceat(signs * scores, flat.starts, axis=1) / np.add.reduceat(signs, flat.starts, axis=1))
    rho = middle.sum(axis=0)
    # Kernel values in single precision, which may not be those of the matrix to the last bit.
    off = 2.0 * SINGLE_PRECISION * matrix.largest_value * np.add.reduceat(alpha, flat.starts)
    looks = np.column_stack([np.full(len(rho), math.inf), rho, rho])
    proofs = prove_together(flat, alpha, looks[:, 1:], scores, flat.spread(off), matrix.largest_value)
    gradient = flat.y * scores + flat.p
    return _parted(flat, alpha, gradient, looks, proofs, machines, [0] * len(proofs), 0.0, reason)


def _parted(
    flat: Flat,
    alpha: Array,
    gradient: Array,
    looks: Array,
    proofs: Sequence[Certificate],
    numbers: Sequence[int],
    steps: Sequence[int],
    seconds: float,
    reason: SMOStopReason,
) -> list[SMOResult]:
    """A result for each problem; `looks` are its violation and thresholds."""
    results = []
    each = zip(flat.parts, looks.tolist(), proofs, numbers, steps, strict=True)
    for (begin, end), (violation, up, down), (upper, lower, _), number, taken in each:
        a, g = alpha[begin:end], gradient[begin:end]
        history = [Step(taken, seconds, upper, lower, violation=violation, problem=number)]
        results.append(SMOResult(a, g, (up, down), taken, lower, upper, violation, history, reason, seconds))
    return results

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

import time
from collections.abc import Callable

import numpy as np

from cutplane import _core
from cutplane.kernels.matrix import KernelMatrix, Rows
from cutplane.kernels.problems import DualProblem
from cutplane.kernels.smo_result import Array, SMOResult
from cutplane.kernels.smo_run import Run
from cutplane.kernels.smo_settings import (
    DEFAULT_SELECTION,
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
from cutplane.kernels.smo_workspace import Workspace
from cutplane.solvers.result import OnStep


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
    start = time.perf_counter()
    threads = n_threads if callable(n_threads) else lambda: n_threads
    wanted = working_set_for(len(problem.y), stopping, working_set)
    matrix.warn_before(rows_for(wanted))
    size = wanted if working_set is not None else fitting(wanted, matrix)

    def solver_at(start: Array | None, chosen: Selection, variables: int, most: int | None) -> _core.SmoSolver:
        return _core.SmoSolver.create(
            matrix.core,
            None if rows is None else np.ascontiguousarray(rows, np.int64),
            problem.y,
            problem.p,
            np.ldexp(problem.upper, matrix.exponent),
            start,
            problem.grouped,
            chosen,
            stopping,
            eps,
            least_gain,
            shrinking,
            variables,
            most,
            threads(),
        )

    def conjugate_at(start: Array, most: int | None) -> _core.SmoSolver:
        return solver_at(start, "conjugate", fitting(working_set_for(len(problem.y), stopping), matrix), most)

    try:
        begin = None if problem.start is None else np.ldexp(problem.start, matrix.exponent)
        solver = solver_at(begin, selection, size, max_iter)
        workspace = Workspace(solver, problem, matrix, matrix.size if rows is None else len(rows), threads)
        may_change = stopping != "pair" and (selection != "conjugate" or size == 2)
        standstill = Standstill(workspace, max_iter, conjugate_at if may_change else None)
        run = Run(workspace, standstill, stopping, tol, max_iter, time_limit, on_step, should_stop, start)
        result = run.to_the_end(steps_per_slice(stopping, len(problem.y), pairs=size == 2))
    except MemoryError:
        raise MemoryError(
            f"There is no memory for the {size:,} kernel rows of {matrix.row_bytes:,} bytes that are worked on at a "
            "time; a smaller cache or working set would leave more."
        ) from None
    matrix.warn_after()
    return result

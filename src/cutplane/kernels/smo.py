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
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.kernels.certificate import prove, relative_gap
from cutplane.kernels.matrix import KernelMatrix, Rows
from cutplane.kernels.problems import DualProblem

Array = NDArray[np.float64]
Selection = Literal["mvp", "second-order", "hmg", "ofs1", "ofs2", "conjugate"]
Stopping = Literal["kkt", "gap", "pair"]
SMOStopReason = Literal["kkt", "gap", "pair", "stalled", "max_iter", "time_limit", "interrupted"]

DEFAULT_SELECTION: Selection = "second-order"
# Variables worked on at a time: a sixteenth of all, within these limits, by measurement.
_SHARE = 16
_SMALLEST_SET, _LARGEST_SET = 256, 2048
_PANEL = 16  # a multiple of this, so that rows of the block begin where cache lines do
_LEAST_WORKING_SET = 64  # where the cache is small
_FEWEST_ROWS = 100  # that one pair at a time should find in the cache
# Seconds between two looks at the clock and the signals.
_SECONDS_PER_LOOK = 0.05
# Kernel values touched between two looks at the bounds.
_VALUES_PER_SLICE = 100_000_000
_MOST_STEPS_PER_SLICE = 10_000
# Pair steps between looks at the gap, where that ends a run; in sets of more than a pair, at least one for each
# variable, for there a step costs less than a look at all of them.
_STEPS_PER_GAP = 100
# Pair steps, or so many for each variable, between looks whether what is left is the rounding of kernel values. LIBSVM
# ends after the first of them, whatever is left.
_PATIENCE, _PATIENCE_EACH = 10_000_000, 100
# Steps after which a run is looked back at, or so many for each variable, and again whenever they have doubled. It
# hardly moves if the last half of them has closed less of the gap than this share and has not halved the violation
# either. Then it goes on along conjugate directions: of eleven such runs of NuSVR these brought six to their end within
# as many steps again. Where they do not help until so many times as many steps, the run has stalled.
_LOOK_BACK, _LOOK_BACK_EACH = 100_000, 10
_HARDLY, _HALVED, _GIVES_UP = 0.1, 0.5, 10
# What kernel values in single precision may be off by, relative to the largest: see `Kernel`.
_SINGLE = 1e-6


@dataclass(frozen=True, slots=True)
class SMOStep:
    """The state of a run between slices of work, as `history` and `on_step` see it.

    While variables are shrunken away, `primal` and `violation` are those of the last full look. `dual` is the best
    bound until then. Both bounds allow for kernel values in single precision, whose errors add up as their squares do.
    """

    iteration: int
    seconds: float
    dual: float
    primal: float
    violation: float

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return relative_gap(self.primal, self.dual)


@dataclass(frozen=True, slots=True)
class SMOResult:
    """The solution of a dual problem with its certificate.

    Attributes
    ----------
    alpha : array
        The a of `DualProblem`, feasible.
    gradient : array
        Q a + p.
    rho : tuple of two floats
        The threshold; for a grouped problem that of label +1 and of label -1, else twice the same.
    n_iter : int
        Pair steps.
    dual, primal : float
        The optimum of the primal problem lies between them; infinite where the run ended before the gradient of the
        start was complete, and `rho` is 0 then.
    violation : float
        m(a) - M(a), the maximal violation of the optimality conditions.
    history : list of SMOStep
    stop_reason : str
        "kkt", "gap", "pair": the rule asked for; "stalled": no pair makes progress in double precision, or what is left
        of the violation is its rounding; ten million steps (100 for each variable, if that is more) have left no
        violation but what the rounding of kernel values to single precision accounts for; or, after a million steps
        (100 for each variable) and along conjugate directions, too, the last half of them closed less than a tenth of
        the gap and did not halve the violation. "max_iter", "time_limit", "interrupted".
    seconds : float
    phases : dict
        Seconds spent on kernel rows, selection, pair steps and gradients, where the solver keeps them.
    """

    alpha: Array
    gradient: Array
    rho: tuple[float, float]
    n_iter: int
    dual: float
    primal: float
    violation: float
    history: list[SMOStep] = field(repr=False)
    stop_reason: SMOStopReason
    seconds: float
    phases: dict[str, float] = field(default_factory=dict, repr=False)

    @property
    def gap(self) -> float:
        """The relative duality gap, (primal - dual) / |primal|."""
        return relative_gap(self.primal, self.dual)


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
    on_step: Callable[[SMOStep], Any] | None = None,
    should_stop: Callable[[], bool] | None = None,
    n_threads: int = 0,
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
        Leave out variables that seem settled at a bound; all are looked at again before the end.
    working_set : int, optional
        Variables worked on at a time. 2 takes one pair of all variables after the other, as LIBSVM does and the papers
        describe. More: pairs among the most violating variables, whose kernel rows are computed together, then one
        product brings the gradient up to date; several times as fast. None chooses.
    max_iter : int, optional
        Pair steps.
    time_limit : float, optional
        Seconds.
    on_step : callable, optional
        Called with an `SMOStep` between slices of work; returning True ends the run.
    should_stop : callable, optional
        Asked between slices of work, for runs in several threads: returning True ends this one.
    n_threads : int
        0 leaves it to OpenMP.

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
    _check(problem, matrix, rows, selection, stopping, eps, tol, working_set, max_iter, time_limit)
    start = time.perf_counter()
    wanted = working_set_for(len(problem.y), stopping, working_set)
    matrix.warn_before(rows_for(wanted))
    size = wanted if working_set is not None else _fitting(wanted, matrix)

    def solver_at(start: Array | None, chosen: str, variables: int, most: int | None) -> _core.SmoSolver:
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
            n_threads,
        )

    def conjugate_at(start: Array, most: int | None) -> _core.SmoSolver:
        return solver_at(start, "conjugate", _fitting(working_set_for(len(problem.y), stopping), matrix), most)

    try:
        begin = None if problem.start is None else np.ldexp(problem.start, matrix.exponent)
        solver = solver_at(begin, selection, size, max_iter)
        patience = max(_PATIENCE, _PATIENCE_EACH * len(problem.y))
        n_rows = matrix.size if rows is None else len(rows)
        run = _Run(
            solver, problem, n_rows, matrix, stopping, tol, max_iter, time_limit, on_step, should_stop, start, patience
        )
        if stopping != "pair" and (selection != "conjugate" or size == 2):
            run.otherwise = conjugate_at
        result = run.to_the_end(_steps_per_slice(stopping, len(problem.y), pairs=size == 2))
    except MemoryError:
        raise MemoryError(
            f"There is no memory for the {size:,} kernel rows of {matrix.row_bytes:,} bytes that are worked on at a "
            "time; a smaller cache or working set would leave more."
        ) from None
    matrix.warn_after()
    return result


def working_set_for(n: int, stopping: Stopping, working_set: int | None = None) -> int:
    """Of n variables, those that are worked on at a time, if the cache has room."""
    if working_set is not None:
        return working_set
    if stopping == "pair":
        return 2
    return min(max(_PANEL * -(-n // (_SHARE * _PANEL)), _SMALLEST_SET), _LARGEST_SET)


def rows_for(working_set: int) -> int:
    """Kernel rows that should be at hand: those worked on, and as many that were."""
    return max(2 * working_set, _FEWEST_ROWS)


def _fitting(size: int, matrix: KernelMatrix) -> int:
    # Rows in use are kept beyond the cache if need be: let them be a part of it.
    return size if size == 2 or matrix.whole else min(size, max(_LEAST_WORKING_SET, matrix.core.capacity // 2))


def _steps_per_slice(stopping: Stopping, n: int, *, pairs: bool) -> int:
    steps = max(1, min(_MOST_STEPS_PER_SLICE, _VALUES_PER_SLICE // (4 * n)))
    if stopping != "gap":
        return steps
    return min(steps, _STEPS_PER_GAP if pairs else max(n, _STEPS_PER_GAP))


@dataclass
class _Run:
    """The loop around slices of the core's work."""

    solver: _core.SmoSolver
    problem: DualProblem
    n_rows: int
    matrix: KernelMatrix
    stopping: Stopping
    tol: float
    max_iter: int | None
    time_limit: float | None
    on_step: Callable[[SMOStep], Any] | None
    should_stop: Callable[[], bool] | None
    start: float
    patience: int
    looks: int = 1
    believed: float = np.inf  # the relative gap, for the kernel values as they are
    halfway: tuple[int, float, float] = (0, -np.inf, np.inf)  # steps, dual and violation of the last look back
    before: int = 0  # steps of the solver that this one has taken over from
    otherwise: Callable[[Array, int | None], _core.SmoSolver] | None = None  # makes the solver to go on with
    history: list[SMOStep] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Pair steps until now."""
        return self.before + self.solver.iterations

    def to_the_end(self, slice_steps: int) -> SMOResult:
        reason = self._called_off()
        try:
            while reason is None:
                most = self.steps + slice_steps
                progress, reason = self._advance(most if self.max_iter is None else min(most, self.max_iter))
                if reason is None:
                    reason = self._reason(progress == "finished", self._note())
        except KeyboardInterrupt:
            reason = "interrupted"
        self.solver.settle()
        return self._result(reason)

    def _advance(self, most: int) -> tuple[str, SMOStopReason | None]:
        """Pair steps until there are `most`; a reason if the time or the caller ends them before."""
        while (progress := self.solver.advance(most - self.before, _SECONDS_PER_LOOK)) == "paused":
            if (reason := self._called_off()) is not None:
                return progress, reason
        return progress, None

    def _called_off(self) -> SMOStopReason | None:
        if self.should_stop is not None and self.should_stop():
            return "interrupted"
        late = self.time_limit is not None and time.perf_counter() - self.start >= self.time_limit
        return "time_limit" if late else None

    def _result(self, reason: SMOStopReason) -> SMOResult:
        """Multipliers in units of the problem, and bounds with all rounding charged."""
        last = self._note()
        rho_up, rho_down = self.solver.bounds()[3:] if self.solver.ready else (0.0, 0.0)
        scaled, upper = self.solver.alpha(), self.problem.upper
        # What is at its bound is there exactly, also where numbers are too small to be scaled exactly.
        at_bound = scaled >= np.ldexp(upper, self.matrix.exponent)
        alpha = np.minimum(np.where(at_bound, upper, np.ldexp(scaled, -self.matrix.exponent)), upper)
        gradient = self.solver.gradient()
        dual, primal = -np.inf, np.inf
        if self.solver.ready:
            scores = (self.problem.y * (gradient - self.problem.p))[: self.n_rows]
            spread = self.solver.drift + 2.0**-52 * float(np.abs(self.problem.p).max(initial=0.0))
            proof = prove(
                self.problem, alpha, (rho_up, rho_down), scores, np.full(self.n_rows, spread), self.matrix.largest_value
            )
            dual, primal = proof.lower_bound, proof.objective
        return SMOResult(
            alpha,
            gradient,
            (rho_up, rho_down),
            last.iteration,
            dual,
            primal,
            last.violation,
            self.history,
            reason,
            last.seconds,
            self.solver.phases(),
        )

    def _note(self) -> SMOStep:
        seconds = time.perf_counter() - self.start
        if not self.solver.ready:
            step = SMOStep(self.steps, seconds, -np.inf, np.inf, np.inf)
        else:
            dual, primal, violation, *rho = self.solver.bounds()
            self.believed = relative_gap(primal, dual)
            scale, (below, above) = 2.0**-self.matrix.exponent, self._off_by_single_precision(rho)
            lower = max((dual - below) * scale, self.history[-1].dual if self.history else -np.inf)
            step = SMOStep(self.steps, seconds, lower, (primal + above) * scale, violation)
        self.history.append(step)
        return step

    def _off_by_single_precision(self, rho: list[float]) -> tuple[float, float]:
        """What errors of kernel values do to dual and primal: those that differ by rows, and those that all share."""
        y, alpha, gradient = self.problem.y, self.solver.alpha(), self.solver.gradient()
        scores = np.abs(gradient - self.problem.p)
        upper = np.ldexp(self.problem.upper, self.matrix.exponent)
        losing = np.where(np.where(y > 0, rho[0], -rho[1]) > gradient, upper, 0.0)
        reach = float(np.sqrt(losing @ losing))
        coef = np.abs((y * alpha).reshape(-1, self.n_rows).sum(axis=0))
        length, largest = float(np.sqrt(coef @ coef)), float(np.ldexp(self.matrix.largest_value, -self.matrix.exponent))
        square = 0.5 * largest * length * length + 0.5 * float(coef @ scores[: self.n_rows])
        losses = largest * length * reach + float(losing @ scores)
        return _SINGLE * square, _SINGLE * (square + losses)

    def _proves_gap(self) -> bool:
        self.solver.settle()
        dual, primal, *_ = self.solver.bounds()
        return relative_gap(primal, dual) <= self.tol

    def _only_rounding_is_left(self) -> bool:
        self.solver.settle()
        _, _, violation, _, _ = self.solver.bounds()
        return violation <= self.solver.rounding()

    def _only_double_rounding_is_left(self, violation: float) -> bool:
        """Whether gradients summed up afresh differ by no more than they may be off: no step can prove more."""
        if not self.solver.ready or violation > self.solver.drift:
            return False
        self.solver.refresh()
        _, _, violation, _, _ = self.solver.bounds()
        return violation <= self.solver.drift and not self._proves_gap()

    def _hardly_moves(self) -> bool:
        """Whether the last half of the steps has brought the end hardly nearer; looked at as steps double."""
        first = max(_LOOK_BACK, _LOOK_BACK_EACH * len(self.problem.y))
        if self.steps < max(first, 2 * self.halfway[0]):
            return False
        self.solver.settle()
        dual, primal, violation, _, _ = self.solver.bounds()
        _, dual_before, violation_before = self.halfway
        self.halfway = (self.steps, dual, violation)
        if not np.isfinite(violation_before):
            return False
        return bool(dual - dual_before < _HARDLY * (primal - dual) and violation > _HALVED * violation_before)

    def _no_way_on(self) -> bool:
        """Whether the run is to end for it hardly moves; at first it goes on in another way."""
        if not self._hardly_moves():
            return False
        if self.otherwise is None:
            return self.steps >= _GIVES_UP * max(_LOOK_BACK, _LOOK_BACK_EACH * len(self.problem.y))
        left = None if self.max_iter is None else max(1, self.max_iter - self.steps)
        solver, self.otherwise = self.otherwise(self.solver.alpha(), left), None
        self.before, self.solver = self.steps, solver
        return False

    def _reason(self, finished: bool, step: SMOStep) -> SMOStopReason | None:
        stop = self.on_step is not None and self.on_step(step) is True
        if self.stopping == "gap":
            if self.believed <= self.tol and self._proves_gap():
                return "gap"
            if self._only_double_rounding_is_left(step.violation):
                return "stalled"
        if finished:
            return "stalled" if self.solver.stuck or self.stopping == "gap" else self.stopping
        if self.max_iter is not None and step.iteration >= self.max_iter:
            return "max_iter"
        if self.time_limit is not None and step.seconds >= self.time_limit:
            return "time_limit"
        if stop or (self.should_stop is not None and self.should_stop()):
            return "interrupted"
        if step.iteration >= self.looks * self.patience:
            self.looks += 1
            return "stalled" if self._only_rounding_is_left() else None
        return "stalled" if self._no_way_on() else None


def _check(
    problem: DualProblem,
    matrix: KernelMatrix,
    rows: Rows | None,
    selection: str,
    stopping: str,
    eps: float,
    tol: float,
    working_set: int | None,
    max_iter: int | None,
    time_limit: float | None,
) -> None:
    for name, value, choices in (("selection", selection, Selection), ("stopping", stopping, Stopping)):
        if value not in get_args(choices):
            raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, get_args(choices)))}.")
    for name, number in (("eps", eps), ("tol", tol)):
        if not number > 0 or not np.isfinite(number):
            raise ValueError(f"{name}={number!r} must be a finite number greater than 0.")
    if working_set is not None and working_set < 2:
        raise ValueError(f"working_set={working_set!r} must be at least 2, or None.")
    if stopping == "pair" and working_set not in (None, 2):
        raise ValueError(f"stopping='pair' takes one pair at a time: working_set={working_set!r} must be 2 or None.")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter={max_iter!r} must be at least 1, or None.")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit={time_limit!r} must be greater than 0, or None.")
    n = matrix.size if rows is None else len(rows)
    if n == 0 or len(problem.y) % n:
        raise ValueError(f"The problem has {len(problem.y)} variables: not a whole number for each of {n} rows.")
    if rows is not None and (np.min(rows) < 0 or np.max(rows) >= matrix.size):
        raise ValueError(f"rows must lie between 0 and {matrix.size - 1}, not {np.min(rows)} and {np.max(rows)}.")

"""Kernel machines by pair steps on a device, all of them side by side.

A round chooses, for each machine, a set of the variables that violate most, half of them from the set before; makes
pair steps within it, a block of threads for each machine; and brings the gradients of all variables up to date by the
kernel rows of what has changed. A machine whose pair steps take long has a turn of Newton's method. Machines leave when
no pair violates more than eps. What each is worth is computed from its multipliers alone, in double precision.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.blas import one_blas_thread
from cutplane._types import Array
from cutplane.device.kernels import DeviceArray
from cutplane.device.pair_steps import MOST_IN_SET, KernelRows, Machines, Variables
from cutplane.kernels.certificate import multipliers, prove
from cutplane.kernels.device_matrix import DeviceKernelMatrix
from cutplane.kernels.device_newton import Made, OneMachine, Turns, newton
from cutplane.kernels.matrix import Rows
from cutplane.kernels.problems import DualProblem
from cutplane.kernels.smo_result import SMOResult, SMOStopReason
from cutplane.solvers.result import Step

# Variables of a set: one of so many, at least and at most.
_SHARE, _LEAST = 8, 128
# Of the violation at its beginning, a set is left with this share; and steps for each of its variables, at most.
_LEFT, _STEPS_EACH = 0.2, 16
# A machine has stalled when so many rounds in a row have gained no more than this share of what all have.
_PATIENCE, _NOTHING = 20, 1e-13


@dataclass
class DeviceRun:
    """What ends a run, and who watches it.

    Attributes
    ----------
    eps : float
    max_iter, time_limit
        Pair steps of a machine, and seconds since `began`; None: none.
    working_set : int or None
    on_step : callable or None
        Of a `Step` and the number of a machine; True ends the run.
    """

    eps: float
    max_iter: int | None = None
    time_limit: float | None = None
    working_set: int | None = None
    on_step: Callable[[Step, int], bool] | None = None
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.began

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.time_limit is not None and self.seconds >= self.time_limit


class _Chosen(NamedTuple):
    """The sets of a round: positions of variables, how many of them are taken, and how much each machine violates."""

    at: DeviceArray
    sizes: DeviceArray
    violation: Array


class _Active:
    """The variables of the machines that are under way, one machine after the other."""

    def __init__(self, problems: Sequence[DualProblem], rows: Sequence[Rows], matrix: DeviceKernelMatrix) -> None:
        device = matrix.device
        self._xp, self._to, self._host = device.xp, device.to_device, device.to_host
        self._grouped = problems[0].grouped
        self._orders = [_by_label(problem) for problem in problems]
        self.numbers = np.arange(len(problems))
        self._lay(np.array([_parts(problem) for problem in problems]))
        self.y = self._joined([problem.y for problem in problems])
        self.upper = self._joined([problem.upper for problem in problems])
        self.alpha = self._joined([np.zeros(len(p.y)) if p.start is None else p.start for p in problems])
        columns = [np.resize(each, len(p.y)) for each, p in zip(rows, problems, strict=True)]
        self.column = self._joined([each.astype(np.int32) for each in columns])
        self.bare = self._joined([-(p.y * p.p) for p in problems])  # the pulls of zeros
        self.pull = self.bare.copy()
        self._before = self._xp.zeros(len(self.y), bool)
        self._begin(matrix, max(self.counts))

    def _joined(self, values: Sequence[NDArray[Any]]) -> DeviceArray:
        """What each machine has for its variables, in their order here."""
        return self._to(np.concatenate([each[order] for each, order in zip(values, self._orders, strict=True)]))

    def _lay(self, parts: NDArray[np.int64]) -> None:
        """Where variables lie; a part is those of a machine that pairs are made of: all, or those of a label."""
        self._sizes = parts
        self.counts = parts.sum(axis=1).tolist()
        self.begins = _begins(self.counts)
        self._firsts = self._to(self.begins)
        self._machine = self._to(_high_bits(self.counts))
        flat = parts.ravel()
        starts = _begins(flat)
        self._part = self._to(_high_bits(flat))
        self._start = self._to(np.repeat(starts[:-1], flat))
        self._part_firsts, self._filled = self._to(np.minimum(starts[:-1], starts[-1] - 1)), self._to(flat > 0)
        self._places: tuple[int, Any] = (0, None)

    def _begin(self, matrix: DeviceKernelMatrix, longest: int) -> None:
        """Count multipliers that are not zero at the start into the pulls."""
        if not float(self.alpha.sum()):
            return
        for first in range(0, longest, MOST_IN_SET):
            within = np.minimum(self.begins[:-1, None] + first + np.arange(MOST_IN_SET), self.begins[1:, None] - 1)
            inside = self._to(self.begins[:-1, None] + first + np.arange(MOST_IN_SET) < self.begins[1:, None])
            at = self._to(within)
            coef = self._xp.where(inside, self.y[at] * self.alpha[at], 0.0)
            self.update(matrix, matrix.rows(self.column[at]), coef)

    def update(self, matrix: DeviceKernelMatrix, rows: KernelRows, coef: DeviceArray) -> None:
        """What changes of coefficients do to all pulls."""
        matrix.pairs.update(rows, coef, Variables(self._firsts, max(self.counts), self.column), self.pull)

    def _all(self) -> Machines:
        layout = self._machine, self._part, self._start, self._part_firsts, self._filled
        return Machines(self.y, self.upper, self.alpha, self.pull, self.column, self._before, *layout)

    def chosen(self, matrix: DeviceKernelMatrix, q: int) -> _Chosen:
        """The next sets: those that violate most, then those of the sets before, then others."""
        order, apart = matrix.pairs.choose(self._all(), q)
        violation = self._host(apart).reshape(self._sizes.shape).max(axis=1)
        within, sizes = self._laid_out(q)
        return _Chosen(order[within], sizes, violation)

    def _laid_out(self, q: int) -> tuple[DeviceArray, DeviceArray]:
        """Where the first variables of each machine lie in the order of choice, and how many its set has."""
        if self._places[0] != q:
            sizes = np.minimum(self.counts, q).astype(np.int32)
            within = self.begins[:-1, None] + np.minimum(np.arange(q), sizes[:, None] - 1)
            self._places = q, (self._to(within), self._to(sizes))
        found: tuple[DeviceArray, DeviceArray] = self._places[1]
        return found

    def step(
        self, matrix: DeviceKernelMatrix, chosen: _Chosen, eps: Array, most: int
    ) -> tuple[NDArray[np.int64], Array]:
        """Pair steps within the sets, and what they do to all; how many there were, and what was gained by them."""
        everything = self._all()
        sets = matrix.pairs.gather(everything, chosen.at, chosen.sizes, self._to(eps))
        rows = matrix.rows(sets.column)
        steps = matrix.pairs.take(rows, sets, most, grouped=self._grouped)
        coef, gained = matrix.pairs.settle(everything, chosen.at, sets)
        self.update(matrix, rows, coef)
        return np.asarray(self._host(steps), np.int64), np.asarray(self._host(gained))

    def machine(self, k: int) -> OneMachine:
        """A machine by itself; what is changed of it is changed here."""
        here = slice(int(self.begins[k]), int(self.begins[k + 1]))
        ends = np.cumsum(self._sizes[k]).tolist()
        parts = [slice(begin, end) for begin, end in pairwise([0, *ends])]
        return OneMachine(
            self.y[here],
            self.upper[here],
            self.alpha[here],
            self.pull[here],
            self.column[here],
            self.bare[here],
            parts,
        )

    def multipliers_of(self, k: int) -> Array:
        """The multipliers of a machine, in the order of its problem."""
        found = np.empty(self.counts[k])
        found[self._orders[self.numbers[k]]] = self._host(self.alpha[int(self.begins[k]) : int(self.begins[k + 1])])
        return found

    def keep(self, left: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Go on with some of the machines; by how many places their variables move."""
        begins = self.begins[:-1][left]
        stay = self._to(np.repeat(left, self.counts))
        self.numbers = self.numbers[left]
        if not left.any():
            return begins
        for name in ("y", "upper", "alpha", "column", "pull", "bare", "_before"):
            setattr(self, name, getattr(self, name)[stay])
        self._lay(self._sizes[left])
        return begins - self.begins[:-1]

    def kept(self, chosen: _Chosen, left: NDArray[np.bool_]) -> _Chosen:
        """The sets of the machines that stay, when the others have left."""
        moved = self._to(self.keep(left)[:, None])
        stay = self._to(np.flatnonzero(left))
        return _Chosen(chosen.at[stay] - moved, chosen.sizes[stay], chosen.violation[left])


def _by_label(problem: DualProblem) -> NDArray[np.intp]:
    """The order of a problem's variables: those of a label together, where pairs are made of these."""
    return np.argsort(-problem.y, kind="stable") if problem.grouped else np.arange(len(problem.y))


def _parts(problem: DualProblem) -> list[int]:
    """How many variables pairs are made of: all, or those of each label."""
    positive = int(np.count_nonzero(problem.y > 0))
    return [positive, len(problem.y) - positive] if problem.grouped else [len(problem.y)]


def _begins(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _high_bits(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.uint64]:
    """The number of what each variable belongs to, above the 32 bits that variables are ordered by."""
    return np.repeat(np.arange(len(counts)), counts).astype(np.uint64) << np.uint64(32)


class _Notes:
    """What there is to say of each machine."""

    def __init__(self, count: int) -> None:
        self.history: list[list[Step]] = [[] for _ in range(count)]
        self.steps = np.zeros(count, np.int64)
        self._gained, self._idle = np.zeros(count), np.zeros(count, np.int64)

    def look(self, number: int, violation: float, run: DeviceRun) -> SMOStopReason | None:
        """Note where a machine stands; why it ends."""
        step = Step(int(self.steps[number]), run.seconds, math.inf, -math.inf, violation=violation)
        self.history[number].append(step)
        if violation <= run.eps:
            return "kkt"
        if run.max_iter is not None and self.steps[number] >= run.max_iter:
            return "max_iter"
        return "stalled" if self._idle[number] >= _PATIENCE else None

    def stepped(self, numbers: NDArray[np.int64], steps: NDArray[np.int64], gained: Array) -> None:
        """Note what some machines have done in a round."""
        self.steps[numbers] += steps
        self._gained[numbers] += gained
        self._idle[numbers] = np.where(gained > _NOTHING * self._gained[numbers], 0, self._idle[numbers] + 1)


class _Rounds:
    """The rounds of all machines, and what comes of each."""

    def __init__(
        self, problems: Sequence[DualProblem], rows: Sequence[Rows], matrix: DeviceKernelMatrix, run: DeviceRun
    ) -> None:
        self._active, self._notes = _Active(problems, rows, matrix), _Notes(len(problems))
        self._matrix, self._run, self._turns = matrix, run, Turns(matrix, len(problems))
        longest = max(self._active.counts)
        wanted = run.working_set or max(_LEAST, longest // _SHARE)
        self._q = min(MOST_IN_SET, longest, 32 * -(-wanted // 32))
        self.found: dict[int, tuple[Array, SMOStopReason]] = {}

    def to_the_end(self) -> None:
        """Until every machine has a reason to stop."""
        ends: SMOStopReason | None = None
        try:
            while ends is None and len(self._active.numbers):
                self._newton()
                chosen = self._active.chosen(self._matrix, self._q)
                ends, over = self._looked(chosen.violation)
                if ends is None and over.any():
                    chosen = self._active.kept(chosen, ~over)
                if ends is None and len(self._active.numbers):
                    self._step(chosen)
        except KeyboardInterrupt:
            ends = "interrupted"
        for k in range(len(self._active.numbers)):
            self._leave(k, ends or "interrupted")

    def _newton(self) -> None:
        """Newton's method for each machine whose turn it is."""
        under_way = len(self._active.numbers)
        for k, number in enumerate(self._active.numbers.tolist()):
            machine, looks = self._active.machine(k), self.history_of(number)
            made = Made(int(self._notes.steps[number]), self._q * len(looks))
            if made.steps and self._turns.has_come(number, made, under_way, machine, looks[0].violation):
                violation = looks[0].violation, looks[-1].violation
                newton(self._matrix, machine, violation, self._run.eps, lambda: self._run.late)

    def history_of(self, number: int) -> list[Step]:
        """The looks at a machine."""
        return self._notes.history[number]

    def _looked(self, violation: Array) -> tuple[SMOStopReason | None, NDArray[np.bool_]]:
        """Note where all stand, and what those have reached that are done; why all end, and which are done."""
        run, numbers = self._run, self._active.numbers.tolist()
        looks = zip(numbers, violation.tolist(), strict=True)
        reasons = [self._notes.look(number, each, run) for number, each in looks]
        over = np.array([reason is not None for reason in reasons])
        if run.on_step is not None:
            answers = [run.on_step(self.history_of(number)[-1], number) for number in numbers]
            if any(answers):
                return "interrupted", over
        if run.late:
            return "time_limit", over
        for k, reason in enumerate(reasons):
            if reason is not None:
                self._leave(k, reason)
        return None, over

    def _leave(self, k: int, reason: SMOStopReason) -> None:
        self.found[int(self._active.numbers[k])] = self._active.multipliers_of(k), reason

    def _step(self, chosen: _Chosen) -> None:
        run, active, steps = self._run, self._active, self._notes.steps
        most = _STEPS_EACH * self._q
        if run.max_iter is not None:
            most = min(most, run.max_iter - int(steps[active.numbers].max()))
        left = np.maximum(0.5 * run.eps, _LEFT * chosen.violation)
        self._notes.stepped(active.numbers, *active.step(self._matrix, chosen, left, most))


def solve_on_device(
    problems: Sequence[DualProblem], rows: Sequence[Rows], matrix: DeviceKernelMatrix, run: DeviceRun
) -> list[SMOResult]:
    """Solve dual problems of one kind on rows of one kernel matrix, side by side."""
    rounds = _Rounds(problems, rows, matrix, run)
    rounds.to_the_end()
    with one_blas_thread():
        return [
            _result(problem, each, matrix, *rounds.found[number], rounds.history_of(number), run)
            for number, (problem, each) in enumerate(zip(problems, rows, strict=True))
        ]


def _result(
    problem: DualProblem,
    rows: Rows,
    matrix: DeviceKernelMatrix,
    alpha: Array,
    reason: SMOStopReason,
    history: list[Step],
    run: DeviceRun,
) -> SMOResult:
    """What a machine is worth, from its multipliers alone."""
    coef = (problem.y * alpha).reshape(-1, len(rows)).sum(axis=0)
    support = np.flatnonzero(coef)
    scores, errors = matrix.exact_scores(rows, support, coef[support])
    gradient = problem.y * np.resize(scores, len(alpha)) + problem.p
    rho = _thresholds(problem, alpha, gradient)
    proof = prove(problem, multipliers(problem, coef), rho, scores, errors, matrix.largest_value)
    last = history[-1] if history else Step(0, run.seconds, math.inf, -math.inf, violation=math.inf)
    end = Step(last.iteration, run.seconds, proof.objective, proof.lower_bound, violation=last.violation)
    return SMOResult(
        alpha,
        gradient,
        rho,
        end.iteration,
        proof.lower_bound,
        proof.objective,
        end.violation,
        [*history, end],
        reason,
        run.seconds,
    )


def _thresholds(problem: DualProblem, alpha: Array, gradient: Array) -> tuple[float, float]:
    """Those of labels +1 and -1, which are one unless the problem is grouped."""
    forces = problem.y * gradient
    if not problem.grouped:
        one = _threshold(problem, alpha, forces, np.ones(len(alpha), bool))
        return one, one
    return _threshold(problem, alpha, forces, problem.y > 0), _threshold(problem, alpha, forces, problem.y < 0)


def _threshold(problem: DualProblem, alpha: Array, forces: Array, part: NDArray[np.bool_]) -> float:
    """The mean over multipliers between their bounds; without any, the middle between the two sides."""
    free = part & (alpha > 0.0) & (alpha < problem.upper)
    if free.any():
        return float(forces[free].mean())
    rises = part & np.where(problem.y > 0, alpha < problem.upper, alpha > 0.0)
    falls = part & np.where(problem.y > 0, alpha > 0.0, alpha < problem.upper)
    least = float(forces[rises].min()) if rises.any() else float(forces[part].max(initial=0.0))
    most = float(forces[falls].max()) if falls.any() else float(forces[part].min(initial=0.0))
    return 0.5 * (least + most)

"""Newton's method on the dual problem of a kernel machine on a device, its corners rounded.

With the corners of the primal losses rounded over h, multipliers are upper·clip(s/h + ½, 0, 1), s = y·(pull - b): at
zero, between their bounds, or at the upper one. Given which is where, those between and the threshold b solve linear
equations: K among these, h/upper on its diagonal. What then has left its range changes its place, a few times, until
few do; then h falls. Where h is large the equations are well conditioned and few change their place in vain; where it
is small, few do at all. In the end no pair violates more than h.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutplane.device.cholesky import factorised
from cutplane.device.kernels import DeviceArray
from cutplane.device.pair_steps import Variables
from cutplane.kernels.device_matrix import DeviceKernelMatrix


@dataclass(frozen=True, slots=True)
class NewtonTuning:
    """Chosen by covtype's first 5,000 to 16,000 rows (C = 64, gamma = 8), and on an H200: docs/decisions.md."""

    #: The first width: of the violation at the beginning of the run, and of that which is left, at most.
    first_width: float = 0.15
    of_violation: float = 0.5
    #: How much narrower the next one is.
    narrowing: float = 0.45
    #: The last width, of the violation that is asked for.
    last_width: float = 0.5
    #: Of those between their bounds, how many may change their place where the width falls.
    restless: float = 0.1
    #: ... and at the last one, where single precision of the kernel moves some to and fro: pair steps do the rest.
    settled: float = 0.02
    #: A width stands still after so many factors since those that change their place became fewer than this share.
    patience: int = 4
    fewer: float = 0.8
    #: Of the width, what equations may leave: single precision of the kernel does, and more where factors are wrong.
    of_equations: float = 0.1
    #: Factors at most.
    most: int = 40
    #: Of the memory that is left, what a factor may take, with what making it takes.
    of_memory: float = 0.9
    copies: float = 1.4
    #: In pair steps (2 µs): what all factors cost however small they are, each product of numbers in one, each value of
    #: the kernel matrix beside it, as it lies there or computed; and how many factors are reckoned with.
    cost_at_least: float = 30_000.0
    cost_of_product: float = 4e-9
    cost_of_value: float = 1e-6
    cost_of_computed: float = 7e-6
    factors: float = 6.0
    #: So many others may belong between their bounds, for each that is there.
    crowd: float = 1.0
    #: A machine that still makes pair steps after so many times those before has its turn again.
    again: float = 1.5


TUNING = NewtonTuning()


class OneMachine(NamedTuple):
    """A machine's variables; `alpha` and `pull` are changed in place.

    Attributes
    ----------
    y, upper, alpha, pull, column : device arrays
        As of `cutplane.device.pair_steps.Sets`.
    bare : device array
        The pulls of multipliers that are zero.
    parts : list of slices
        Variables whose coefficients have a fixed sum.
    """

    y: DeviceArray
    upper: DeviceArray
    alpha: DeviceArray
    pull: DeviceArray
    column: DeviceArray
    bare: DeviceArray
    parts: list[slice]


def newton(
    matrix: DeviceKernelMatrix,
    machine: OneMachine,
    violation: tuple[float, float],
    eps: float,
    late: Callable[[], bool],
) -> bool:
    """Bring a machine to where no pair violates more than eps, or as near as that goes; whether anything came of it.

    If not, its multipliers are those they were. `violation`: at the beginning of the run, and now.
    """
    rounded, done = _Rounded(matrix, machine), False
    before = machine.alpha.copy(), machine.pull.copy()
    try:
        last = TUNING.last_width * eps
        first = max(last, min(TUNING.first_width * violation[0], TUNING.of_violation * violation[1]))
        done = rounded.descend(first, last, late) and rounded.put_within()
    finally:  # Ctrl-C, too, leaves multipliers that are feasible
        if not done:
            machine.alpha[...], machine.pull[...] = before
    return done


class Made(NamedTuple):
    """What a machine has done: pair steps, and kernel rows of the rounds these were made in."""

    steps: int
    rows: int


class Turns:
    """When it is a machine's turn: where its pair steps have taken as long as Newton's method would.

    So a machine takes no longer than twice what the better of the two takes, nearly.
    """

    def __init__(self, matrix: DeviceKernelMatrix, machines: int) -> None:
        self._matrix = matrix
        self._due = np.full(machines, TUNING.cost_at_least)

    def has_come(self, number: int, made: Made, under_way: int, machine: OneMachine, first: float) -> bool:
        """Asked after so many steps of a machine, while so many machines make theirs side by side.

        `first` is the violation at the beginning.
        """
        value = TUNING.cost_of_value if self._matrix.is_whole else TUNING.cost_of_computed
        spent = (made.steps + made.rows * len(machine.y) * value) / under_way
        if spent < self._due[number]:
            return False
        free, violating = _in_question(machine, TUNING.first_width * first)
        if not free or violating > TUNING.crowd * free:  # pair steps find those sooner
            return False
        size = float(free + violating)
        factor = TUNING.cost_of_product * size**3 + value * size * len(machine.y)
        if spent < TUNING.factors * factor or not _factor_fits(self._matrix, size):
            return False
        self._due[number] = TUNING.again * spent
        return True


def _in_question(machine: OneMachine, h: float) -> tuple[int, int]:
    """How many are between their bounds, and how many that are not belong there, or beyond."""
    free, violating = 0, 0
    for part in machine.parts:
        y, upper, alpha, pull = (each[part] for each in machine[:4])
        between = (alpha > 0.0) & (alpha < upper)
        count = int(between.sum())
        if not count:
            continue
        slack = y * (pull - float((pull * between).sum()) / count)
        out = ((alpha <= 0.0) & (upper > 0.0) & (slack > 0.5 * h)) | ((alpha >= upper) & (slack < -0.5 * h))
        free, violating = free + count, violating + int(out.sum())
    return free, violating


def _factor_fits(matrix: DeviceKernelMatrix, free: float) -> bool:
    """Whether there is room for a factor of so many."""
    return 8.0 * TUNING.copies * free**2 <= TUNING.of_memory * matrix.device.free_bytes


class _Settled(NamedTuple):
    """Where a machine was when few changed their place."""

    h: float
    alpha: DeviceArray
    pull: DeviceArray
    between: DeviceArray
    full: DeviceArray


class _Level:
    """How it goes with a width."""

    def __init__(self, h: float) -> None:
        self.h, self._least, self._idle = h, math.inf, 0

    def stands_still(self, moved: int) -> bool:
        """Whether no fewer change their place than some steps ago."""
        fewer = moved <= TUNING.fewer * self._least
        self._least, self._idle = min(self._least, moved), 0 if fewer else self._idle + 1
        return self._idle >= TUNING.patience


class _Rounded:
    """A machine's rounded problem, and which of its multipliers are at zero, between their bounds, and at the upper."""

    def __init__(self, matrix: DeviceKernelMatrix, machine: OneMachine) -> None:
        self._matrix, self._of, self._xp = matrix, machine, matrix.device.xp
        self._host, self._to = matrix.device.to_host, matrix.device.to_device
        self._between = (machine.alpha > 0.0) & (machine.alpha < machine.upper)
        self._full = (machine.alpha >= machine.upper) & (machine.upper > 0.0)
        self._sums = self._sums_of_parts()
        self._thresholds = np.zeros(len(machine.parts))
        self._begins = self._to(np.array([0, len(machine.y)], np.int64))

    def descend(self, h: float, last: float, late: Callable[[], bool]) -> bool:
        """Narrow the width from h to the last one, as far as that goes; whether it went anywhere."""
        narrowing, level, settled = TUNING.narrowing, _Level(h), None
        for _ in range(TUNING.most):
            if late() or not self._solve(level.h):
                break
            moved, between = self._change_places(level.h)
            if level.h > last and moved <= TUNING.restless * between:
                settled = self._places_of(level.h)
                level = _Level(max(last, narrowing * level.h))
            elif moved <= TUNING.settled * between:
                return True
            elif level.stands_still(moved):
                if settled is None or level.h <= last:
                    break
                # Not so far at once.
                narrowing = narrowing**0.5
                level = _Level(max(last, narrowing * self._back_to(settled)))
        if settled is not None:
            self._back_to(settled)
        return settled is not None

    def _places_of(self, h: float) -> _Settled:
        of = self._of
        return _Settled(h, of.alpha.copy(), of.pull.copy(), self._between.copy(), self._full.copy())

    def _back_to(self, settled: _Settled) -> float:
        """To where a width was done with; that width."""
        self._of.alpha[...], self._of.pull[...] = settled.alpha, settled.pull
        self._between, self._full = settled.between.copy(), settled.full.copy()
        return settled.h

    def put_within(self) -> bool:
        """Multipliers within their bounds, whose sums are those they were; False where that cannot be."""
        of, xp = self._of, self._xp
        found = xp.clip(of.alpha, 0.0, of.upper)
        found = xp.where(self._between | self._full, found, 0.0)
        changes = of.y * (found - of.alpha)
        for part, lack in zip(of.parts, self._sums - self._sums_of_parts(of.y * found), strict=True):
            y, room = of.y[part], of.upper[part] - found[part]
            # Those between their bounds have room on either side: each moves by the same share of it.
            room = xp.where(self._between[part], xp.where((y > 0) == (lack > 0.0), room, found[part]), 0.0)
            total = float(room.sum())
            if abs(lack) > total:
                return False
            if lack:
                changes[part] += room * (lack / total)
        # Sums of what they were and what they change by are within a rounding of their bounds.
        of.alpha[...] = xp.where(self._full, of.upper, xp.clip(of.alpha + of.y * changes, 0.0, of.upper))
        of.pull[...] = of.bare  # afresh: multipliers were far larger on the way
        self._pull(xp.flatnonzero(of.alpha), of.y * of.alpha)
        return True

    def _solve(self, h: float) -> bool:
        """Multipliers for the places there are: the others on their bounds, those between by their equations."""
        of, xp = self._of, self._xp
        target = xp.where(self._full, of.upper, 0.0)
        changes = xp.where(self._between, 0.0, of.y * (target - of.alpha))
        self._move(xp.flatnonzero(changes), changes)
        free = xp.flatnonzero(self._between)
        if not len(free) or not _factor_fits(self._matrix, len(free)):
            return False
        y, ridge = of.y[free], h / of.upper[free]
        A = self._matrix.lower_triangle(of.column[free])
        A.ravel()[:: len(free) + 1] += ridge
        factor = factorised(A, self._matrix.pairs.inverse_root)
        if factor is None:
            return False
        wanted = of.pull[free] - ridge * y * of.alpha[free] + 0.5 * h * y
        members, owed = self._members(free)
        found = factor.solve(xp.concatenate([wanted[:, None], members], axis=1), xp)
        del factor, A
        inner = self._host(members.T @ found)
        b = np.linalg.lstsq(inner[:, 1:], inner[:, 0] - owed, rcond=None)[0]
        if not np.isfinite(b).all():
            return False
        changes[...] = 0.0
        changes[free] = found[:, 0] - found[:, 1:] @ self._to(b)
        self._thresholds = b
        self._move(free, changes)
        left = of.pull[free] - members @ self._to(b) - ridge * y * of.alpha[free] + 0.5 * h * y
        return float(abs(left).max()) <= TUNING.of_equations * h

    def _members(self, free: DeviceArray) -> tuple[DeviceArray, Any]:
        """Who of those between their bounds belongs to which part, a column each; and what changes of theirs sum to."""
        members = self._xp.zeros((len(free), len(self._of.parts)))
        for k, part in enumerate(self._of.parts):
            members[:, k] = (free >= part.start) & (free < part.stop)
        return members, self._sums - self._sums_of_parts()

    def _move(self, places: DeviceArray, changes: DeviceArray) -> None:
        """Change the coefficients of some variables, and all pulls with them."""
        of = self._of
        if not len(places):
            return
        of.alpha[places] += of.y[places] * changes[places]
        self._pull(places, changes)

    def _pull(self, places: DeviceArray, changes: DeviceArray) -> None:
        """What changes of coefficients do to all pulls."""
        of = self._of
        variables = Variables(self._begins, len(of.y), of.column)
        for part, rows in self._matrix.parts(of.column[places]):
            coef = self._xp.ascontiguousarray(changes[places[part]])[None, :]
            at = self._xp.ascontiguousarray(rows.at)[None, :]
            self._matrix.pairs.update(rows._replace(at=at), coef, variables, of.pull)

    def _change_places(self, h: float) -> tuple[int, int]:
        """Who has left its range changes its place; how many did, and how many were between their bounds."""
        of, xp = self._of, self._xp
        between, full = self._between, self._full
        b = xp.zeros(len(of.y))
        for part, threshold in zip(of.parts, self._thresholds.tolist(), strict=True):
            b[part] = threshold
        slack = of.y * (of.pull - b)
        sinks, rises = between & (of.alpha < 0.0), between & (of.alpha > of.upper)
        enters = ~between & ~full & (of.upper > 0.0) & (slack > -0.5 * h)
        falls = full & (slack < 0.5 * h)
        moved = int((sinks | rises | enters | falls).sum())
        count = int(between.sum())
        self._between = (between & ~sinks & ~rises) | enters | falls
        self._full = (full & ~falls) | rises
        return moved, count

    def _sums_of_parts(self, coef: DeviceArray | None = None) -> Any:
        """The sums of coefficients, by part."""
        of = self._of
        coef = of.y * of.alpha if coef is None else coef
        return np.array([float(coef[part].sum()) for part in of.parts])

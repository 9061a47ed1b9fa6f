"""Pair steps in NumPy: what the kernels do, step by step."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from cutplane.device.pair_steps import (
    Coefficients,
    DeviceArray,
    KernelRows,
    Machines,
    PairSteps,
    Sets,
    Transform,
    Variables,
)
from cutplane.device.twin_arrays import on_twin

# The least that a pair's curvature is taken for: kFlat of the kernels.
_FLAT = 1e-12


class TwinPairSteps(PairSteps):
    """On arrays of NumPy's."""

    def choose(self, of: Machines, q: int) -> tuple[DeviceArray, DeviceArray]:
        """Variables by machine, in the order in which a set of q takes them; how much each part violates."""
        here = Machines(*map(np.asarray, of))
        rises = np.where(here.y > 0, here.alpha < here.upper, here.alpha > 0.0)
        falls = np.where(here.y > 0, here.alpha > 0.0, here.alpha < here.upper)
        ascending = _as_whole_numbers(here.pull)
        ups, lows = _order(here.part, rises, ~ascending), _order(here.part, falls, ascending)
        place = np.arange(len(here.y)) - here.start
        rank = np.full(len(here.y), 0x0FFFFFFF)
        for order, wanted in ((ups, rises), (lows, falls)):
            own = np.empty_like(place)
            own[order] = place
            rank = np.where(wanted, np.minimum(rank, own), rank)
        group = np.where(rank < q // 4, 0, np.where(here.before, 1, 2))
        order = np.argsort(here.machine | ((group << 28) + rank).astype(np.uint64))
        top, bottom = ups[here.firsts], lows[here.firsts]
        open_ = rises[top] & falls[bottom] & here.filled
        return on_twin(order), on_twin(np.where(open_, here.pull[top] - here.pull[bottom], 0.0))

    def gather(self, of: Machines, at: DeviceArray, sizes: DeviceArray, eps: DeviceArray) -> Sets:
        """The variables at some places, copied."""
        return Sets(of.column[at], of.y[at], of.upper[at], of.alpha[at], of.pull[at], sizes, eps)

    def settle(self, of: Machines, at: DeviceArray, sets: Sets) -> tuple[DeviceArray, DeviceArray]:
        """Note the multipliers of sets and who was in them; changes of coefficients, and what each machine gained."""
        here, there, alpha = np.asarray(at), np.asarray(of.alpha), np.asarray(sets.alpha)
        taken = np.arange(here.shape[1]) < np.asarray(sets.sizes)[:, None]
        coef = np.where(taken, np.asarray(sets.y) * (alpha - there[here]), 0.0)
        gained = 0.5 * np.sum(coef * (np.asarray(of.pull)[here] + np.asarray(sets.pull)), axis=1)
        there[here[taken]] = alpha[taken]
        before = np.asarray(of.before)
        before[:] = False
        before[here[taken]] = True
        return on_twin(coef), on_twin(gained)

    def falling(self, products: DeviceArray, left: DeviceArray, right: DeviceArray) -> DeviceArray:
        """exp(min(0, product - left_i - right_j)), where the products lay."""
        here = np.asarray(products)
        here -= np.asarray(left)[:, None]
        here -= np.asarray(right)
        np.exp(np.minimum(here, 0.0), out=here)
        return products

    def sums(
        self,
        products: DeviceArray,
        transform: Transform,
        halves: tuple[DeviceArray, DeviceArray] | None,
        coef: Coefficients,
    ) -> DeviceArray:
        """Kernel values of these products times coefficients, summed by group: of shape (rows, groups, k)."""
        values = np.asarray(products)
        if transform.name == "exponential":
            assert halves is not None
            values = np.exp(np.minimum(values - np.asarray(halves[0])[:, None] - np.asarray(halves[1]), 0.0))
        elif transform.name != "identity":
            values = values + np.float32(transform.add)
            values = np.tanh(values) if transform.name == "tangent" else values ** np.float32(transform.degree)
        ends = np.asarray(coef.ends).tolist()
        parts = [slice(*each) for each in pairwise([0, *ends])]
        weights = np.asarray(coef.values)
        return on_twin(np.stack([values[:, part].astype(np.float64) @ weights[part] for part in parts], axis=1))

    def take(self, rows: KernelRows, sets: Sets, most: int, *, grouped: bool = False) -> DeviceArray:
        """Make pair steps, at most so many, in each set by itself; how many each made. `grouped`: within labels."""
        values = np.asarray(rows.values)
        steps = [
            _steps(values[np.ix_(at[:size], column[:size])].astype(np.float64), one, most, grouped)
            for at, column, size, one in (
                (np.asarray(rows.at[k]), np.asarray(sets.column[k]), int(sets.sizes[k]), _one_of(sets, k))
                for k in range(len(sets.sizes))
            )
        ]
        return on_twin(np.array(steps, np.int32))

    def update(self, rows: KernelRows, coef: DeviceArray, of: Variables, pull: DeviceArray) -> None:
        """Subtract the sum of coef[k] K[at[k]][column[t]] from pull[t], for all variables t of each machine."""
        values, here = np.asarray(rows.values), np.asarray(pull)
        for k, (begin, end) in enumerate(zip(np.asarray(of.begins[:-1]), np.asarray(of.begins[1:]), strict=True)):
            block = values[np.ix_(np.asarray(rows.at[k]), np.asarray(of.column[begin:end]))]
            here[begin:end] -= np.asarray(coef[k]) @ block.astype(np.float64)

    def inverse_root(self, square: DeviceArray) -> DeviceArray | None:
        """The inverse of the lower Cholesky factor; None where the matrix is not positive definite."""
        try:
            lower = np.linalg.cholesky(np.asarray(square))
        except np.linalg.LinAlgError:
            return None
        return on_twin(solve_triangular(lower, np.eye(len(lower)), lower=True, check_finite=False))


def _as_whole_numbers(values: Any) -> Any:
    """Whole numbers of 32 bits in the order of values in single precision."""
    bits = values.astype(np.float32).view(np.uint32)
    return np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(0x80000000))


def _order(part: Any, wanted: Any, rank: Any) -> Any:
    """Variables by part, those wanted first, by a number of 32 bits."""
    return np.argsort(part | np.where(wanted, rank, np.uint32(0xFFFFFFFF)).astype(np.uint64))


def _one_of(sets: Sets, k: int) -> Sets:
    return Sets(*(np.asarray(each[k]) for each in sets))


def _steps(Q: DeviceArray, one: Sets, most: int, grouped: bool) -> int:
    size = len(Q)
    y, upper, alpha, pull = (each[:size] for each in (one.y, one.upper, one.alpha, one.pull))  # views
    label, idle, step = int(grouped), 0, 0
    while step < most:
        pair = _pair(Q, one, label)
        if pair is None:
            idle += 1
            if idle == 1 + grouped:
                return step
            label = -label
            continue
        i, j, moved = pair
        room_i = upper[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else upper[j] - alpha[j]
        moved = min(moved, room_i, room_j)
        pull -= moved * (Q[i] - Q[j])
        alpha[i] = (upper[i] if y[i] > 0 else 0.0) if moved == room_i else alpha[i] + y[i] * moved
        alpha[j] = (0.0 if y[j] > 0 else upper[j]) if moved == room_j else alpha[j] - y[j] * moved
        label, idle, step = -label, 0, step + 1
    return most


def _pair(Q: DeviceArray, one: Sets, label: int) -> tuple[int, int, float] | None:
    """The variable that violates most, the one that gains most with it, and how far to go; 0 is either label."""
    size, own = len(Q), Q.diagonal()
    y, upper, alpha, pull = (each[:size] for each in (one.y, one.upper, one.alpha, one.pull))
    turn = (y == label) | (label == 0)
    rises = turn & np.where(y > 0, alpha < upper, alpha > 0.0)
    falls = turn & np.where(y > 0, alpha > 0.0, alpha < upper)
    i = int(np.argmax(np.where(rises, pull, -np.inf)))
    least = float(np.where(falls, pull, np.inf).min())
    if not (rises.any() and pull[i] - least > float(one.eps)):
        return None
    apart, bend = pull[i] - pull, np.maximum(own[i] + own - 2.0 * Q[i], _FLAT)
    j = int(np.argmax(np.where(falls & (apart > 0.0), apart * apart / bend, -np.inf)))
    return i, j, apart[j] / bend[j]

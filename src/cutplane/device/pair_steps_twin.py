"""Pair steps in NumPy: what the kernels do, step by step."""

from __future__ import annotations

import numpy as np

from cutplane.device.pair_steps import DeviceArray, KernelRows, PairSteps, Sets, Variables
from cutplane.device.twin_arrays import on_twin

# The least that a pair's curvature is taken for: kFlat of the kernels.
_FLAT = 1e-12


class TwinPairSteps(PairSteps):
    """On arrays of NumPy's."""

    def falling(self, products: DeviceArray, left: DeviceArray, right: DeviceArray) -> DeviceArray:
        """exp(min(0, product - left_i - right_j)), where the products lay."""
        here = np.asarray(products)
        here -= np.asarray(left)[:, None]
        here -= np.asarray(right)
        np.exp(np.minimum(here, 0.0), out=here)
        return products

    def take(self, rows: KernelRows, sets: Sets, most: int) -> DeviceArray:
        """Make pair steps, at most so many, in each set by itself; how many each made."""
        values = np.asarray(rows.values)
        steps = [
            _steps(values[np.ix_(at[:size], column[:size])].astype(np.float64), one, most)
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


def _one_of(sets: Sets, k: int) -> Sets:
    return Sets(*(np.asarray(each[k]) for each in sets))


def _steps(Q: DeviceArray, one: Sets, most: int) -> int:
    size = len(Q)
    y, upper, alpha, pull = (each[:size] for each in (one.y, one.upper, one.alpha, one.pull))  # views
    own = Q.diagonal()
    for step in range(most):
        rises = np.where(y > 0, alpha < upper, alpha > 0.0)
        falls = np.where(y > 0, alpha > 0.0, alpha < upper)
        i = int(np.argmax(np.where(rises, pull, -np.inf)))
        least = float(np.where(falls, pull, np.inf).min())
        if not (rises.any() and pull[i] - least > float(one.eps)):
            return step
        apart, bend = pull[i] - pull, np.maximum(own[i] + own - 2.0 * Q[i], _FLAT)
        j = int(np.argmax(np.where(falls & (apart > 0.0), apart * apart / bend, -np.inf)))
        room_i = upper[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else upper[j] - alpha[j]
        moved = min(apart[j] / bend[j], room_i, room_j)
        pull -= moved * (Q[i] - Q[j])
        alpha[i] = (upper[i] if y[i] > 0 else 0.0) if moved == room_i else alpha[i] + y[i] * moved
        alpha[j] = (0.0 if y[j] > 0 else upper[j]) if moved == room_j else alpha[j] - y[j] * moved
    return most

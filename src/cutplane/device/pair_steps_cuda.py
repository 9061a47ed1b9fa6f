"""Pair steps on a GPU, through CuPy."""

from __future__ import annotations

from functools import cache

import numpy as np

from cutplane.device import text
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
from cutplane.device.programs import Kernel, kernel

# Of the kernels: threads that share a set, and that update variables.
_THREADS, _UPDATING = 1024, 256


def _function(name: str) -> Kernel:
    return kernel(text.smo_text, name)


@cache
def _sums(transform: str, at_once: int) -> Kernel:
    name = text.kernel_sums(transform, at_once)
    return kernel(text.smo_text, name, (name,))


class CudaPairSteps(PairSteps):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy

        self._xp = cupy

    def choose(self, of: Machines, q: int) -> tuple[DeviceArray, DeviceArray]:
        """Variables by machine, in the order in which a set of q takes them; how much each part violates."""
        xp, n, parts = self._xp, len(of.y), len(of.firsts)
        grid, block = (-(-n // _UPDATING),), (_UPDATING,)
        up_keys, low_keys = xp.empty((2, n), np.uint64)
        _function("side_keys")(
            grid, block, (of.y, of.upper, of.alpha, of.pull, of.part, np.int64(n), up_keys, low_keys)
        )
        ups, lows = xp.argsort(up_keys), xp.argsort(low_keys)
        up_places, low_places = xp.empty((2, n), np.int32)
        sides = ups, lows, up_keys, low_keys
        _function("side_places")(grid, block, (*sides, of.start, np.int64(n), up_places, low_places))
        keys, apart = xp.empty(n, np.uint64), xp.empty(parts)
        given = up_places, low_places, of.before, of.machine, np.int64(n), np.int32(q // 4), keys
        _function("set_keys")(grid, block, given)
        _function("part_violations")(
            (-(-parts // _UPDATING),), block, (*sides, of.pull, of.firsts, of.filled, np.int32(parts), apart)
        )
        return xp.argsort(keys), apart

    def gather(self, of: Machines, at: DeviceArray, sizes: DeviceArray, eps: DeviceArray) -> Sets:
        """The variables at some places, copied."""
        xp, shape = self._xp, at.shape
        upper, alpha, pull = xp.empty((3, *shape))
        column, y = xp.empty(shape, np.int32), xp.empty(shape, np.int8)
        here = of.column, of.y, of.upper, of.alpha, of.pull
        given = at, np.int64(at.size), *here, column, y, upper, alpha, pull
        _function("gather_sets")((-(-at.size // _UPDATING),), (_UPDATING,), given)
        return Sets(column, y, upper, alpha, pull, sizes, eps)

    def settle(self, of: Machines, at: DeviceArray, sets: Sets) -> tuple[DeviceArray, DeviceArray]:
        """Note the multipliers of sets and who was in them; changes of coefficients, and what each machine gained."""
        machines, q = at.shape
        coef, gained = self._xp.empty((machines, q)), self._xp.empty(machines)
        of.before.fill(False)
        given = at, sets.sizes, np.int32(q), sets.y, sets.alpha, sets.pull, of.pull, of.alpha, of.before, coef, gained
        _function("settle_sets")((machines,), (_UPDATING,), given)
        return coef, gained

    def falling(self, products: DeviceArray, left: DeviceArray, right: DeviceArray) -> DeviceArray:
        """exp(min(0, product - left_i - right_j)), where the products lay."""
        rows, n = products.shape
        grid = min(-(-n // _UPDATING), 64), min(rows, 65535)
        _function("falling")(grid, (_UPDATING,), (products, left, right, np.int64(rows), np.int64(n)))
        return products

    def sums(
        self,
        products: DeviceArray,
        transform: Transform,
        halves: tuple[DeviceArray, DeviceArray] | None,
        coef: Coefficients,
    ) -> DeviceArray:
        """Kernel values of these products times coefficients, summed by group: of shape (rows, groups, k)."""
        rows, n = products.shape
        k, groups = coef.values.shape[1], len(coef.ends)
        out = self._xp.empty((rows, groups, k))
        at_once = next((each for each in text.SUMS_AT_ONCE if k <= each), text.SUMS_AT_ONCE[-1])
        left, right = halves or (np.uintp(0), np.uintp(0))
        of = products, np.int64(rows), np.int32(n), left, right, np.float32(transform.add), np.float32(transform.degree)
        for begin in range(0, k, at_once):
            given = (*of, coef.values, np.int32(k), np.int32(begin), coef.ends, np.int32(groups), out)
            _sums(transform.name, at_once)((-(-rows * 32 // _UPDATING),), (_UPDATING,), given)
        return out

    def take(self, rows: KernelRows, sets: Sets, most: int, *, grouped: bool = False) -> DeviceArray:
        """Make pair steps, at most so many, in each set by itself; how many each made. `grouped`: within labels."""
        machines, q = sets.column.shape
        square = self._xp.empty((machines, q, q), np.float32)
        stride = np.int64(rows.values.shape[1])
        given = (rows.values, stride, rows.at, sets.column, np.int32(q), square)
        _function("set_square")((min(q, 256), machines), (256,), given)
        steps = self._xp.empty(machines, np.int32)
        _function("pair_steps")(
            (machines,),
            (_THREADS,),
            (
                square,
                sets.y,
                sets.upper,
                sets.alpha,
                sets.pull,
                sets.sizes,
                sets.eps,
                np.int32(q),
                np.int32(most),
                np.int32(grouped),
                steps,
            ),
        )
        return steps

    def update(self, rows: KernelRows, coef: DeviceArray, of: Variables, pull: DeviceArray) -> None:
        """Subtract the sum of coef[k] K[at[k]][column[t]] from pull[t], for all variables t of each machine."""
        machines, q = coef.shape
        _function("pull_update")(
            (-(-of.longest // _UPDATING), machines),
            (_UPDATING,),
            (rows.values, np.int64(rows.values.shape[1]), rows.at, coef, np.int32(q), of.begins, of.column, pull),
        )

    def inverse_root(self, square: DeviceArray) -> DeviceArray | None:
        """The inverse of the lower Cholesky factor; None where the matrix is not positive definite."""
        import cupyx
        from cupyx.scipy.linalg import solve_triangular

        try:
            with cupyx.errstate(linalg="raise"):
                lower = self._xp.linalg.cholesky(square)
        except np.linalg.LinAlgError:
            return None
        return solve_triangular(lower, self._xp.eye(len(square)), lower=True, check_finite=False)

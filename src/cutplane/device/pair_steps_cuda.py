"""Pair steps on a GPU, through CuPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cutplane.device import text
from cutplane.device.pair_steps import Coefficients, DeviceArray, KernelRows, PairSteps, Sets, Transform, Variables

# Of the kernels: threads that share a set, and that update variables.
_THREADS, _UPDATING = 1024, 256


@cache
def _function(name: str) -> Any:
    import cupy

    return cupy.RawModule(code=text.smo_text(), options=("-std=c++17",)).get_function(name)


@cache
def _sums(transform: str, at_once: int) -> Any:
    import cupy

    name = text.kernel_sums(transform, at_once)
    module = cupy.RawModule(code=text.smo_text(), options=("-std=c++17",), name_expressions=(name,))
    return module.get_function(name)


class CudaPairSteps(PairSteps):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy

        self._xp = cupy

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

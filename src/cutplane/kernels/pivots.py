"""Examples that span what a kernel makes of others: incomplete Cholesky with pivoting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

#: Kernel values are single precision: directions shorter than this fraction of the longest are rounding.
SHORTEST = 1e-6


class Pivots(NamedTuple):
    """The examples chosen, and squared distances from the span: the largest before, the least after."""

    chosen: list[int]
    largest: float
    least: float


def pivots(own: Any, column: Callable[[int], Any], r: int, xp: Any) -> Pivots:
    """At most r examples, each of them the one furthest from the span of those before it.

    Parameters
    ----------
    own : array
        K(x, x) of every example, in double precision; it is changed.
    column : callable
        Of an example: its kernel values with all, a new array in double precision.
    r : int
    xp : module
        Of these arrays: NumPy, or what stands for it on a device.
    """
    largest = float(own.max())
    factor = xp.zeros((r, len(own)))
    chosen: list[int] = []
    for step in range(r):
        pivot = int(own.argmax())
        distance = float(own[pivot])
        if distance <= SHORTEST * largest:
            break
        chosen.append(pivot)
        values = column(pivot)
        if step:
            values -= factor[:step, pivot] @ factor[:step]
        values /= distance**0.5
        factor[step] = values
        own -= values * values
        own[pivot] = 0.0
    return Pivots(chosen, largest, float(own.min()))

"""Scores of new examples by a kernel expansion, on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cutplane._types import Array, Matrix
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.pair_steps import Coefficients
from cutplane.device.source import DeviceRows
from cutplane.kernels.device_rows import SingleRows, copied_rows, products
from cutplane.kernels.functions import Kernel

# Kernel values that are computed at a time: half a gigabyte.
_AT_ONCE = 1 << 27


class NewRows(NamedTuple):
    """Examples to be scored.

    Attributes
    ----------
    kernels : Kernels
    size : int
    stretch : callable
        Of two positions: the rows between them as a dense array of the device.
    """

    kernels: Kernels
    size: int
    stretch: Callable[[int, int], DeviceArray]

    def in_parts(self, width: int) -> Iterator[tuple[slice, DeviceArray]]:
        """Rows with so many values each that are computed of them, as many at a time as there is room for."""
        at_once = max(1, _AT_ONCE // max(1, width))
        for begin in range(0, self.size, at_once):
            end = min(begin + at_once, self.size)
            yield slice(begin, end), self.stretch(begin, end)


def rows_of_device(rows: DeviceRows) -> NewRows:
    """Examples that lie on a device."""
    return NewRows(rows.kernels, rows.shape[0], rows.stretch)


def rows_of_host(kernels: Kernels, X: Matrix) -> NewRows:
    """A dense array or CSR matrix of the host, copied a stretch at a time."""
    return NewRows(kernels, int(X.shape[0]), lambda begin, end: copied_rows(kernels, X[begin:end]))


def device_scores(kernel: Kernel, rows: NewRows, vectors: Matrix, coef: Array, ends: Sequence[int]) -> DeviceArray:
    """K(X, group) @ coef of each group of vectors, of shape (len(X), groups, coef.shape[1]), on the device.

    Kernel values are single precision, sums of them are in double. Groups follow each other, and end at `ends`.

    Parameters
    ----------
    kernel : Kernel
        One that devices have.
    rows : NewRows
        With finite values.
    vectors : array or CSR matrix of the host
    coef : array of shape (len(vectors), k)
    """
    device = rows.kernels
    scores = device.xp.zeros((rows.size, len(ends), coef.shape[1]))
    if not len(coef):
        return scores
    right = SingleRows.of(kernel, copied_rows(device, vectors), device.xp)
    given = Coefficients(device.to_device(np.ascontiguousarray(coef)), device.to_device(np.asarray(ends, np.int32)))
    pairs = device.pair_steps()
    for part, some in rows.in_parts(len(coef)):
        left = SingleRows.of(kernel, some, device.xp, like=right)
        scores[part] = products(kernel, left, right, given, pairs)
    return scores


def linear_scores(rows: NewRows, coef: Array) -> DeviceArray:
    """X @ coef.T in double precision, on the device."""
    device = rows.kernels
    scores, weights = device.xp.zeros((rows.size, len(coef))), device.to_device(np.ascontiguousarray(coef.T))
    for part, some in rows.in_parts(coef.shape[1]):
        scores[part] = some.astype(np.float64, copy=False) @ weights
    return scores

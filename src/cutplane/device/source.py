"""Examples on a device as a linear map: vectors of examples stay there, weights and slopes are the host's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from cutplane.device.kernels import (
    SEGMENT,
    Array,
    DeviceArray,
    Kernels,
    SparseRows,
    stretches_of,
    sum_depth_of,
)
from cutplane.sources.base import Extent, Source

# Entries of the rows that are turned into doubles at a time to be multiplied: 1 GB.
_AT_ONCE = 1 << 27
# So many weights are multiplied as a matrix: fewer are read faster than a copy of the rows in double precision.
_WIDE = 1 << 11
# Of sparse rows, all are gone through where one in so many is wanted: passes cost less than a copy of some by columns.
_MOST_SPARED = 3
# Of sparse rows, up to so many features are turned dense to be multiplied.
_MOST_DENSE = 1 << 14


def rows_at_once(d: int) -> int:
    """How many rows of d entries are turned into doubles at a time."""
    return max(1, _AT_ONCE // max(d, 1))


class DeviceRows(Source):
    """What dense and sparse rows on a device share.

    `scores` are arrays of the device, and coefficients, weights of examples and positions of rows are taken from there
    or from the host.

    Parameters
    ----------
    kernels : Kernels
    rows : array or CSR matrix of the device
    """

    def __init__(self, kernels: Kernels, rows: Any) -> None:
        self.kernels = kernels
        self._rows = rows
        self._last: tuple[DeviceArray, Self] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        n, d = self._rows.shape
        return int(n), int(d)

    @property
    def arrays(self) -> list[DeviceArray]:
        """What the rows are made of."""
        raise NotImplementedError

    def on_host(self) -> Any:
        """The same as an array or a CSR matrix of the host."""
        raise NotImplementedError

    def plain(self, entries: Any) -> Any:
        """Some of the numbers of `arrays` in a type that NumPy has: as they are."""
        return entries

    def scores(self, w: Array) -> DeviceArray:
        """X @ w."""
        xp = self.kernels.xp
        if not self.shape[0]:  # kernels are not started for nothing
            return xp.zeros((0, *w.shape[1:]))
        if w.ndim == 1:
            return self.scores_there(self.kernels.to_device(np.ascontiguousarray(w, np.float64)))
        return self._several(np.ascontiguousarray(w, np.float64))

    def combine(self, coef: DeviceArray) -> Array:
        """X.T @ coef."""
        there = self.kernels.to_device(coef)
        if not self.shape[0]:
            return np.zeros((self.shape[1], *there.shape[1:]))
        if there.ndim == 1:
            found: Array = self.kernels.to_host(self.combine_there(there))
            return found
        columns = (self.kernels.xp.ascontiguousarray(there[:, k]) for k in range(there.shape[1]))
        return np.stack([self.kernels.to_host(self.combine_there(each)) for each in columns], axis=1)

    def take(self, rows: DeviceArray) -> Self:
        """A copy of some rows: scattered, they are read at a fraction of the speed. The last is kept; of all, none."""
        if self._last is None or self._last[0] is not rows:
            there = self.kernels.to_device(rows)
            self._last = rows, self if self._is_all(there) else self._taken(there)
        return self._last[1]

    def _is_all(self, rows: DeviceArray) -> bool:
        """Whether these are all rows, in order: with a smooth loss every example is curved."""
        n = self.shape[0]
        # Not by `all`, which CuPy takes seconds to compile.
        return len(rows) == n and not len(self.kernels.xp.flatnonzero(rows != self.kernels.xp.arange(n)))

    def curvature(self, rows: DeviceArray, weights: DeviceArray, v: Array) -> Array:
        """Sum over `rows` of weights[i] x_i <x_i, v>."""
        part, there = self.bent(rows, weights)
        return part.combine(there * part.scores(v))

    def bent(self, rows: DeviceArray, weights: DeviceArray) -> tuple[Self, DeviceArray]:
        """Rows and weights over which `curvature` is summed: those given, copied together."""
        return self.take(rows), self.kernels.to_device(weights)

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature` on the same rows: a product of matrices is nearly free."""
        return max(2.0, self.shape[1] / 128.0)

    def gram(self, rows: DeviceArray, weights: DeviceArray) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'."""
        kernels, d = self.kernels, self.shape[1]
        there, scale = kernels.to_device(rows), kernels.xp.sqrt(kernels.to_device(weights))
        total = kernels.xp.zeros((d, d))
        block = rows_at_once(d)
        for begin in range(0, len(there), block):
            part = self._gather(there[begin : begin + block], scale[begin : begin + block])
            total += part.T @ part
        found: Array = kernels.to_host(total)
        return found

    def dense_rows(self, rows: DeviceArray, scale: DeviceArray, centre: Array | None = None) -> Array:
        """scale[i] (x_i - centre) for some rows, as a dense array of the host."""
        kernels = self.kernels
        if not len(rows):
            return np.zeros((0, self.shape[1]))
        there = kernels.to_device(scale)
        found: Array = kernels.to_host(self._gather(kernels.to_device(rows), there))
        return found if centre is None else found - np.outer(kernels.to_host(there), centre)

    def stretch(self, begin: int, end: int) -> DeviceArray:
        """Some rows next to each other, dense and in double precision, on the device."""
        xp = self.kernels.xp
        return self._gather(xp.arange(begin, end), xp.ones(end - begin))

    def _several(self, w: Array) -> DeviceArray:
        """X @ w for several columns."""
        there = self.kernels.to_device(np.ascontiguousarray(w.T))
        return self.kernels.xp.stack([self.scores_there(each) for each in there], axis=1)

    def _taken(self, positions: DeviceArray) -> Self:
        raise NotImplementedError

    def scores_there(self, w: DeviceArray) -> DeviceArray:
        """X @ w, both on the device."""
        raise NotImplementedError

    def combine_there(self, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, which stays on the device."""
        raise NotImplementedError

    def squares_there(self, weights: DeviceArray) -> DeviceArray:
        """Sums over rows of weights times the squares of the entries, on the device."""
        raise NotImplementedError

    def _gather(self, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        raise NotImplementedError


class DenseRows(DeviceRows):
    """A dense array by rows.

    Parameters
    ----------
    kernels : Kernels
    rows : array of the device of shape (n, d)
        In C order.
    entries : str
        The name of the type of its entries; bfloat16 lies in an array of uint16.
    known : sequence of pairs of arrays of the device
        What `dense_extent` found in parts of them, all together.
    """

    def __init__(
        self,
        kernels: Kernels,
        rows: DeviceArray,
        entries: str | None = None,
        known: Sequence[tuple[DeviceArray, DeviceArray]] = (),
    ) -> None:
        super().__init__(kernels, rows)
        self._entries = entries or str(rows.dtype.name)
        self._known = known

    @property
    def arrays(self) -> list[DeviceArray]:
        """What the rows are made of."""
        return [self._rows]

    def on_host(self) -> Any:
        """The same as an array of the host."""
        return self.plain(self.kernels.to_host(self._rows))

    def plain(self, entries: Any) -> Any:
        """Some of the entries in a type that NumPy has: of bfloat16, in single precision."""
        if self._entries != "bfloat16":
            return entries
        return (entries.astype(np.uint32) << np.uint32(16)).view(np.float32)

    def _taken(self, positions: DeviceArray) -> Self:
        return type(self)(self.kernels, self._rows[positions], self._entries)

    def block(self, begin: int, end: int, dtype: type[np.floating[Any]]) -> DeviceArray:
        """Some rows next to each other, as numbers of a type: where they lie if that is theirs."""
        rows = self._rows[begin:end]
        if self._entries == "bfloat16":  # the upper half of single precision
            rows = (rows.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return rows.astype(dtype, copy=False)

    def scores_there(self, w: DeviceArray) -> DeviceArray:
        """X @ w, both on the device."""
        return self.kernels.dense_scores(self._rows, self._entries, w)

    def _several(self, w: Array) -> DeviceArray:
        (n, d), xp = self.shape, self.kernels.xp
        if w.shape[1] * d < _WIDE:
            return super()._several(w)
        found, there, size = xp.empty((n, w.shape[1])), self.kernels.to_device(w), rows_at_once(d)
        for begin in range(0, n, size):
            found[begin : begin + size] = self.block(begin, begin + size, np.float64) @ there
        return found

    def combine_there(self, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, which stays on the device."""
        return self.kernels.dense_combine(self._rows, self._entries, coef)

    def squares_there(self, weights: DeviceArray) -> DeviceArray:
        """Sums over rows of weights times the squares of the entries, on the device."""
        (n, d), xp = self.shape, self.kernels.xp
        found, size = xp.zeros(d), rows_at_once(d)
        for begin in range(0, n, size):
            block = self.block(begin, begin + size, np.float64)
            found += weights[begin : begin + size] @ (block * block)
        return found

    def _gather(self, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        return self.kernels.dense_gather(self._rows, self._entries, rows, scale)

    @property
    def row_bytes(self) -> float:
        """What an example takes."""
        return float(self._rows.dtype.itemsize * self.shape[1])

    @cached_property
    def extent(self) -> Extent:
        """What rounding in passes is charged by: a pass, once."""
        n, d = self.shape
        parts = self._known or [self.kernels.dense_extent(self._rows, self._entries)]
        squares, sizes = (self.kernels.xp.stack(each) for each in zip(*parts, strict=True))
        square, columns = float(squares.max()), self.kernels.to_host(sizes.max(axis=0))
        depth = max(stretches_of(n, d).depth(n), sum_depth_of(n))
        return Extent(_reach(square, columns), d, depth, columns)


class CsrRows(DeviceRows):
    """A CSR matrix; the same by columns is made when a sum over examples is first asked for.

    Parameters
    ----------
    kernels : Kernels
    rows : CSR matrix of the device
    sizes : array of the device
        The largest size in every column, where it is known.
    """

    def __init__(self, kernels: Kernels, rows: Any, sizes: DeviceArray | None = None) -> None:
        super().__init__(kernels, rows)
        self._sizes = sizes

    @property
    def arrays(self) -> list[DeviceArray]:
        """What the rows are made of."""
        return [self._rows.data, self._rows.indices, self._rows.indptr]

    def on_host(self) -> Any:
        """The same as a CSR matrix of the host."""
        found = tuple(map(self.kernels.to_host, self.arrays))
        return sp.csr_array(found, shape=self.shape, copy=False)

    def _taken(self, positions: DeviceArray) -> Self:
        return type(self)(self.kernels, self.kernels.csr_take(self._rows, positions))

    @cached_property
    def _by_columns(self) -> SparseRows:
        return self.kernels.csr_columns(self._rows)

    def scores_there(self, w: DeviceArray) -> DeviceArray:
        """X @ w, both on the device."""
        return self.kernels.csr_scores(SparseRows(self._rows, None), w)

    def combine_there(self, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, which stays on the device."""
        return self.kernels.csr_combine(self._by_columns, coef)

    def squares_there(self, weights: DeviceArray) -> DeviceArray:
        """Sums over rows of weights times the squares of the entries, on the device."""
        return self.kernels.csr_combine(self._by_columns, weights, squared=True)

    def bent(self, rows: DeviceArray, weights: DeviceArray) -> tuple[Self, DeviceArray]:
        """Rows and weights over which `curvature` is summed: all of them where a copy by columns costs more."""
        n = self.shape[0]
        if len(rows) < n // _MOST_SPARED:
            return super().bent(rows, weights)
        every = self.kernels.xp.zeros(n)
        every[self.kernels.to_device(rows)] = self.kernels.to_device(weights)
        return self, every

    def _gather(self, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        return self.kernels.csr_gather(self._rows, rows, scale)

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature`: with many features, more than it is worth."""
        return super().gram_cost if self.shape[1] <= _MOST_DENSE else float(self.shape[1])

    @property
    def row_bytes(self) -> float:
        """What an example takes, in the mean."""
        data, indices = self._rows.data, self._rows.indices
        return float((data.dtype.itemsize + indices.dtype.itemsize) * data.size / max(1, self.shape[0]))

    @cached_property
    def extent(self) -> Extent:
        """What rounding in passes is charged by."""
        n, d = self.shape
        if not self._rows.data.size:
            return Extent(0.0, 1, sum_depth_of(n), np.zeros(d))
        square, entries, columns = self.kernels.csr_extent(self._rows, self._sizes)
        longest = -(-n // SEGMENT) + SEGMENT // 32 + 6  # a column with an entry in every row
        return Extent(_reach(square, columns), entries, max(longest, sum_depth_of(n)), columns)


def _reach(square: float, columns: Array) -> float:
    """The length of the longest row, whose square is known, or a little more."""
    return float(np.sqrt(square)) * (1.0 + 1e-9) + 1e-150 if columns.any() else 0.0

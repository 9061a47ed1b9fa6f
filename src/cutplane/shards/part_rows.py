"""The rows of one part of a sum, in memory, on disk or on a GPU: where they lie, and a checksum of them."""

from __future__ import annotations

import zlib
from functools import partial, reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane.device.arrays import put_on_device
from cutplane.device.kernels import DeviceArray
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.source import DeviceRows
from cutplane.shards.mapped import MappedArrays
from cutplane.sources.base import Source
from cutplane.sources.matrix import as_source

# Odd, and unlike each other: no change of a single word, nor an exchange of two, leaves the sum of a block as it was.
_FACTORS = np.arange(1, 2049, 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 8 * len(_FACTORS)
# So many blocks are multiplied at a time on a device: 64 MB.
_BLOCKS = 8192


class HostRows:
    """Rows in memory, or in a file.

    Parameters
    ----------
    X : array or CSR matrix
    mapped : MappedArrays, optional
        What keeps them in a file.

    Attributes
    ----------
    source : Source
        The same, for passes.
    """

    def __init__(self, X: Any, mapped: MappedArrays | None = None) -> None:
        self._X, self._mapped = X, mapped
        self.source: Source = as_source(X)

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent as arrays, whether they lie on disk or not."""
        return HostRows, (self._X,)

    @property
    def nbytes(self) -> int:
        """Of the host's memory, what the rows take, or would."""
        return sum(each.nbytes for each in self._arrays)

    @property
    def _arrays(self) -> list[NDArray[Any]]:
        X = self._X
        return [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]

    def on_disk(self, folder: str) -> HostRows:
        """The same, in a file of that folder."""
        mapped = MappedArrays(self._arrays, folder)
        X = self._X
        rows: Any = mapped.arrays[0]
        if sp.issparse(X):
            rows = sp.csr_array(tuple(mapped.arrays), shape=X.shape, copy=False)
            rows.has_sorted_indices = X.has_sorted_indices
        return HostRows(rows, mapped)

    def release(self) -> None:
        """Give back what memory a pass has taken for rows on disk."""
        if self._mapped is not None:
            self._mapped.release()

    def marked(self, mark: int) -> int:
        """A checksum with these rows in it."""
        return reduce(marked, self._arrays, mark)


class RowsOnDevice:
    """Rows on a GPU.

    Parameters
    ----------
    source : DeviceMatrix
    """

    def __init__(self, source: DeviceMatrix) -> None:
        self.source = source

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent as arrays of the host."""
        return _arrived, (self.source.rows.on_host(),)

    @property
    def nbytes(self) -> int:
        """Of the host's memory they take nothing."""
        return 0

    def on_disk(self, folder: str) -> Self:
        """The same: a disk is for what the memory of the host has no room for."""
        return self

    def release(self) -> None:
        """Nothing is on disk."""

    def marked(self, mark: int) -> int:
        """A checksum with these rows in it: that of the same rows on the host."""
        rows = self.source.rows
        return reduce(partial(_marked_there, rows), rows.arrays, mark)


def part_rows(X: Any) -> HostRows | RowsOnDevice:
    """Those of a part, as they have been checked: an array, a CSR matrix, or rows on a GPU."""
    return RowsOnDevice(X) if isinstance(X, DeviceMatrix) else HostRows(X)


def _arrived(X: Any) -> HostRows | RowsOnDevice:
    """Rows that lay on the GPU of another worker: on that of this one, where it has one."""
    there = put_on_device(X)
    return HostRows(X) if there is None else RowsOnDevice(there)


def marked(mark: int, array: NDArray[Any]) -> int:
    """With the bytes of an array in it: those of a block as one word, and a checksum of these, at a memory's rate."""
    plain: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = len(plain) // _BLOCK * _BLOCK
    blocks = plain[:whole].view(np.uint64).reshape(-1, len(_FACTORS)) @ _FACTORS
    return zlib.crc32(plain[whole:], zlib.crc32(blocks.view(np.uint8), mark))


def _marked_there(rows: DeviceRows, mark: int, array: DeviceArray) -> int:
    """The same of an array on a device, made there: of whole numbers, whose sums are the same in any order."""
    kernels, there = rows.kernels, rows.kernels.to_device(array).reshape(-1)
    factors = kernels.to_device(_FACTORS)
    block = _BLOCK // rows.plain(there[:0]).dtype.itemsize
    whole = len(there) // block * block
    for begin in range(0, whole, _BLOCKS * block):
        # A copy begins where words may: rows of bytes need not.
        some = rows.plain(there[begin : min(whole, begin + _BLOCKS * block)]).copy()
        sums: Any = kernels.to_host((some.view(np.uint64).reshape(-1, len(_FACTORS)) * factors).sum(axis=1))
        mark = zlib.crc32(sums, mark)
    return zlib.crc32(kernels.to_host(rows.plain(there[whole:])), mark)

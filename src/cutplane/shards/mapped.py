"""Arrays on disk that are read as if they lay in memory: of parts that do not fit there."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


class MappedArrays:
    """Copies of arrays in a file that has no name: it is gone with the last of them, however the process ends.

    Parameters
    ----------
    arrays : sequence of arrays
    folder : str
        Where there is room.

    Attributes
    ----------
    arrays : list of arrays
        The copies, read-only.
    """

    def __init__(self, arrays: list[NDArray[Any]], folder: str) -> None:
        starts = np.cumsum([0, *(_whole_pages(each.nbytes) for each in arrays)]).tolist()
        with tempfile.TemporaryFile(dir=folder) as file:
            for start, each in zip(starts, arrays, strict=False):
                file.seek(start)
                each.ravel(order=_order(each)).tofile(file)
            file.truncate(max(starts[-1], mmap.PAGESIZE))
            file.flush()
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.arrays = [
            np.frombuffer(self._map, each.dtype, each.size, start).reshape(each.shape, order=_order(each))
            for start, each in zip(starts, arrays, strict=False)
        ]

    def release(self) -> None:
        """Give back the memory of what was read; it is read again when it is needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _order(array: NDArray[Any]) -> Literal["C", "F"]:
    """Rows or columns, as they lie: sums of either have their own bits."""
    return "C" if array.flags.c_contiguous else "F"


def _whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE

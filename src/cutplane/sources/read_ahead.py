"""Files read a block at a time, the next while the last is worked on."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Number = TypeVar("Number", bound=np.generic)

# Blocks of this many bytes are kept for the next ones to be read into, so many of them.
_LARGE = 1 << 20
_MOST_SPARE = 3


def read_ahead(loads: Iterable[Callable[[], T]]) -> Iterator[T]:
    """What each of `loads` gives, in order; the next one is called while its predecessor is used."""
    with ThreadPoolExecutor(1, thread_name_prefix="cutplane-read-ahead") as reader:
        coming = None
        for load in loads:
            following = reader.submit(load)
            if coming is not None:
                yield coming.result()
            coming = following
        if coming is not None:
            yield coming.result()


class BinaryFile:
    """A file of numbers, read with plain reads: no mapping counts against a limit on memory.

    Parameters
    ----------
    path : path-like
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY)
        self._spare: list[NDArray[np.uint8]] = []
        self.size = os.fstat(self._descriptor).st_size

    def __del__(self) -> None:
        descriptor = self.__dict__.pop("_descriptor", None)
        if descriptor is not None:
            os.close(descriptor)

    def __reduce__(self) -> tuple[type[BinaryFile], tuple[str | os.PathLike[str]]]:
        return type(self), (self.path,)

    def read(self, start: int, count: int, dtype: type[Number] | np.dtype[Number]) -> NDArray[Number]:
        """`count` numbers from byte `start` on; one sentence if the file ends before."""
        result = self._array(count, np.dtype(dtype))
        view = result.view(np.uint8).data if count else memoryview(b"")
        done = 0
        while done < len(view):
            got = os.preadv(self._descriptor, [view[done:]], start + done)
            if not got:
                raise ValueError(
                    f"{os.fspath(self.path)} is truncated: it ends at byte {start + done}, and {len(view) - done} more "
                    f"were expected; write it again."
                )
            done += got
        return result

    def _array(self, count: int, dtype: np.dtype[Number]) -> NDArray[Number]:
        """Room for a block; its memory comes back when the last view of it is gone, for fresh pages cost a copy."""
        size = count * dtype.itemsize
        if size < _LARGE:
            return np.empty(count, dtype)
        try:
            memory = self._spare.pop()
        except IndexError:
            memory = np.empty(size, np.uint8)
        if len(memory) < size:
            memory = np.empty(size, np.uint8)
        # Views of views keep the first one alive, as its own base is no array.
        result = np.frombuffer(memory.data, dtype, count)
        weakref.finalize(result, _give_back, self._spare, memory).atexit = False
        return result


def _give_back(spare: list[NDArray[np.uint8]], memory: NDArray[np.uint8]) -> None:
    if len(spare) < _MOST_SPARE:
        spare.append(memory)

"""Long arrays to a GPU and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

# Bytes from which an array is long, and of a buffer that the device reads and writes directly.
LONG, _PINNED = 1 << 22, 1 << 24
# Threads that fill and empty a buffer: of memory that is new, one is given pages more slowly than a device writes.
_COPIERS = 8


class Transfers:
    """By way of two buffers: while one is filled, the other is emptied.

    To have as much of such memory as an array takes would take longer than to send it.

    Parameters
    ----------
    cupy : module
    pinned : callable
        Makes an array of such memory, from a number and a type.
    """

    def __init__(self, cupy: Any, pinned: Any) -> None:
        self._cupy, self._pinned = cupy, pinned
        self._rooms: list[Any] = []
        self._in_use = threading.Lock()

    def to_host(self, array: Any) -> Any:
        """A contiguous array of the device, on the host."""
        found = np.empty(array.shape, array.dtype)
        with self._in_use, ThreadPoolExecutor(_COPIERS) as pool:
            rooms, streams = self._begun(array.dtype)
            before: tuple[slice, int] | None = None
            for turn, part in enumerate([*_parts(array), None]):
                if part is not None:
                    room = rooms[turn % 2][: part.stop - part.start]
                    array[part].get(stream=streams[turn % 2], out=room, blocking=False)
                if before is not None:
                    last, k = before
                    streams[k].synchronize()
                    _copy(rooms[k][: last.stop - last.start], found[last], pool)
                before = None if part is None else (part, turn % 2)
        return found

    def to_device(self, array: Any) -> Any:
        """A contiguous array of the host, on the device."""
        found = self._cupy.empty(array.shape, array.dtype)
        with self._in_use, ThreadPoolExecutor(_COPIERS) as pool:
            rooms, streams = self._begun(array.dtype)
            for turn, part in enumerate(_parts(array)):
                room, stream = rooms[turn % 2][: part.stop - part.start], streams[turn % 2]
                stream.synchronize()  # what was sent from there has arrived
                _copy(array[part], room, pool)
                found[part].set(room, stream=stream)
            for stream in streams:
                stream.synchronize()
        return found

    def _begun(self, dtype: Any) -> tuple[list[Any], list[Any]]:
        """The buffers as arrays of a type, and a stream for each; what was asked of the device before is done."""
        if not self._rooms:
            self._rooms = [self._pinned(_PINNED, np.uint8) for _ in range(2)]
        self._cupy.cuda.get_current_stream().synchronize()
        streams = [self._cupy.cuda.Stream(non_blocking=True) for _ in self._rooms]
        return [room.view(dtype) for room in self._rooms], streams


def _parts(array: Any) -> Iterator[slice]:
    """Stretches of an array that fit into a buffer."""
    size = _PINNED // array.dtype.itemsize
    for begin in range(0, array.size, size):
        yield slice(begin, min(begin + size, array.size))


def _copy(source: Any, target: Any, pool: ThreadPoolExecutor) -> None:
    pieces = zip(np.array_split(target, _COPIERS), np.array_split(source, _COPIERS), strict=True)
    for _ in pool.map(lambda piece: np.copyto(*piece), pieces):
        pass

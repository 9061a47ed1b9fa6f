"""Long arrays to a GPU and back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

# Bytes from which an array is long, and of a buffer that the device reads and writes directly.
LONG, _PINNED = 1 << 22, 1 << 23
# Threads, each with a buffer: one alone fills it, and is given pages of memory that is new, more slowly than a device
# reads and writes.
_COPIERS = 8

# What is called with the position of a part's first row and the part, on the stream that brings it.
Seen = Callable[[int, Any], None]


class Transfers:
    """By way of buffers, each with a thread and a stream: while one is filled, others are on their way.

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
        there, here = array.reshape(-1), found.reshape(-1)

        def bring(part: slice, room: Any, stream: Any) -> None:
            there[part].get(stream=stream, out=room, blocking=False)
            stream.synchronize()
            np.copyto(here[part], room)

        self._in_parts(bring, here, 1)
        return found

    def to_device(self, array: Any, seen: Seen | None = None) -> Any:
        """A contiguous array of the host, on the device; parts of rows are `seen` as they arrive, in any order."""
        found = self._cupy.empty(array.shape, array.dtype)
        here, there, each = array.reshape(-1), found.reshape(-1), _row_size(array)

        def send(part: slice, room: Any, stream: Any) -> None:
            stream.synchronize()  # what was sent from there has arrived
            np.copyto(room, here[part])
            there[part].set(room, stream=stream)
            if seen is not None:
                with stream:
                    begin, end = part.start // each, part.stop // each
                    seen(begin, found[begin:end])

        self._in_parts(send, here, each)
        return found

    def _in_parts(self, carry: Callable[[slice, Any, Any], None], values: Any, each: int) -> None:
        """Carry stretches of whole rows, by turns of threads; what was asked of the device before is done."""
        device = self._cupy.cuda.Device()
        size = max(1, _PINNED // (values.dtype.itemsize * each)) * each
        parts = [slice(begin, min(begin + size, values.size)) for begin in range(0, values.size, size)]

        def work(turn: int) -> None:
            with device:
                stream = self._cupy.cuda.Stream(non_blocking=True)
                for part in parts[turn::_COPIERS]:
                    room = self._rooms[turn][: (part.stop - part.start) * values.dtype.itemsize]
                    carry(part, room.view(values.dtype), stream)
                stream.synchronize()

        with self._in_use, ThreadPoolExecutor(_COPIERS) as pool:
            needed = min(_COPIERS, len(parts))
            self._cupy.cuda.get_current_stream().synchronize()
            for turn in range(needed):
                self._make_room(turn, size * values.dtype.itemsize)
            for _ in pool.map(work, range(needed)):
                pass

    def _make_room(self, turn: int, size: int) -> None:
        """A buffer of at least so many bytes, made once, and again for rows that are longer than it."""
        if turn == len(self._rooms):
            self._rooms.append(self._pinned(max(size, _PINNED), np.uint8))
        elif len(self._rooms[turn]) < size:
            self._rooms[turn] = self._pinned(size, np.uint8)


def _row_size(array: Any) -> int:
    """The entries of a row, all that belongs to one place of the first axis."""
    return max(1, int(np.prod(array.shape[1:], dtype=np.int64)))

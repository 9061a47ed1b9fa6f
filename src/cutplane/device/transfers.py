"""Long arrays to a GPU and back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

# Bytes from which an array is long, and of a buffer that the device reads and writes directly.
LONG, _PINNED = 1 << 22, 1 << 23
# Threads, each with a buffer: one alone fills it, and is given pages of memory that is new, more slowly than a device
# reads and writes.
_COPIERS = 8

# Bytes of a stretch that is looked at when it has arrived: what launches a kernel must wait for its turn among these
# threads, so that there are few.
_STRETCH = 1 << 29

# What is called with the position of a stretch's first row and the stretch, which has arrived.
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

        with self._ready() as pool:
            self._carry(bring, slice(0, here.size), array.dtype, pool)
        return found

    def to_device(self, array: Any, seen: Seen | None = None) -> Any:
        """A contiguous array of the host, on the device; stretches of rows are `seen` while others are on their way."""
        found = self._cupy.empty(array.shape, array.dtype)
        here, there = array.reshape(-1), found.reshape(-1)

        def send(part: slice, room: Any, stream: Any) -> None:
            stream.synchronize()  # what was sent from there has arrived
            np.copyto(room, here[part])
            there[part].set(room, stream=stream)

        each = here.size // len(array)
        rows = max(1, _STRETCH // (each * array.dtype.itemsize))
        with self._ready() as pool:
            for begin in range(0, len(array), rows):
                end = min(begin + rows, len(array))
                self._carry(send, slice(begin * each, end * each), array.dtype, pool)
                if seen is not None:
                    seen(begin, found[begin:end])
        return found

    @contextmanager
    def _ready(self) -> Iterator[ThreadPoolExecutor]:
        """The threads, once what was asked of the device before is done; others wait for them."""
        with self._in_use, ThreadPoolExecutor(_COPIERS) as pool:
            if not self._rooms:
                self._rooms = [self._pinned(_PINNED, np.uint8) for _ in range(_COPIERS)]
            self._cupy.cuda.get_current_stream().synchronize()
            yield pool

    def _carry(
        self, one: Callable[[slice, Any, Any], None], entries: slice, dtype: Any, pool: ThreadPoolExecutor
    ) -> None:
        """Carry some entries: a buffer at a time, by turns of threads; when all have arrived, it returns."""
        device, size = self._cupy.cuda.Device(), _PINNED // dtype.itemsize
        begins = range(entries.start, entries.stop, size)

        def work(turn: int) -> None:
            with device:
                stream = self._cupy.cuda.Stream(non_blocking=True)
                for begin in begins[turn::_COPIERS]:
                    part = slice(begin, min(begin + size, entries.stop))
                    one(part, self._rooms[turn].view(dtype)[: part.stop - part.start], stream)
                stream.synchronize()

        for _ in pool.map(work, range(min(_COPIERS, len(begins)))):
            pass

"""How many threads OpenMP uses for the calls of one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cutplane import _core


@contextmanager
def openmp_threads(n_threads: int) -> Iterator[None]:
    """Let every call of the core from this thread use so many threads, unless it says otherwise; 0 changes nothing.

    Where several models are trained side by side, sums over long vectors would else wait for cores that the others
    hold.
    """
    if n_threads == 0:
        yield
        return
    before = _core.thread_count(0)  # known before anything is changed: Ctrl-C may strike after any call
    try:
        _core.set_threads(n_threads)
        yield
    finally:
        try:
            _core.set_threads(before)
        except KeyboardInterrupt:
            _core.set_threads(before)
            raise

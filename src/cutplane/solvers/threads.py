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
    before = _core.set_threads(n_threads)
    try:
        yield
    finally:
        _core.set_threads(before)

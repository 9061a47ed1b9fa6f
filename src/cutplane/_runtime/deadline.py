"""Until when a fit may take, and whether someone wishes it to end: asked for by every loop that may take long.

Such loops are found deep inside risks and systems of equations, which know neither the run nor its settings: both are
part of the context that they run in. A loop that finds its time up ends with what it has. So only those ask whose
result need not be the best one: a step, an intercept, a plane that is not as high as it could be. What is proven in the
end does not depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cutplane._runtime.interrupts import ctrl_c_calls


class Wish:
    """A wish to stop, shared by the runs, the folds and the threads of a fit."""

    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        """Every loop finds its time up from now on."""
        self.stopped = True


_deadline: ContextVar[float] = ContextVar("cutplane_deadline", default=float("inf"))
_wish: ContextVar[Wish | None] = ContextVar("cutplane_wish", default=None)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Inside, the time is up in so many seconds, or when it was up outside; None adds no limit."""
    if seconds is None:
        yield
        return
    token = _deadline.set(min(_deadline.get(), time.perf_counter() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


class TimeIsUpError(Exception):
    """The time is up in the middle of a step that gives nothing before its end; whoever took the step goes without."""


def set_aside(seconds: float) -> None:
    """Let the deadline come so much earlier, until the block that set it ends."""
    _deadline.set(_deadline.get() - seconds)


@contextmanager
def one_wish() -> Iterator[Wish]:
    """Inside, the first Ctrl-C is a wish to stop, and so is a call of its `stop`; that of a fit around this one counts.

    A second Ctrl-C is KeyboardInterrupt.
    """
    outer = _wish.get()
    if outer is not None:
        yield outer
        return
    wish = Wish()
    token = _wish.set(wish)
    try:
        with ctrl_c_calls(wish.stop):
            yield wish
    finally:
        _wish.reset(token)


def interrupted() -> bool:
    """Whether someone wishes the fit to end."""
    wish = _wish.get()
    return wish is not None and wish.stopped


def time_is_up() -> bool:
    """Whether the deadline has passed, or someone wishes the fit to end."""
    return interrupted() or time.perf_counter() >= _deadline.get()


def seconds_left() -> float:
    """Until the deadline: infinity where there is none, no more than zero where it has passed."""
    return 0.0 if interrupted() else _deadline.get() - time.perf_counter()

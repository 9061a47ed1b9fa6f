"""Until when a fit may take: set once, where a run begins, and asked for by every loop that may take long.

Such loops are found deep inside risks and systems of equations, which know neither the run nor its settings: the
deadline is part of the context that they run in. A loop that finds its time up ends with what it has. So only those ask
whose result need not be the best one: a step, an intercept, a plane that is not as high as it could be. What is proven
in the end does not depend on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cutplane._runtime.interrupts import ctrl_c_calls

_deadline: ContextVar[float] = ContextVar("cutplane_deadline", default=float("inf"))
_never = threading.Event()
_interrupted: ContextVar[threading.Event] = ContextVar("cutplane_interrupted", default=_never)


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


@contextmanager
def until_ctrl_c() -> Iterator[threading.Event]:
    """Inside, the first Ctrl-C sets the event that is given, and the time is up; a second one is as ever."""
    event = threading.Event()
    token = _interrupted.set(event)
    try:
        with ctrl_c_calls(event.set):
            yield event
    finally:
        _interrupted.reset(token)


def interruption() -> threading.Event:
    """What Ctrl-C sets, for threads that do not inherit it."""
    return _interrupted.get()


def time_is_up() -> bool:
    """Whether the deadline has passed, or Ctrl-C was pressed."""
    return time.perf_counter() >= _deadline.get() or _interrupted.get().is_set()


def seconds_left() -> float:
    """Until the deadline: infinity where there is none, less than zero where it has passed."""
    return _deadline.get() - time.perf_counter()

"""Until when a fit may take: set once, where a run begins, and asked for by every loop that may take long.

Such loops are found deep inside risks and systems of equations, which know neither the run nor its settings: the
deadline is part of the context that they run in. A loop that finds its time up ends with what it has. So only those ask
whose result need not be the best one: a step, an intercept, a plane that is not as high as it could be. What is proven
in the end does not depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("cutplane_deadline", default=float("inf"))


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


def time_is_up() -> bool:
    """Whether the deadline has passed."""
    return time.perf_counter() >= _deadline.get()


def seconds_left() -> float:
    """Until the deadline: infinity where there is none, less than zero where it has passed."""
    return _deadline.get() - time.perf_counter()

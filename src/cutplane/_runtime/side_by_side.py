"""Several trainings at once, in threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, TypeVar

from cutplane._runtime.interrupts import ctrl_c_calls

T = TypeVar("T")


def side_by_side(tasks: Sequence[Callable[[], T]], workers: int, stop: Callable[[], None]) -> list[T]:
    """What the tasks return. Ctrl-C and errors, also of one task, call `stop`; all tasks are waited for.

    The deadline of the caller is theirs, too.

    A second Ctrl-C is KeyboardInterrupt, once they have ended.
    """
    with ThreadPoolExecutor(workers) as pool, ctrl_c_calls(stop) as first_is_a_wish:
        try:
            futures = [pool.submit(copy_context().run, task) for task in tasks]
            _await_all(futures, stop, first_is_a_wish)
        except BaseException:
            stop()
            raise
    return [future.result() for future in futures]


def _await_all(futures: Sequence[Future[Any]], stop: Callable[[], None], first_is_a_wish: bool) -> None:
    try:
        wait(futures, return_when=FIRST_EXCEPTION)
    except KeyboardInterrupt:
        if first_is_a_wish:
            raise
        stop()
    if any(future.done() and future.exception() is not None for future in futures):
        stop()
    wait(futures)


class Watch:
    """What runs side by side share: someone who watches, and the wish to stop."""

    def __init__(self, on_step: Callable[[Any], object] | None = None) -> None:
        self._on_step = on_step
        self._stopped = False
        self._listening = threading.Lock()

    def stop(self) -> None:
        """Every run ends after its iteration."""
        self._stopped = True

    def step(self, step: Any) -> bool:
        """Whether to stop here."""
        if self._on_step is not None:
            with self._listening:  # a caller need not think of threads
                if self._on_step(step) is True:
                    self.stop()
        return self._stopped

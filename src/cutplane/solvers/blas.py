"""A BLAS that keeps to one thread while a model is trained."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """What the first who comes finds is what is restored: of fits in several threads, others find the limit itself.

    The last one to leave restores it, and the main thread whenever it leaves: OpenBLAS keeps to what that has set and
    ignores what other threads set later.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted_by = 0
        self._blas: Any = None
        self._first: Any = None

    def enter(self) -> None:
        with self._lock:
            self._blas = self._blas or ThreadpoolController().select(user_api="blas")
            limited = self._blas.limit(limits=1)
            if self._wanted_by == 0:
                self._first = limited
            self._wanted_by += 1

    def leave(self) -> None:
        with self._lock:
            self._wanted_by -= 1
            if self._wanted_by == 0 or threading.current_thread() is threading.main_thread():
                self._first.restore_original_limits()


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep every BLAS to one thread.

    Its products are small here, and after each one its idle threads spin for some 30 ms on the cores that the passes
    over the data are about to use.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()

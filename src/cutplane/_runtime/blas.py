"""A BLAS that keeps to one thread while a model is trained."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import threadpoolctl


class _Limit:
    """One limit for the process: set by the first who comes, lifted by the last who leaves.

    Both may be any thread. Of threadpoolctl's, one thread at a time may set what OpenBLAS uses, and the others' wishes
    are silently passed over: so the limit is enforced where it did not take, and no thread keeps that right.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holders: dict[object, int] = {}  # the thread of each
        self._libraries: list[Any] = []
        self._before: list[int | None] | None = None  # what there was before the first came

    def enter(self, holder: object) -> None:
        """Limit the BLAS for the sake of a holder; where Ctrl-C strikes in between, `leave` undoes what was done."""
        with self._lock:
            me = threading.get_ident()
            if me in self._holders.values():  # by an outer limit of this thread
                self._holders[holder] = me
                return
            self._libraries = self._libraries or _blas_libraries()
            if self._before is None:
                self._before = [library.num_threads for library in self._libraries]
            self._holders[holder] = me
            one = [1 for _ in self._libraries]
            if not self._set(one):
                _let_anyone_set(force=True)
                self._set(one)

    def _set(self, wanted: Sequence[int | None]) -> bool:
        """Let each library have so many threads; whether it took."""
        pairs = zip(self._libraries, wanted, strict=True)
        others = [(library, threads) for library, threads in pairs if library.num_threads not in (threads, None)]
        for library, threads in others:
            library.set_num_threads(threads)
        return all(library.num_threads in (threads, None) for library, threads in others)

    def leave(self, holder: object) -> None:
        """No more need of a holder's; called once more, or for one that never came in, it does no harm."""
        with self._lock:
            if self._holders.pop(holder, None) not in self._holders.values():
                self._lift_if_free()

    def _lift_if_free(self) -> None:
        if not self._holders and self._before is not None:
            self._set(self._before)
            self._before = None
        _let_anyone_set()

    def before_fork(self) -> None:
        """Forks wait until no other thread is in the midst of a change."""
        self._lock.acquire()

    def after_fork(self) -> None:
        """The parent goes on."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """The child has one thread: what others wanted is over."""
        me = threading.get_ident()
        mine = {holder: thread for holder, thread in self._holders.items() if thread == me}
        others = len(mine) < len(self._holders)
        self._holders = mine
        if others:
            self._lift_if_free()
        self._lock.release()


def _blas_libraries() -> list[Any]:
    return list(threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers)


def _let_anyone_set(*, force: bool = False) -> None:
    """Give up the right to set the threads of OpenBLAS; by force, that of any thread."""
    controller: Any = threadpoolctl.OpenBLASController
    if hasattr(controller, "clear_controlling_thread"):  # threadpoolctl 3.8
        controller.clear_controlling_thread(force=force)


_limit = _Limit()
os.register_at_fork(
    before=_limit.before_fork, after_in_parent=_limit.after_fork, after_in_child=_limit.after_fork_in_child
)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep every BLAS to one thread.

    Its products are small here, and after each one its idle threads spin for some 30 ms on the cores that the passes
    over the data are about to use. How a BLAS splits a product, and with it the last bits, also depends on its threads.
    """
    me, limit = object(), _limit
    try:
        limit.enter(me)
        yield
    finally:
        try:
            limit.leave(me)
        except KeyboardInterrupt:  # in its midst: the limit would stay for good
            limit.leave(me)
            raise

"""The number of BLAS threads after a fit is what it was before, also of fits that overlap."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from cutplane._runtime import blas
from cutplane._runtime.blas import one_blas_thread


def threads() -> set[int]:
    found = {library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()}
    assert found, f"NumPy {np.__version__} comes with a BLAS"
    return found


def test_one_thread_within_and_as_many_as_before_after() -> None:
    before = threads()
    with one_blas_thread(), one_blas_thread():
        assert threads() == {1}
    assert threads() == before


def test_a_limit_within_one_of_the_same_thread_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = threads()
    with one_blas_thread():
        with monkeypatch.context() as patched:
            patched.setattr(blas._limit, "_set", None)
            with one_blas_thread():
                assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_an_error_restores_too() -> None:
    before = threads()
    with pytest.raises(RuntimeError), one_blas_thread():
        raise RuntimeError
    assert threads() == before


def test_fits_that_overlap_restore_what_the_first_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a BLAS that heeds every thread, as not all do."""
    library = SimpleNamespace(num_threads=4)
    library.set_num_threads = lambda threads: vars(library).update(num_threads=threads)
    monkeypatch.setattr(blas, "_blas_libraries", lambda: [library])
    limits = blas._Limit()
    monkeypatch.setattr(blas, "_limit", limits)
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    def first() -> None:
        with one_blas_thread():
            first_in.set()
            second_in.wait(10)
        assert library.num_threads == 1, "another is still at work"
        first_out.set()

    def second() -> None:
        first_in.wait(10)
        with one_blas_thread():
            second_in.set()
            first_out.wait(10)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert library.num_threads == 4


def test_any_thread_limits_and_lifts() -> None:
    """Also after the main thread has done both, and while it has a limit of its own."""
    before = threads()

    def within() -> set[int]:
        with one_blas_thread():
            return threads()

    assert within() == {1}
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(within).result() == {1}
        assert threads() == before
        with threadpool_limits(2, user_api="blas"):
            limited = threads()  # {2}, but for a BLAS that has no threads
            assert pool.submit(within).result() == {1}
            assert threads() == limited
    assert threads() == before


@pytest.mark.parametrize("who", ["another", "the same"])
def test_a_child_of_fork_is_limited_only_by_what_its_own_thread_wants(who: str) -> None:
    before = threads()
    inside, forked = threading.Event(), threading.Event()

    def other() -> None:
        with one_blas_thread():
            inside.set()
            assert forked.wait(60)

    def found_in_child() -> bytes:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, repr(threads()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        with os.fdopen(read, "rb") as answer:
            return answer.read()

    if who == "the same":
        with one_blas_thread():
            assert found_in_child() == b"{1}"
    else:
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(other)
            assert inside.wait(60)
            assert found_in_child() == repr(before).encode()
            forked.set()
            running.result()
    assert threads() == before


def test_ctrl_c_in_any_call_leaves_no_limit_behind() -> None:
    """Python answers signals where functions begin: in each of the limit's own and of threadpoolctl's."""
    before, number = threads(), 1
    with one_blas_thread():  # what is found out once
        pass
    while _struck_by_ctrl_c(number):
        assert threads() == before, f"after Ctrl-C in call {number}"
        number += 1
    assert number > 20


def _struck_by_ctrl_c(number: int) -> bool:
    """Whether there was a call of this number to be interrupted."""
    calls, before = 0, sys.gettrace()

    def trace(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += frame.f_code.co_filename.endswith(("_runtime/blas.py", "threadpoolctl.py"))
        if calls == number:
            sys.settrace(before)
            raise KeyboardInterrupt

    try:
        sys.settrace(trace)
        with one_blas_thread():
            pass
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)  # that of a debugger, or of whatever measures what is run
    return False

"""Ctrl-C as a wish to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ctrl_c_calls(stop: Callable[[], None]) -> Iterator[bool]:
    """Within, the first Ctrl-C calls `stop` and a second one raises KeyboardInterrupt, as ever.

    An exception could strike anywhere, also where work is being handed to threads, and leave them running. In threads
    other than the main one, and where someone else has taken charge of Ctrl-C, all stays as it is. Gives whether it is
    in charge, so that KeyboardInterrupt means a second one.
    """
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield False
        return

    def called(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    signal.signal(signal.SIGINT, called)
    try:
        yield True
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

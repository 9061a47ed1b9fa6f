"""Ctrl-C and SIGTERM on the command line: one line, and the model in training is kept.

Before anything else is imported and wherever nothing can be lost, a signal ends the process at once: an exception would
strike inside whatever library is at work. Training it ends with the model so far; until that is saved, it waits.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager

TYPE_CHECKING = False  # what is imported here delays the first answer to Ctrl-C
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import NoReturn

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_SHOW_CURSOR = "\r\x1b[K\x1b[?25h"
# Those that are ours: one that the shell has told the process to ignore stays ignored.
_ours: list[signal.Signals] = []
_received: list[signal.Signals] = []


def take_charge() -> None:
    """Answer signals from now on; for the command, never for a library that is imported."""
    _ours[:] = [number for number in _WORDS if signal.getsignal(number) is not signal.SIG_IGN]
    leave_at_once()


def leave_at_once() -> None:
    """From now on a signal ends the process with one line, and removes what is half written."""
    _answer(_leave)


@contextmanager
def stops_training() -> Iterator[None]:
    """Within, a signal is a KeyboardInterrupt, as training expects; afterwards it waits until `leave_at_once`."""
    _answer(_interrupt)
    if signal.SIGINT in _ours:
        # Estimators that train side by side take Ctrl-C over where it is still Python's own.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        _answer(_wait)


def received(otherwise: signal.Signals = signal.SIGINT) -> tuple[str, int]:
    """What the signal that came did, in a word, and the exit status it deserves."""
    number = _received[-1] if _received else otherwise
    return _WORDS[number], 128 + number


def was_asked_to_stop() -> bool:
    """Whether a signal came that has not ended the process yet."""
    return bool(_received)


def _answer(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in _ours:
        signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    atomic = sys.modules.get("cutplane.io.atomic")
    if atomic is not None and hasattr(atomic, "remove_unfinished"):
        atomic.remove_unfinished()
    word, status = _WORDS[signal.Signals(number)], 128 + number
    begin = _SHOW_CURSOR if os.isatty(2) else ""
    try:
        os.write(2, f"{begin}cutplane: {word}.\n".encode())
    finally:
        os._exit(status)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does, and remember that it was another signal."""
    _received.append(signal.Signals(number))
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    if not callable(on_ctrl_c):
        raise KeyboardInterrupt
    on_ctrl_c(signal.SIGINT, frame)


def _wait(number: int, frame: FrameType | None) -> None:
    """The model is about to be saved: the first signal waits for that, the second does not."""
    _received.append(signal.Signals(number))
    leave_at_once()

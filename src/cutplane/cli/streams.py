"""`-` for a file: what comes by the standard input, or goes to the standard output."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TextIO, TypeVar

import typer

PathOrText = TypeVar("PathOrText", str, Path)
# Files are looked at before they are read, some are read twice, and models are written whole or not at all: pipes
# allow none of that, so that a copy stands for a stream.
_COPIES: list[str] = []
# The standard output while a copy stands for it, for what is said goes to the standard error stream then.
_OUTPUT: list[TextIO] = []


def from_stdin(value: PathOrText) -> PathOrText:
    """The name of a file: for ``-`` of one that has what comes by the standard input."""
    if str(value) != "-":
        return value
    if any(Path(copy).name == "stdin" for copy in _COPIES):
        raise typer.BadParameter("one file alone can be -: the standard input is read once.")
    if sys.stdin is None:
        raise typer.BadParameter("- is the standard input, which is closed here; pipe into it, or name a file.")
    copy = _copy("stdin")
    with open(copy, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return type(value)(copy)


def to_stdout(value: Path | None) -> Path | None:
    """The name of a file to write: for ``-`` of one that `hand_over` gives to the standard output."""
    if str(value) != "-":
        return value
    if sys.stdout.isatty():
        raise typer.BadParameter("- is the standard output, which is a terminal here; write > FILE or | COMMAND.")
    _OUTPUT.append(sys.stdout)
    sys.stdout = sys.stderr
    return Path(_copy("stdout"))


def hand_over(path: Path) -> None:
    """Give what was written to the standard output, if the file stands for it."""
    if str(path) in _COPIES and _OUTPUT:
        with open(path, "rb") as file:
            shutil.copyfileobj(file, _OUTPUT[-1].buffer)
        _OUTPUT[-1].flush()


def give_back() -> None:
    """Forget the streams of a command that has ended."""
    _COPIES.clear()
    while _OUTPUT:
        sys.stdout = _OUTPUT.pop()


def named(sentence: str) -> str:
    """A message, with the standard streams called so."""
    for copy in _COPIES:
        sentence = sentence.replace(copy, Path(copy).name)
    return sentence


def as_given(value: str) -> str:
    """What stood on the command line for a file: ``-`` for the streams."""
    return "-" if value in _COPIES else value


def _copy(name: str) -> str:
    folder = Path(tempfile.mkdtemp(prefix="cutplane-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _COPIES.append(str(folder / name))
    return _COPIES[-1]

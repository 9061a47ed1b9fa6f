"""`-` for DATA: what comes by the standard input."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TypeVar

PathOrText = TypeVar("PathOrText", str, Path)
# Files are looked at before they are read, and some are read twice, which a pipe does not allow.
_COPIES: list[str] = []


def from_stdin(value: PathOrText) -> PathOrText:
    """The name of a file: for ``-`` of one that has what comes by the standard input."""
    if str(value) != "-":
        return value
    folder = Path(tempfile.mkdtemp(prefix="cutplane-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "stdin"
    with open(copy, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    _COPIES.append(str(copy))
    return type(value)(copy)


def named(sentence: str) -> str:
    """A message, with the standard input called so."""
    for copy in _COPIES:
        sentence = sentence.replace(copy, "stdin")
    return sentence

"""Where a warning belongs: the line of the user's that led to it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_OURS = str(Path(__file__).resolve().parents[1])


def users_line() -> int:
    """The `stacklevel` of the first caller outside this package, scikit-learn's wrappers and `contextlib`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_between(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    return level


def _is_between(filename: str) -> bool:
    return filename.startswith(_OURS) or "sklearn" in Path(filename).parts or filename == contextlib.__file__

"""What the text files of LIBLINEAR and LIBSVM have in common: a header of names and values, and whole labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cutplane._types import Array, Labels

# The largest label of either tool, an int of C.
_LARGEST = 2**31 - 1


def header_of(lines: list[str], last: str) -> tuple[dict[str, list[str]], int]:
    """The names up to `last` with their values, and the number of the line after it; `ValueError` if it is missing."""
    header: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        name, *values = line.split() or [""]
        header[name] = values
        if name == last:
            return header, number + 1
    raise ValueError(f"the line {last!r} is missing")


def several(header: dict[str, list[str]], name: str) -> list[str]:
    """The values of a name."""
    if name not in header:
        raise ValueError(f"the line {name!r} is missing")
    return header[name]


def one(header: dict[str, list[str]], name: str, default: str | None = None) -> str:
    """The value of a name that has one."""
    values = header.get(name, [] if default is None else [default])
    if len(values) != 1:
        raise ValueError(f"there is no value, or more than one, for {name!r}")
    return values[0]


def numbers(values: list[str], count: int, what: str) -> Array:
    """As many finite numbers."""
    found = np.array([float(value) for value in values])
    if len(found) != count or not np.isfinite(found).all():
        raise ValueError(f"{what} should have {count} finite numbers")
    return found


def whole_labels(labels: Labels, tool: str) -> list[int]:
    """Labels as the tool writes them; `ValueError` unless they are whole numbers."""
    values = labels.tolist()
    whole = all(isinstance(v, (int, float)) and float(v).is_integer() and abs(v) <= _LARGEST for v in values)
    if not whole:
        raise ValueError(f"{tool} has labels that are whole numbers, and the model's are {values[:3]!r}, ...")
    return [int(v) for v in values]

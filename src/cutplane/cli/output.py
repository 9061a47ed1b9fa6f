"""What the commands print, and how."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutplane._types import Label
from cutplane.cli.streams import named
from cutplane.io.plain_json import Json

if TYPE_CHECKING:
    from rich.console import Console

# As terminals understand it: a warning is amber.
_AMBER, _PLAIN = "\x1b[33m", "\x1b[0m"


def stdout() -> Console:
    """The console for results. File names and labels are printed as they are, never as markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False)


def print_json(value: dict[str, object]) -> None:
    """Print `value` as the one JSON object on standard output."""
    print(json.dumps(_strict(value), allow_nan=False, ensure_ascii=False, indent=2))


def print_facts(facts: Sequence[tuple[str, str]], styles: Mapping[str, str] | None = None) -> None:
    """Print names and values in two columns, values in the styles given by name.

    Long values are not wrapped, so paths can be copied.
    """
    width = max(len(name) for name, _ in facts)
    if not sys.stdout.isatty():
        print("\n".join(f"{name:<{width}}  {value}" for name, value in facts))
        return
    from rich.text import Text

    console = stdout()
    for name, value in facts:
        style = (styles or {}).get(name, "")
        console.print(Text.assemble((f"{name:<{width}}  ", "dim"), (value, style)), soft_wrap=True)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of numbers with a title above it."""
    from rich.table import Table

    table = Table()
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    console = stdout()
    console.print(title, style="dim", soft_wrap=True)  # as a title of the table it would be as narrow
    console.print(table)


def warn(sentence: str) -> None:
    """Print a warning on the standard error stream, in amber where that is a terminal."""
    line = f"cutplane: warning: {named(sentence)}"
    print(f"{_AMBER}{line}{_PLAIN}" if sys.stderr.isatty() else line, file=sys.stderr)


def plain_label(label: object) -> Label:
    """`label` as a Python value; 1.0 is shown as 1, as it stands in most files."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def _strict(value: object) -> Json:
    """`value` for `json.dumps`: NumPy scalars unwrapped, paths as text, no NaN or infinity."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Path):
        return named(str(value))
    raise TypeError(f"a {type(value).__name__} cannot be printed as JSON")

"""What the commands print, and how."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from cutplane._types import Label
from cutplane.io.plain_json import Json


def stdout() -> Console:
    """The console for results. File names and labels are printed as they are, never as markup."""
    return Console(markup=False, highlight=False, emoji=False)


def print_json(value: dict[str, object]) -> None:
    """Print `value` as the one JSON object on standard output."""
    print(json.dumps(_strict(value), allow_nan=False, ensure_ascii=False, indent=2))


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns. Long values are not wrapped, so paths can be copied."""
    width = max(len(name) for name, _ in facts)
    console = stdout()
    for name, value in facts:
        console.print(Text.assemble((f"{name:<{width}}  ", "dim"), value), soft_wrap=True)


def warn(sentence: str) -> None:
    """Print a warning on the standard error stream."""
    print(f"cutplane: warning: {sentence}", file=sys.stderr)


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
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be printed as JSON")

"""Every class against the rest on a GPU: tables."""

from __future__ import annotations

from benchmarks.harness import markdown

PAGE = "../gpu.md"
_HEADER = ("examples", "", "proven", "device, s", "one by one, s", "times as fast")


def tables(result: dict) -> dict[str, str]:
    """Columns proven and seconds, together and one by one."""
    return {f"gpu-{name}": markdown(_HEADER, [_line(row) for row in part["rows"]]) for name, part in result.items()}


def _line(row: dict) -> tuple:
    together, alone = row["seconds"]["device"], row["seconds"]["one by one"]
    proven = f"{row['proven']} of {row['of']}"
    return row["data"], row["what"], proven, together, round(alone, 2 if alone < 10 else 0), alone / together


def figures(result: dict) -> dict:
    """None."""
    return {}

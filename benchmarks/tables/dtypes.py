"""Values of one or two bytes beside float32: tables and plots."""

from __future__ import annotations

from benchmarks.figures import Panel, draw
from benchmarks.harness import markdown

NARROW = ("float16", "bfloat16", "int8", "uint8")


def tables(result: dict) -> dict[str, str]:
    """Times as fast as float32."""
    header = ("examples", "", "threads", *NARROW)
    return {f"Times float32's rate: {part}": markdown(header, _lines(found)) for part, found in result.items()}


def _lines(part: dict) -> list[tuple]:
    return [
        (row["data"], _what(row), row["threads"], *(row["ratios"][kind] for kind in NARROW)) for row in part["rows"]
    ]


def _what(row: dict) -> str:
    return row.get("pass") or row["loss"]


def figures(result: dict) -> dict:
    """Ratios of the passes over the number of features, by type."""
    rows = result.get("passes", {}).get("rows", [])
    panels = []
    for way in ("scores", "combine"):
        found = [row for row in rows if row["pass"] == way and row["threads"] == max(each["threads"] for each in rows)]
        widths = [float(row["data"].split(" x ")[1]) for row in found]
        lines = {kind: (widths, [row["ratios"][kind] for row in found]) for kind in NARROW}
        panels.append(Panel(way, "features", "times float32's rate", lines))
    return {"passes": draw(panels)} if rows else {}

"""A C that is proven best: the table of docs/certain.md."""

from __future__ import annotations

from benchmarks.figures import Panel, draw
from benchmarks.tables.markdown import markdown_table

PAGE = "../certain.md"


def tables(result: dict) -> dict[str, str]:
    header = ["data", "intercept", "certify", "values of C", "seconds", "least error", "no C is below", "ended"]
    lines = [
        [
            row["data"],
            intercept,
            f"{row['certify']:g}",
            str(row["fits"]),
            f"{row['seconds']:.0f}" if row["seconds"] >= 10.0 else f"{row['seconds']:.2g}",
            f"{100.0 * row['error']:.2f} %",
            f"{100.0 * row['lower_bound']:.2f} %",
            f'"{row["stop"]}"',
        ]
        for intercept, part in result.items()
        for row in part["rows"]
    ]
    return {"certified-path": markdown_table(header, lines)}


def figures(result: dict) -> dict:
    """How many C over what was asked for."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for intercept, part in result.items():
        for row in part["rows"]:
            if row["stop"] == "certified":
                asked, fits = lines.setdefault(f"{row['data']}, intercept: {intercept}", ([], []))
                asked.append(row["certify"])
                fits.append(row["fits"])
    return {"fits": draw([Panel("values of C", "certify", "values of C", lines)])} if lines else {}

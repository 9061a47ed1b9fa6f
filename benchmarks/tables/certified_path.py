"""A C that is proven best: the table of docs/certain.md."""

from __future__ import annotations

from benchmarks.figures import Panel, draw
from benchmarks.tables.markdown import markdown_table

PAGE = "../certain.md"


def tables(result: dict) -> dict[str, str]:
    header = ["data", "rows", "intercept", "certify", "values of C", "seconds", "least error", "no C is below", "ended"]
    lines = [
        [
            row["data"],
            f"{row['rows']:,}",
            _intercept(part),
            f"{row['certify']:g}",
            str(row["fits"]),
            f"{row['seconds']:.0f}" if row["seconds"] >= 10.0 else f"{row['seconds']:.2g}",
            f"{100.0 * row['error']:.2f} %",
            f"{100.0 * row['lower_bound']:.2f} %",
            f'"{row["stop"]}"',
        ]
        for part, found in result.items()
        for row in found["rows"]
    ]
    return {"certified-path": markdown_table(header, lines)}


def _intercept(part: str) -> str:
    return part.removeprefix("all_")


def figures(result: dict) -> dict:
    """How many C over what was asked for."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for part, found in result.items():
        for row in found["rows"]:
            if row["stop"] == "certified":
                name = f"{row['data']}, {row['rows']:,} rows, intercept: {_intercept(part)}"
                asked, fits = lines.setdefault(name, ([], []))
                asked.append(row["certify"])
                fits.append(row["fits"])
    return {"fits": draw([Panel("values of C", "certify", "values of C", lines)])} if lines else {}

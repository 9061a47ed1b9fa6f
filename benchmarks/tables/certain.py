"""What a certificate buys: the tables of docs/certain.md."""

from __future__ import annotations

import math
from collections.abc import Callable

from benchmarks.figures import Panel, draw
from benchmarks.tables.markdown import markdown_table

PAGE = "../certain.md"


def tables(result: dict) -> dict[str, str]:
    found = {}
    if "labels" in result:
        found["certain-labels"] = _labels(result["labels"]["rows"])
        found["certain-examples"] = _examples(result["labels"]["rows"])
    if "until" in result:
        found["certain-until"] = _until(result["until"]["rows"])
    if "together" in result:
        found["certain-together"] = _together(result["together"]["rows"])
    if "tight" in result:
        found["certain-tight"] = _tight(result["tight"]["rows"])
    if "regression" in result:
        found["certain-regression"] = _tight(result["regression"]["rows"])
    if "loose" in result:
        found["certain-loose"] = _loose(result["loose"]["rows"])
    return found


def _percent(share: float, digits: int = 2) -> str:
    """Never rounded up to all, nor down to none."""
    shown = f"{100.0 * share:.{digits}f}"
    if share < 1.0 and float(shown) == 100.0:
        shown = f"{100.0 - 10.0**-digits:.{digits}f}"
    if share > 0.0 and float(shown) == 0.0:
        return f"< {10.0**-digits:.{digits}f}"
    return "0" if share == 0.0 else "100" if share == 1.0 else shown


def _cell(row: dict) -> list[str]:
    return [f"{row['data']}, {row['C']:g}", "free" if row["intercept"] else "none"]


def _labels(rows: list[dict]) -> str:
    return _proven_labels(rows, ["data, C", "intercept"], _cell)


def _together(rows: list[dict]) -> str:
    return _proven_labels(rows, ["data, C", "intercept", "loss"], lambda row: [*_cell(row), row["loss"]])


def _proven_labels(rows: list[dict], names: list[str], cell: Callable[[dict], list[str]]) -> str:
    header = [*names, "tol", "fit", "gap", "certify", "labels certain", "accuracy of the exact optimum"]
    lines = [
        [
            *cell(row),
            f"{row['tol']:.0e}",
            f"{row['seconds']:.2g} s",
            f"{row['gap']:.1e}",
            f"{row['certify_seconds']:.2g} s" if row["intercept"] else "-",
            f"{_percent(row['certain'])} %",
            f"[{100.0 * row['accuracy'][0]:.2f}, {100.0 * row['accuracy'][1]:.2f}] %",
        ]
        for row in rows
    ]
    return markdown_table(header, lines)


def _examples(rows: list[dict]) -> str:
    header = ["data, C", "intercept", "gap", "redundant", "at their bound", "open"]
    lines = [
        [
            *_cell(row),
            f"{row['gap']:.1e}",
            f"{_percent(row['redundant'])} %",
            f"{_percent(row['bound'])} %",
            f"{_percent(1.0 - row['redundant'] - row['bound'])} %",
        ]
        for row in rows
    ]
    return markdown_table(header, lines)


def _until(rows: list[dict]) -> str:
    header = ["data, C", "intercept", "seconds", "gap", "labels certain", "stopped for"]
    lines = [
        [
            *_cell(row),
            f"{row['seconds']:.2g}",
            f"{row['gap']:.1e}",
            f"{_percent(row['certain'])} %",
            f'"{row["stop"]}"',
        ]
        for row in rows
    ]
    return markdown_table(header, lines)


def _tight(rows: list[dict]) -> str:
    """What digits cost, over the data sets and values of C, beside the loosest tolerance of the same cell."""
    cells: dict[tuple, dict[float, dict]] = {}
    for row in rows:
        cells.setdefault((row["loss"], row["intercept"], row["data"], row["C"]), {})[row["tol"]] = row
    header = ["loss", "intercept", "tol", "mean of the times", "worst", "where", "proven", "worst gap"]
    lines = []
    for loss, intercept, tol in sorted({(row["loss"], row["intercept"], row["tol"]) for row in rows}, key=str):
        group = {key: each for key, each in cells.items() if key[:2] == (loss, intercept)}
        loosest = max(row["tol"] for row in rows)
        if tol == loosest:
            continue
        times = {key[2:]: each[tol]["seconds"] / each[loosest]["seconds"] for key, each in group.items()}
        (data, C), worst = max(times.items(), key=lambda item: item[1])
        ends = [each[tol] for each in group.values()]
        proven = sum(end["stop"] == "gap" for end in ends)
        lines.append(
            [
                loss,
                "free" if intercept else "none",
                f"{tol:.0e}",
                f"{math.exp(sum(map(math.log, times.values())) / len(times)):.2f}",
                f"{worst:.1f}",
                f"{data}, {C:g}",
                f"{proven} of {len(ends)}",
                f"{max(end['gap'] for end in ends):.1e}",
            ]
        )
    return markdown_table(header, lines)


def _loose(rows: list[dict]) -> str:
    """By tolerance, how many labels are not those of the tightest, and what that does to the accuracy."""
    header = ["tol", "other labels, mean", "worst", "where", "accuracy changes by at most"]
    lines = []
    for tol in sorted({row["tol"] for row in rows}, reverse=True)[:-1]:
        group = [row for row in rows if row["tol"] == tol]
        worst = max(group, key=lambda row: row["other"])
        changes = [abs(row["accuracy"] - row["exact_accuracy"]) for row in group]
        lines.append(
            [
                f"{tol:.0e}",
                f"{_percent(sum(row['other'] for row in group) / len(group), 3)} %",
                f"{_percent(worst['other'], 3)} %",
                ", ".join(_cell(worst)),
                f"{_percent(max(changes), 3)} points",
            ]
        )
    return markdown_table(header, lines)


def figures(result: dict) -> dict:
    """Open labels and open examples over the gap."""
    rows = result.get("labels", {}).get("rows", [])
    if not rows:
        return {}
    panels = []
    for what, share in (
        ("labels not proven", lambda row: 1.0 - row["certain"]),
        ("examples not proven", lambda row: 1.0 - row["redundant"] - row["bound"]),
    ):
        lines: dict[str, tuple[list[float], list[float]]] = {}
        for row in rows:
            name = f"{row['data']}, {'free' if row['intercept'] else 'no'} intercept"
            gaps, shares = lines.setdefault(name, ([], []))
            gaps.append(max(row["gap"], 1e-16))
            shares.append(max(share(row), 1e-6))
        panels.append(Panel(what, "relative gap", "share", lines))
    return {"open": draw(panels)}

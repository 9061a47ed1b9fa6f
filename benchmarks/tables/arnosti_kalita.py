"""Arnosti and Kalita 2013 again: its figures beside ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks import harness
from benchmarks.figures import Panel, draw
from benchmarks.measure import median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "arnosti-kalita.md"
# Features, share of the exact search in per cent, speedup of OCA-T (Figure 7).
PAPER_FEATURES = {
    "mnist": [(780, 22.3, 1.12), (473, 30.4, 1.27), (337, 44.3, 1.42), (139, 64.3, 1.83)],
    "moneyfx": [(47_236, 11.7, 1.11), (4_373, 36.3, 1.42), (676, 49.3, 1.56), (186, 62.7, 1.94)],
}
# Iterations of OCA-E and OCA-T, and in how many of OCA-E's the step was 0 (section 4.2; multi-class).
PAPER_STALL = {"poker": "1,454 (1,451) / 258", "covtype": "744 (490) / 622"}
# Per cent wrong at C = 1, epsilon = 0.01 and as C varies (Figure 6; multi-class).
PAPER_ERRORS = {
    "covtype": [37.72, 35.83, 35.77, 35.80, 35.73, 35.72, 35.74],
    "mnist": [11.72, 8.53, 7.22, 7.10, 7.22, 7.61, 7.78],
    "moneyfx": [26.20, 18.01, 10.79, 7.90, 7.82, 9.84, 11.91],
    "news20": [94.99, 94.99, 20.19, 17.34, 14.73, 15.75, 16.25],
}
PAPER_CS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)


def tables(result: dict) -> dict[str, str]:
    """The figures as tables."""
    makers: dict[str, tuple[str, Callable[[list[dict]], str]]] = {
        "figure 4": ("searches", lambda rows: _searches(rows, "epsilon", lambda row: row["C"] == 1.0)),
        "figure 5": ("searches", lambda rows: _searches(rows, "C", lambda row: row["epsilon"] == 0.01)),
        "figure 6": ("errors", _errors),
        "figure 6, epsilon": ("errors", _errors_by_epsilon),
        "figure 7": ("features", _features),
        "stall": ("stall", _stall),
    }
    where = {"machine": harness.where(result)}
    return where | {name: make(result[part]["rows"]) for name, (part, make) in makers.items() if part in result}


def _pairs(rows: list[dict], x: str, kept: Callable[[dict], bool]) -> dict[tuple[str, float], dict[str, dict]]:
    found: dict[tuple[str, float], dict[str, dict]] = {}
    for row in rows:
        if kept(row):
            found.setdefault((row["data"], row[x]), {})[row["method"]] = row
    return {key: pair for key, pair in found.items() if len(pair) == 2}


def _searches(rows: list[dict], x: str, kept: Callable[[dict], bool]) -> str:
    lines = []
    for (name, value), pair in sorted(_pairs(rows, x, kept).items()):
        exact, three = pair["OCA-E"], pair["OCA-T"]
        more = three["iterations"] / exact["iterations"] - 1
        lines.append(
            [
                name,
                f"{value:g}",
                exact["iterations"],
                three["iterations"],
                f"{more:+.0%}",
                f"{exact['search'] / exact['seconds']:.0%}",
                f"{1 - three['search'] / exact['search']:+.0%}",
                f"{1 - three['seconds'] / exact['seconds']:+.0%}",
            ]
        )
    header = ["data", "ε" if x == "epsilon" else "C", "OCA-E it.", "OCA-T it.", "more", "share of the search in OCA-E"]
    return harness.markdown([*header, "search time saved", "total time saved"], lines)


def _errors(rows: list[dict]) -> str:
    return _error_table(rows, "C", lambda row: row["epsilon"] == 0.01, PAPER_CS, PAPER_ERRORS)


def _errors_by_epsilon(rows: list[dict]) -> str:
    values = sorted({row["epsilon"] for row in rows if row["C"] == 1.0}, reverse=True)
    return _error_table(rows, "epsilon", lambda row: row["C"] == 1.0, tuple(values), {})


def _error_table(rows, x, kept, values, paper) -> str:
    lines = []
    pairs = _pairs(rows, x, kept)
    for name in dict.fromkeys(row["data"] for row in rows):
        for method in ("OCA-E", "OCA-T"):
            cells = [pairs.get((name, value), {}).get(method) for value in values]
            lines.append([f"{name}, {method}", *("" if cell is None else f"{cell['error']:.2f}" for cell in cells)])
        if name in paper:
            lines.append([f"{name}: paper, all classes", *(f"{error:.2f}" for error in paper[name])])
    return harness.markdown([f"per cent wrong at {'ε' if x == 'epsilon' else x} =", *map("{:g}".format, values)], lines)


def _features(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        index = [each["features"] for each in rows if each["data"] == row["data"]].index(row["features"])
        paper = PAPER_FEATURES[row["data"]][index]
        times = row["seconds"]
        speedup = median(times["OCA-E"]) / median(times["OCA-T"])
        iterations = f"{row['iterations']['OCA-E']} / {row['iterations']['OCA-T']}"
        lines.append([row["data"], row["features"], f"{row['search']:.0%}", f"{speedup:.2f}", iterations])
        lines[-1] += [f"{paper[0]:,}", f"{paper[1]:.1f} %", f"{paper[2]:.2f}"]
    header = ["data", "features", "search", "speedup", "it. E / T", "paper: features", "search", "speedup"]
    return harness.markdown(header, lines)


def _stall(rows: list[dict]) -> str:
    lines = []
    for name, C in dict.fromkeys((row["data"], row["C"]) for row in rows):
        by = {row["method"]: row for row in rows if row["data"] == name and row["C"] == C}
        cells = []
        for method in ("CPA", "OCA-E", "OCA-T"):
            row = by.get(method)
            if row is None:
                cells += ["", ""]
                continue
            ended = "" if row["stopped"] == "gap" else f"+ (gap {row['gap']:.0e})"
            cells += [f"{row['iterations']:,}{ended}", f"{row['stayed']:,}" if method != "CPA" else ""]
        lines.append([name, f"{C:g}", cells[0], cells[2], cells[3], cells[4], cells[5], PAPER_STALL.get(name, "")])
    header = ["data", "C", "CPA it.", "OCA-E it.", "of them step 0", "OCA-T it.", "of them step 0"]
    return harness.markdown([*header, "paper: OCA-E (step 0) / OCA-T"], lines)


def figures(result: dict) -> dict[str, Figure]:
    """Iterations and seconds of both searches over epsilon and over C."""
    if "searches" not in result:
        return {}
    rows = result["searches"]["rows"]
    found = {}
    for x, title, kept in (
        ("epsilon", "Figure 4: C = 1", lambda row: row["C"] == 1.0),
        ("C", "Figure 5: ε = 0.01", lambda row: row["epsilon"] == 0.01),
    ):
        pairs = _pairs(rows, x, kept)
        names = list(dict.fromkeys(name for name, _ in pairs))
        panels = []
        for y in ("iterations", "seconds"):
            lines, styles = {}, {}
            for name in names:
                chosen = sorted((value, pair) for (data, value), pair in pairs.items() if data == name)
                ratio = [pair["OCA-T"][y] / pair["OCA-E"][y] for _, pair in chosen]
                lines[name] = ([value for value, _ in chosen], ratio)
            shown = "ε" if x == "epsilon" else "C"
            panels.append(Panel(title, shown, f"{y}: OCA-T / OCA-E", lines, log_y=False, styles=styles))
        found[x] = draw(panels)
    return found

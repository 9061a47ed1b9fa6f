"""Franc and Sonnenburg 2009 again: its figures beside ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks import harness
from benchmarks.figures import Panel, draw, speedups
from benchmarks.measure import median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "franc-sonnenburg.md"
METHODS = ("CPA", "OCA-E", "auto", "SGD", "LIBLINEAR")
PAPER_NAMES = {
    "moneyfx": "Astro",
    "news20": "CCAT",
    "covtype": "Cov1",
    "mnist": "MNIST",
    "worm": "Worm",
    "artificial": "Artificial",
}
# Iterations and seconds of SVM-perf 2.1, OCAS and SGD (Table 3).
PAPER_TABLE3 = {
    "moneyfx": {"CPA": (38, 2), "OCA-E": (21, 1), "SGD": (10, 1)},
    "news20": {"CPA": (228, 228), "OCA-E": (48, 25), "SGD": (10, 4)},
    "covtype": {"CPA": (520, 152), "OCA-E": (80, 10), "SGD": (10, 1)},
    "mnist": {"CPA": (1295, 228), "OCA-E": (137, 10), "SGD": (10, 1)},
    "worm": {"CPA": (2029, 4436), "OCA-E": (125, 258), "SGD": (10, 9)},
    "artificial": {"CPA": (709, 162), "OCA-E": (76, 13), "SGD": (10, 2)},
}
# How far SGD's objective is above SVM-light's (Table 3): 2.2377e3 / 2.0939e3 - 1 and so on.
PAPER_ABOVE = {"moneyfx": 0.069, "news20": 0.021, "covtype": 0.058, "mnist": 0.975, "worm": 5.68, "artificial": 0.374}
# auROC of accurate solvers; C and seconds of OCAS; auROC, C and seconds of SGD (Table 4).
PAPER_TABLE4 = {
    "moneyfx": (98.15, (1, 4), (98.13, 0.5, 1)),
    "news20": (98.51, (1, 163), (98.52, 1, 20)),
    "covtype": (83.92, (50, 51), (83.88, 1, 5)),
    "mnist": (95.86, (10, 35), (95.71, 1, 3)),
    "worm": (99.45, (0.1, 1438), (99.43, 0.005, 69)),
    "artificial": (86.38, (0.005, 6740), (80.88, 0.005, 7)),
}
# Threads: speedup, line search, a_t, output, total (Table 5).
PAPER_TABLE5 = {
    1: (1.0, 238, 270, 2476, 3087),
    2: (1.77, 184, 155, 1300, 1742),
    4: (3.09, 178, 80, 640, 998),
    8: (4.5, 139, 49, 397, 684),
    16: (4.6, 117, 45, 410, 671),
}


def tables(result: dict) -> dict[str, str]:
    """The tables, and the figures as tables."""
    makers: dict[str, Callable[[list[dict]], str]] = {
        "mu": _mu,
        "table3": _table3,
        "table4": _table4,
        "table5": _table5,
        "scaling": _scaling,
        "challenge": _challenge,
        "challenge_time": _challenge_time,
    }
    titles = {"mu": "figure 4", "table3": "table 3", "table4": "table 4", "table5": "table 5"}
    titles |= {"scaling": "figure 6", "challenge": "figure 7", "challenge_time": "figure 7, left"}
    where = {"machine": harness.where(result)}
    return where | {titles[part]: make(result[part]["rows"]) for part, make in makers.items() if part in result}


def _named(name: str) -> str:
    return name if name in ("covtype", "mnist") else f"{name} (for {PAPER_NAMES[name]})"


def _count(row: dict) -> str:
    return f"{row['iterations']:,}" + ("" if row["stopped"] == "gap" else "+")


def _mu(rows: list[dict]) -> str:
    values = sorted({row["mu"] for row in rows})
    cells = {(row["data"], row["mu"]): _count(row) for row in rows}
    names = dict.fromkeys(row["data"] for row in rows)
    lines = [[_named(name), *(cells.get((name, value), "") for value in values)] for name in names]
    return harness.markdown(["iterations at μ =", *(f"{value:g}" for value in values)], lines)


def _table3(rows: list[dict]) -> str:
    lines = []
    for name in PAPER_NAMES:
        by = {row["method"]: row for row in rows if row["data"] == name}
        for method in METHODS:
            row = by.get(method)
            if row is None:
                continue
            paper = PAPER_TABLE3[name].get(method)
            shown = "" if paper is None else f"{paper[0]:,} it., {paper[1]:,} s"
            if method == "SGD":
                shown += f", {PAPER_ABOVE[name]:+.1%}"
            if "missing" in row:
                lines.append([_named(name), method, row["missing"], "", "", shown])
                continue
            above = row["objective"] / row["optimum"] - 1
            ended = "+" if row["stopped"] in ("time_limit", "max_iter", "stalled") else ""
            cells = [f"{row['objective']:.6g}", f"{above:+.2%}", f"{row['iterations']:,}{ended}"]
            lines.append([_named(name), method, *cells, harness.spread(row["seconds"]), shown])
    header = ["data", "method", "objective", "above the optimum", "it.", "seconds", "paper"]
    return harness.markdown(header, lines)


def _table4(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        area, ocas, sgd = PAPER_TABLE4[row["data"]]
        paper = {"OCA-E": (area, *ocas), "SGD": sgd}.get(row["method"])
        shown = ["", "", ""] if paper is None else [f"{paper[0]:.2f}", f"{paper[1]:g}", f"{paper[2]:,}"]
        cells = [f"{row['roc_area']:.2f}", f"{row['C']:g}", f"{row['seconds']:.2g}"]
        lines.append([_named(row["data"]), row["method"], *cells, *shown])
    header = ["data", "method", "auROC", "C chosen", "seconds, all C", "paper: auROC", "C", "seconds"]
    return harness.markdown(header, lines)


def _table5(rows: list[dict]) -> str:
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name]
        one = median(own[0]["seconds"])
        for row in own:
            # The paper's are of its human splice sites alone.
            paper = PAPER_TABLE5.get(row["threads"]) if name == "human" else None
            spent = row["phases"]
            cells = [f"{spent[phase]:.2f}" for phase in ("line_search", "cut", "scores")]
            total = harness.spread(row["seconds"])
            same = "yes" if row["same_weights"] else "no"
            speedup = f"{one / median(row['seconds']):.2f}"
            lines.append([name, row["threads"], speedup, *cells, total, same, *map(str, paper or [""] * 5)])
    header = ["data", "threads", "speedup", "line search", "a_t", "output", "total, s", "same bits"]
    return harness.markdown([*header, "paper: speedup", "line search", "a_t", "output", "total"], lines)


def _scaling(rows: list[dict]) -> str:
    lines = []
    for method in ("CPA", "OCA-E", "auto", "SGD"):
        kept = [row for row in rows if row["method"] == method and row["stopped"] in ("gap", "epochs")]
        large = [row for row in kept if row["n"] >= 5000]
        slope = harness.exponent([row["n"] for row in large], [row["seconds"] for row in large])
        largest = kept[-1]
        lines.append([method, f"{slope:.2f}", f"{largest['n']:,}", f"{largest['seconds']:.2g}"])
    return harness.markdown(["method", "exponent of the time, n ≥ 5,000", "largest n", "seconds there"], lines)


def _challenge(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        oca = f"{row['iterations']:,}" + ("" if row["gap"] <= 0.01 else f"+ (gap {row['gap']:.0e})")
        auto = f"{row['auto_iterations']:,}" + ("" if row["auto_gap"] <= 0.01 else f"+ (gap {row['auto_gap']:.0e})")
        theirs = [row["missing"], ""] if "missing" in row else [f"{row['passes']:,}", f"{row['above']:+.1%}"]
        lines.append([row["data"], f"{row['C']:g}", oca, auto, *theirs])
    header = ["data", "C", "OCA iterations", "auto iterations", "LIBLINEAR passes", "its objective above the best"]
    return harness.markdown(header, lines)


def _challenge_time(rows: list[dict]) -> str:
    """Seconds until the objective is so far above the best bound that ours have proven."""
    lines = []
    for row in rows:
        if "missing" in row:
            lines.append([row["data"], row["method"], row["missing"], "", "", ""])
            continue
        cells = []
        for share in (0.1, 0.01, 1e-3):
            near = (s for s, f in zip(row["seconds"], row["objective"], strict=True) if f <= row["bound"] * (1 + share))
            at = next(near, None)
            cells.append("" if at is None else f"{at:.2g}")
        above = min(row["objective"]) / row["bound"] - 1
        lines.append([row["data"], row["method"], *cells, f"{above:.1e} after {row['seconds'][-1]:.2g} s"])
    header = ["data", "method", "to 10 %, s", "to 1 %", "to 0.1 %", "least seen"]
    return harness.markdown(header, lines)


def _by(rows: list[dict], key: str, x: str, y: str) -> dict[str, tuple[list, list]]:
    kept = [row for row in rows if row.get("stopped", "gap") in ("gap", "epochs")]
    names = dict.fromkeys(row[key] for row in kept)
    return {
        name: ([row[x] for row in kept if row[key] == name], [row[y] for row in kept if row[key] == name])
        for name in names
    }


def figures(result: dict) -> dict[str, Figure]:
    """The paper's figures, from our runs."""
    found = {}
    if "mu" in result:
        rows = result["mu"]["rows"]
        shape = {"log_x": False, "vertical": 0.1}
        found["mu"] = draw(
            [
                Panel("Figure 4, counted", "μ", "iterations", _by(rows, "data", "mu", "iterations"), **shape),
                Panel("Figure 4", "μ", "seconds", _by(rows, "data", "mu", "seconds"), **shape),
            ]
        )
    if "convergence" in result:
        rows = result["convergence"]["rows"]
        found["convergence"] = draw(_convergence(rows, "passes", "iterations or epochs"), columns=3)
        found["convergence-time"] = draw(_convergence(rows, "seconds", "seconds"), columns=3)
    if "scaling" in result:
        lines = _by(result["scaling"]["rows"], "method", "n", "seconds")
        found["scaling"] = draw(
            [Panel("Figure 6: worm", "examples", "seconds", lines, guide=1.0, guide_label="linear")]
        )
    if "challenge_time" in result:
        found["challenge-time"] = draw(_over_time(result["challenge_time"]["rows"]), columns=3)
    if "table5" in result:
        found["threads"] = speedups("Table 5: speedup", _threads(result["table5"]["rows"]))
    if "challenge" in result:
        rows = result["challenge"]["rows"]
        panels = []
        for name in dict.fromkeys(row["data"] for row in rows):
            own = [row for row in rows if row["data"] == name]
            Cs = [row["C"] for row in own]
            counts = {"OCA-E": "iterations", "auto": "auto_iterations", "LIBLINEAR": "passes"}
            lines = {
                method: (Cs, [row[count] for row in own])
                for method, count in counts.items()
                if all(count in row for row in own)
            }
            panels.append(Panel(f"Figure 7, right, counted: {name}", "C", "iterations or passes to 1 %", lines))
        found["challenge"] = draw(panels, columns=3)
    return found


def _convergence(rows: list[dict], x: str, label: str) -> list[Panel]:
    panels = []
    for name in dict.fromkeys(row["data"] for row in rows):
        lines = {}
        for row in (each for each in rows if each["data"] == name):
            above = [max(value / row["optimum"] - 1, 1e-8) for value in row["objective"]]
            lines[row["method"]] = (row[x], above)
        panels.append(Panel(f"Figure 5: {name}", label, "objective above the optimum", lines))
    return panels


def _over_time(rows: list[dict]) -> list[Panel]:
    """Figure 7, left: a panel for each set."""
    panels = []
    for name in dict.fromkeys(row["data"] for row in rows):
        lines = {
            row["method"]: (row["seconds"], [max(value / row["bound"] - 1, 1e-7) for value in row["objective"]])
            for row in rows
            if row["data"] == name and "missing" not in row
        }
        panels.append(Panel(f"Figure 7, left: {name}", "seconds", "objective above the bound", lines))
    return panels


def _threads(rows: list[dict]) -> dict[str, tuple[list, list]]:
    """Table 5 as a plot: speedups, the paper's among them."""
    lines = {"paper: 15 million strings": (list(PAPER_TABLE5), [speedup for speedup, *_ in PAPER_TABLE5.values()])}
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name]
        one = median(own[0]["seconds"])
        lines[name] = ([row["threads"] for row in own], [one / median(row["seconds"]) for row in own])
    return lines

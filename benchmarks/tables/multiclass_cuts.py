"""Multi-class cutting planes: the papers' counts beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import harness
from benchmarks.figures import Panel, draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "multiclass-cuts.md"  # once measured
WAYS = ("CPAM", "OCAM", "OCA-T")
# Least error over C, and how many times as long CPAM takes over all C (Franc and Sonnenburg, Table 8).
PAPER = {"mnist": ("7.08", "3.0"), "news20": ("14.45", "4.9")}
PAPER_STALL = {"poker-raw": "1,454 (1,451) / 258"}


def tables(result: dict) -> dict[str, str]:
    """Iterations by C, the sums over C, and the stall."""
    found = {"machine": harness.where(result)}
    if "ocam" in result:
        found["table 8"] = _table8(result["ocam"]["rows"])
        found["figure 8"] = _figure8(result["ocam"]["rows"])
    if "time" in result:
        found["figure 8, left"] = _over_time(result["time"]["rows"])
    if "n" in result:
        found["figure 8, middle"] = _scaling(result["n"]["rows"])
    if "stall" in result:
        found["stall"] = _stall(result["stall"]["rows"])
    return found


def _count(row: dict | None) -> str:
    if row is None:
        return ""
    return f"{row['iterations']:,}" + ("" if row["stopped"] == "gap" else f"+ (gap {row['gap']:.0e})")


def _table8(rows: list[dict]) -> str:
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name]
        errors = [f"{min(row['error'] for row in own if row['way'] == way):.2f}" for way in WAYS]
        # Only the C's that all of them finished: a sum with a run that was ended says nothing.
        finished = [C for C in {row["C"] for row in own} if all(r["stopped"] == "gap" for r in own if r["C"] == C)]
        totals = [sum(row["iterations"] for row in own if row["way"] == way and row["C"] in finished) for way in WAYS]
        ratio = f"{totals[0] / totals[1]:.1f}" if totals[1] else ""
        lines.append([name, *errors, *(f"{total:,}" for total in totals), ratio, *PAPER.get(name, ("", ""))])
    header = ["data", *(f"{way}, % wrong" for way in WAYS), *(f"{way} it." for way in WAYS), "CPAM / OCAM"]
    return harness.markdown([*header, "paper: % wrong", "CPAM / OCAM in time"], lines)


def _figure8(rows: list[dict]) -> str:
    Cs = sorted({row["C"] for row in rows})
    by = {(row["data"], row["way"], row["C"]): row for row in rows}
    names = dict.fromkeys(row["data"] for row in rows)
    lines = [[f"{name}, {way}", *(_count(by.get((name, way, C))) for C in Cs)] for name in names for way in WAYS]
    return harness.markdown(["iterations at C =", *(f"{C:g}" for C in Cs)], lines)


def _over_time(rows: list[dict]) -> str:
    """Seconds until the objective is so far above the best bound that any of the runs has proven."""
    lines = []
    for row in rows:
        above = [upper / row["lower_bound"] - 1.0 for upper in row["curve"]["upper"]]
        cells = []
        for share in (0.5, 0.1, 0.02):
            at = next((k for k, value in enumerate(above) if value <= share), None)
            cells.append("" if at is None else f"{row['curve']['seconds'][at]:.2g} ({row['curve']['iteration'][at]:,})")
        lines.append([row["data"], f"{row['C']:g}", row["way"], *cells, f"{row['seconds']:.2g} ({_count(row)})"])
    header = ["data", "C", "method", "to 50 %, s (it.)", "to 10 %", "to 2 %", "to a proven 1 %"]
    return harness.markdown(header, lines)


def _scaling(rows: list[dict]) -> str:
    """Seconds and iterations on the largest sample, and how the time grows."""
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        for way in WAYS:
            own = [row for row in rows if (row["data"], row["way"], row["stopped"]) == (name, way, "gap")]
            if not own:
                continue
            slope = harness.exponent([row["n"] for row in own], [row["seconds"] for row in own])
            last = own[-1]
            cells = [f"{own[0]['iterations']:,} – {last['iterations']:,}", f"{slope:.2f}", f"{last['n']:,}"]
            lines.append([name, f"{last['C']:g}", way, *cells, f"{last['seconds']:.2g}"])
    header = [
        "data",
        "C",
        "method",
        "iterations, least to most n",
        "exponent of the time",
        "largest n",
        "seconds there",
    ]
    return harness.markdown(header, lines)


def _stall(rows: list[dict]) -> str:
    lines = []
    for name, C in dict.fromkeys((row["data"], row["C"]) for row in rows):
        by = {row["way"]: row for row in rows if row["data"] == name and row["C"] == C}
        stayed = [f"{by[way]['stayed']:,}" if way in by else "" for way in ("OCAM", "OCA-T")]
        counts = [_count(by.get(way)) for way in WAYS]
        lines.append([name, f"{C:g}", counts[0], counts[1], stayed[0], counts[2], stayed[1], PAPER_STALL.get(name, "")])
    header = ["data", "C", "CPAM it.", "OCAM it.", "of them step 0", "OCA-T it.", "of them step 0"]
    return harness.markdown([*header, "paper: OCA-E (step 0) / OCA-T"], lines)


def figures(result: dict) -> dict[str, Figure]:
    """The three columns of Figure 8: over time, over n, over C."""
    found = {}
    if "time" in result:
        rows = result["time"]["rows"]
        panels = []
        for name in dict.fromkeys(row["data"] for row in rows):
            own = [row for row in rows if row["data"] == name]
            lines = {
                row["way"]: (
                    row["curve"]["seconds"],
                    [max(upper / row["lower_bound"] - 1.0, 1e-6) for upper in row["curve"]["upper"]],
                )
                for row in own
            }
            title = f"Figure 8, left: {name}, C = {own[0]['C']:g}"
            panels.append(Panel(title, "seconds", "objective above the bound", lines))
        found["time"] = draw(panels, columns=3)
    for part, x, y, title in (
        ("n", "n", "seconds", "Figure 8, middle"),
        ("ocam", "C", "iterations", "Figure 8, right, counted"),
    ):
        if part in result:
            found["n" if part == "n" else "C"] = draw(_against(result[part]["rows"], x, y, title), columns=3)
    return found


def _against(rows: list[dict], x: str, y: str, title: str) -> list[Panel]:
    """A panel for each data set, a line for each method, of the runs that came to an end."""
    panels = []
    for name in dict.fromkeys(row["data"] for row in rows):
        lines = {}
        for way in WAYS:
            own = [row for row in rows if (row["data"], row["way"], row["stopped"]) == (name, way, "gap")]
            lines[way] = ([row[x] for row in own], [row[y] for row in own])
        guide = {"guide": 1.0, "guide_label": "linear"} if x == "n" else {}
        names = {"n": "examples", "C": "C"}
        panels.append(Panel(f"{title}: {name}", names[x], f"{y} to 1 %", lines, **guide))
    return panels

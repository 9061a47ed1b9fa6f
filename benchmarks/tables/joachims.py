"""Joachims 2006 again: its figures beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import harness
from benchmarks.figures import Panel, draw
from benchmarks.measure import median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "joachims.md"
# CPU-seconds of Table 1 and of section 4.1: SVM-Perf, SVM-Light (None: not in the paper).
PAPER = {
    "covtype": ("Covertype 1", 171.7, 25_514.3),
    "news20": ("Reuters CCAT", 149.7, 20_075.5),
    "news20-one": ("Reuters C11", 178.9, 5_187.4),
    "moneyfx": ("Arxiv astro-ph", 16.9, 80.1),
    "ijcnn1": ("KDD04 Physics", 31.9, 1_040.2),
    "a9a": ("Adult", 3.1, None),
    "w8a": ("Web", 7.6, None),
}
SAME = ("covtype", "a9a", "w8a")


def _lines(rows: list[dict], x: str, y: str) -> dict[str, tuple[list, list]]:
    names = dict.fromkeys(row["data"] for row in rows if row.get("stopped", "gap") == "gap")
    kept = [row for row in rows if row.get("stopped", "gap") == "gap"]
    return {
        name: ([row[x] for row in kept if row["data"] == name], [row[y] for row in kept if row["data"] == name])
        for name in names
    }


def _error(row: dict) -> float:
    return (row["optimum"] - row["lower"]) / row["optimum"]


def tables(result: dict) -> dict[str, str]:
    """Table 1, and the exponents of the figures."""
    found = {"machine": harness.where(result)}
    if "table1" in result:
        found["table 1"] = _table1(result["table1"]["rows"])
    found["exponents"] = _exponents(result)
    if "n" in result:
        found["figure 2"] = _figure2(result["n"]["rows"])
    if "epsilon" in result:
        found["figure 5"] = _figure5(result["epsilon"]["rows"])
    if "C" in result:
        found["figure 8"] = _figure8(result["C"]["rows"])
    return found


def _table1(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        stands_for, perf, light = PAPER[row["data"]]
        name = row["data"] if row["data"] in SAME else f"{row['data']} (for {stands_for})"
        times = [harness.spread(row["seconds"][method]) for method in ("CPA", "OCA-E", "auto")]
        iterations = [
            f"{row['iterations'][method]:,}" + ("" if row["stopped"][method] == "gap" else "+")
            for method in ("CPA", "OCA-E")
        ]
        size = f"{row['n']:,} x {row['features']:,}"
        lines.append([name, size, f"{row['C']:g}", times[0], iterations[0], times[1], iterations[1], times[2], perf])
        lines[-1].append("" if light is None else f"{light:,.0f}")
    header = ["data", "n x N", "C", "CPA, s", "it.", "OCA, s", "it.", "auto, s", "paper: SVM-Perf", "SVM-Light"]
    return harness.markdown(header, lines)


def _mean_exponent(rows: list[dict], x: str, y: str, least: float = 0.0) -> str:
    kept = [row for row in rows if row[x] >= least]
    found = [harness.exponent(a, b) for a, b in _lines(kept, x, y).values() if len(a) >= 3]
    if not found:
        return ""
    return f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def _exponents(result: dict) -> str:
    def rows(part: str) -> list[dict]:
        return result[part]["rows"] if part in result else []

    stated = [
        ("seconds against n, CPA (Figure 1)", _mean_exponent(rows("n"), "n", "seconds", 4000), "0.8"),
        ("seconds against n, decomposition (Figure 1)", _mean_exponent(rows("decomposition"), "n", "seconds"), "1.7"),
        ("iterations against n (Figure 2)", _mean_exponent(rows("n"), "n", "iterations", 4000), "0 or less"),
        ("iterations against 1/epsilon (Figure 5)", _negative(rows("epsilon"), "iterations"), "0.3"),
        ("seconds against 1/epsilon (Figure 6)", _negative(rows("epsilon"), "seconds"), "0.4"),
        ("iterations against C (Figure 8)", _mean_exponent(rows("C"), "C", "iterations"), "0.5"),
        ("seconds against C (Figure 9)", _mean_exponent(rows("C"), "C", "seconds"), "below 1"),
    ]
    return harness.markdown(["exponent", "ours: median over data sets (range)", "paper"], stated)


def _negative(rows: list[dict], y: str) -> str:
    return _mean_exponent([{**row, "inverse": 1 / row["epsilon"]} for row in rows], "inverse", y)


def _pivot(rows: list[dict], x: str, shown: str, cell) -> str:
    columns = sorted({row[x] for row in rows})
    names = list(dict.fromkeys(row["data"] for row in rows))
    cells = {(row["data"], row[x]): cell(row) for row in rows}
    return harness.markdown(
        [shown, *(f"{column:g}" for column in columns)],
        [[name, *(cells.get((name, column), "") for column in columns)] for name in names],
    )


def _count(row: dict) -> str:
    return f"{row['iterations']:,}" + ("" if row.get("stopped", "gap") == "gap" else "+")


def _figure2(rows: list[dict]) -> str:
    smallest = [row for row in rows if row["n"] in (1000, 4000, 16_000, 64_000, 256_000)]
    return _pivot(smallest, "n", "iterations at n =", _count)


def _figure5(rows: list[dict]) -> str:
    return _pivot(rows, "epsilon", "iterations at ε =", _count)


def _figure8(rows: list[dict]) -> str:
    return _pivot(rows, "C", "iterations at C =", _count)


def figures(result: dict) -> dict[str, Figure]:
    """The paper's figures, from our runs."""
    found = {}
    if "n" in result:
        rows = result["n"]["rows"]
        panels = [
            Panel("Figure 1, left: CPA", "examples n", "seconds", _lines(rows, "n", "seconds"), guide=1.0,
                  guide_label="linear"),
            Panel("Figure 2: CPA", "examples n", "iterations", _lines(rows, "n", "iterations")),
        ]  # fmt: skip
        if "decomposition" in result:
            lines = _lines(result["decomposition"]["rows"], "n", "seconds")
            panels.insert(1, Panel("Figure 1, left-middle: LIBSVM", "examples n", "seconds", lines, guide=1.7,
                                   guide_label="paper: $n^{1.7}$"))  # fmt: skip
        found["n"] = draw(panels, columns=3)
    if "epsilon" in result:
        rows = [{**row, "error": _error(row)} for row in result["epsilon"]["rows"]]
        found["epsilon"] = draw(
            [
                Panel("Figure 5: CPA", "ε", "iterations", _lines(rows, "epsilon", "iterations"), guide=-0.3,
                      guide_label="paper: $ε^{-0.3}$"),
                Panel("Figure 6: CPA", "ε", "seconds", _lines(rows, "epsilon", "seconds"), guide=-0.4,
                      guide_label="paper: $ε^{-0.4}$"),
                Panel("Figure 7, right", "ε", "relative error of the bound", _lines(rows, "epsilon", "error")),
            ],
            columns=3,
        )  # fmt: skip
    if "C" in result:
        rows = [{**row, "error": _error(row)} for row in result["C"]["rows"]]
        found["C"] = draw(
            [
                Panel("Figure 8: CPA", "C", "iterations", _lines(rows, "C", "iterations"), guide=0.5,
                      guide_label="paper: $\\sqrt{C}$"),
                Panel("Figure 9, left: CPA", "C", "seconds", _lines(rows, "C", "seconds"), guide=1.0,
                      guide_label="linear"),
                Panel("Figure 7, left", "C", "relative error of the bound", _lines(rows, "C", "error")),
            ],
            columns=3,
        )  # fmt: skip
    return found

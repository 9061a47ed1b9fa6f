"""The README's section on ranking."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 40


def readme(result: dict) -> str:
    rows = []
    for cell in result["two"]:
        seconds = {name: median(times) for name, times in cell["seconds"].items()}
        rows.append(
            [f"{cell['data']}, two ranks", f"{cell['n']:,}", f"{seconds['roc']:.2g} s", f"{seconds['hinge']:.2g} s"]
        )
    for cell in result["growth"]:
        kind = f"{cell['levels']} ranks" if cell["levels"] else "real targets"
        rows += [
            [f"synthetic, {kind}", f"{row['n']:,}", f"{row['seconds']:.2g} s", ""]
            for row in cell["rows"]
            if row["n"] in (100_000, 1_000_000, 5_000_000)
        ]
    words = (
        "All pairs of examples of different rank, to a proven 1e-3: seconds, and beside them those of plain "
        "classification (`LinearSVC`, hinge) on the same data. "
        f"2 threads, {result['machine']['cpu']}, {result['machine']['date']}."
    )
    table = markdown_table(["data", "examples", "all pairs", "classification"], rows)
    return section("Ranking", "python benchmarks/ranking.py --data DIR", words, table)


def plots(result: dict) -> dict:
    """Seconds of every method, on two ranks and on queries."""
    found = {}
    for part in ("two", "queries"):
        seconds = {
            _cell_name(cell): {name: median(times) for name, times in cell["seconds"].items() if times}
            for cell in result.get(part) or []
        }
        if seconds:
            found[part] = figures.bars({"two": "Area under the ROC", "queries": "Ranking in queries"}[part], seconds)
    return found


def _cell_name(cell: dict) -> str:
    return f"{cell['data']}, C = {cell['C']:g}" if "C" in cell else cell["data"]

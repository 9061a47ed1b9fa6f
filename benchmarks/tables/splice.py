"""The section of docs/benchmarks.md on strings."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.tables.markdown import markdown_table, section

PAGE = "franc-sonnenburg.md"
# Table 5 of the paper, by the number of CPUs: its "output" and "a_r".
PAPER_SECONDS = {
    "output": {1: 2476, 2: 1300, 4: 640, 8: 397, 16: 410},
    "sum of all": {1: 270, 2: 155, 4: 80, 8: 49, 16: 45},
}
ORDER = 45


def overview(result: dict) -> str:
    rows = []
    dimensions = max(
        part["dimensions"] for part in result["parts"].values() if isinstance(part, dict) and "dimensions" in part
    )
    for name, part in result["parts"].items():
        if isinstance(part, dict) and "phases" in part:
            rows.append(
                [
                    name.partition(",")[0],
                    f"{part['examples']:,}",
                    str(part["threads"]),
                    f"{part['train_seconds']:.3g} s",
                    str(part["iterations"]),
                    f"{part['output_seconds_per_pass']:.2g} s",
                    f"{part['roc_area']:.4f}, {part['pr_area']:.4f}",
                ]
            )
    words = (
        "Splice sites in windows of 141 bases, by spectra of orders 1 to 8 on both sides and weighted degrees of "
        f"order 8 ({dimensions / 1e6:.1f} million dimensions), C = 1: training to a proven 1e-3 (gap) or to the "
        "paper's stopping rule (paper), the pass that scores all strings, and areas under ROC and precision-recall "
        "curves on unseen strings. The paper has 12.5 million dimensions; its 50 million strings took 41 hours on 8 "
        "cores. "
        f"{result['machine']['cpu']}, {result['machine']['date']}."
    )
    header = ["data", "strings", "threads", "training", "iterations", "a pass", "ROC, PR area"]
    return section(
        "Strings", "python benchmarks/splice.py --data DIR --part human", words, markdown_table(header, rows)
    )


def tables(result: dict) -> dict[str, str]:
    """Passes over strings by the number of threads, for the page on Franc and Sonnenburg."""
    rows = result["parts"].get("threads")
    if not rows:
        return {}
    header = ["threads", "scores of all strings", "speedup", "paper", "sum of all", "speedup", "paper"]
    cells = []
    for row in rows:
        cell = [str(row["threads"])]
        for what, paper in PAPER_SECONDS.items():
            theirs = paper.get(row["threads"])
            cell += [
                f"{row[what]:.3f} s",
                f"{rows[0][what] / row[what]:.1f}",
                f"{paper[1] / theirs:.1f}" if theirs else "",
            ]
        cells.append(cell)
    return {"table 5, strings": markdown_table(header, cells)}


def plots(result: dict) -> dict:
    """Where the time of training goes, and passes by the number of threads."""
    trained = {
        name.replace(" threads", ""): {phase: max(seconds, 1e-3) for phase, seconds in part["phases"].items()}
        for name, part in result["parts"].items()
        if isinstance(part, dict) and "phases" in part
    }
    found = {"phases": figures.bars("Splice sites: seconds by phase (data, C, threads)", trained)} if trained else {}
    rows = result["parts"].get("threads")
    if rows:
        counts = [row["threads"] for row in rows]
        lines = {}
        for what, paper in PAPER_SECONDS.items():
            lines[what] = (counts, [rows[0][what] / row[what] for row in rows])
            lines[f"{what}, paper"] = (list(paper), [paper[1] / seconds for seconds in paper.values()])
        found["threads"] = figures.speedups("Passes over strings", lines)
    return found

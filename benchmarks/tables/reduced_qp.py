"""The section of docs/benchmarks.md on the small QP of the cutting-plane loop."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.tables.markdown import markdown_table, section

ORDER = 90


def overview(result: dict) -> str:
    runs = result["runs"]
    rows = [
        [
            name,
            *(f"{run['solvers'][name]['median_us']:,.0f}" for run in runs),
            f"{max(run['solvers'][name]['worst_gap'] for run in runs):.0e}",
        ]
        for name in runs[0]["solvers"]
    ]
    rows += [[name, *("missing" for _ in runs), ""] for name in runs[0].get("missing", [])]
    Cs = [f"µs, C = {run['per_example_C']:g}" for run in runs]
    words = (
        f"The small QP of the cutting-plane loop, solved each time one of {runs[0]['planes']} planes is "
        f"added ({result['data']}): median microseconds, and the worst relative gap any of the solutions has."
    )
    command = "python benchmarks/reduced_qp.py --data DIR --out benchmarks/results/reduced_qp.json"
    return section("The reduced QP", command, words, markdown_table(["solver", *Cs, "worst gap"], rows))


def plots(result: dict) -> dict:
    """Median time of one QP, by C."""
    seconds = {
        f"C = {run['per_example_C']:g}": {name: found["median_us"] / 1e6 for name, found in run["solvers"].items()}
        for run in result["runs"]
    }
    return {"seconds": figures.bars("One QP of the cutting-plane loop", seconds)} if seconds else {}

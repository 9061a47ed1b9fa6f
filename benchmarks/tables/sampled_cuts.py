"""The README's section on sampled cuts."""

from __future__ import annotations

from benchmarks.measure import median
from benchmarks.tables.markdown import markdown_table, section

ORDER = 55


def readme(result: dict) -> str:
    part = result["scaling"]
    rows = []
    for algorithm, stabilised in (("constant", False), ("linear", True)):
        mine = [run for run in part["rows"] if (run["algorithm"], run["stabilised"]) == (algorithm, stabilised)]
        for n in sorted({run["n"] for run in mine}):
            runs = [run for run in mine if run["n"] == n]
            rows.append(
                [
                    f"`{algorithm}`",
                    f"{n:,}",
                    f"{median([run['seconds'] for run in runs]):.2g} s",
                    f"{median([run['n_iter'] for run in runs]):.0f}",
                    f"{median([run['test_error'] for run in runs]):.2f} %",
                ]
            )
    words = (
        "Checkers (4 x 4 board, noise 0.02), Gaussian kernel, C = 1 per example, cuts of 400 examples. The paper, in "
        "2008, needed 1,411 s (constant-time, 3.23 %) and 60,101 s (linear-time, 2.99 %) for a million examples. "
        f"{part['threads']} threads, {part['machine']['cpu']}, {part['machine']['date']}."
    )
    table = markdown_table(["cuts", "examples", "training", "iterations", "test error"], rows)
    command = f"python benchmarks/sampled_cuts.py --parts scaling --threads {part['threads']}"
    return section("Kernels by sampled cuts", command, words, table)

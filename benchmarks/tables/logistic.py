"""The table of logistic regression beside scikit-learn's solvers, and its plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks import measure
from benchmarks.figures import COLOURS, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOLVERS = ("lbfgs", "newton-cholesky", "newton-cg", "saga")


def report(rows: Sequence[dict]) -> str:
    """The table, and the mean of the ratios."""
    lines = [
        (
            row["data"],
            f"{row['shape'][0]} x {row['shape'][1]}",
            row["classes"],
            f"{row['ours']:.2f}",
            f"{row['gap']:.1e}",
            *(f"{row['peers'][solver]:.2f}" if solver in row["peers"] else "" for solver in SOLVERS),
            "" if row["ratio"] is None else f"{row['ratio']:.2f}",
        )
        for row in rows
    ]
    text = measure.table(("data", "shape", "classes", "ours", "gap", *SOLVERS, "fastest / ours"), lines)
    mean = measure.geometric_mean([row["ratio"] for row in rows if row["ratio"] is not None])
    return f"{text}\n\nGeometric mean of scikit-learn's fastest over ours: {mean:.2f}"


def plots(result: dict) -> dict[str, Figure]:
    """Seconds of scikit-learn's solvers over ours."""
    rows = [row for row in result["rows"] if row["peers"]]
    if not rows:
        return {}
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.subplots()
    for index, solver in enumerate(SOLVERS):
        known = [
            (place, row["peers"][solver] / row["ours"]) for place, row in enumerate(rows) if solver in row["peers"]
        ]
        places, ratios = [place for place, _ in known], [ratio for _, ratio in known]
        ax.plot(ratios, places, "o", color=COLOURS[index], label=solver)
    ax.axvline(1.0, color="0.4", linestyle=":", linewidth=1.2)
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), [row["data"] for row in rows])
    ax.set_xlabel("seconds over ours")
    finish(ax)
    return {"logistic": figure}

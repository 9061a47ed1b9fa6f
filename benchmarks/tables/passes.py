"""Plots of what a pass over the data costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.figures import COLOURS, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDWIDTHS = {"scores_gb_s": "scores", "combine_gb_s": "combine", "copy_gb_s": "copy, read and written"}
PHASES = ("scores", "cut", "line_search", "qp")


def plots(result: dict) -> dict[str, Figure]:
    """Bytes a second of passes beside a copy, shares of the time of OCA, peak memory over the data."""
    if not result["bandwidth"]:
        return {}
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    names = [row["data"] for row in result["bandwidth"]]
    for index, (key, label) in enumerate(BANDWIDTHS.items()):
        places = [place + 0.27 * (index - 1) for place in range(len(names))]
        left.barh(places, [row[key] for row in result["bandwidth"]], 0.25, color=COLOURS[index], label=label)
    left.set_yticks(range(len(names)), names)
    left.set_xlabel("GB/s")
    left.set_title("Passes", loc="left", fontsize=10)
    shares = result["shares"]
    begin = [0.0] * len(shares)
    for index, phase in enumerate((*PHASES, "other")):
        known = [row[phase] if phase in row else 1.0 - sum(row[each] for each in PHASES) for row in shares]
        middle.barh(range(len(shares)), known, left=begin, color=COLOURS[index], label=phase.replace("_", " "))
        begin = [start + share for start, share in zip(begin, known, strict=True)]
    middle.set_yticks(range(len(shares)), [f"{row['data']}, C = {row['C']:g}" for row in shares])
    middle.set_xlabel("share of the time of OCA")
    middle.set_title("Where the time goes", loc="left", fontsize=10)
    memory = result["memory"]
    right.barh(range(len(memory)), [row["ratio"] for row in memory], color=COLOURS[0])
    right.axvline(1.0, color="0.4", linestyle=":", linewidth=1.2)
    right.set_yticks(range(len(memory)), [f"{row['data']}, {row['method']}" for row in memory])
    right.set_xlabel("times the data, planes apart")
    right.set_title("Memory", loc="left", fontsize=10)
    for ax in (left, middle, right):
        ax.invert_yaxis()
        finish(ax, legend=False)
        if ax is not right:
            ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.4, -0.2), ncols=3)
    return {"passes": figure}

"""The plot of a path of C: how well each model does, and how long its weights are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cutplane.io.atomic import replace_file
from cutplane.report.plot_style import BLUE, ORANGE, figure_to_save, tidy
from cutplane.report.plots import plot_format

_SCORE, _LENGTH = BLUE, ORANGE


def save_path_plot(
    Cs: Sequence[float],
    lengths: Sequence[float],
    scores: Sequence[Sequence[float]],
    path: str | os.PathLike[str],
    *,
    score_name: str = "score",
) -> None:
    """Save a plot of score and length of w against C.

    Parameters
    ----------
    Cs : sequence of float
    lengths : sequence of float
        |w| for each C.
    scores : sequence of sequences
        For each C the scores of the folds; the plot has their mean and the range between the worst and the best.
    path : path-like
        The file; the end of its name, one of .png, .svg and .pdf, says the format.
    score_name : str
        For the axis.
    """
    order = sorted(range(len(Cs)), key=lambda k: Cs[k])
    x = [Cs[k] for k in order]
    folds = [scores[k] for k in order]
    means = [sum(each) / len(each) for each in folds]
    figure = figure_to_save((7.0, 6.0))
    above, below = figure.subplots(2, 1, sharex=True)
    above.fill_between(x, [min(e) for e in folds], [max(e) for e in folds], color="0.9", linewidth=0)
    above.plot(x, means, color=_SCORE, marker=".")
    best = max(range(len(x)), key=lambda k: means[k])
    above.axvline(x[best], color="0.4", linestyle=":")
    above.set_title(f"best: C = {x[best]:.3g}, {score_name} {means[best]:.4g}", loc="left")
    above.set_ylabel(f"{score_name} (mean and range of folds)")
    below.plot(x, [lengths[k] for k in order], color=_LENGTH, marker=".")
    below.set_ylabel("|w|")
    below.set_yscale("log")
    below.set_xlabel("C")
    for ax in (above, below):
        ax.set_xscale("log")
        tidy(ax)
    with replace_file(path) as file:
        figure.savefig(file, format=plot_format(path), dpi=150)

"""The plot of a path of C, or of a grid of C and gamma: how well each model does, and how long its weights are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from cutplane.io.atomic import replace_file
from cutplane.report.plot_style import BLUE, ORANGE, figure_to_save, tidy
from cutplane.report.plots import plot_format
from cutplane.report.searched import Searched, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCORE, _LENGTH = BLUE, ORANGE
# Inches of a cell of a heat map, and of what is around them.
_CELL, _AROUND = (0.72, 0.5), (1.9, 1.6)


def save_path_plot(found: Searched, path: str | os.PathLike[str]) -> None:
    """Save a plot of scores and length of w against C, or of a grid as a heat map.

    Parameters
    ----------
    found : Searched
        The plot has the mean of the folds and, of C alone, the range between the worst and the best.
    path : path-like
        The file; the end of its name, one of .png, .svg and .pdf, says the format.
    """
    figure = _heat(found) if found.is_grid else _lines(found)
    with replace_file(path) as file:
        figure.savefig(file, format=plot_format(path), dpi=150)


def _lines(found: Searched) -> Figure:
    from matplotlib.ticker import LogFormatter

    panels = 1 if found.lengths is None else 2
    figure = figure_to_save((7.0, 1.0 + 2.5 * panels))
    above, *below = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
    means, Cs = found.means(), found.Cs
    above.fill_between(Cs, found.scores.min(axis=1), found.scores.max(axis=1), color="0.9", linewidth=0)
    above.plot(Cs, means, color=_SCORE, marker=".")
    above.axvline(found.C(found.best), color="0.4", linestyle=":")
    above.set_title(_best(found), loc="left")
    above.set_ylabel(f"{found.scoring}\n(mean and range of folds)")
    for ax in below:
        ax.plot(Cs, found.lengths, color=_LENGTH, marker=".")
        ax.set_ylabel("|w|")
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.4)))
    for ax in (above, *below):
        ax.set_xscale("log")
        tidy(ax)
    (above, *below)[-1].set_xlabel("C")
    return figure


def _heat(found: Searched) -> Figure:
    from matplotlib.patches import Rectangle

    shape = len(found.gammas), len(found.Cs)
    means = found.means().reshape(shape)
    figure = figure_to_save((max(6.0, _AROUND[0] + _CELL[0] * shape[1]), _AROUND[1] + _CELL[1] * shape[0]))
    ax = figure.subplots()
    drawn = ax.imshow(means, cmap="cividis", aspect="auto")
    ax.set_xticks(range(shape[1]), [shown(C) for C in found.Cs])
    ax.set_yticks(range(shape[0]), [shown(gamma) for gamma in found.gammas])
    ax.set_xlabel("C")
    ax.set_ylabel("gamma")
    ax.set_title(_best(found), loc="left")
    _write_values(ax, means)
    row, column = divmod(found.best, shape[1])
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1.0, 1.0, fill=False, edgecolor=ORANGE, linewidth=2.5, zorder=3))
    figure.colorbar(drawn, ax=ax, label=f"mean {found.scoring}")
    return figure


def _write_values(ax: Axes, means: np.ndarray) -> None:
    """Each value in its cell, in black on the bright half of the colours and in white on the dark one."""
    middle = (float(np.nanmin(means)) + float(np.nanmax(means))) / 2.0
    for (row, column), value in np.ndenumerate(means):
        if not np.isnan(value):
            colour = "black" if value > middle else "white"
            ax.text(column, row, f"{value:.3f}", ha="center", va="center", color=colour, fontsize="small")


def _best(found: Searched) -> str:
    gamma = f", gamma = {shown(found.gamma(found.best))}" if found.is_grid else ""
    return f"best: C = {shown(found.C(found.best))}{gamma}, {found.scoring} {found.means()[found.best]:.4g}"

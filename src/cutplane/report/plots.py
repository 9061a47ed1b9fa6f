"""Plots of a training run. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cutplane._types import Params
from cutplane.io.atomic import replace_file
from cutplane.report.certificate import proven_within
from cutplane.report.plot_style import BLACK, BLUE, ORANGE, figure_to_save, new_figure, over_time, root_figure, tidy
from cutplane.report.run_shapes import above, below, gaps, spread
from cutplane.solvers.result import Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PLOT_FORMATS = ("png", "svg", "pdf")

_UPPER, _LOWER, _GAP = ORANGE, BLUE, BLACK
_MOST_MULTIPLES = 12
_COLUMNS = 4
_TALL, _LOW = 3.2, 1.6  # inches of the large panel and of a row of small ones
# Between two iterations the older bound is all that is proven; a slanted line would claim more.
_STEPS: Params = {"drawstyle": "steps-post"}


def plot_convergence(
    history: Sequence[Step],
    ax: Axes | None = None,
    *,
    tol: float | None = None,
    labels: Sequence[object] | None = None,
) -> Figure:
    """Plot how a training run closed in on the optimum.

    Parameters
    ----------
    history : sequence of Step
        ``model.history_``, of one problem or several.
    ax : matplotlib Axes, optional
        Draw only the gap, into this one. Without it a new figure has two panels over the seconds of training: how far
        each bound was from where the other ended, and the proven relative gap. Of several problems it has the gap of
        the worst with a band to the best, and a small panel for each.
    tol : float, optional
        Mark the tolerance that was asked for.
    labels : sequence, optional
        Names of the problems, when there are several.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cutplane import LinearSVC
    >>> from cutplane.plotting import plot_convergence
    >>> from cutplane.datasets import load_adult
    >>> figure = plot_convergence(LinearSVC().fit(*load_adult()).history_, tol=1e-3)  # doctest: +SKIP
    >>> figure.savefig("convergence.png")  # doctest: +SKIP
    """
    runs = _runs(history)
    if ax is not None:
        _draw_gap(ax, runs, tol)
        ax.set_xlabel("seconds")
        return root_figure(ax)
    figure = new_figure(_size(runs))
    _draw_panels(figure, runs, tol, labels)
    return figure


def save_convergence(
    history: Sequence[Step],
    path: str | os.PathLike[str],
    *,
    tol: float | None = None,
    labels: Sequence[object] | None = None,
) -> None:
    """Save `plot_convergence` to a file, without a display and without touching pyplot's state.

    Parameters
    ----------
    history, tol, labels
        As in `plot_convergence`.
    path : path-like
        The file; the end of its name, one of .png, .svg and .pdf, says the format.
    """
    runs = _runs(history)
    figure = figure_to_save(_size(runs))
    _draw_panels(figure, runs, tol, labels)
    with replace_file(path) as file:
        figure.savefig(file, format=plot_format(path), dpi=150)


def plot_format(path: str | os.PathLike[str]) -> str:
    """The format that the name of a plot file asks for; `ValueError` if there is no such format."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in PLOT_FORMATS:
        raise ValueError(f"{path} does not end in .png, .svg or .pdf, so it says no format for the plot.")
    return suffix


def _runs(history: Sequence[Step]) -> list[Sequence[Step]]:
    """The steps of each problem."""
    if not history:
        raise ValueError("There is nothing to plot: the history has no steps.")
    numbers = sorted({step.problem for step in history})
    return [[step for step in history if step.problem == number] for number in numbers]


def _draw_panels(
    figure: Figure, runs: list[Sequence[Step]], tol: float | None, labels: Sequence[object] | None
) -> None:
    if len(runs) == 1:
        distances, gap = figure.subplots(2, 1, sharex=True)
        draw_distances(distances, runs[0])
        _draw_gap(gap, runs, tol)
        gap.set_xlabel("seconds")
        distances.set_title(_title(runs), loc="left")
        return
    shown = slowest(runs)
    rows = -(-len(shown) // _COLUMNS)
    parts = figure.subfigures(2, 1, height_ratios=(_TALL, _LOW * rows))
    large, small = cast("Sequence[SubFigure]", parts)
    worst = large.subplots()
    _draw_gap(worst, runs, tol)
    worst.set_xlabel("seconds of each")
    worst.set_title(_title(runs), loc="left")
    _draw_multiples(small, runs, shown, tol, labels)


def _size(runs: list[Sequence[Step]]) -> tuple[float, float]:
    """Of a whole figure, in inches."""
    if len(runs) == 1:
        return 7.0, 6.0
    return 9.0, _TALL + _LOW * -(-len(slowest(runs)) // _COLUMNS)


def slowest(runs: Sequence[Sequence[Step]], most: int = _MOST_MULTIPLES) -> list[int]:
    """The runs that took longest, in their own order."""
    return sorted(sorted(range(len(runs)), key=lambda index: -runs[index][-1].seconds)[:most])


def _title(runs: list[Sequence[Step]]) -> str:
    worst = max(run[-1].gap for run in runs)
    seconds = sum(run[-1].seconds for run in runs)
    who = "" if len(runs) == 1 else f", each of {len(runs)} problems"
    return f"{proven_within(worst)}{who}, in {seconds:.2g} s"


def draw_distances(ax: Axes, run: Sequence[Step]) -> None:
    """Both bounds as distances on a logarithmic axis: as values they would soon lie on top of each other."""
    words = "objective above the last lower bound", "lower bound below the last objective"
    for points, colour, style, name in zip((above(run), below(run)), (_UPPER, _LOWER), ("-", "--"), words, strict=True):
        ax.plot(*points, color=colour, linestyle=style, marker=_marker(run), label=name, **_STEPS)
    over_time(ax)
    ax.set_ylabel("distance")
    tidy(ax, legend=True)


def _draw_gap(ax: Axes, runs: list[Sequence[Step]], tol: float | None) -> None:
    """The gap of a run; of several the worst, with a band to the best."""
    if len(runs) == 1:
        ax.plot(*gaps(runs[0]), color=_GAP, marker=_marker(runs[0]), label="proven gap", **_STEPS)
    else:
        moments, worst, best = spread(runs)
        ax.fill_between(moments, best, worst, color="0.9", linewidth=0, step="post")
        dots = _marker(moments)
        ax.plot(moments, worst, color=_GAP, marker=dots, label="proven gap of the worst", **_STEPS)
        ax.plot(moments, best, color=_LOWER, marker=dots, linestyle="--", label="of the best", **_STEPS)
    if tol is not None:
        ax.axhline(tol, color="0.4", linestyle=":", label=f"tolerance {tol:g}")
    over_time(ax)
    ax.set_ylabel("relative gap")
    tidy(ax, legend=True)


def _draw_multiples(
    figure: SubFigure, runs: list[Sequence[Step]], shown: list[int], tol: float | None, labels: Sequence[object] | None
) -> None:
    """A small panel for each problem, all with the same axes."""
    rows = -(-len(shown) // _COLUMNS)
    grid = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, index in zip(grid, shown, strict=False):
        ax.plot(*gaps(runs[index]), color=_GAP, marker=_marker(runs[index]), markersize=3, linewidth=1.2, **_STEPS)
        if tol is not None:
            ax.axhline(tol, color="0.4", linestyle=":", linewidth=1.0)
        ax.set_yscale("log")
        if index in shown[-_COLUMNS:]:
            ax.tick_params(labelbottom=True)  # the one below may be empty
        ax.set_title(f"{labels[index] if labels is not None else index}", loc="left", fontsize="small")
        tidy(ax)
    for ax in grid[len(shown) :]:
        ax.set_visible(False)


def _marker(run: Sequence[object]) -> str:
    """Dots show the iterations while they can be told apart; without them one step draws nothing."""
    return "." if len(run) <= 60 else ""

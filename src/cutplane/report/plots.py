"""Plots of a training run. Matplotlib is imported only when one is drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cutplane._types import Params
from cutplane.io.atomic import replace_file
from cutplane.report.certificate import proven_within
from cutplane.report.plot_style import BLACK, BLUE, ORANGE, PALETTE, require_matplotlib, root_figure, tidy
from cutplane.solvers.result import Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_FORMATS = ("png", "svg", "pdf")

_UPPER, _LOWER, _GAP = ORANGE, BLUE, BLACK
_MOST_LABELLED = len(PALETTE)
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
        Draw only the gap, into this one. Without it a new figure has both panels: the bounds on the
        optimum, and the proven relative gap on a logarithmic axis, over the seconds of training.
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
        _draw_gap(ax, runs, tol, labels)
        ax.set_xlabel("seconds")
        return root_figure(ax)
    require_matplotlib()
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(7.0, 6.0), layout="constrained")
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
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    _draw_panels(figure, _runs(history), tol, labels)
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
    bounds, gap = figure.subplots(2, 1, sharex=True)
    _draw_bounds(bounds, runs)
    _draw_gap(gap, runs, tol, labels)
    gap.set_xlabel("seconds")
    bounds.set_title(_title(runs), loc="left")


def _title(runs: list[Sequence[Step]]) -> str:
    worst = max(run[-1].gap for run in runs)
    seconds = sum(run[-1].seconds for run in runs)
    who = "" if len(runs) == 1 else f", each of {len(runs)} problems"
    return f"{proven_within(worst)}{who}, in {seconds:.2g} s"


def _draw_bounds(ax: Axes, runs: list[Sequence[Step]]) -> None:
    if len(runs) == 1:
        _draw_pair(ax, runs[0], (_UPPER, _LOWER), ("upper bound: the model's objective", "lower bound: proven"))
        ax.set_ylabel("objective")
    else:
        # The colour says the class, so the line style must say which bound it is.
        for index, run in enumerate(runs):
            colour = PALETTE[index % len(PALETTE)]
            _draw_pair(ax, run, (colour, colour), (None, None))
        ax.set_ylabel("objective (dashed: lower bound)")
    ax.set_ylim(*_focus(runs))
    tidy(ax, legend=len(runs) == 1)  # the panel below names the classes


def _draw_pair(ax: Axes, run: Sequence[Step], colours: tuple[str, str], labels: tuple[str | None, str | None]) -> None:
    seconds = [step.seconds for step in run]
    uppers, lowers = [step.upper for step in run], [step.lower for step in run]
    if colours[0] != colours[1]:
        # What is still open shrinks to a line; areas of several classes would only cover each other.
        ax.fill_between(seconds, lowers, uppers, color="0.9", linewidth=0, step="post")
    ax.plot(seconds, uppers, color=colours[0], marker=_marker(run), label=labels[0], **_STEPS)
    ax.plot(seconds, lowers, color=colours[1], marker=_marker(run), label=labels[1], linestyle="--", **_STEPS)


def _draw_gap(ax: Axes, runs: list[Sequence[Step]], tol: float | None, labels: Sequence[object] | None) -> None:
    for index, run in enumerate(runs):
        # A gap of exactly 0 has no place on a logarithmic axis.
        steps = [step for step in run if 0.0 < step.gap < float("inf")]
        colour, label = (_GAP, "proven gap") if len(runs) == 1 else (PALETTE[index % len(PALETTE)], "")
        ax.plot(
            [step.seconds for step in steps],
            [step.gap for step in steps],
            color=colour,
            marker=_marker(run),
            label=label or _label(labels, index),
            **_STEPS,
        )
    if tol is not None:
        ax.axhline(tol, color="0.4", linestyle=":", label=f"tolerance {tol:g}")
    ax.set_yscale("log")
    ax.set_ylabel("relative gap")
    tidy(ax, legend=len(runs) <= _MOST_LABELLED)


def _focus(runs: list[Sequence[Step]]) -> tuple[float, float]:
    """The range of objectives in which the bounds meet; first guesses may be a hundred times off."""
    top = max(min(run[0].upper, 3.0 * run[-1].upper) for run in runs)
    bottom = min(max(run[0].lower, -run[-1].upper) for run in runs)
    margin = 0.05 * (top - bottom) or 1.0
    return bottom - margin, top + margin


def _marker(run: Sequence[Step]) -> str:
    """Dots show the iterations while they can be told apart; without them one step draws nothing."""
    return "." if len(run) <= 60 else ""


def _label(labels: Sequence[object] | None, index: int) -> str:
    return f"class {labels[index] if labels is not None else index}"

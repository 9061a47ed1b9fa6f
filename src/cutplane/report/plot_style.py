"""How the Matplotlib plots look, whichever module draws them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cutplane._runtime.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with every common kind of colour blindness.
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
PALETTE = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#E69F00", BLACK)


def new_figure(size: tuple[float, float]) -> Figure:
    """A figure that notebooks and windows show; one sentence says how to get Matplotlib where it is missing."""
    require("matplotlib", "plot", "Plots")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def figure_to_save(size: tuple[float, float]) -> Figure:
    """The same for a file alone, without a display."""
    require("matplotlib", "plot", "Plots")
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """The axes that were given and their figure, or those of a new one."""
    if ax is not None:
        return root_figure(ax), ax
    figure = new_figure(size)
    return figure, figure.subplots()


def tidy(ax: Axes, *, legend: bool = False) -> None:
    """A light grid behind the lines, no frame above and to the right."""
    ax.grid(True, color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        ax.legend(framealpha=0.85, edgecolor="none")  # legible where it lies on a line


def over_time(ax: Axes) -> None:
    """Time from 0 on, and a logarithmic axis of a decade at least: few steps far from 0 are no long way."""
    end = float(ax.dataLim.xmax)
    if 0.0 < end < math.inf:  # it is infinite where nothing is drawn
        ax.set_xlim(0.0, 1.03 * end)
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    if high < 10.0 * low:
        ax.set_ylim(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))


def root_figure(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure

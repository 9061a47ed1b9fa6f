"""How the Matplotlib plots look, whichever module draws them."""

from __future__ import annotations

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
        ax.legend(frameon=False)


def root_figure(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure

"""Plots of what a model of strings looks at. Matplotlib is imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from cutplane.report.logo import MOST_POSITIONS, colour_of, stacked, window
from cutplane.report.plot_style import PALETTE, axes_or_new, tidy
from cutplane.report.poims import oligomer_importance
from cutplane.sources.alphabet import as_alphabet
from cutplane.sources.kmers import kmer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_logo(model: BaseEstimator, row: int = 0, *, most: int = MOST_POSITIONS, ax: Axes | None = None) -> Figure:
    """A sequence logo: letters that raise the score above the line, those that lower it below.

    Heights are positional oligomer importances of order 1: see `cutplane.report.poims.oligomer_importance`.

    Parameters
    ----------
    model : StringSVC
        Fitted.
    row : int
        The class, if there are more than two.
    most : int, default=80
        Of longer strings, the stretch of so many positions that matters most.
    ax : matplotlib Axes, optional
        Draw into this one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cutplane import StringSVC
    >>> from cutplane.plotting import plot_logo
    >>> model = StringSVC(order=2).fit(["ACGT", "AAGT", "TCGA", "TAGA"], [0, 1, 0, 1])
    >>> figure = plot_logo(model)  # doctest: +SKIP
    """
    importance = oligomer_importance(model, 1, row)
    shown = window(importance, most)
    letters = as_alphabet(model.alphabet).letters
    figure, ax = axes_or_new(ax, (min(12.0, 2.0 + 0.16 * (shown.stop - shown.start)), 2.6))
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    bold = FontProperties(family="DejaVu Sans Mono", weight="bold")
    outlines = {letter: TextPath((0, 0), letter, size=1, prop=bold) for letter in letters}
    for glyph in stacked(importance[shown]):
        letter = letters[glyph.letter]
        box = outlines[letter].get_extents()
        place = (
            Affine2D()
            .translate(-box.x0, -box.y0)
            .scale(0.9 / box.width, (glyph.high - glyph.low) / box.height)
            .translate(shown.start + glyph.position - 0.45, glyph.low)
        )
        colour = PALETTE[colour_of(letter, letters) % len(PALETTE)]
        ax.add_patch(PathPatch(outlines[letter].transformed(place), facecolor=colour, linewidth=0))
    high = np.maximum(importance[shown], 0.0).sum(axis=1).max(initial=0.0)
    low = np.minimum(importance[shown], 0.0).sum(axis=1).min(initial=0.0)
    ax.set(xlim=(shown.start - 0.6, shown.stop - 0.4), ylim=(1.05 * low or -1.0, 1.05 * high or 1.0))
    ax.axhline(0.0, color="0.4", linewidth=0.8)
    ax.set_xlabel("position")
    ax.set_ylabel("change of the score")
    tidy(ax)
    ax.grid(False)
    return figure


def plot_poim(model: BaseEstimator, order: int = 2, row: int = 0, *, most: int = 16, ax: Axes | None = None) -> Figure:
    """A heat map of positional oligomer importance: what a k-mer at a position changes in the score.

    Parameters
    ----------
    model : StringSVC
        Fitted.
    order : int, default=2
        Letters of the k-mers.
    row : int
        The class, if there are more than two.
    most : int, default=16
        So many k-mers at most, those that reach highest.
    ax : matplotlib Axes, optional
        Draw into this one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cutplane import StringSVC
    >>> from cutplane.plotting import plot_poim
    >>> model = StringSVC(order=2).fit(["ACGT", "AAGT", "TCGA", "TAGA"], [0, 1, 0, 1])
    >>> figure = plot_poim(model, order=2)  # doctest: +SKIP
    """
    importance = oligomer_importance(model, order, row)
    alphabet = as_alphabet(model.alphabet)
    chosen = np.sort(np.argsort(-np.abs(importance).max(axis=0), kind="stable")[:most])
    figure, ax = axes_or_new(ax, (9.0, 1.2 + 0.22 * len(chosen)))
    largest = float(np.abs(importance).max()) or 1.0
    values = importance[:, chosen].T
    shown = ax.imshow(values, aspect="auto", cmap="RdBu", vmin=-largest, vmax=largest, interpolation="nearest")
    ax.set_yticks(range(len(chosen)), [kmer(int(code), order, alphabet) for code in chosen])
    ax.set_xlabel("position")
    size = importance.shape[1]
    few = "" if len(chosen) == size else f", the {len(chosen)} of {size:,} that reach highest"
    ax.set_title(f"change of the score by k-mers of order {order}{few}", loc="left")
    figure.colorbar(shown, ax=ax)
    return figure

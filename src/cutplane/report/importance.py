"""What a model of strings looks at: letters by position, and k-mers by position and order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane.io.atomic import replace_file
from cutplane.report.plot_style import figure_to_save, new_figure
from cutplane.report.plots import plot_format
from cutplane.report.poims import oligomer_importance, weights_by_part
from cutplane.sources.alphabet import as_alphabet
from cutplane.sources.kmers import blocks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

_SIZE = (9.0, 5.0)


def letter_importance(model: BaseEstimator, row: int = 0) -> Array:
    """How much each letter at each position raises the score, in the mean over all strings.

    The mean is over strings of evenly distributed letters, before they are scaled to length 1: the positional oligomer
    importance of order 1 (Sonnenburg, Zien, Philips and Rätsch 2008). All k-mers that cover a position count.

    Parameters
    ----------
    model : StringSVC
        Fitted.
    row : int
        The class, if there are more than two.

    Returns
    -------
    array of shape (length, letters)
        The letters of a position sum to zero.
    """
    return oligomer_importance(model, 1, row)


def order_importance(model: BaseEstimator, row: int = 0) -> Array:
    """The root of the summed squares of the weights of k-mers, by order and position; of spectra, shared evenly.

    Returns
    -------
    array of shape (orders, length)
    """
    letters = as_alphabet(model.alphabet).size
    deepest = max(len(part.weights) for part, _ in weights_by_part(model, row))
    squares = np.zeros((deepest, model.length_))
    for part, weights in weights_by_part(model, row):
        for start, k, where in blocks(part, letters):
            starts = slice(start, start + 1) if part.positional else slice(part.begin, part.end - k + 1)
            squares[k - 1, starts] += np.sum(weights[where] ** 2) / (
                1 if part.positional else part.end - part.begin - k + 1
            )
    return np.sqrt(squares)


def plot_importance(model: BaseEstimator, row: int = 0) -> Figure:
    """A heat map of letters by position above one of orders by position.

    Parameters
    ----------
    model : StringSVC
        Fitted.
    row : int
        The class, if there are more than two.
    """
    figure = new_figure(_SIZE)
    _draw(figure, model, row)
    return figure


def save_importance(model: BaseEstimator, path: str | os.PathLike[str], row: int = 0) -> None:
    """Save `plot_importance` to a .png, .svg or .pdf file, without a display."""
    figure = figure_to_save(_SIZE)
    _draw(figure, model, row)
    with replace_file(path) as file:
        figure.savefig(file, format=plot_format(path), dpi=150)


def _draw(figure: Figure, model: BaseEstimator, row: int) -> None:
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1, 2))
    effect = letter_importance(model, row)
    most = np.abs(effect).max() or 1.0
    shown = top.imshow(effect.T, aspect="auto", cmap="RdBu", vmin=-most, vmax=most, interpolation="nearest")
    top.set_yticks(range(effect.shape[1]), list(as_alphabet(model.alphabet).letters))
    top.set_title("change of the score by a letter", loc="left")
    figure.colorbar(shown, ax=top)
    orders = order_importance(model, row)
    shown = bottom.imshow(orders, aspect="auto", cmap="magma_r", vmin=0.0, interpolation="nearest")
    bottom.set_yticks(range(len(orders)), [str(k + 1) for k in range(len(orders))])
    bottom.set_title("length of the weights of k-mers that begin here", loc="left")
    bottom.set_ylabel("order")
    bottom.set_xlabel("position")
    figure.colorbar(shown, ax=bottom)

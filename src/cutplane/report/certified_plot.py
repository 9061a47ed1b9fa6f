"""The plot of a certified choice of C: errors, and what no C can have less than. Matplotlib is imported on use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from cutplane.io.atomic import replace_file
from cutplane.report.plot_style import BLUE, ORANGE, axes_or_new, figure_to_save, tidy
from cutplane.report.plots import plot_format

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ERROR, _BOUND = BLUE, ORANGE
_SIZE = (7.0, 4.2)


def plot_certified(model: BaseEstimator, ax: Axes | None = None) -> Figure:
    """Plot the cross-validated error of a `LinearSVCCV` over C, and its lower bound for every C between.

    Parameters
    ----------
    model : LinearSVCCV
        Fitted with `certify`.
    ax : matplotlib Axes, optional
        Draw into this one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cutplane import LinearSVCCV
    >>> from cutplane.plotting import plot_certified
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = LinearSVCCV((0.1, 1.0), cv=3, certify=0.5).fit(X, y)
    >>> figure = plot_certified(model)  # doctest: +SKIP
    """
    if not hasattr(model, "certified_"):
        raise ValueError("The model has no certified choice of C: LinearSVCCV(certify=0.01) makes one.")
    figure, ax = axes_or_new(ax, _SIZE)
    _draw(ax, model)
    return figure


def save_certified_plot(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Save the same plot.

    Parameters
    ----------
    model : LinearSVCCV
        Fitted with `certify`.
    path : path-like
        The file; the end of its name, one of .png, .svg and .pdf, says the format.
    """
    figure = figure_to_save(_SIZE)
    _draw(figure.subplots(), model)
    with replace_file(path) as file:
        figure.savefig(file, format=plot_format(path), dpi=150)


def _draw(ax: Axes, model: BaseEstimator) -> None:
    found, errors = model.certified_, 1.0 - model.scores_.mean(axis=1)
    ax.plot(model.Cs_, errors, color=_ERROR, marker=".", markersize=4, linewidth=1.0, label="error of models tried")
    bound = ax.stairs(found.lower_bounds, found.edges, baseline=None, color=_BOUND, linewidth=1.2, zorder=3)
    bound.set_label("proven: no C is below")
    # What no exact optimum can reach.
    ax.fill_between(found.edges, 0.0, np.append(found.lower_bounds, found.lower_bounds[-1]), step="post", color="0.93")
    asked = found.error - found.certify
    ax.axhline(asked, color="0.4", linestyle=":", label=f"least error - {found.certify:g}")
    ax.axvline(model.C_, color="0.4", linestyle="--", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlabel("C")
    ax.set_ylabel("cross-validated error")
    ax.set_ylim(0.0, 1.1 * max(float(errors.max()), found.error))
    said = "certified" if found.proven else f"not certified ({found.stop_reason})"
    title = f"C = {model.C_:.3g}: error {found.error:.4g}, no C has less than {found.lower_bound:.4g}"
    ax.set_title(f"{title}\n{said} with {found.n_fits} values of C", loc="left", fontsize="medium")
    tidy(ax, legend=True)

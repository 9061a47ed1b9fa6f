"""Plots of models for notebooks: over a range of C, and of the strongest weights. Matplotlib is imported on use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Array, Label, Listed, MatrixLike
from cutplane.report.path_points import path_points
from cutplane.report.plot_style import BLUE, GREEN, ORANGE, axes_or_new, new_figure, root_figure, tidy
from cutplane.report.strength import strongest
from cutplane.report.trained import Examples, Trained, dense_weights, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FOR, _AGAINST, _NORM = BLUE, ORANGE, GREEN


def plot_path(
    models: Sequence[BaseEstimator], X: MatrixLike | None = None, y: Listed | None = None, ax: Axes | None = None
) -> Figure:
    """Plot the score and the length of the weights of models over a range of C.

    Parameters
    ----------
    models : sequence of fitted estimators
        Alike but for their C, in any order.
    X, y : optional
        Held-out examples; without them only the length of the weights is drawn.
    ax : matplotlib Axes, optional
        Draw only the score (or the length, without examples) into this one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cutplane import LinearSVC
    >>> from cutplane.plotting import plot_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> figure = plot_path([LinearSVC(C=C).fit(X, y) for C in (0.1, 1.0)], X, y)  # doctest: +SKIP
    """
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: give both or neither.")
    points = path_points(models, None if X is None or y is None else Examples(X, y))
    panels = [] if X is None else [("score on held-out data", [point.score or 0.0 for point in points], _FOR, False)]
    panels.append(("length of the weights |w|", [point.norm for point in points], _NORM, True))
    if ax is not None:
        figure, axes = root_figure(ax), [ax]
    else:
        figure = new_figure((6.5, 2.9 * len(panels)))
        axes = list(np.atleast_1d(figure.subplots(len(panels), 1, sharex=True)))
    for each, (name, values, colour, log) in zip(axes, panels, strict=False):
        each.plot([point.C for point in points], values, color=colour, marker="o", markersize=4)
        each.set_xscale("log")
        if log:
            each.set_yscale("log")
        each.set_ylabel(name)
        tidy(each)
    axes[-1].set_xlabel("C")
    return figure


def plot_features(
    model: BaseEstimator,
    feature_names: Sequence[str] | None = None,
    *,
    most: int = 10,
    target: Label | np.generic | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Plot the strongest weights of a linear model, by name.

    Parameters
    ----------
    model : fitted estimator
        With ``coef_``.
    feature_names : sequence of str, optional
        By default those of the data the model was fitted on, else numbers.
    most : int, default=10
        So many in each direction at most.
    target : label, optional
        Of more than two classes, the one whose weights are drawn.
    ax : matplotlib Axes, optional
        Draw into this one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from cutplane import LinearSVC
    >>> from cutplane.plotting import plot_features
    >>> model = LinearSVC().fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]], [0, 0, 1, 1])
    >>> figure = plot_features(model, ["age", "height"])  # doctest: +SKIP
    """
    weights, title = _chosen_weights(model, target)
    if feature_names is not None and len(feature_names) != len(weights):
        raise ValueError(f"feature_names has {len(feature_names)} names, but the model has {len(weights)} features.")
    trained = Trained(model, feature_names=feature_names)
    order = strongest(weights, most)[::-1]
    figure, ax = axes_or_new(ax, (6.5, 0.9 + 0.27 * max(len(order), 1)))
    values = weights[order]
    colours = [_FOR if value > 0 else _AGAINST for value in values]
    ax.barh(range(len(order)), values, color=colours, height=0.7)
    ax.set_yticks(range(len(order)), [trained.feature(int(index)) for index in order])
    ax.axvline(0.0, color="0.4", linewidth=0.8)
    ax.set_xlabel("weight")
    ax.set_title(title, loc="left")
    tidy(ax)
    return figure


def _chosen_weights(model: BaseEstimator, target: Label | np.generic | None) -> tuple[Array, str]:
    weights = dense_weights(model)
    if weights is None:
        raise ValueError(f"{type(model).__name__} has no weights to show; a fitted linear model has coef_.")
    classes = list(getattr(model, "classes_", []))
    if len(weights) == 1:
        if target is not None and target not in classes:
            raise ValueError(f"target={target!r} is none of the classes {[label(each) for each in classes]}.")
        sign = -1.0 if len(classes) == 2 and target == classes[0] else 1.0
        towards = f" for {label(classes[0 if sign < 0 else 1])}" if len(classes) == 2 else ""
        return sign * weights[0], f"strongest weights{towards}"
    if target is None or target not in classes:
        raise ValueError(f"target={target!r} must be one of the classes {[label(each) for each in classes]}.")
    return weights[classes.index(target)], f"strongest weights for {label(target)}"

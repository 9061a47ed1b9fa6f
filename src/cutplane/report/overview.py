"""A model at a glance: how training went, beside what the model looks at. Matplotlib is imported on use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Array
from cutplane.report.model_plots import plot_features
from cutplane.report.plot_style import new_figure
from cutplane.report.plots import draw_distances, plot_convergence
from cutplane.report.trained import Trained, dense_weights, label
from cutplane.report.verdict import verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_FEATURES = 14


def plot_overview(model: BaseEstimator, feature_names: Sequence[str] | None = None) -> Figure:
    """The proven gap over time, and what the model looks at: an estimator draws its own by `_draw_own(ax)`.

    Parameters
    ----------
    model : fitted estimator
    feature_names : sequence of str, optional
    """
    trained = Trained(model, feature_names=feature_names)
    figure = new_figure((11.0, 4.2))
    left, right = figure.subplots(1, 2)
    steps = [step for run in trained.runs for step in run]
    if steps:
        tol = getattr(model, "tol", None) if getattr(model, "stopping", "gap") == "gap" else None
        plot_convergence(steps, left, tol=tol)
    else:
        left.set_visible(False)
    figure.suptitle(f"{type(model).__name__}: {verdict(model)[0]}", x=0.01, ha="left")
    _draw_model(right, trained)
    return figure


def _draw_model(ax: Axes, trained: Trained) -> None:
    model = trained.model
    own = getattr(model, "_draw_own", None)
    if own is not None:
        own(ax)
        return
    weights = _feature_weights(trained)
    if weights is not None and len(weights) == 1:
        plot_features(model, trained.feature_names, most=_MOST_FEATURES // 2, ax=ax)
    elif weights is not None:
        _draw_classes(ax, trained, weights)
    elif len(trained.runs) == 1:
        draw_distances(ax, trained.runs[0])
        ax.set_xlabel("seconds")
    else:
        ax.set_visible(False)


def _feature_weights(trained: Trained) -> Array | None:
    """Weights of features, where there is a row of them for each class, or for all."""
    weights = dense_weights(trained.model)
    if weights is None or getattr(trained.model, "_pairwise", False):
        return None
    known = weights.shape[1] == getattr(trained.model, "n_features_in_", -1)
    rows = len(weights) == 1 or len(weights) == len(trained.classes)
    return weights if known and rows and np.any(weights) else None


def _draw_classes(ax: Axes, trained: Trained, weights: Array) -> None:
    """Of several classes, the features with the strongest weights as a heat map."""
    chosen = np.sort(np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:_MOST_FEATURES])
    draw_heat(ax, weights[:, chosen].T, [trained.feature(int(index)) for index in chosen], trained.classes)
    ax.set_title("strongest weights by class", loc="left")


def draw_heat(ax: Axes, values: Array, rows: Sequence[object], columns: Sequence[object]) -> None:
    """A heat map around zero, blue above it."""
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    shown = ax.imshow(values, aspect="auto", cmap="RdBu", vmin=-largest, vmax=largest, interpolation="nearest")
    ax.set_yticks(range(len(rows)), [label(name) for name in rows])
    ax.set_xticks(range(len(columns)), [label(name) for name in columns], rotation=90 if len(columns) > 12 else 0)
    ax.figure.colorbar(shown, ax=ax)

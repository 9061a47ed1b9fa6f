"""The features that say most, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Listed, MatrixLike, is_sparse
from cutplane.report.charts import diverging_bars
from cutplane.report.markup import Markup, details, element, figure, paragraph
from cutplane.report.page import Section
from cutplane.report.strength import strongest
from cutplane.report.trained import Trained, dense_weights

_MOST = 10
_MOST_EACH = 5
_MOST_CLASSES = 30


def section(trained: Trained) -> Section | None:
    """The strongest weights for and against; of each class where there are several."""
    weights = _weights(trained)
    if weights is None:
        return None
    spreads = _spreads(trained, weights.shape[1])
    what = "weight × standard deviation of the feature" if spreads is not None else "weight"
    used = int(np.count_nonzero(np.any(weights, axis=0)))
    intro = paragraph(f"By {what}; {used:,} of {weights.shape[1]:,} features have a weight.", "soft")
    classes = trained.classes
    if weights.shape[0] == 1:
        upwards, downwards = (
            (f"for {classes[1]}", f"for {classes[0]}") if len(classes) == 2 else ("upwards", "downwards")
        )
        chart = _bars(trained, weights[0], spreads, _MOST, f"Right: {upwards}. Left: {downwards}.")
        return Section("features", "Strongest features", Markup(intro + chart))
    if len(classes) != weights.shape[0]:
        return None
    charts = [
        details(f"Class {name}", _bars(trained, row, spreads, _MOST_EACH, f"Right: for {name}. Left: against."))
        for name, row in zip(classes[:_MOST_CLASSES], weights, strict=False)
    ]
    return Section("features", "Strongest features", Markup(intro + element("div", *charts)))


def _weights(trained: Trained) -> Array | None:
    """A row of weights for each class, or for all; None where there are none of features."""
    weights = dense_weights(trained.model)
    if weights is None or getattr(trained.model, "_pairwise", False):  # the latter has weights of pairs of classes
        return None
    rows = weights.T if trained.labels_tokens else weights  # a column for each label
    known = rows.shape[1] == getattr(trained.model, "n_features_in_", -1)
    return rows if known and np.any(rows) else None


def _spreads(trained: Trained, features: int) -> Array | None:
    """The spread of each feature, where the training data are at hand as a matrix of these features."""
    if trained.train is None or not hasattr(trained.train.X, "shape"):
        return None
    spreads = column_spreads(trained.train.X)
    return spreads if spreads is not None and spreads.shape == (features,) else None


def column_spreads(X: MatrixLike | Listed) -> NDArray[np.float64] | None:
    """The standard deviation of each column; None where X is no matrix of numbers."""
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
        return np.sqrt(np.maximum(square - mean**2, 0.0))
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values.std(axis=0) if values.ndim == 2 else None


def _bars(trained: Trained, row: Array, spreads: Array | None, most: int, caption: str) -> Markup:
    values = row if spreads is None else row * spreads
    chosen = strongest(values, most)
    names = [trained.feature(int(index)) for index in chosen]
    shown = [float(values[index]) for index in chosen]
    words = "; ".join(f"{name} {value:.3g}" for name, value in zip(names, shown, strict=True))
    return figure(caption, diverging_bars("Strongest features", words, names, shown))

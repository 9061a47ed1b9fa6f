"""The features that say most, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Listed, MatrixLike, is_sparse
from cutplane.report.bars import diverging_bars
from cutplane.report.markup import Markup, details, element, figure, paragraph
from cutplane.report.page import Section
from cutplane.report.strength import strongest
from cutplane.report.trained import Trained, dense_weights

_MOST = 10
_MOST_EACH = 5
_MOST_CLASSES = 12
_MOST_FOLDED = 40
_NOTHING = 1e-9  # next to the margin, which is 1


def section(trained: Trained) -> Section | None:
    """The strongest weights for and against; of each class where there are several."""
    weights = _weights(trained)
    if weights is None:
        return None
    spreads = _spreads(trained, weights.shape[1])
    if spreads is not None and float(np.abs(weights * spreads).max()) < _NOTHING:
        words = "No feature changes a score: all weights are zero up to rounding."
        return Section("features", "Strongest features", paragraph(words))
    what = "weight × standard deviation of the feature" if spreads is not None else "weight"
    used = int(np.count_nonzero(np.any(weights, axis=0)))
    intro = paragraph(f"By {what}; {used:,} of {weights.shape[1]:,} features have a weight.", "soft")
    if weights.shape[0] == 1:
        return Section("features", "Strongest features", Markup(intro + _both_ways(trained, weights[0], spreads)))
    if len(trained.classes) != weights.shape[0]:
        return None
    charts = [
        _bars(trained, row, spreads, _MOST_EACH, f"{name}: right for, left against.", width=330, label=150)
        for name, row in zip(trained.classes, weights, strict=True)
    ]
    shown = element("div", *charts[:_MOST_CLASSES], class_="multiples wide")
    rest = charts[_MOST_CLASSES:_MOST_FOLDED]
    folded = [details(f"{len(rest)} more classes", element("div", *rest, class_="multiples wide"))] if rest else []
    return Section("features", "Strongest features", Markup("".join([intro, shown, *folded])))


def _both_ways(trained: Trained, row: Array, spreads: Array | None) -> Markup:
    """Of a single row of weights: what speaks for one class beside what speaks for the other."""
    classes = trained.classes
    ways = [f"For {name}" for name in reversed(classes)] if len(classes) == 2 else ["Upwards", "Downwards"]
    sides = [(ways[0], np.maximum(row, 0.0)), (ways[1], np.minimum(row, 0.0))]
    charts = [_bars(trained, side, spreads, _MOST, f"{way}.") for way, side in sides if np.any(side)]
    return element("div", *charts, class_="pair")


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
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return values.std(axis=0) if values.ndim == 2 else None


def _bars(trained: Trained, row: Array, spreads: Array | None, most: int, caption: str, **size: int) -> Markup:
    values = row if spreads is None else row * spreads
    chosen = strongest(values, most)
    if not np.any(values > 0.0):
        chosen = chosen[::-1]  # of one side alone the strongest comes first
    names = [trained.feature(int(index)) for index in chosen]
    shown = [float(values[index]) for index in chosen]
    words = "; ".join(f"{name} {value:.3g}" for name, value in zip(names, shown, strict=True))
    return figure(caption, diverging_bars("Strongest features", words, names, shown, **size))

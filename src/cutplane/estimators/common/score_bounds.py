"""Figures of the exact optimum on held-out rows, from what is proven of its predictions: the lowest and the highest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Codes, Labels
from cutplane.proof.rounding import gamma

Interval = tuple[float, float]

# Sums of figures are rounded; the ends are moved outward by more than that.
_OUTWARD = 1e-14


def label_bounds(proven: Codes, y: Labels, classes: Labels) -> dict[str, Interval]:
    """Accuracy and balanced accuracy, where the optimum's class is proven or (-1) open; the latter by class of y."""
    if len(y) != len(proven):
        raise ValueError(f"y has {len(y)} labels and X has {len(proven)} rows; there must be as many.")
    if not len(y):
        raise ValueError("X has no rows; a score needs at least one.")
    right = (proven >= 0) & (classes[proven] == y)
    possible = right | (proven < 0)
    by_class = [y == label for label in np.unique(y)]
    low, high = ([float(np.mean(each[rows])) for rows in by_class] for each in (right, possible))
    return {
        "accuracy": (float(np.mean(right)), float(np.mean(possible))),
        "balanced_accuracy": _outward(float(np.mean(low)), float(np.mean(high)), 0.0),
    }


def pair_bounds(low: Array, high: Array, positive: NDArray[np.bool_]) -> Interval:
    """The area under the ROC curve: it rises with the scores of positive rows and falls with those of the others."""
    if positive.all() or not positive.any():
        return float("nan"), float("nan")
    return _outward(_area(low[positive], high[~positive]), _area(high[positive], low[~positive]), 0.0)


def _area(positive: Array, negative: Array) -> float:
    """The share of pairs in the right order, ties by half: counted, so that only the division rounds."""
    ranked = np.sort(negative)
    below = np.searchsorted(ranked, positive, "left").sum() + np.searchsorted(ranked, positive, "right").sum()
    return 0.5 * int(below) / (len(positive) * len(negative))


def target_bounds(low: Array, high: Array, y: Array) -> dict[str, Interval]:
    """R², from the smallest and the largest squares of residuals."""
    if y.shape != low.shape:
        raise ValueError(f"y has the shape {y.shape}; there must be one target for each of {len(low)} rows.")
    whole = float(np.square(y - y.mean()).sum())
    if not whole > 0.0:
        raise ValueError("y has the same value everywhere; R² needs targets that differ.")
    least = np.square(np.maximum(0.0, np.maximum(low - y, y - high))).sum() / whole
    most = np.square(np.maximum(high - y, y - low)).sum() / whole
    error = 4.0 * gamma(len(y) + 16)
    return {"r2": _outward(1.0 - float(most) * (1.0 + error), 1.0 - float(least) * (1.0 - error), -np.inf)}


def _outward(low: float, high: float, least: float) -> Interval:
    return max(least, low - _OUTWARD), min(1.0, high + _OUTWARD)

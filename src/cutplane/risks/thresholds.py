"""Thresholds between ordered classes, put where the scores of a sample make the least absolute error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def least_error_thresholds(
    scores: Array, codes: NDArray[np.int64], n_classes: int, weights: NDArray[Any] | None = None
) -> Array:
    """The n_classes - 1 thresholds, ascending, with the least sum of |predicted - true class|.

    An example's class is the number of thresholds below its score. Its absolute error is the number of thresholds on
    the wrong side of it, so each threshold can be chosen by itself: threshold k makes an error for each example above
    class k and not above the threshold, and for each other one above the threshold. From k to k + 1 the examples of
    class k + 1 change sides, which moves the first least point up and never down: the thresholds are in order. Examples
    of weight zero count nowhere: they neither make a place for a threshold nor move one.
    """
    if weights is not None and not (counted := np.asarray(weights) > 0.0).all():
        scores, codes, weights = scores[counted], codes[counted], weights[counted]
    order = np.argsort(scores)  # no threshold fits between equal scores: their order does not matter
    ordered, classes = scores[order], codes[order]
    own = np.ones(len(order)) if weights is None else np.asarray(weights, dtype=np.float64)[order]
    # A threshold fits before the first, after the last, and between any two that differ.
    fits = np.concatenate([[True], ordered[1:] > ordered[:-1], [True]])
    places = np.flatnonzero(fits)
    found = np.empty(n_classes - 1)
    for k in range(n_classes - 1):
        errors = np.concatenate([[0.0], np.cumsum(np.where(classes > k, own, -own))])
        place = int(places[np.argmin(errors[places])])
        below, above = float(ordered[max(place - 1, 0)]), float(ordered[min(place, len(ordered) - 1)])
        found[k] = between(below, above, place, len(ordered))
    return found


def between(below: float, above: float, place: int, count: int) -> float:
    """A number that has `place` of `count` scores at or below it, of which these two are next to it."""
    if place == 0:
        return float(np.nextafter(above - 1.0, -np.inf))
    if place == count:
        return float(np.nextafter(below + 1.0, np.inf))
    middle = below + 0.5 * (above - below)
    return middle if below <= middle < above else below

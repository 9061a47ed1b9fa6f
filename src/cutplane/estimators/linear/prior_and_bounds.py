"""Checks of weights to stay close to, and of features whose weights are bounded."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from cutplane._runtime.ranges import MOST


def check_prior(prior: ArrayLike | None, n_problems: int, d: int) -> NDArray[np.float64] | None:
    """One row of weights for each problem, or None."""
    if prior is None:
        return None
    try:
        rows = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"prior={prior!r} must be an array of numbers.") from None
    wanted = (n_problems, d)
    if rows.shape != wanted and not (n_problems == 1 and rows.shape == (d,)):
        accepted = f"({d},)" if n_problems == 1 else f"{wanted}"
        raise ValueError(f"prior has the shape {rows.shape}; with {d} features it must be {accepted}.")
    if not (np.abs(rows) <= MOST).all():
        raise ValueError(f"prior holds a number that is not finite or beyond {MOST:g}; weights must be smaller.")
    return rows.reshape(wanted)


def check_features(name: str, chosen: BaseEstimator, d: int) -> NDArray[np.bool_] | None:
    """A mask of the features chosen by True (all), indices or booleans; None for none."""
    if chosen is None or chosen is False:
        return None
    if chosen is True:
        return np.ones(d, dtype=bool)
    found = np.asarray(chosen)
    if found.ndim == 1 and found.dtype.kind == "b" and len(found) == d:
        return found
    if found.ndim == 1 and found.size == 0:
        return None
    if found.ndim != 1 or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= d:
        raise ValueError(f"{name}={chosen!r} must be True, indices of features between 0 and {d - 1}, or {d} booleans.")
    mask = np.zeros(d, dtype=bool)
    mask[found] = True
    return mask

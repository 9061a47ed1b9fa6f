"""Probabilities of the exact optimum by the logistic loss or a softmax, from intervals of its scores."""

from __future__ import annotations

import numpy as np

from cutplane._types import Array

# A few roundings of a probability, relative to itself.
_OUTWARD = 1e-14


def logistic_bounds(low: Array, high: Array) -> tuple[Array, Array]:
    """Of two classes, or of each against the rest divided by their sum: that rises with the own score alone."""
    from scipy.special import expit  # imported where it is needed: most models have no probabilities

    if low.ndim == 1:
        least = np.stack([expit(-high), expit(low)], axis=1)
        most = np.stack([expit(-low), expit(high)], axis=1)
        return _outward(least, most, 1)
    worst, best = expit(low), expit(high)
    return _outward(_share(worst, best, 0.0), _share(best, worst, 1.0), low.shape[1])


def softmax_bounds(low: Array, high: Array) -> tuple[Array, Array]:
    """Of classes with a softmax: a probability rises with the own score and falls with every other."""
    top = high.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # infinite scores: nothing is known
        worst, best = (np.exp(np.where(np.isfinite(top), scores - top, 0.0)) for scores in (low, high))
    worst, best = np.where(np.isfinite(top), worst, 0.0), np.where(np.isfinite(top), best, 1.0)
    return _outward(_share(worst, best, 0.0), _share(best, worst, 1.0), low.shape[1] + 4)


def _share(own: Array, others: Array, unknown: float) -> Array:
    """Of each class its own probability over the sum with those of the others; `unknown` where all are zero."""
    rest = np.stack([np.delete(others, k, axis=1).sum(axis=1) for k in range(others.shape[1])], axis=1)
    total = own + rest
    return np.asarray(np.divide(own, total, out=np.full_like(own, unknown), where=total > 0.0))


def _outward(low: Array, high: Array, terms: int) -> tuple[Array, Array]:
    share = _OUTWARD * terms
    return np.maximum(0.0, low * (1.0 - share)), np.minimum(1.0, high * (1.0 + share) + 1e-300)

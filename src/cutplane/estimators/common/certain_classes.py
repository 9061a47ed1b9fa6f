"""The class that the exact optimum must predict, from intervals of scores: its number, or -1 where it is open."""

from __future__ import annotations

import numpy as np

from cutplane._types import Array, Codes
from cutplane.plain import one_vs_one
from cutplane.proof.rounding import UNIT

# For the few roundings in a sum of allowances.
_OUTWARD = 1.0 + 1e-12


def by_sign(low: Array, high: Array) -> Codes:
    """The second of two classes where a score is positive."""
    return np.where(low > 0.0, 1, np.where(high <= 0.0, 0, -1))


def by_highest(low: Array, high: Array) -> Codes:
    """The class whose lowest score is above the highest of every other, by column."""
    best = low.argmax(axis=1)
    rows = np.arange(len(low))
    others = high.copy()
    others[rows, best] = -np.inf
    return np.where(low[rows, best] > others.max(axis=1), best, -1)


def by_highest_difference(
    scores: Array, errors: Array, reach: Array, apart: Array, moved: Array | float = 0.0
) -> Codes:
    """The same where differences of scores are known better than scores.

    Parameters
    ----------
    scores, errors : array of shape (n, k)
        Scores of the model, and how far each can be off by rounding.
    reach : array of shape (n,)
        What an optimum that is one class's weights away can change of a row's score.
    apart : array of shape (k, k)
        By how many of those the scores of two classes can come apart.
    moved : array of shape (k, k), optional
        By how much a free intercept of the second class can gain on that of the first.
    """
    best, rows = scores.argmax(axis=1), np.arange(len(scores))
    of_best = scores[rows, best, None]
    with np.errstate(invalid="ignore"):  # an infinite reach, and classes that are the same: nothing is proven
        off = errors + errors[rows, best, None] + reach[:, None] * apart[best]
        off = (off + np.broadcast_to(moved, apart.shape)[best]) * _OUTWARD
    ahead = of_best - scores - off - 4.0 * UNIT * (np.abs(of_best) + np.abs(scores))
    ahead[rows, best] = np.inf
    return np.where((ahead > 0.0).all(axis=1), best, -1)


def by_votes(low: Array, high: Array, n_classes: int) -> Codes:
    """The class that has more proven votes of pairs than any other can have."""
    sure, possible = np.zeros((2, len(low), n_classes), np.int64)
    for number, (i, j) in enumerate(one_vs_one.pairs(n_classes)):
        first, second = low[:, number] > 0.0, high[:, number] <= 0.0
        sure[:, i] += first
        sure[:, j] += second
        possible[:, i] += ~second
        possible[:, j] += ~first
    return by_highest(sure.astype(np.float64), possible.astype(np.float64))

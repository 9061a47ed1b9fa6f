"""The softmax risk, evaluated from the scores of a model alone, and how far off the value can be.

The loss of an example, log Σ_k exp(s_k) - s_y, is top + log1p(Σ over the other classes of exp(z_k - top)) with
z_k = s_k - s_y and the highest of these, top. Its coefficients have sizes that add up to 2(1 - p_y). Scores that are
each `off` off change the odds (1 - p_y) / p_y by a factor of exp(2·off) at most, so that the loss is
2(1 - p_y)exp(2·off)·off off at most.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.rounding import UNIT, Array, gamma, pairwise_depth

# Numbers evaluated at a time: they stay in the second cache.
_PART = 1 << 15


def softmax_at(scores: Array, y: NDArray[np.int32], weights: Array | None, each: float, delta: float) -> Evaluation:
    """The sum of weights (`each`, where they are None) times losses, at scores that are each up to delta off."""
    n, k = scores.shape
    size = max(1, _PART // k)
    total, errors = [], []
    for begin in range(0, n, size):
        part = slice(begin, begin + size)
        losses, steepness, offs = _losses(scores[part], y[part], delta)
        # Powers and their sum, relative to what is below the true class or beside it.
        found = steepness * offs + 2.0 * gamma(k + OPERATIONS) * np.minimum(losses, 1.0) + OPERATIONS * UNIT * losses
        if weights is not None:
            losses, found = weights[part] * losses, weights[part] * found
        total.append(float(losses.sum()))
        errors.append(float(found.sum()) * (1.0 + 1e-9))
    scale = each if weights is None else 1.0
    value = scale * math.fsum(total)
    relative = gamma(pairwise_depth(size)) + OPERATIONS * UNIT
    return Evaluation(value, relative * value + scale * math.fsum(errors))


def _losses(s: Array, y: NDArray[np.int32], delta: float) -> tuple[Array, Array, Array]:
    """Losses, how steep they are near the scores at most, and how far off scores and their differences are."""
    rows = np.arange(len(s))
    z = s - s[rows, y, None]
    at = z.argmax(axis=1)
    top = z[rows, at]
    powers = np.exp(z - top[:, None])
    powers[rows, at] = 0.0
    losses = top + np.log1p(powers.sum(axis=1))
    off = delta + 4.0 * UNIT * np.abs(s).max(axis=1)
    steepness = np.minimum(2.0, -2.0 * np.expm1(-losses) * np.exp(2.0 * np.minimum(off, 300.0)) * (1.0 + 1e-9))
    return losses, steepness, off

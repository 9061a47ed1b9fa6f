"""Where the exact optimum is: in a ball around the weights of a model, and what that says of the scores of any row.

½|w|² makes the objective strongly convex: f(w) >= f(w*) + ½|w - w*|² for every w that may be, where w* is the optimum
(among weights within their bounds, with a prior, with free intercepts profiled out: all of these leave ½|w|² as it is).
So a model of value `upper`, of an optimum that is not below `lower`, has |w - w*| <= sqrt(2·(upper - lower)), and the
optimum scores a row x within |x| times that of <w, x>. What rounding can do to each of these numbers is added.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cutplane._types import Array, Matrix, is_sparse
from cutplane.proof.checker import blocks
from cutplane.proof.rounding import UNIT, gamma, length

# More than what numbers whose squares are too small for double precision add to a length, each; and to a score.
_LOST_LENGTH, _LOST_SCORE = 2e-154, 1e-300
# For the few roundings in a radius and in its products with lengths.
_OUTWARD = 1.0 + 1e-12


class Scored(NamedTuple):
    """Scores of rows, how far each can be from that of real numbers, and the length of each row or a little more."""

    scores: Array
    errors: Array
    lengths: Array


def radius(upper: float, lower: float) -> float:
    """How far the optimum's weights are from those of value `upper` at most; infinite where nothing is proven."""
    if not (math.isfinite(upper) and lower <= upper):
        return math.inf
    return math.sqrt(2.0 * (upper - lower)) * _OUTWARD


def scored(X: Matrix, weights: Array) -> Scored:
    """The rows of X times weights of shape (k, d): one pass, in double precision."""
    n, d = X.shape
    scores, lengths = np.empty((n, len(weights))), np.empty(n)
    for part, rows in blocks(X):
        product = rows @ weights.T
        scores[part] = product
        squares = rows.multiply(rows).sum(axis=1) if is_sparse(rows) else np.einsum("ij,ij->i", rows, rows)
        lengths[part] = np.sqrt(np.asarray(squares).ravel())
    depth = int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else d
    lengths = lengths * (1.0 + gamma(depth + 4)) + math.sqrt(depth) * _LOST_LENGTH
    sizes = np.array([length(w) for w in weights])
    return Scored(scores, gamma(depth + 4) * np.outer(lengths, sizes) + _LOST_SCORE, lengths)


def interval(centre: Array, errors: Array, reach: Array) -> tuple[Array, Array]:
    """What is within `errors` and `reach` of `centre`: the ends, rounded outward."""
    half = (errors + reach) * _OUTWARD + 2.0 * UNIT * np.abs(centre)
    return np.nextafter(centre - half, -np.inf), np.nextafter(centre + half, np.inf)

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
from cutplane.proof.rounding import UNIT, gamma, half_square, length, summed

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
    n = X.shape[0]
    scores, lengths = np.empty((n, len(weights))), np.empty(n)
    for part, rows in blocks(X):
        product = rows @ weights.T
        scores[part] = product
        squares = rows.multiply(rows).sum(axis=1) if is_sparse(rows) else np.einsum("ij,ij->i", rows, rows)
        lengths[part] = np.sqrt(np.asarray(squares).ravel())
    depth = _row_depth(X)
    lengths = lengths * (1.0 + gamma(depth + 4)) + math.sqrt(depth) * _LOST_LENGTH
    sizes = np.array([length(w) for w in weights])
    return Scored(scores, gamma(depth + 4) * np.outer(lengths, sizes) + _LOST_SCORE, lengths)


def centred(X: Matrix, found: Scored, weights: Array, centre: Array) -> Scored:
    """The same of the rows less `centre`: what a free intercept makes no difference to, and shorter near their mean.

    Parameters
    ----------
    X : matrix of shape (n, d)
    found : Scored
        By weights of shape (k, d), which are given again.
    centre : array of shape (d,)
    """
    along = scored(X, centre[None])
    products = [summed(centre * w) for w in weights]
    values, errors = (np.array(each) for each in zip(*products, strict=True))
    square, error = half_square(centre)
    lengths = np.square(found.lengths) - 2.0 * along.scores[:, 0] + 2.0 * square
    # The squares of lengths are a little too large already, by what the factor is for.
    off = gamma(_row_depth(X) + 16) * (np.square(found.lengths) + 2.0 * square) + 2.0 * (along.errors[:, 0] + error)
    return Scored(
        found.scores - values,
        found.errors + errors + 2.0 * UNIT * (np.abs(found.scores) + np.abs(values)),
        np.sqrt(np.maximum(lengths, 0.0) + off) * (1.0 + 4.0 * UNIT),
    )


def _row_depth(X: Matrix) -> int:
    """The longest chain of additions in a score."""
    return int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else int(X.shape[1])


def interval(centre: Array, errors: Array, reach: Array) -> tuple[Array, Array]:
    """What is within `errors` and `reach` of `centre`: the ends, rounded outward."""
    half = (errors + reach) * _OUTWARD + 2.0 * UNIT * np.abs(centre)
    return np.nextafter(centre - half, -np.inf), np.nextafter(centre + half, np.inf)

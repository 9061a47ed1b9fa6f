"""The losses of the estimators, written down from their documentation, as exact sums.

Each returns what C is multiplied by in the objective ½|w|² + C·(...), for scores that are given exactly. The losses of
whole samples go through every contingency table, those of pairs through every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane.testing.random_problems.exact import Exact, log1p_exp

Ints = NDArray[np.int64]
ONE = Exact.of(1.0)


def _signed(y: Ints, scores: Exact) -> Exact:
    return Exact(scores.numerators * y.astype(object), scores.exponent)


# --- two classes: labels of -1 and +1 ---


def hinge(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """Σ wᵢ max(0, 1 - yᵢsᵢ)."""
    return ((ONE - _signed(y, scores)).positive() * weights).total()


def squared_hinge(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """Σ wᵢ max(0, 1 - yᵢsᵢ)²."""
    beyond = (ONE - _signed(y, scores)).positive()
    return (beyond * beyond * weights).total()


def logistic(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """Σ wᵢ log(1 + exp(-yᵢsᵢ)), up to `exact.LOGARITHM_ERROR`."""
    margins, each = _signed(y, scores).fractions(), weights.fractions()
    return sum((w * log1p_exp(-margin) for w, margin in zip(each, margins, strict=True) if w), Fraction(0))


def error_cost(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """Σ max(0, wᵢ - yᵢsᵢ)."""
    return (weights - _signed(y, scores)).positive().total()


def roc_area(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """The weight of all, times the mean over pairs of a positive and a negative of max(0, 1 - (sᵢ - sⱼ))."""
    loss, total = _pairs(y, scores, weights)
    return weights.total() * loss / total


def f1(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """N times the structural bound of 1 - F1, over all numbers of missed positives and added negatives."""
    lost, gained = _lost_and_gained(y, scores)
    n, n_positive = len(y), len(lost) - 1
    return max(
        n * (1 - Fraction(2 * (n_positive - missed), 2 * n_positive - missed + added)) + gained[added] - lost[missed]
        for missed in range(len(lost))
        for added in range(len(gained))
    )


def precision_at_k(y: Ints, scores: Exact, weights: Exact, k: int | None = None) -> Fraction:
    """N times the structural bound of 1 - precision among labellings with k positives; never below 0."""
    lost, gained = _lost_and_gained(y, scores)
    n, n_positive = len(y), len(lost) - 1
    among = max(1, n_positive // 2) if k is None else k
    bound = Fraction(0)
    for found in range(min(n_positive, among) + 1):
        missed, added = n_positive - found, among - found
        if added < len(gained):
            bound = max(bound, n * (1 - Fraction(found, among)) + gained[added] - lost[missed])
    return bound


def break_even(y: Ints, scores: Exact, weights: Exact) -> Fraction:
    """As `precision_at_k`, k being the number of positives."""
    return precision_at_k(y, scores, weights, int(np.count_nonzero(y > 0)))


def _lost_and_gained(y: Ints, scores: Exact) -> tuple[list[Fraction], list[Fraction]]:
    """Sums of the lowest scores of positives and of the highest scores of negatives, by their number."""
    return scores[y > 0].sorted().sums(), [-total for total in (-scores[y < 0]).sorted().sums()]


# --- targets ---


def epsilon_insensitive(y: Exact, scores: Exact, weights: Exact, epsilon: float = 0.0) -> Fraction:
    """Σ wᵢ max(0, |sᵢ - yᵢ| - epsilon)."""
    return (((scores - y).size() - Exact.of(epsilon)).positive() * weights).total()


def squared_epsilon_insensitive(y: Exact, scores: Exact, weights: Exact, epsilon: float = 0.0) -> Fraction:
    """Σ wᵢ max(0, |sᵢ - yᵢ| - epsilon)²."""
    beyond = ((scores - y).size() - Exact.of(epsilon)).positive()
    return (beyond * beyond * weights).total()


def huber(y: Exact, scores: Exact, weights: Exact, delta: float = 1.0) -> Fraction:
    """Σ wᵢ (½uᵢ² where |uᵢ| <= delta, else delta|uᵢ| - ½delta²), uᵢ = sᵢ - yᵢ: the square less that of the excess."""
    size = (scores - y).size()
    excess = (size - Exact.of(delta)).positive()
    return ((size * size - excess * excess) * weights).total() / 2


def quantile(y: Exact, scores: Exact, weights: Exact, quantile: float = 0.5) -> Fraction:
    """Σ wᵢ (quantile·max(0, yᵢ - sᵢ) + (1 - quantile)·max(0, sᵢ - yᵢ))."""
    below, above = ((y - scores).positive() * weights).total(), ((scores - y).positive() * weights).total()
    share = Fraction(quantile)
    return share * below + (1 - share) * above


# --- pairs, classes, one class ---


def _pairs(ranks: Ints, scores: Exact, weights: Exact) -> tuple[Fraction, Fraction]:
    """Over all pairs i above j: Σ wᵢwⱼ max(0, 1 - (sᵢ - sⱼ)) and Σ wᵢwⱼ."""
    one = 1 << scores.exponent
    loss = total = 0
    s, w = scores.numerators, weights.numerators
    for i in range(len(ranks)):
        below = ranks < ranks[i]
        if w[i] and below.any():
            loss += w[i] * int((np.maximum(one - s[i] + s[below], 0) * w[below]).sum())
            total += w[i] * int(w[below].sum())
    square = 1 << (2 * weights.exponent)
    return Fraction(loss, one * square), Fraction(total, square)


def ordinal(ranks: Ints, scores: Exact, weights: Exact) -> Fraction:
    """The weight of all, times the mean over pairs of different classes."""
    loss, total = _pairs(ranks, scores, weights)
    return weights.total() * loss / total


def ranking(ranks: Ints, scores: Exact, weights: Exact, queries: Ints, weighting: str = "queries") -> Fraction:
    """Q times the mean over queries, or over pairs; Q is the number of queries that have a pair."""
    parts = [queries == query for query in np.unique(queries)]
    found = [_pairs(ranks[part], scores[part], weights[part]) for part in parts]
    with_pairs = [(loss, total) for loss, total in found if total]
    if weighting == "queries":
        return sum((loss / total for loss, total in with_pairs), Fraction(0))
    losses, totals = sum(loss for loss, _ in with_pairs), sum(total for _, total in with_pairs)
    return len(with_pairs) * Fraction(losses) / totals


def crammer_singer(codes: Ints, scores: Exact, weights: Exact, cost: ArrayLike, rescaling: str = "margin") -> Fraction:
    """Σ wᵢ max over y of cost(yᵢ, y) + s_y - s_yᵢ; with "slack", of cost(yᵢ, y)·(1 + s_y - s_yᵢ)."""
    prices = Exact.of(np.asarray(cost, dtype=np.float64)[codes])
    differences = scores - scores[np.arange(len(codes)), codes][:, None]
    violations = prices + differences if rescaling == "margin" else prices * (ONE + differences)
    worst = Exact(violations.numerators.max(axis=1), violations.exponent).positive()
    return (worst * weights).total()


def one_class(scores: Exact, weights: Exact, nu: float, rho: float) -> Fraction:
    """Σ cᵢ max(0, rho - sᵢ) / nu - rho, the cᵢ being the weights over their sum."""
    level = Exact.of(rho)
    below = ((level - scores).positive() * weights).total() / weights.total()
    return below / Fraction(nu) - Fraction(rho)


BINARY: Mapping[str, Callable[..., Fraction]] = {
    "hinge": hinge,
    "squared_hinge": squared_hinge,
    "logistic": logistic,
    "roc_area": roc_area,
    "f1": f1,
    "prec@k": precision_at_k,
    "prbep": break_even,
    "error_cost": error_cost,
}
REGRESSION: Mapping[str, Callable[..., Fraction]] = {
    "epsilon_insensitive": epsilon_insensitive,
    "squared_epsilon_insensitive": squared_epsilon_insensitive,
    "huber": huber,
    "quantile": quantile,
}
#: No intercept is trained with these: it is a threshold, put where training has ended.
WITHOUT_INTERCEPT = ("roc_area", "prec@k", "prbep")
#: These count examples: weights are refused.
WITHOUT_WEIGHTS = ("f1", "prec@k", "prbep")
#: These compare two classes, not one against the rest.
OF_TWO_CLASSES = ("roc_area", "f1", "prec@k", "prbep")

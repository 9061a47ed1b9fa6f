"""Probabilities from scores: logistic, softmax, or by a curve for each machine, in agreement with the predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from cutplane.plain import one_vs_one
from cutplane.plain.checks import require, require_numbers

if TYPE_CHECKING:
    from cutplane._types import Array

# No probability is 0 or 1 for certain: a single surprise would cost an infinite log-loss.
LEAST_PROBABILITY = 1e-7
# Far above rounding, far below anything a probability is read for.
AHEAD = 1.0 + 1e-12
# Pairwise probabilities are coupled for as many examples at a time as take about this many numbers.
_COUPLED_AT_ONCE = 4_000_000


class Probabilities(Protocol):
    """How scores become probabilities."""

    def __call__(self, scores: Array, winners: NDArray[np.intp]) -> Array:
        """The probability of each class, from scores of shape (n, machines) and the classes predicted, by number."""


def sigmoid(values: Array) -> Array:
    """1 / (1 + exp(-values)), to the last digits on both sides."""
    small = np.exp(-np.abs(values))
    return np.where(values >= 0.0, 1.0, small) / (1.0 + small)


def logistic(scores: Array) -> Array:
    """Of each class, from the scores of a model trained with the logistic loss: one column a class, rows of sum one.

    With a score for each of several classes, each is that class's probability against the rest; these are divided by
    their sum.
    """
    sides = scores.reshape(len(scores), -1)
    positive = sigmoid(sides)
    if sides.shape[1] == 1:
        return np.hstack([sigmoid(-sides), positive])
    total = positive.sum(axis=1, keepdims=True)
    # No class has a score that can be told from minus infinity: they are as likely as each other.
    return np.where(total > 0.0, positive / np.where(total > 0.0, total, 1.0), 1.0 / sides.shape[1])


@dataclass(frozen=True)
class Logistic:
    """Of models trained with the logistic loss."""

    def __call__(self, scores: Array, winners: NDArray[np.intp]) -> Array:
        """One column a class, rows summing to one; the largest is that of the class predicted."""
        return agree(logistic(scores), winners)


@dataclass(frozen=True)
class Softmax:
    """Of models trained with the softmax loss: exp(score) of each class, divided by their sum."""

    def __call__(self, scores: Array, winners: NDArray[np.intp]) -> Array:
        """One column a class, rows summing to one; the largest is that of the class predicted."""
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return agree(powers / powers.sum(axis=1, keepdims=True), winners)


@dataclass(frozen=True, eq=False)
class Curve:
    """A monotone curve through `values` at the decisions `at`; a sigmoid where `kind` says so.

    For a sigmoid `at` is its slope and offset, and `values` is empty: p = 1 / (1 + exp(-(slope f + offset))).
    """

    kind: str
    at: Array
    values: Array

    def __post_init__(self) -> None:
        require(self.kind in ("sigmoid", "isotonic"), f"there is no curve {self.kind!r}")
        require_numbers("a curve", self.at, (2,) if self.kind == "sigmoid" else (None,))
        require_numbers("a curve", self.values, (0,) if self.kind == "sigmoid" else (len(self.at),))
        require(self.kind == "sigmoid" or len(self.at) > 0, "a curve has no points")

    def __call__(self, decisions: Array) -> Array:
        """The probability of the positive side."""
        if self.kind == "sigmoid":
            p = sigmoid(self.at[0] * decisions + self.at[1])
        else:
            p = np.interp(decisions, self.at, self.values)
        return np.asarray(np.clip(p, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A curve for each machine.

    Those of pairs of classes are coupled, those of classes against the rest divided by their sum. Where that says
    otherwise than the prediction, the nearest probabilities that agree with it are given.
    """

    curves: Sequence[Curve]
    n_classes: int
    pairwise: bool

    def __post_init__(self) -> None:
        require(all(isinstance(curve, Curve) for curve in self.curves), "a curve is none")

    def __call__(self, scores: Array, winners: NDArray[np.intp]) -> Array:
        """One column a class, rows summing to one; the largest is that of the class predicted."""
        k = self.n_classes
        sides = np.column_stack([curve(column) for curve, column in zip(self.curves, scores.T, strict=True)])
        if k == 2:
            p = np.column_stack([1.0 - sides[:, 0], sides[:, 0]])
        elif self.pairwise:
            size = max(1, _COUPLED_AT_ONCE // k**2)
            p = np.vstack([one_vs_one.couple(sides[i : i + size], k) for i in range(0, max(1, len(sides)), size)])
        else:
            p = sides / sides.sum(axis=1, keepdims=True)
        return agree(p, winners)


def agree(probabilities: Array, predicted: NDArray[np.intp]) -> Array:
    """The nearest probabilities (in least squares) of which the predicted class has the largest.

    Where another class has more, the classes above a level t are brought down to t and the predicted one up to it, t
    being such that the sum stays 1. The predicted class is then a rounding ahead, so that no tie is left: row by row
    ``argmax`` of the result is `predicted`.
    """
    result = probabilities.copy()
    rows = np.arange(len(result))
    others = result.copy()
    others[rows, predicted] = -1.0
    wrong = np.flatnonzero(others.max(axis=1) >= result[rows, predicted])
    for row in wrong:
        own = result[row, predicted[row]]
        higher = np.sort(others[row][others[row] >= own])[::-1]
        levels = (own + np.cumsum(higher)) / np.arange(2, len(higher) + 2)
        # The level for the m highest holds if the next one lies below it.
        following = np.append(higher[1:], -1.0)
        level = levels[np.flatnonzero(following <= levels)[0]]
        result[row] = np.minimum(result[row], level)
        result[row, predicted[row]] = level * AHEAD
        result[row] /= result[row].sum()
    return result

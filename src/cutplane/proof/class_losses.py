"""Losses of classes that are trained together, by their definitions: planes below them, and how far below.

A loss is a convex function of the scores of an example, one for each class, that does not change when all of them are
moved alike. A plane below it therefore has coefficients that sum to zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cutplane._types import Array, Integers
from cutplane.proof.rounding import UNIT, gamma

# Roundings in one evaluation, beside those of a sum over the classes.
_OPERATIONS = 32


class Touching(NamedTuple):
    """Of each example a plane below its loss.

    Attributes
    ----------
    coef : array of shape (n, k)
    off : array of shape (n,)
        How far the coefficients are from those of a plane that holds at most, their sizes added up.
    below : array of shape (n,)
        How far the plane is below the loss at the scores that were asked about,
    below_off : array of shape (n,)
        and by how much that can be more.
    """

    coef: Array
    off: Array
    below: Array
    below_off: Array


class ClassLoss(Protocol):
    """A loss of scores of shape (n, k), where the examples are of the classes y."""

    def values(self, scores: Array, y: Integers) -> Array:
        """The loss of each example."""
        ...

    def touching(self, at: Array, scores: Array, errors: Array, y: Integers) -> Touching:
        """The planes that touch the loss at `at`, and how far they are below it at scores that are `errors` off."""
        ...


@dataclass(frozen=True)
class ClassMargin:
    """Crammer and Singer's: the largest over k of cost(y, k) + factor(y, k)·(s_k - s_y), which is 0 for y itself.

    Parameters
    ----------
    cost, factor : array of shape (k, k)
        Costs are zero on the diagonal; factors count elsewhere.
    """

    cost: Array
    factor: Array

    def values(self, scores: Array, y: Integers) -> Array:
        """The largest of the lines."""
        return np.asarray(self._lines(scores, y).max(axis=1))

    def touching(self, at: Array, scores: Array, errors: Array, y: Integers) -> Touching:
        """Of each example the line that is highest at `at`: any line is a plane below the largest of them."""
        rows = np.arange(len(y))
        chosen = self._lines(at, y).argmax(axis=1)
        steep = np.where(chosen == y, 0.0, self.factor[y, chosen])
        coef = np.zeros_like(scores)
        coef[rows, chosen] = steep
        coef[rows, y] -= steep
        lines = self._lines(scores, y)
        steepest = float(self.factor.max())
        size = float(self.cost.max()) + steepest * np.abs(scores).max(axis=1)
        off = 4.0 * steepest * errors + 16.0 * UNIT * size
        return Touching(coef, np.zeros(len(y)), lines.max(axis=1) - lines[rows, chosen], off)

    def _lines(self, scores: Array, y: Integers) -> Array:
        rows = np.arange(len(y))
        lines = self.cost[y] + self.factor[y] * (scores - scores[rows, y, None])
        lines[rows, y] = 0.0
        return np.asarray(lines)


@dataclass(frozen=True)
class ClassSoftmax:
    """The softmax loss: log Σ_k exp(s_k) - s_y.

    Any probabilities p make a plane below it, <p, s> + H(p) - s_y with the entropy H(p). Where those of the scores are
    q, it is Σ_k p_k·log(p_k / q_k) below. What is computed as p sums to one up to rounding; meant is p over its sum.
    """

    def values(self, scores: Array, y: Integers) -> Array:
        """Minus the logarithm of the true class's probability."""
        return -_log_probabilities(scores)[np.arange(len(y)), y]

    def touching(self, at: Array, scores: Array, errors: Array, y: Integers) -> Touching:
        """The planes of the probabilities at `at`."""
        there, here = _log_probabilities(at), _log_probabilities(scores)
        coef = np.exp(there)
        below = (coef * (there - here)).sum(axis=1)
        coef[np.arange(len(y)), y] -= 1.0
        # A logarithm is off by gamma of this size at most; logarithms of probabilities occur a few times in each term.
        size = 2.0 + math.log(scores.shape[1]) + np.abs(at).max(axis=1) + np.abs(scores).max(axis=1)
        off = gamma(scores.shape[1] + _OPERATIONS) * size
        return Touching(coef, 4.0 * off, below, 2.0 * errors + 8.0 * off)


def _log_probabilities(scores: Array) -> Array:
    below = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))

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


class ClassExamples(Protocol):
    """The losses of some examples near their scores, which are known up to errors."""

    @property
    def values(self) -> Array:
        """The loss of each example."""
        ...

    def touching(self, move: Array) -> Touching:
        """The planes that touch the losses where all scores are moved alike, by a number for each class."""
        ...


class ClassLoss(Protocol):
    """A loss of scores, one for each class."""

    def of(self, scores: Array, errors: Array, y: Integers) -> ClassExamples:
        """Of examples of classes y, with scores of shape (n, k) that are each up to `errors`, of shape (n,), off."""
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

    def of(self, scores: Array, errors: Array, y: Integers) -> MarginExamples:
        """With the lines of all examples."""
        return MarginExamples(self, scores, errors, y)


class MarginExamples:
    """Lines cost + factor·(s_k - s_y). Any of them is a plane below the largest."""

    def __init__(self, loss: ClassMargin, scores: Array, errors: Array, y: Integers) -> None:
        self._y, self._rows = y, np.arange(len(y))
        factor = loss.factor - np.diag(np.diag(loss.factor))
        # By columns, for sums and largest values are those of rows.
        self._factor = np.asfortranarray(factor[y])
        self._lines = loss.cost[y] + self._factor * (scores - scores[self._rows, y, None])
        self._highest: Array = self._lines.max(axis=1)
        steepest = float(factor.max())
        size = float(loss.cost.max()) + steepest * np.abs(scores).max(axis=1)
        self._off = 4.0 * steepest * errors + 16.0 * UNIT * size

    @property
    def values(self) -> Array:
        """The largest of the lines."""
        return self._highest

    def touching(self, move: Array) -> Touching:
        """Of each example the line that is highest where scores are moved."""
        y, rows = self._y, self._rows
        chosen = (self._lines + self._factor * (move - move[y, None])).argmax(axis=1)
        steep = self._factor[rows, chosen]
        coef = np.zeros_like(self._lines)
        coef[rows, chosen] = steep
        coef[rows, y] -= steep
        return Touching(coef, np.zeros(len(y)), self._highest - self._lines[rows, chosen], self._off)


@dataclass(frozen=True)
class ClassSoftmax:
    """The softmax loss: log Σ_k exp(s_k) - s_y."""

    def of(self, scores: Array, errors: Array, y: Integers) -> SoftmaxExamples:
        """With the probabilities of all examples."""
        return SoftmaxExamples(scores, errors, y)


class SoftmaxExamples:
    """Any probabilities p make a plane below the loss, <p, s> + H(p) - s_y with the entropy H(p).

    Where those of the scores are q, it is Σ_k p_k·log(p_k / q_k) below. Moved scores have p_k = q_k·exp(v_k) / Z: then
    this is <p, v> - log Z. What is computed as p sums to one up to rounding; meant is p over its sum.
    """

    def __init__(self, scores: Array, errors: Array, y: Integers) -> None:
        self._y, self._rows, self._errors = y, np.arange(len(y)), errors
        below = np.asfortranarray(scores - scores.max(axis=1, keepdims=True))
        powers = np.exp(below)
        total = powers.sum(axis=1)
        self._q = powers / total[:, None]
        self._values: Array = np.log(total) - below[self._rows, y]
        self._size = 2.0 + math.log(scores.shape[1]) + 2.0 * np.abs(scores).max(axis=1)

    @property
    def values(self) -> Array:
        """Minus the logarithm of the true class's probability."""
        return self._values

    def touching(self, move: Array) -> Touching:
        """The planes of the probabilities where scores are moved."""
        v = move - move.max()
        powers = self._q * np.exp(v)
        total = powers.sum(axis=1)
        coef = powers / total[:, None]
        below = coef @ v - np.log(total)
        coef[self._rows, self._y] -= 1.0
        # A logarithm is off by gamma of this size at most, and occurs a few times.
        off = gamma(len(move) + _OPERATIONS) * (self._size + 4.0 * float(np.abs(move).max()))
        return Touching(coef, 4.0 * off, below, 2.0 * self._errors + 8.0 * off)

"""Losses as sums of hinges, one for each kink: what the problem of the examples near their kinks is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.losses import Terms
from cutplane.shards.base import Array


class Hinges(NamedTuple):
    """One kink of the loss of some examples: rise · max(0, t) + fall · max(0, -t), t = level - sign · score.

    Attributes
    ----------
    signs, levels : array
        One for each example.
    rise, fall : float
        The price of a unit beyond the kink, and of one before it.
    """

    signs: Array
    levels: Array
    rise: float
    fall: float = 0.0

    @property
    def jump(self) -> float:
        """By how much the slope changes at the kink."""
        return self.rise + self.fall

    def take(self, rows: Any) -> Hinges:
        """The same kink of some of the examples."""
        return self._replace(signs=self.signs[rows], levels=self.levels[rows])

    def beyond(self, scores: Array) -> Array:
        """How far beyond the kink scores are; below zero: before it."""
        return self.levels - self.signs * scores

    def slopes(self, shares: NDArray[np.floating[Any]]) -> Array:
        """The slopes in the scores that have these shares of the jump: 0 is before the kink, 1 beyond it.

        No rounding takes them further than both ends: whatever the shares are, such slopes make a plane that holds.
        """
        return -self.signs * (self.rise * shares - self.fall * (1.0 - shares))


def _of_hinge(y: Array, parameters: Any) -> list[Hinges]:
    return [Hinges(y, np.ones_like(y), 1.0)]


def _of_tube(y: Array, parameters: Any) -> list[Hinges]:
    above, below, epsilon = (float(parameters[name]) for name in ("above", "below", "epsilon"))
    up, down = np.ones_like(y), -np.ones_like(y)
    if epsilon == 0.0:  # both kinks are one: as two, no dual variable of theirs would be determined
        return [Hinges(down, -y, above, below)]
    return [Hinges(down, -(y + epsilon), above), Hinges(up, y - epsilon, below)]


_OF_LOSS: dict[str, Callable[[Array, Any], list[Hinges]]] = {"hinge": _of_hinge, "tube": _of_tube}


def is_sum_of_hinges(name: str) -> bool:
    """Whether a loss, by its name for the prover, is made of lines."""
    return name in _OF_LOSS


def hinges_of(terms: Terms, rows: Any) -> list[Hinges]:
    """The kinks of the loss, each with those of some examples."""
    return _OF_LOSS[terms.name](terms.y[rows].astype(np.float64), terms.parameters)

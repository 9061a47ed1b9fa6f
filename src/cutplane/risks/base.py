"""What is minimised, as a convex function of the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class ScoreCut(NamedTuple):
    """A plane below the risk: <coef, S> + offset, touching it (to rounding) where it was taken."""

    coef: Array
    offset: float
    value: float


class Smoothed(NamedTuple):
    """The risk with its kinks rounded over a width h, at some scores.

    `coef` and `offset` are a plane below the risk itself, not only below the rounded one; `value` is the risk
    itself. `error` is what rounding adds to the gap: value - <coef, S> - offset.
    """

    coef: Array
    offset: float
    value: float
    error: float
    kinks: int


class Ray(Protocol):
    """The risk along S0 + t (S1 - S0)."""

    def value(self, t: float) -> float:
        """The risk at t."""

    def slope(self, t: float) -> float:
        """Its right derivative at t."""

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk."""


class Risk(ABC):
    """A convex risk of the scores of a fixed sample.

    Requires: `scores` are those of the sample the risk was made for, in order. Ensures: immutable; `cut` is below
    the risk everywhere and tight where it was taken.

    A new risk implements `value`, `cut` and `decide`. `ray` makes line searches exact, `shift` allows an
    unpenalised intercept, `smoothed` and what goes with it allow Newton's method.
    """

    #: The risk is never below this.
    lower_bound: float = 0.0

    @abstractmethod
    def value(self, scores: Array) -> float:
        """The risk."""

    @abstractmethod
    def cut(self, scores: Array) -> ScoreCut:
        """The plane that touches the risk at `scores`."""

    @abstractmethod
    def decide(self, scores: Array) -> NDArray[Any]:
        """Predictions from scores."""

    def ray(self, start: Array, end: Array) -> Ray | None:
        """The exact restriction to the line through `start` and `end`; None where there is none."""
        return None

    def advance(self, scores: Array, end: Array, step: float, mu: float) -> tuple[Array, float, ScoreCut]:
        """The scores moved towards `end`, their risk, and the plane at mu of what is left (OCA eqs. 8 and 9)."""
        moved = scores + step * (end - scores)
        return moved, self.value(moved), self.cut(moved + mu * (end - moved))

    def shift(self, scores: Array) -> float:
        """The constant that, added to every score, makes the risk least."""
        raise NotImplementedError(f"{type(self).__name__} has no intercept.")

    def balanced_cut(self, scores: Array) -> ScoreCut:
        """As `cut`, at scores that `shift` leaves alone, with coefficients that sum to zero."""
        raise NotImplementedError(f"{type(self).__name__} has no intercept.")

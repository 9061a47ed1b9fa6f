"""What is minimised, as a convex function of the scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.losses import Terms
from cutplane.proof.prover import InterceptBound
from cutplane.risks.intercept import balanced_mixture, best_shift, total_of
from cutplane.risks.intercept_bounds import leaning_planes

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

    A new risk implements `value` and `cut`. What else it has says what can be done with it: `ray` makes line searches
    exact, `shift` and `balanced_cut` make an intercept cheap, and a `RoundedRisk` can be minimised by Newton's method.
    """

    #: The risk is never below this.
    lower_bound: float = 0.0
    #: What C per example is multiplied by to weigh the whole risk; None: the number, or the weight, of the examples.
    total_weight: float | None = None
    #: Whether a constant added to every score changes nothing: then no intercept is sought.
    shift_invariant: bool = False
    #: Whether a free intercept has a meaning; where it has none, `threshold` puts one after training.
    takes_intercept: bool = True
    #: Whether one class against the rest makes no sense: then a classifier takes two classes only.
    binary_only: bool = False

    @property
    def name(self) -> str:
        """What errors call it."""
        return type(self).__name__

    @property
    def terms(self) -> Terms | None:
        """What the risk is a sum of, where it is one of the losses that the prover knows; else None."""
        return None

    @property
    def scale(self) -> float:
        """The size of the targets: offsets of planes are sums of coefficients times these."""
        return 1.0

    #: What sizes of a plane's coefficients add up to at most; a plane that has more counts as itself.
    steepest: float = 1.0
    #: How far the coefficients of a plane can be off, added up, in units of what a sum over the examples can be off.
    inexact: float = 0.0
    #: What a plane is charged for at least, whatever its coefficients are.
    least_mass: float = 0.0

    def mass(self, cut: ScoreCut | Smoothed) -> float:
        """The sizes of a plane's coefficients, added up: what rounding is charged by."""
        return max(self.least_mass, float(np.abs(cut.coef).sum()) * (1.0 + 1e-9) + self.inexact)

    def resolution(self, scores: Array) -> float:
        """How much scores are rounded before anything is made of them."""
        return 0.0

    def intercept_bound(self, n: int) -> InterceptBound:
        """How far from zero a best intercept of the n examples is at most."""
        return leaning_planes(self.cut, n, self.scale, self.lower_bound)

    @abstractmethod
    def value(self, scores: Array) -> float:
        """The risk."""

    @abstractmethod
    def cut(self, scores: Array) -> ScoreCut:
        """The plane that touches the risk at `scores`."""

    def summand(self, rows: Rows, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`; refused where the risk is no sum."""
        raise ValueError(
            f"{self.name} is not a sum over examples, so that its parts cannot lie on different machines; losses that "
            "are can be trained so, such as 'hinge', 'squared_hinge' and 'logistic'."
        )

    def decide(self, scores: Array) -> NDArray[Any]:
        """Predictions from scores: +1 where they are positive, else -1."""
        return np.where(scores > 0, 1, -1).astype(np.int8)

    def threshold(self, scores: Array) -> float:
        """What to add to the scores of a trained model so that their signs decide, where no intercept was trained."""
        return 0.0

    def ray(self, start: Array, end: Array) -> Ray | None:
        """The exact restriction to the line through `start` and `end`; None where there is none."""
        return None

    def advance(self, scores: Array, end: Array, step: float, mu: float) -> tuple[Array, float, ScoreCut]:
        """The scores moved towards `end`, their risk, and the plane at mu of what is left (OCA eqs. 8 and 9).

        Both arrays are used up: what is returned may lie in their memory.
        """
        moved = scores + step * (end - scores)
        return moved, self.value(moved), self.cut(moved + mu * (end - moved))

    def shift(self, scores: Array) -> float:
        """The constant that, added to every score, makes the risk least: by bisection, unless a risk knows better."""
        return 0.0 if self.shift_invariant else best_shift(self.cut, scores)

    def leans(self, scores: Array, shifts: Array) -> Array:
        """The slope of the risk along constants, at several of these: what the coefficients of cuts add up to."""
        return np.array([total_of(self.cut(scores + shift).coef) for shift in shifts])

    def turns(self, scores: Array, low: float, high: float) -> tuple[Array, Array] | None:
        """Where that slope jumps between two constants, and by how much; None where it does not only jump."""
        return None

    def balanced_cut(self, scores: Array) -> ScoreCut:
        """As `cut`, at scores that `shift` leaves alone, with coefficients that sum to zero."""
        if self.shift_invariant:
            return self.cut(scores)
        return ScoreCut(*balanced_mixture(self.cut, scores), self.value(scores))


class RoundedRisk(Risk):
    """A risk that Newton's method can minimise: smooth, or with kinks that can be rounded over a width h.

    Where the risk is smooth, h means nothing: `smoothed` is the risk itself and its error zero.
    """

    #: The width that has most examples on a kink at scores of zero.
    first_width: float = 4.0

    @abstractmethod
    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""

    def summand(self, rows: Rows, scale: float = 1.0) -> Self:
        """As `take`."""
        return self.take(rows, scale=scale)

    @abstractmethod
    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The risk rounded over a width h."""

    def rounding_error(self, scores: Array, h: float) -> float:
        """What rounding over a width h costs: the error of `smoothed`."""
        return self.smoothed(scores, h).error

    @abstractmethod
    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        """Coefficients of the risk rounded over h as if examples on the kink of width `reach` stayed on it."""

    @abstractmethod
    def kinks(self, scores: Array, h: float) -> tuple[Rows, Array]:
        """The examples that the rounded risk is curved at, and h times the second derivatives there."""

    @abstractmethod
    def smoothed_ray(self, scores: Array, direction: Array | None, t: float, h: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: the constant 1)."""

    @abstractmethod
    def plane_offset(self, coef: Array) -> float:
        """The offset of the highest plane with these coefficients that is below the risk: minus its conjugate.

        Requires: some plane below the risk has coefficients that are each of the sign of `coef` and no smaller.
        """

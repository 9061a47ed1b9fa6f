"""Risks that are sums over examples of a loss of one score each, summed up by the core."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane.proof.losses import Terms
from cutplane.risks.base import Array, Rows, ScoreCut, Smoothed
from cutplane.risks.core_ray import CoreRay
from cutplane.risks.intercept import balanced
from cutplane.risks.root import rising_root
from cutplane.risks.visited import AscentExamples, InteriorExamples, QuadraticDual, VisitedRisk

# Targets that tell about how far they lie from their middle.
_LOOKED_AT = 1 << 16
# What a search along a line may leave of the slope it began with: of the descent, that is less than a billionth.
_SLOPE_LEFT = 1e-5
# What is made of targets and weights when it is first asked for.
_MADE = ("y", "_core", "scale")


class SeparableRisk(VisitedRisk):
    """Sum of c_i loss(s_i, y_i), the c_i proportional to the sample weights and summing to one.

    Parameters
    ----------
    y : array of shape (n,)
        Targets, or labels of -1 and +1.
    sample_weight : array of shape (n,) or None
        Non-negative, not all zero.
    n_threads : int
        0 leaves it to OpenMP.

    Attributes
    ----------
    total_weight : float
        The sum of the sample weights: C per example times this is the C of the mean risk.
    """

    #: The name of the loss in the core.
    _loss: str
    #: Its name for the prover, and what its parameters are called there.
    _proof: tuple[str, tuple[str, ...]]

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None, n_threads: int) -> None:
        given = np.asarray(y)
        # Labels stay bytes until they are asked for as numbers: sums on a GPU read them so.
        targets = np.ascontiguousarray(given, given.dtype if given.dtype == np.int8 else np.float64)
        if sample_weight is None:
            self.total_weight = float(len(targets))
            weights, each = None, 1.0 / len(targets)
        else:
            raw = np.asarray(sample_weight, dtype=np.float64)
            self.total_weight = float(raw.sum())
            weights, each = np.ascontiguousarray(raw / self.total_weight), 0.0
        self._n_threads = n_threads
        self._set(targets, weights, each)

    def _parameters(self) -> list[float]:
        """Those of the loss in the core."""
        return []

    @property
    def _dual(self) -> QuadraticDual:
        """The conjugate of the loss."""
        raise NotImplementedError

    @property
    def dual_range(self) -> tuple[Any, Any]:
        """Between what minus the slope of the loss lies."""
        return self._dual.range(self.y)

    def ascent(self, examples: AscentExamples, C: float, seed: int, base: Array | None = None) -> _core.DualAscent:
        """Dual coordinate ascent over examples."""
        return self._dual.ascent(self, examples, C, seed, base)

    def interior(self, examples: InteriorExamples, C: float, base: Array | None = None) -> _core.InteriorPoint:
        """An interior point over all examples."""
        return self._dual.interior(self, examples, C, base)

    def _set(self, given: NDArray[Any], weights: Array | None, each: float) -> None:
        for name in _MADE:
            self.__dict__.pop(name, None)
        self._given = given
        self.weights = weights
        self.each = each

    @cached_property
    def y(self) -> Array:
        """Targets, or labels of -1 and +1."""
        return np.ascontiguousarray(self._given, np.float64)

    @cached_property
    def _core(self) -> _core.Separable:
        """The compiled sums."""
        return _core.Separable(self._loss, self._parameters(), self.y, self.weights, self.each)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as it was made, and the sums of the core made anew."""
        state = {name: value for name, value in vars(self).items() if name not in _MADE}
        return _unpickled, (type(self), state)

    @property
    def terms(self) -> Terms:
        """What the risk is a sum of."""
        name, parameters = self._proof
        return Terms(name, dict(zip(parameters, self._parameters(), strict=True)), self._given, self.weights, self.each)

    @cached_property
    def scale(self) -> float:
        """The size of the targets and of the loss's own parameters."""
        y = self._given
        size = float(max(y.max(), -float(y.min()))) if len(y) else 0.0
        return max(1e-300, size) + self.own_scale

    @property
    def own_scale(self) -> float:  # type: ignore[override]
        """The size of the loss's own parameters."""
        return sum(map(abs, self._parameters()))

    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__)
        weights = None if self.weights is None else self.weights[rows] * scale
        part._set(self._given[rows], weights, self.each * scale)
        return part

    def value(self, scores: Array) -> float:
        """The risk."""
        return self._core.value(scores, self._n_threads)

    def cut(self, scores: Array) -> ScoreCut:
        """The plane that touches the risk at `scores`."""
        return ScoreCut(*self._core.cut(scores, self._n_threads))

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The risk rounded over a width h."""
        return Smoothed(*self._core.smoothed(scores, h, self._n_threads))

    def mass(self, cut: ScoreCut | Smoothed) -> float:
        """The sizes of a plane's coefficients, added up, by all threads."""
        return max(self.least_mass, _core.mass(cut.coef, self._n_threads) * (1.0 + 1e-9) + self.inexact)

    def kinks(self, scores: Array, h: float) -> tuple[Rows, Array]:
        """The examples that the rounded risk is curved at, and h times the second derivatives there."""
        return self._core.curved(scores, h, self._n_threads)

    def smoothed_ray(self, scores: Array, direction: Array | None, t: float, h: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: the constant 1)."""
        return self._core.ray(scores, direction, False, t, h, self._n_threads)

    def plane_offset(self, coef: Array) -> float:
        """The offset of the highest plane with these coefficients that is below the risk."""
        return self._core.offset(coef, self._n_threads)


class SmoothRay(NamedTuple):
    """A smooth risk along a line of scores."""

    core: _core.Separable
    start: Array
    end: Array
    n_threads: int

    def _at(self, t: float) -> tuple[float, float, float]:
        return self.core.ray(self.start, self.end, True, t, 1.0, self.n_threads)

    def value(self, t: float) -> float:
        """The risk at t."""
        return self._at(t)[0]

    def slope(self, t: float) -> float:
        """The derivative at t."""
        return self._at(t)[1]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk, by Newton's method in a bracket."""

        def derivative(t: float) -> tuple[float, float]:
            _, slope, curvature = self._at(t)
            return quadratic * t + linear + C * slope, quadratic + C * curvature

        first = derivative(0.0)[0]
        if first >= 0.0:
            return 0.0
        return rising_root(derivative, 1.0, low=0.0, tolerance=_SLOPE_LEFT * abs(first))


def _unpickled(kind: type[SeparableRisk], state: dict[str, Any]) -> SeparableRisk:
    risk = object.__new__(kind)
    risk.__dict__.update(state)
    risk._set(risk._given, risk.weights, risk.each)
    return risk


class SmoothRisk(SeparableRisk):
    """A separable risk whose loss has a derivative everywhere: it is its own rounding."""

    has_kinks = False

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The risk itself; no example can be replaced by its tangent, so that all count as on a kink."""
        coef, offset, value, error, _ = self._core.smoothed(scores, h, self._n_threads)
        return Smoothed(coef, offset, value, error, len(scores))

    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        """The coefficients themselves."""
        return self.cut(scores).coef

    def ray(self, start: Array, end: Array) -> SmoothRay:
        """The exact restriction to a line."""
        return SmoothRay(self._core, start, end, self._n_threads)

    def shift(self, scores: Array) -> float:
        """The best intercept, by Newton's method in a bracket."""

        def slope(t: float) -> tuple[float, float]:
            _, slope, curvature = self.smoothed_ray(scores, None, t, 1.0)
            return slope, curvature

        return rising_root(slope, 0.0, tolerance=1e-15 * abs(slope(0.0)[0]))

    def balanced_cut(self, scores: Array) -> ScoreCut:
        """The plane at scores with the best intercept in them, what rounding left of their sum taken away."""
        cut = self.cut(scores)
        coef = balanced(cut.coef)
        return ScoreCut(coef, self.plane_offset(coef), cut.value)


class TubeRisk(SeparableRisk):
    """A separable risk that rises linearly on both sides of a tube around the target, at a price for each side."""

    _loss = "tube"
    _proof = ("tube", ("above", "below", "epsilon"))

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None, n_threads: int) -> None:
        super().__init__(y, sample_weight, n_threads)
        self.first_width = _first_width(self.y[:: max(1, len(self.y) // _LOOKED_AT)])

    @property
    def _dual(self) -> QuadraticDual:
        above, below, epsilon = self._parameters()
        return QuadraticDual(above, below, epsilon)

    @property
    def own_scale(self) -> float:  # type: ignore[override]
        """Half the width of the tube; prices of its sides are no sizes of scores."""
        return self._parameters()[2]

    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        """Coefficients of the risk rounded over h as if examples on a kink of width `reach` stayed on it."""
        return self._core.extrapolated(scores, h, reach, self._n_threads)

    def ray(self, start: Array, end: Array) -> CoreRay:
        """The exact restriction to a line."""
        return CoreRay(self._core, start, end, self._n_threads)

    def turns(self, scores: Array, low: float, high: float) -> tuple[Array, Array]:
        """The kinks between two constants, and the prices of their sides."""
        above, below, epsilon = self._parameters()
        middle = self.y - scores
        kinks = np.concatenate([middle - epsilon, middle + epsilon])
        chosen = np.flatnonzero((kinks > low) & (kinks <= high))
        prices = np.where(chosen < len(middle), below, above)
        each = self.each if self.weights is None else self.weights[chosen % len(middle)]
        return kinks[chosen], prices * each

    def shift(self, scores: Array) -> float:
        """The best intercept: a weighted quantile of kinks, by selection in O(n)."""
        return self._core.ray_minimum(scores, None, False, 0.0, 0.0, 1.0, -np.inf, self._n_threads)


def _first_width(y: Array) -> float:
    """Four times how far targets lie from their middle, so that rounding takes in most of them."""
    for centre in (np.median(y), 0.0):
        spread = float(np.abs(y - centre).mean())
        if spread > 0.0:
            return 4.0 * spread
    return 4.0


def check_number(name: str, value: Any, *, least: float = 0.0, below: float = np.inf, strict: bool = False) -> float:
    """An option of a loss: a number in a range."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not (value > least if strict else value >= least) or not value < below:
        lower = f"greater than {least:g}" if strict else f"{least:g} or greater"
        upper = " and finite" if np.isinf(below) else f" and less than {below:g}"
        raise ValueError(f"{name}={value!r} must be a number, {lower}{upper}.")
    return float(value)

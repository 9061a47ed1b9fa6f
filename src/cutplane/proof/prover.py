"""The certificate of a linear model: its objective from the weights alone, a lower bound from a plane alone.

What is minimised is ½|w|² + C·R(X(w + origin) + b) over w, not below `bounds` where there are some, and over b where
there is an intercept. A plane R(X(w + origin) + b) >= <slope, w> + offset, for every w and b, proves

    least value >= C·offset + min over w of ½|w|² + C·<slope, w>.

Both sides are computed in double precision, and whatever rounding can do to them is charged. So is what it did to the
plane: `error` is how far its slope can be from one that holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cutplane.proof.losses import Terms
from cutplane.proof.rounding import UNIT, Around, Array, Rounding, gamma, half_square, length, pairwise_depth, summed

# Examples evaluated at a time: they stay in the second cache.
_PART = 1 << 14
# Roundings in one evaluation of a loss, and in the weights and the C that stand before it.
_OPERATIONS = 16.0
# So often the distance of the optimum is taken from the bound that the last distance gave.
_ROUNDS = 4


class Plane(NamedTuple):
    """R(w) >= <slope, w> + offset, but for slopes that are `error` off; sizes of its coefficients add up to `mass`."""

    slope: Array
    offset: float
    error: float = 0.0
    mass: float = 0.0


class Proven(NamedTuple):
    """The least value is at most `upper`, which is that of the model, and at least `lower`."""

    upper: float
    lower: float


class Scored(Protocol):
    """A source, as far as the prover asks."""

    @property
    def shape(self) -> tuple[int, int]: ...  # noqa: D102

    def scores(self, w: Array) -> Array: ...  # noqa: D102


class Weighed(Protocol):
    """A point, as far as the prover asks: a dataclass with weights."""

    @property
    def w(self) -> Array: ...  # noqa: D102


class Tangent(Protocol):
    """A plane below a risk of scores, as far as the prover asks."""

    @property
    def coef(self) -> Array: ...  # noqa: D102

    @property
    def offset(self) -> float: ...  # noqa: D102

    @property
    def value(self) -> float: ...  # noqa: D102


P = TypeVar("P", bound=Weighed)
T = TypeVar("T", bound=Tangent)


class ProvableRisk(Protocol[T]):
    """A risk of scores, as far as the prover asks: see `cutplane.risks.base.Risk`."""

    @property
    def terms(self) -> Terms | None: ...  # noqa: D102

    @property
    def lower_bound(self) -> float: ...  # noqa: D102

    @property
    def steepest(self) -> float: ...  # noqa: D102

    @property
    def scale(self) -> float: ...  # noqa: D102

    @property
    def inexact(self) -> float: ...  # noqa: D102

    def cut(self, scores: Array) -> T: ...  # noqa: D102

    def mass(self, cut: T) -> float: ...  # noqa: D102

    def resolution(self, scores: Array) -> float: ...  # noqa: D102

    def intercept_bound(self, n: int) -> Callable[[float, float], float]: ...  # noqa: D102


class Prover:
    """Proves what a linear model and a plane are worth.

    Parameters
    ----------
    source : Source
        The examples.
    risk : Risk
        Of their scores.
    C : float
        Of the whole risk.
    rounding : Rounding
        What rounding does to passes over the examples.
    intercept : bool
        Whether an intercept is free; then planes are balanced up to rounding, and what is left of it is charged.
    origin : array, optional
        What weights count from.
    bounds : array, optional
        The least that each weight may be, counted from the origin.
    """

    def __init__(
        self,
        source: Scored,
        risk: ProvableRisk[T],
        C: float,
        rounding: Rounding,
        *,
        intercept: bool = False,
        origin: Array | None = None,
        bounds: Array | None = None,
    ) -> None:
        self._source, self._risk, self._C, self._rounding = source, risk, C, rounding
        self._intercept, self._origin, self._bounds = intercept, origin, bounds

    def feasible(self, point: P) -> P:
        """The point with no weight below its bound: moving along a line may have rounded it there."""
        if self._bounds is None or not (point.w < self._bounds).any():
            return point
        return replace(point, w=np.maximum(point.w, self._bounds))  # type: ignore[type-var]

    def upper(self, w: Array, intercept: float | Array) -> float:
        """The objective at these weights: one pass over the data."""
        weights, total = w, w
        if self._origin is not None:
            total = w + self._origin
            weights = total - self._origin  # what the model that is returned really has
        quadratic, error = half_square(weights)
        scores = self._source.scores(total) if total.any() else self._source.scores(np.zeros_like(total))
        scores += intercept
        b = float(np.max(np.abs(intercept), initial=0.0))
        delta = self._rounding.score(self._rounding.spread(total), b)
        risk, risk_error = risk_at(self._risk, scores, delta)
        return quadratic + self._C * risk + (error + self._C * risk_error) * (1.0 + 1e-9)

    def lower(self, plane: Plane, w: Array, upper: float) -> float:
        """What a plane proves of an optimum that is no worse than weights w, of value `upper`.

        What rounding did to the plane costs more the further off the optimum is. ½|w|² makes the objective strongly
        convex: the optimum is within sqrt(2·(upper - lower)) of any weights of value `upper`. So one lower bound, from
        all weights with ½|w|² up to what `upper` leaves for it, gives a better one.
        """
        least, error = self._least(plane)
        radius = length(w) + math.sqrt(max(0.0, 2.0 * (upper - self._C * self._risk.lower_bound))) * (1.0 + 1e-9)
        lower = self._C * float(self._risk.lower_bound)
        lower -= _OPERATIONS * UNIT * abs(lower)
        near = self._rounding.around(w)
        near_total = near if self._origin is None else self._rounding.around(w + self._origin)
        for _ in range(_ROUNDS):
            charge = self._charge(plane, near, near_total, radius, upper)
            if not math.isfinite(charge):
                break
            lower = max(lower, least - (error + charge) * (1.0 + 1e-9))
            radius = min(radius, math.sqrt(max(0.0, 2.0 * (upper - lower))) * (1.0 + 1e-9))
        return lower

    def _least(self, plane: Plane) -> tuple[float, float]:
        """C·offset + min over w of ½|w|² + C·<slope, w>, and how far off it can be."""
        slope = self._C * plane.slope
        if self._bounds is None:
            square, error = half_square(slope)
            least = -square
        else:
            w = np.maximum(self._bounds, -slope)
            least, error = summed(0.5 * w * w + slope * w)
            error += 8.0 * UNIT * float(np.sum(0.5 * w * w + np.abs(slope * w)))
        offset = self._C * plane.offset
        return offset + least, error + _OPERATIONS * UNIT * (abs(offset) + 2.0 * abs(least))

    @cached_property
    def _furthest_intercept(self) -> Callable[[float, float], float]:
        found: Callable[[float, float], float] = self._risk.intercept_bound(self._source.shape[0])
        return found

    def _charge(
        self,
        plane: Plane,
        near: Around,
        near_total: Around,
        radius: float,
        upper: float,
    ) -> float:
        """What rounding did to the plane, for weights within a radius."""
        charge = self._C * plane.error * near.longest(radius)
        if self._intercept and plane.mass > 0.0:
            furthest = self._furthest_intercept(upper / self._C, near_total.spread(radius))
            charge += self._C * self._rounding.imbalance(plane.mass) * furthest
        return charge


def risk_at(risk: ProvableRisk[T], scores: Array, delta: float) -> tuple[float, float]:
    """A risk at scores that are each up to delta off, and how far off it can be."""
    terms: Terms | None = risk.terms
    if terms is not None:
        return _sum_of_terms(terms, scores, delta)
    # The plane at the scores has the risk's own height there, and says how steep the risk is.
    cut = risk.cut(scores)
    along, error = summed(cut.coef * scores)
    mass = max(float(risk.mass(cut)), risk.steepest)  # a steeper plane may lie next to this one
    size = mass * (risk.scale + float(np.abs(scores).max(initial=0.0))) + abs(cut.offset)
    error += 2.0 * mass * (delta + risk.resolution(scores)) + _OPERATIONS * UNIT * size
    return max(along + cut.offset, cut.value if risk.inexact == 0.0 else -math.inf), error


def _sum_of_terms(terms: Terms, scores: Array, delta: float) -> tuple[float, float]:
    loss, total, errors = terms.loss, [], []
    for begin in range(0, len(scores), _PART):
        part = slice(begin, begin + _PART)
        s, y = scores[part], np.asarray(terms.y[part], np.float64)
        off = delta + float(loss.own_rounding(s, y))
        values, steepness = loss.value(s, y), loss.steepness(s, y, off)
        if terms.weights is not None:
            values, steepness = terms.weights[part] * values, terms.weights[part] * steepness
        total.append(float(values.sum()))
        errors.append(float(steepness.sum()) * off * (1.0 + 1e-9))
    each = terms.each if terms.weights is None else 1.0
    value = each * math.fsum(total)
    relative = gamma(pairwise_depth(_PART)) + _OPERATIONS * UNIT
    return value, relative * value + each * math.fsum(errors)

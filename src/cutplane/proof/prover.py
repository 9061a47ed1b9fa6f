"""The certificate of a linear model: its objective from the weights alone, a lower bound from a plane alone.

What is minimised is ½|w|² + C·R(X(w + origin) + b) over w, not below `bounds` where there are some, and over b where
there is an intercept. A plane R(X(w + origin) + b) >= <slope, w> + offset, for every w and b, proves

    least value >= C·offset + min over w of ½|w|² + C·<slope, w>.

Both sides are computed in double precision, and whatever rounding can do to them is charged. So is what it did to the
plane: `error` is how far its slope can be from one that holds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from cutplane.proof.ball import radius
from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.rounding import UNIT, Around, Array, Rounding, distance, half_square, largest, length, summed

# So often the distance of the optimum is taken from the bound that the last distance gave.
_ROUNDS = 4
# Where scores of double precision may hide more of an objective than this, they are computed more closely.
_SHARE_OF_ROUNDING = 1e-7


class Plane(NamedTuple):
    """R(w) >= <slope, w> + offset, but for slopes that are `error` off; sizes of its coefficients add up to `mass`."""

    slope: Array
    offset: float
    error: float = 0.0
    mass: float = 0.0


class Proven(NamedTuple):
    """The least value is at most `upper`, which is that of the model, and at least `lower`.

    The weights of the optimum are within `radius` of the model's.
    """

    upper: float
    lower: float
    radius: float = math.inf


class Weighed(Protocol):
    """A point, as far as the prover asks: a dataclass with weights."""

    @property
    def w(self) -> Array: ...  # noqa: D102


P = TypeVar("P", bound=Weighed)


class InterceptBound(Protocol):
    """How far from zero a best intercept is at most.

    As a function of a value that the risk does not exceed there, and of how far from zero scores without the intercept
    are at most. Bounds of two risks add up to one of their sum.
    """

    def __call__(self, value: float, spread: float) -> float: ...  # noqa: D102

    def plus(self, other: Any) -> InterceptBound: ...  # noqa: D102


class Provable(Protocol):
    """The risk as a function of weights and intercept, as far as the prover asks: see `cutplane.shards.base.Shard`."""

    @property
    def lower_bound(self) -> float: ...  # noqa: D102

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation: ...  # noqa: D102

    def intercept_bound(self) -> InterceptBound: ...  # noqa: D102


@runtime_checkable
class CloselyProvable(Protocol):
    """The same where scores can be had that are rounded about once: see `cutplane.shards.host.HostShard`."""

    def evaluated_closely(self, w: Array, intercept: float | Array) -> Evaluation | None: ...  # noqa: D102


class Prover:
    """Proves what a linear model and a plane are worth.

    Parameters
    ----------
    risk : Provable
        Of the examples, wherever these lie: a shard.
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
        risk: Provable,
        C: float,
        rounding: Rounding,
        *,
        intercept: bool = False,
        origin: Array | None = None,
        bounds: Array | None = None,
    ) -> None:
        self._risk, self._C, self._rounding = risk, C, rounding
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
        found = self._risk.evaluated(total, intercept, self.score_error(total, intercept))
        upper = self.upper_of(weights, found)
        if self._C * found.error <= _SHARE_OF_ROUNDING * upper or not isinstance(self._risk, CloselyProvable):
            return upper
        close = self._risk.evaluated_closely(total, intercept)
        closely = math.inf if close is None else self.upper_of(weights, close)
        return closely if closely < upper else upper  # not where it is no number

    def score_error(self, total: Array, intercept: float | Array) -> float:
        """How far scores of these weights, counted from zero, can be off."""
        return self._rounding.score(self._rounding.spread(total), largest(intercept))

    def upper_of(self, weights: Array, risk: Evaluation) -> float:
        """The objective at weights, counted from the origin, whose risk is known."""
        quadratic, error = half_square(weights)
        return quadratic + self._C * risk.value + (error + self._C * risk.error) * (1.0 + 1e-9)

    def lower(self, plane: Plane, w: Array, upper: float) -> float:
        """What a plane proves of an optimum that is no worse than weights w, of value `upper`.

        What rounding did to the plane costs more the further off the optimum is. ½|w|² makes the objective strongly
        convex: the optimum is within sqrt(2·(upper - lower)) of any weights of value `upper`. So one lower bound, from
        all weights with ½|w|² up to what `upper` leaves for it, gives a better one.
        """
        least, error = self._least(plane)
        radius = length(w) + math.sqrt(max(0.0, 2.0 * (upper - self._C * self._risk.lower_bound))) * (1.0 + 1e-9)
        lower = self._without_planes
        near = self._rounding.around(w)
        near_total = near if self._origin is None else self._rounding.around(w + self._origin)
        for _ in range(_ROUNDS):
            charge = self._charge(plane, near, near_total, radius, upper)
            if not math.isfinite(charge):
                break
            lower = max(lower, least - (error + charge) * (1.0 + 1e-9))
            before, radius = radius, min(radius, math.sqrt(max(0.0, 2.0 * (upper - lower))) * (1.0 + 1e-9))
            if radius == before:  # and so would be all that follows
                break
        return lower

    def radius(self, plane: Plane, w: Array, upper: float, lower: float) -> float:
        """How far the optimum's weights are from w at most, where the plane has proven `lower`.

        With v the weights at which the plane's bound is least, ½|w* - v|² + ½|w* - w|² <= upper - lower = g: the first
        by the parabola above the plane, the second as always. So the optimum is within d/2 + sqrt(g - d²/4) of w, where
        d >= |w - v|: mostly next to nothing, and then the radius is 0.71 of sqrt(2g).
        """
        plain = radius(upper, lower)
        if not (math.isfinite(plain) and lower > self._without_planes):
            return plain
        if self._bounds is None:
            apart, far = distance(w, plane.slope, self._C), length(plane.slope, self._C)
        else:
            v = np.maximum(self._bounds, -self._C * plane.slope)
            apart, far = length(w - v), length(v)
        origin = 0.0 if self._origin is None else length(self._origin)
        apart += 8.0 * UNIT * (length(w) + far + origin)
        gap = (upper - lower) * (1.0 + 1e-12)
        if 0.5 * apart**2 >= gap:  # from here on the bound falls with d, which is known from above only
            return plain
        return min(plain, (0.5 * apart + math.sqrt(gap - 0.25 * apart**2)) * (1.0 + 1e-12))

    def offset(self, plane: Plane, furthest: float, risk: float) -> float:
        """The offset of a plane, lowered by what rounding did to it, whatever C is.

        Parameters
        ----------
        plane : Plane
        furthest : float
            The plane is asked about at weights that are no longer than this, counted from the origin,
        risk : float
            and where the risk is at most this.
        """
        nothing = np.zeros_like(plane.slope)
        near_total = self._rounding.around(nothing if self._origin is None else self._origin)
        charge = self._charge(plane, self._rounding.around(nothing), near_total, furthest, self._C * risk)
        lost = charge / self._C * (1.0 + 1e-9) + OPERATIONS * UNIT * abs(plane.offset)
        return plane.offset - lost if math.isfinite(lost) else -math.inf

    @cached_property
    def _without_planes(self) -> float:
        """What no objective is below, whatever the plane."""
        lower = self._C * float(self._risk.lower_bound)
        return lower - OPERATIONS * UNIT * abs(lower)

    def _least(self, plane: Plane) -> tuple[float, float]:
        """C·offset + min over w of ½|w|² + C·<slope, w>, and how far off it can be."""
        if self._bounds is None:
            square, error = half_square(plane.slope, self._C)
            least = -square
        else:
            slope = self._C * plane.slope
            w = np.maximum(self._bounds, -slope)
            least, error = summed(0.5 * w * w + slope * w)
            error += 8.0 * UNIT * float(np.sum(0.5 * w * w + np.abs(slope * w)))
        offset = self._C * plane.offset
        return offset + least, error + OPERATIONS * UNIT * (abs(offset) + 2.0 * abs(least))

    @cached_property
    def _furthest_intercept(self) -> InterceptBound:
        return self._risk.intercept_bound()

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

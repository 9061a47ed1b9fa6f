"""How far to go from the incumbent towards the minimiser of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from cutplane._runtime.deadline import time_is_up
from cutplane.solvers.base import Point
from cutplane.solvers.protocols import ObjectiveLike, P, RayLike
from cutplane.solvers.vectors import along, inner

# A direction shorter than this, relative to the weights at its ends, is rounding. And no step goes further than so many
# times its length: scores are moved along with the weights, and what rounding left in them is moved as far.
_NO_DIRECTION = 1e-13
_FURTHEST = 100.0


class LineSearch(Protocol):
    """Picks the step k of OCA eq. 8 along incumbent + k·(candidate - incumbent)."""

    def step(self, objective: ObjectiveLike[P], incumbent: P, candidate: P, C: float) -> float:
        """The step to take."""


def _quadratic(incumbent: Point, candidate: Point) -> tuple[float, float]:
    """Coefficients A0 and B0 of OCA eq. 14: ½|w|² along the line is A0 k²/2 + B0 k + const."""
    return along(incumbent.w, candidate.w)


def _is_rounding(incumbent: Point, candidate: Point, quadratic: float) -> bool:
    """Whether the two points are the same but for rounding."""
    ends = inner(incumbent.w, incumbent.w) + inner(candidate.w, candidate.w)
    return quadratic <= _NO_DIRECTION**2 * ends


class NoLineSearch:
    """CPA: the candidate itself."""

    def step(self, objective: ObjectiveLike[P], incumbent: P, candidate: P, C: float) -> float:
        """Always 1."""
        return 1.0


class ExactLineSearch:
    """OCA-E: the minimiser over k >= 0, by the risk's own ray."""

    def step(self, objective: ObjectiveLike[P], incumbent: P, candidate: P, C: float) -> float:
        """The best step; by ternary search where the risk has no ray."""
        quadratic, linear = _quadratic(incumbent, candidate)
        if _is_rounding(incumbent, candidate, quadratic):
            return 0.0
        ray = objective.ray(incumbent, candidate)
        if ray is not None:
            return min(ray.minimise(quadratic, linear, C), _FURTHEST)
        return _golden_section(
            lambda k: 0.5 * quadratic * k * k + linear * k + C * objective.value(objective.mix(incumbent, candidate, k))
        )


@dataclass
class ThreePointLineSearch:
    """OCA-T (Arnosti and Kalita, Algorithm 4): three points, shifted until the middle one is lowest.

    It may step backwards and may end above the incumbent: the best point evaluated is kept apart.
    """

    delta: float = 0.02
    start: float = field(default=1.0, init=False)

    def step(self, objective: ObjectiveLike[P], incumbent: P, candidate: P, C: float) -> float:
        """The middle of the final window."""
        quadratic, linear = _quadratic(incumbent, candidate)
        if _is_rounding(incumbent, candidate, quadratic):
            return 0.0
        ray: RayLike | None = objective.ray(incumbent, candidate)

        def f(k: float) -> float:
            risk = ray.value(k) if ray is not None else objective.value(objective.mix(incumbent, candidate, k))
            return 0.5 * quadratic * k * k + linear * k + C * risk

        delta = self.delta
        low, mid, high = self.start - delta, self.start, self.start + delta
        f_low, f_mid, f_high = f(low), f(mid), f(high)
        while f_high < f_mid and high <= _FURTHEST and not time_is_up():  # shift right
            delta *= 2
            low, f_low, mid, f_mid = mid, f_mid, high, f_high
            high += delta
            f_high = f(high)
        while f_low < f_mid and low >= -_FURTHEST and not time_is_up():  # shift left
            delta *= 2
            high, f_high, mid, f_mid = mid, f_mid, low, f_low
            low -= delta
            f_low = f(low)
        self.start = mid  # where the next search begins
        return mid


def _golden_section(f: Callable[[float], float]) -> float:
    """Argmin over k >= 0 of a convex function, to about 1e-6 of its scale."""
    ratio = 0.6180339887498949
    high = 1.0
    while f(2 * high) < f(high) and high < _FURTHEST and not time_is_up():
        high *= 2
    low, high = 0.0, 2 * high
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    f_left, f_right = f(left), f(right)
    while high - low > 1e-6 * max(1.0, high) and not time_is_up():
        if f_left <= f_right:
            high, right, f_right = right, left, f_left
            left = high - ratio * (high - low)
            f_left = f(left)
        else:
            low, left, f_left = left, right, f_right
            right = low + ratio * (high - low)
            f_right = f(right)
    middle = 0.5 * (low + high)
    return middle if f(middle) <= f(0.0) else 0.0

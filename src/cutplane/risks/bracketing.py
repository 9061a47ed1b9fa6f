"""The least point on a ray of a risk of which only values and slopes are known, with a bound on what was missed.

For risks whose kinks on a ray are too many to list. Between two points with slopes of opposite signs, the function lies
above its two tangents: how far the better point is above their meeting is all that can be missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cutplane._runtime.deadline import time_is_up

# A step is good enough when it misses at most this fraction of the descent it makes.
ACCURACY = 0.1
# What rounding leaves of differences of function values.
_ROUNDING = 1e-13
_MOST = 200


class RayPoint(NamedTuple):
    """The risk and its slope at t, and the function ½ quadratic t² + linear t + C·risk with its slope."""

    t: float
    risk: float
    risk_slope: float
    f: float
    slope: float


class _Bracket(NamedTuple):
    """A point where the function falls and one, further on, where it rises."""

    low: RayPoint
    high: RayPoint

    @property
    def best(self) -> RayPoint:
        return min(self, key=lambda point: point.f)

    def secant(self) -> float:
        """Where a straight line between the slopes is zero."""
        fraction = self.low.slope / (self.low.slope - self.high.slope)
        return self.low.t + fraction * (self.high.t - self.low.t)

    def model(self, quadratic: float, linear: float, C: float) -> tuple[float, float]:
        """The least point of the two tangents of the risk plus the quadratic, and the value there."""
        a, b = self
        bend = b.risk_slope - a.risk_slope
        t = b.t if bend <= 0.0 else (a.risk - b.risk + b.risk_slope * b.t - a.risk_slope * a.t) / bend
        t = min(max(t, a.t), b.t)
        if quadratic * t + linear + C * a.risk_slope > 0.0:
            t = min(max(-(linear + C * a.risk_slope) / quadratic, a.t), t)
        elif quadratic * t + linear + C * b.risk_slope < 0.0:
            t = max(min(-(linear + C * b.risk_slope) / quadratic, b.t), t)
        risk = max(a.risk + a.risk_slope * (t - a.t), b.risk + b.risk_slope * (t - b.t))
        return t, 0.5 * quadratic * t * t + linear * t + C * risk


def ray_minimum(
    at: Callable[[float], tuple[float, float]],
    quadratic: float,
    linear: float,
    C: float,
    *,
    accuracy: float = ACCURACY,
    guess: float = 1.0,
) -> float:
    """A t >= 0 where ½ quadratic t² + linear t + C·risk is least, up to `accuracy` of the descent from t = 0.

    Parameters
    ----------
    at : callable
        Gives the risk and its right derivative at t, or another slope that holds it up.
    quadratic, linear, C : float
    accuracy : float
        The function is proven to be within this fraction of its descent f(0) - f(t) of its least value, unless the time
        is up before.
    guess : float
        Where to look first.
    """

    def point(t: float) -> RayPoint:
        risk, slope = at(t)
        return RayPoint(
            t, risk, slope, 0.5 * quadratic * t * t + linear * t + C * risk, quadratic * t + linear + C * slope
        )

    start = point(0.0)
    if start.slope >= 0.0 or time_is_up():
        return 0.0
    low, high = start, point(guess)
    while high.slope < 0.0:
        if high.t > 1e30 or time_is_up():
            return high.t
        low, high = high, point(2.0 * high.t)
    bracket = _Bracket(low, high)
    size = C * abs(start.risk)
    width, slow = float("inf"), 0
    for turn in range(_MOST):
        corner, lower = bracket.model(quadratic, linear, C)
        best = bracket.best
        if best.f - lower <= max(accuracy * (start.f - best.f), _ROUNDING * size) or time_is_up():
            return best.t
        # The slope is nearly smooth where kinks are many: a secant; a step where they are few: the corner. By turns,
        # and by bisection where neither gets on.
        t = bracket.secant() if turn % 2 == 0 else corner
        slow = slow + 1 if bracket.high.t - bracket.low.t > 0.5 * width else 0
        width = bracket.high.t - bracket.low.t
        if slow >= 3 or not bracket.low.t < t < bracket.high.t:
            t = 0.5 * (bracket.low.t + bracket.high.t)
        if not bracket.low.t < t < bracket.high.t:
            break
        now = point(t)
        bracket = _Bracket(now, bracket.high) if now.slope < 0.0 else _Bracket(bracket.low, now)
    return bracket.best.t

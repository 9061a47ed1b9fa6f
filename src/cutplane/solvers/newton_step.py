"""One step of smoothed Newton: where to, and how far."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.solvers.base import Array
from cutplane.solvers.newton_system import NewtonSystem
from cutplane.solvers.rounded import Evaluation, evaluate, plenty

# A narrower width is in reach of a single step where the optimum is off by no more than this times what rounding costs.
_IN_REACH = 50.0
# How closely systems are solved. Where examples on kinks are plenty, steps are as good as their directions, and of what
# they leave this fraction of the rounding's cost does no harm; further off than so many times that, nothing is gained.
_ACCURACY, _HARMLESS, _FAR_OFF = (0.02, 0.1), 0.1, 300.0
# Steps are searched until the slope has fallen to this fraction.
_SLOPE_LEFT = 0.2


def newton_direction(
    objective: Any, C: float, point: Any, now: Evaluation, h: float, h_next: float, system: NewtonSystem
) -> tuple[Array, float]:
    """The changes of weights and intercept that Newton's method suggests for the width `h_next`."""
    gradient = now.gradient
    if h_next < h:
        there = evaluate(objective.smoothed(point, h_next), point.w, C) if plenty(now, h_next / h) else None
        if there is not None and there.residual <= _IN_REACH * there.error:
            gradient, h, now = there.gradient, h_next, there
        else:
            # Few examples on kinks mostly stay there: their shares of the slope change with the width.
            gradient = point.w + C * objective.extrapolated_slope(point, h_next, h)
    curvature = objective.curvature(point, h)
    p = system.solve(curvature, C / h_next, gradient, _accuracy(now))
    return p, curvature.shift(p)


def _accuracy(now: Evaluation) -> float:
    """How closely the system is worth solving."""
    least, most = _ACCURACY
    if not plenty(now, 1.0) or not 0.0 < now.residual <= _FAR_OFF * now.error:
        return most
    return min(most, max(least, float(np.sqrt(_HARMLESS * now.error / now.residual))))


def search(objective: Any, point: Any, direction: Any, h: float, C: float) -> float:
    """A step along `direction` that leaves a fraction of the slope: Newton's method in a bracket."""
    quadratic = float(direction.w @ direction.w)
    linear = float(point.w @ direction.w)

    def slope(t: float) -> tuple[float, float]:
        _, risk_slope, risk_curvature = objective.smoothed_ray(point, direction, t, h)
        return quadratic * t + linear + C * risk_slope, quadratic + C * risk_curvature

    low, high, t = 0.0, np.inf, 1.0
    first, _ = slope(0.0)
    if first >= 0.0:
        return 0.0
    for _ in range(40):
        now, curvature = slope(t)
        if abs(now) <= _SLOPE_LEFT * abs(first):
            break
        if now > 0.0:
            high = t
        else:
            low = t
        step = t - now / curvature if curvature > 0.0 else np.inf
        if not low < step < high:
            step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * t
        t = float(step)
    return t

"""The best intercepts of several classes: Newton's method on the risk rounded ever more finely.

Nothing here sees an example: the rounded risk is known by its derivatives in the intercepts, which are sums.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.deadline import time_is_up

Array = NDArray[np.float64]
#: From intercepts to the slope and the second derivative of the rounded risk there.
Derivatives = Callable[[Array], tuple[Array, Array]]

# From this width to this one, as fractions of the mean cost.
WIDTHS = (0.3, 0.03, 3e-3, 3e-4, 3e-5, 1e-6)
# The slope of the rounded risk in an intercept at which a width is done with: on the way, and where planes are taken.
# What is left is taken away from a plane as flows.
ROUGH_WIDTH = 0.03
FLAT_ON_THE_WAY, FLAT = 1e-3, 1e-7


def closest_shift(
    over: Callable[[float, Array, float], Array],
    error: Callable[[Array, float], float],
    n_classes: int,
    mean_cost: float,
    enough: float,
) -> tuple[Array, float]:
    """Intercepts that make the risk least, until rounding takes no more than `enough` from a plane; and its width.

    Parameters
    ----------
    over : callable
        (width, intercepts to start from, slope to leave) -> the best intercepts of the risk rounded over that width.
    error : callable
        (intercepts, width) -> what rounding costs there.
    n_classes : int
    mean_cost : float
        The scale of the risk.
    enough : float
    """
    # What is out of balance is taken from the plane, too.
    flat = float(np.clip(enough / (mean_cost * n_classes), FLAT, FLAT_ON_THE_WAY))
    b = np.zeros(n_classes)
    for width in WIDTHS:
        h = width * mean_cost
        b = over(h, b, FLAT_ON_THE_WAY)
        if time_is_up():
            break
        if width == WIDTHS[-1] or error(b, h) <= enough:
            b = over(h, b, flat)
            if error(b, h) <= enough:
                break
    return b, h


def rounded_shift(derivatives: Derivatives, start: Array, *, scale: float, resolved: float, flat: float) -> Array:
    """Intercepts that make a rounded risk least.

    Parameters
    ----------
    derivatives : callable
    start : array
        Where to begin.
    scale : float
        That of the costs: no step is longer than this, or than the last.
    resolved : float
        Shifts by less are lost on the scores.
    flat : float
        The slope in an intercept that may be left.
    """
    b = start
    if time_is_up():
        return b
    gradient, hessian = derivatives(b)
    jumps, reach = 0, scale
    for _ in range(50):
        if np.abs(gradient).max() <= flat or jumps > len(b) or time_is_up():
            break
        step = _step(gradient, hessian, reach)
        first = float(gradient @ step)
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(40):  # the slope along the step rises: look for its root in a bracket
            gradient, hessian = derivatives(b + t * step)
            slope = float(gradient @ step)
            if abs(slope) <= 0.5 * abs(first):
                low = t
                break
            low, high = (t, high) if slope < 0.0 else (low, t)
            if time_is_up():
                break
            t = 4.0 * t if np.isinf(high) else 0.5 * (low + high)
            if (high - low) * float(np.abs(step).max()) <= resolved:  # a kink that scores do not resolve
                jumps += 1
                break
        if low == 0.0:  # scores resolve no more
            break
        if low != t:
            gradient, hessian = derivatives(b + low * step)
        b = b + low * step
        reach = max(scale, low * float(np.abs(step).max()))  # what the last step went may be gone again
    return np.asarray(b - b.mean())


def _step(gradient: Array, hessian: Array, scale: float) -> Array:
    """A Newton step in the intercepts; where nothing bends, a step downhill, no longer than the scale of the costs."""
    # All intercepts moved alike change nothing, and classes without kinks have no curvature: a little is added.
    ridge = 1e-8 * (float(np.trace(hessian)) / len(hessian) + float(np.abs(gradient).max()) / scale)
    step = -np.linalg.solve(hessian + ridge * np.eye(len(hessian)), gradient)
    return np.asarray(step * min(1.0, scale / float(np.abs(step).max())))

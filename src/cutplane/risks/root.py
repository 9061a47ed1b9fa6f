"""The root of a function that rises, by Newton's method in a bracket."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Where a function is nearly flat, Newton's method would go anywhere: until the root is bracketed, no further than this
# many times the distance from zero, or this far.
_LONGEST = 1e3
# Newton's steps no longer than this, relative to the distance from zero or to one, are rounding.
_SHORTEST = 2.0**-50


def rising_crossing(slope: Callable[[float], float], near: float, far: float, slopes: tuple[float, float]) -> float:
    """Where a function that never falls, and may jump, passes zero: the end that lies on the side of `far`.

    Parameters
    ----------
    slope : callable
    near, far : float
        Between which it passes zero.
    slopes : tuple of two floats
        Its values there.
    """
    at_near, at_far = first, _ = slopes
    # A secant finds the root of a smooth slope, bisection the step of one that jumps: by turns.
    for turn in range(200):
        middle = 0.5 * (near + far)
        if turn % 2 == 0 and at_far != at_near:
            middle = near - at_near * (far - near) / (at_far - at_near)
        if not min(near, far) < middle < max(near, far):
            middle = 0.5 * (near + far)
        if at_far == 0.0 or middle in (near, far):
            break
        now = slope(middle)
        if now * first > 0.0:
            near, at_near = middle, now
        else:
            far, at_far = middle, now
    return far


# No root is sought further from zero.
_FURTHEST = 1e15


def crossing_from_zero(slope: Callable[[float], float]) -> float:
    """Where a function that never falls, and may jump, passes zero at t >= 0: sought twice as far each time."""
    near, far, at_near = 0.0, 1.0, slope(0.0)
    if at_near >= 0.0:
        return 0.0
    while (at_far := slope(far)) < 0.0 and far < _FURTHEST:
        near, at_near, far = far, at_far, 2.0 * far
    return rising_crossing(slope, near, far, (at_near, at_far))


def rising_root(
    function: Callable[[float], tuple[float, float]], start: float, *, low: float = -np.inf, tolerance: float = 0.0
) -> float:
    """Where `function`, which gives its value and derivative and never falls, passes zero; at least `low`.

    Parameters
    ----------
    function : callable
        t -> (value, derivative).
    start : float
        The first t to try.
    low : float
        The root is not sought below.
    tolerance : float
        A value this close to zero is zero.
    """
    high, t = np.inf, start
    for _ in range(100):
        value, derivative = function(t)
        if abs(value) <= max(tolerance, _SHORTEST * max(1.0, abs(t)) * derivative):
            break
        if value > 0.0:
            high = t
        else:
            low = t
        step = t - value / derivative if derivative > 0.0 else np.nan
        bracketed = np.isfinite(low) and np.isfinite(high)
        if not bracketed:
            step = min(max(step, t - _LONGEST * max(1.0, abs(t))), t + _LONGEST * max(1.0, abs(t)))
        if not low < step < high:
            step = 0.5 * (low + high) if bracketed else t - np.sign(value) * max(1.0, 2.0 * abs(t))
        if step == t:
            break
        t = float(step)
    return t

"""One step of smoothed Newton: where to, and how far."""

from __future__ import annotations

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane.solvers.base import Array, Intercept, Point, ScoredPoint, SmoothedCut
from cutplane.solvers.newton.rounded import Evaluation, evaluate, plenty
from cutplane.solvers.newton.system import NewtonSystem
from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike


def newton_direction(
    objective: SmoothObjectiveLike,
    C: float,
    point: ScoredPoint,
    now: Evaluation,
    h: float,
    h_next: float,
    system: NewtonSystem,
    *,
    bold: bool,
) -> tuple[Array, Intercept]:
    """The changes of weights and intercept that Newton's method suggests for the width `h_next`.

    `bold` allows an evaluation there, which may be in vain.
    """
    gradient = now.gradient
    if h_next < h:
        there = evaluate(objective.smoothed(point, h_next), point.w, C) if bold and plenty(now, h_next / h) else None
        if there is not None and there.residual <= TUNING.in_reach * there.error:
            gradient, h = there.gradient, h_next
        else:
            # Few examples on kinks mostly stay there: their shares of the slope change with the width.
            gradient = point.w + C * objective.extrapolated_slope(point, h_next, h)
    curvature = objective.curvature(point, h)
    p = system.solve(curvature, C / h_next, gradient)
    return p, curvature.shift(p)


def is_far_enough(now: Evaluation, C: float, p: Array, end: Point, cut: SmoothedCut) -> bool:
    """Whether a step p from an evaluated point ends where a search need not go on: the plane there is `cut`."""
    left = float((end.w + C * cut.slope) @ p)
    return abs(left) <= TUNING.whole_left * abs(float(now.gradient @ p))


def search(
    objective: SmoothObjectiveLike,
    point: ScoredPoint,
    direction: ScoredPoint,
    h: float,
    C: float,
    first: float | None = None,
) -> float:
    """A step along `direction` that leaves a fraction of the slope: Newton's method in a bracket.

    `first` is the slope at the point, where it is known.
    """
    quadratic = float(direction.w @ direction.w)
    linear = float(point.w @ direction.w)

    def slopes(*steps: float) -> list[tuple[float, float]]:
        found = objective.smoothed_ray(point, direction, steps, h)
        return [
            (quadratic * t + linear + C * slope, quadratic + C * curvature)
            for t, (_, slope, curvature) in zip(steps, found, strict=True)
        ]

    low, high, t = 0.0, np.inf, 1.0
    if first is None:
        (first, _), there = slopes(0.0, t)  # asked for at once: the examples may lie elsewhere
    else:
        (there,) = slopes(t)
    if first >= 0.0:
        return 0.0
    for k in range(40):
        now, curvature = there if k == 0 else slopes(t)[0]
        if abs(now) <= TUNING.slope_left * abs(first) or time_is_up():
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

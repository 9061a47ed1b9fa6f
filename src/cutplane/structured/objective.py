"""The structured risk as a function of the weights: what cutting-plane solvers see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane._types import Array
from cutplane.proof.rounding import Rounding
from cutplane.solvers.base import Cut, Point
from cutplane.structured.base import Sample, Sweep
from cutplane.structured.tuning import LINE


@dataclass(frozen=True, slots=True)
class SweptPoint(Point):
    """Weights, and the sweep there once it has been made."""

    known: list[Sweep] = field(default_factory=list)


class StructuredObjective:
    """The mean over examples of the highest plane among all labellings.

    Every value and every cut is a sweep: one search per example. A point remembers its own, so that asking for its
    value and its cut costs one.

    Parameters
    ----------
    sample : Sample
        A model bound to its examples.
    """

    lower_bound = 0.0
    intercept = False
    mass = 1.0  # every example has one plane, and its share of the mean

    def __init__(self, sample: Sample) -> None:
        self.sample = sample

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.sample.dimension

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.sample.examples

    @property
    def exact(self) -> bool:
        """Whether values are those of the risk, and not merely below it."""
        return self.sample.exact

    @property
    def rounding(self) -> Rounding:
        """What rounding does to sweeps, as far as it is known by now."""
        return self.sample.rounding

    def at(self, w: Array, nearby: SweptPoint | None = None) -> SweptPoint:
        """The point w; nothing is searched until its value is asked."""
        return SweptPoint(w, 0.0)

    def fit_intercept(self, point: SweptPoint) -> SweptPoint:
        """The point itself: there is no intercept."""
        return point

    def mix(self, a: SweptPoint, b: SweptPoint, t: float) -> SweptPoint:
        """(1 - t) a + t b."""
        if t in (0.0, 1.0):
            return b if t else a
        return self.at(a.w + t * (b.w - a.w))

    def sweep(self, point: SweptPoint) -> Sweep:
        """One search per example, remembered by the point."""
        if not point.known:
            point.known.append(self.sample.sweep(point.w))
        return point.known[0]

    def value(self, point: SweptPoint) -> float:
        """The risk at a point."""
        return self.sweep(point).value

    def cut(self, point: SweptPoint) -> Cut:
        """The plane that touches the risk at a point."""
        return self.sweep(point).plane._replace(exact=self.exact)

    def advance(
        self, a: SweptPoint, b: SweptPoint, step: float, mu: float, C: float
    ) -> tuple[SweptPoint, float, Callable[[], Cut]]:
        """The point moved from a towards b, its risk, and the plane mu of the rest further on.

        A search that is not exact may stay at a without need: then the plane at b itself is what is not known yet.
        """
        moved = self.mix(a, b, step)
        return moved, self.value(moved), lambda: self.cut(self.mix(moved, b, mu if step > 0.0 else 1.0))

    def ray(self, a: SweptPoint, b: SweptPoint) -> StructuredRay:
        """The risk along the line from a to b."""
        return StructuredRay(self, a, b)


class StructuredRay:
    """The risk along a line, a sweep for each point that is asked for."""

    def __init__(self, objective: StructuredObjective, start: SweptPoint, end: SweptPoint) -> None:
        self._objective = objective
        self._start, self._end = start, end
        self._along = end.w - start.w
        self._points: dict[float, SweptPoint] = {0.0: start, 1.0: end}

    def value(self, t: float) -> float:
        """The risk at t."""
        return self._objective.value(self._at(t))

    def slope(self, t: float) -> float:
        """A derivative at t: that of the plane found there."""
        return float(self._objective.cut(self._at(t)).slope @ self._along)

    def _at(self, t: float) -> SweptPoint:
        if t not in self._points:
            self._points[t] = self._objective.mix(self._start, self._end, t)
        return self._points[t]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Nearly the argmin over t >= 0 of ½ quadratic t² + linear t + C·risk.

        Each sweep gives a plane, hence a line below the risk; the next t is the minimiser over these. Ends when they
        leave little to be found, after at most a handful of sweeps.
        """
        lines: list[tuple[float, float]] = []
        best, best_t = np.inf, 0.0
        start = np.inf
        t = 0.0
        for count in range(LINE.most_sweeps):
            risk, slope = self.value(t), self.slope(t)
            value = 0.5 * quadratic * t * t + linear * t + C * risk
            start = value if count == 0 else start
            if value < best:
                best, best_t = value, t
            lines.append((slope, risk - slope * t))
            t, bound = _minimise_over_lines(lines, quadratic, linear, C)
            if time_is_up() or (count and best - bound <= LINE.line_share * (start - best)):
                break
        return best_t


def _minimise_over_lines(
    lines: list[tuple[float, float]], quadratic: float, linear: float, C: float
) -> tuple[float, float]:
    """Argmin over t >= 0 of ½ quadratic t² + linear t + C·(highest line at t), and the least value."""
    slopes, heights = np.array(lines).T

    def rise(t: float) -> tuple[float, float]:
        at = slopes * t + heights
        top = int(np.argmax(at))
        return quadratic * t + linear + C * slopes[top], 0.5 * quadratic * t * t + linear * t + C * at[top]

    low, high = 0.0, 1.0
    while rise(high)[0] < 0.0:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rise(middle)[0] > 0.0 else (middle, high)
    return high, min(rise(low)[1], rise(high)[1])

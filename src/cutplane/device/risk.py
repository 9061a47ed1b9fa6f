"""A sum of losses whose scores, targets and weights lie on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from cutplane.device.kernels import Array, DeviceArray, Examples, Kernels
from cutplane.device.text import LOSSES
from cutplane.proof.losses import Terms
from cutplane.risks.base import RoundedRisk, ScoreCut, Smoothed
from cutplane.risks.intercept import least_shift_between
from cutplane.risks.visited import VisitedRisk

# No step is sought further from zero.
_FURTHEST = 1e15


class DeviceRay(NamedTuple):
    """A risk along the line from scores towards others."""

    kernels: Kernels
    of: Examples
    start: DeviceArray
    end: DeviceArray

    def _at(self, t: float) -> tuple[float, float, float]:
        return self.kernels.along(self.of, self.start, self.end, [t], 0.0, towards=True)[0]

    def value(self, t: float) -> float:
        """The risk at t."""
        return self._at(t)[0]

    def slope(self, t: float) -> float:
        """Its right derivative at t."""
        return self._at(t)[1]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk: several t are looked at in one go."""

        def slopes(steps: Array) -> Array:
            along = self.kernels.along(self.of, self.start, self.end, steps.tolist(), 0.0, towards=True)
            return quadratic * steps + linear + C * np.array([slope for _, slope, _ in along])

        steps = np.array([0.0, 0.5, 1.0, 2.0])
        found = slopes(steps)
        if found[0] >= 0.0:
            return 0.0
        while found[-1] < 0.0:
            if steps[-1] >= _FURTHEST:
                return float(steps[-1])
            steps = steps[-1] * np.array([1.0, 2.0, 4.0, 8.0])
            found = slopes(steps)
        return least_shift_between(steps, slopes, lambda low, high: None, found)


class DeviceRisk(RoundedRisk):
    """Sum of c_i loss(s_i, y_i) on a device.

    Parameters
    ----------
    risk : VisitedRisk
        The same on the host, which the prover asks for what does not depend on scores.
    kernels : Kernels
    of : Examples
        Targets and weights on the device.
    """

    def __init__(self, risk: VisitedRisk, kernels: Kernels, of: Examples) -> None:
        self._risk = risk
        self._kernels = kernels
        self.of = of
        self.first_width = risk.first_width
        self.total_weight = risk.total_weight
        self.lower_bound = risk.lower_bound
        self.steepest, self.inexact, self.least_mass = risk.steepest, risk.inexact, risk.least_mass
        self.has_kinks = risk.has_kinks

    @classmethod
    def on(cls, kernels: Kernels, risk: VisitedRisk) -> DeviceRisk | None:
        """A risk of the host, on a device; None where its loss is not known there."""
        terms: Terms | None = risk.terms
        if terms is None or terms.name not in LOSSES:
            return None
        known = [float(terms.parameters[name]) for name in LOSSES[terms.name][1]]
        a, b, c = known + [0.0] * (3 - len(known))
        y = terms.y if terms.y.dtype == np.int8 else np.asarray(terms.y, np.float64)
        weights = None if terms.weights is None else kernels.to_device(terms.weights)
        return cls(risk, kernels, Examples(terms.name, (a, b, c), kernels.to_device(y), weights, terms.each))

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._risk.name

    @property
    def scale(self) -> float:
        """The size of the targets and of the loss's own parameters."""
        size = float(abs(self.of.y).max()) if self.of.y.size else 0.0
        return max(1e-300, size) + self._risk.own_scale

    @property
    def terms(self) -> Terms:
        """What the risk is a sum of: on the device."""
        parameters = dict(zip(LOSSES[self.of.loss][1], self.of.parameters, strict=False))
        return Terms(self.of.loss, parameters, self.of.y, self.of.weights, self.of.each)

    def intercept_bound(self, n: int) -> Any:
        """How far from zero a best intercept is at most."""
        return self._risk.intercept_bound(n)

    def value(self, scores: DeviceArray) -> float:
        """The risk."""
        return self._kernels.value(self.of, scores)

    def cut(self, scores: DeviceArray) -> ScoreCut:
        """The plane that touches the risk at `scores`."""
        coef, value, offset, _ = self._kernels.cut(self.of, scores)
        return ScoreCut(coef, offset, value)

    def leans(self, scores: DeviceArray, shifts: Any) -> Any:
        """The slope of the risk along constants, at several of these."""
        return self._kernels.leans(self.of, scores, [float(t) for t in shifts])

    def turns_within(
        self, scores: DeviceArray, low: float, high: float, most: int
    ) -> tuple[DeviceArray, DeviceArray] | None:
        """Where the slope along constants jumps between two of them, and by how much; None: at more, or it bends."""
        if not self.has_kinks:
            return None
        above, below, epsilon = self.of.parameters if self.of.loss == "tube" else (1.0, 1.0, 0.0)
        middle = self.of.y - scores
        # Both kinks of a tube; a hinge has one.
        sides = [(middle - epsilon, below), (middle + epsilon, above)][: 2 if self.of.loss == "tube" else 1]
        found = [
            (kinks, price, self._kernels.xp.flatnonzero((kinks > low) & (kinks <= high))) for kinks, price in sides
        ]
        if sum(len(chosen) for _, _, chosen in found) > most:
            return None
        xp, weights = self._kernels.xp, self.of.weights
        each = [xp.full(len(rows), self.of.each) if weights is None else weights[rows] for _, _, rows in found]
        places = xp.concatenate([kinks[rows] for kinks, _, rows in found])
        return places, xp.concatenate([price * some for (_, price, _), some in zip(found, each, strict=True)])

    def probed(
        self, scores: DeviceArray, direction: DeviceArray | None, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]:
        """As `smoothed_ray`, at several steps in one go."""
        return self._kernels.along(self.of, scores, direction, steps, h, towards=False)

    @property
    def y(self) -> DeviceArray:
        """Targets, or labels of -1 and +1."""
        return self.of.y

    def ray(self, start: DeviceArray, end: DeviceArray) -> DeviceRay:
        """The exact restriction to a line."""
        return DeviceRay(self._kernels, self.of, start, end)

    def take(self, rows: DeviceArray, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""
        there = self._kernels.to_device(rows)
        weights = None if self.of.weights is None else self.of.weights[there] * scale
        part = self.of._replace(y=self.of.y[there], weights=weights, each=self.of.each * scale)
        return type(self)(self._risk, self._kernels, part)

    def smoothed(self, scores: DeviceArray, h: float) -> Smoothed:
        """The risk rounded over a width h."""
        coef, value, offset, error, curved, _ = self._kernels.smoothed(self.of, scores, h)
        return Smoothed(coef, offset, value, error, curved if self.has_kinks else len(scores))

    def extrapolated(self, scores: DeviceArray, h: float, reach: float) -> DeviceArray:
        """Coefficients of the risk rounded over h as if examples on the kink of width `reach` stayed on it."""
        return self._kernels.extrapolated(self.of, scores, h, reach)

    def kinks(self, scores: DeviceArray, h: float) -> tuple[DeviceArray, DeviceArray]:
        """The examples that the rounded risk is curved at, and h times the second derivatives there."""
        weights = self._kernels.curved(self.of, scores, h)
        rows = self._kernels.xp.flatnonzero(weights > 0.0)
        return rows, weights[rows]

    def smoothed_ray(
        self, scores: DeviceArray, direction: DeviceArray | None, t: float, h: float
    ) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: the constant 1)."""
        return self._kernels.along(self.of, scores, direction, [t], h, towards=False)[0]

    def plane_offset(self, coef: DeviceArray) -> float:
        """The offset of the highest plane with these coefficients that is below the risk."""
        return self._kernels.offset(self.of, coef)[0]

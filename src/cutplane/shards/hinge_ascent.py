"""Dual coordinate ascent on the hinge, as planes and points of an objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane import _core
from cutplane.risks.base import Array
from cutplane.risks.hinge import Hinge
from cutplane.risks.intercept import balanced
from cutplane.solvers.base import Cut, Duals
from cutplane.sources.matrix import MatrixSource

# Beyond this, squares of sums over examples are no longer numbers.
_LARGEST_SQUARE = 1e150
# Dual variables are scaled by this before they prove anything.
_WITHIN = 1.0 - 2.0**-50
# Of its bound: what a dual variable at the bound is, but for rounding.
_AT_BOUND = 1.0 - 1e-12
# Examples at a bound rest at first where their margins are at least so far from what would let them leave it.
_FAR_FROM_LEAVING = 0.3


class HingeAscent:
    """Epochs of dual coordinate ascent for the hinge, as planes and points of an objective."""

    def __init__(
        self, source: MatrixSource, scale: _core.AscentScale, risk: Hinge, C: float, *, intercept: bool, seed: int
    ) -> None:
        self._source = source
        self._scale = scale
        self._risk = risk
        self._C = C
        self._intercept = intercept
        self._estimate: float | None = None
        upper = None if risk.weights is None else C * risk.weights
        self._ascent = _core.DualAscent(source.core, scale, risk.y, upper, C * risk.each, seed)
        if not self.mean_square < _LARGEST_SQUARE:
            raise ValueError(
                f"The examples have a mean squared length of {self.mean_square:.1e}; scale the features so that it is "
                f"below {_LARGEST_SQUARE:.0e}."
            )

    @property
    def mean_square(self) -> float:
        """The mean squared length of an example."""
        return self._scale.mean_square

    @property
    def can_start(self) -> bool:
        """Whether it can begin at a plane."""
        return True

    def start(self, plane: Cut, fraction: float) -> None:
        """Begin with every dual variable at a fraction of its bound; `plane` is that of all at their bounds.

        With an intercept no plane is: then it begins at zero.
        """
        if not self._intercept:
            self._ascent.start(fraction, -self._C * plane.slope)

    def resume(self, duals: Duals, nearby: Any = None) -> bool:
        """Go on from the end of another ascent; a scored point near there, if one is known, saves a pass."""
        bounds = self._C * (self._risk.each if self._risk.weights is None else self._risk.weights)
        if self._C < duals.C:
            self._resume_below(duals, bounds, nearby)
        else:
            self._resume_above(duals, bounds)
        return True

    def _resume_below(self, duals: Duals, bounds: Any, nearby: Any) -> None:
        """Under lower bounds: variables above them are cut off, the others stay."""
        alpha = duals.fractions * (duals.C / self._C) * bounds
        above = np.maximum(alpha - bounds, 0.0)
        w = duals.w - self._source.combine(above * self._risk.y)
        self._ascent.resume(np.minimum(alpha, bounds), w, float(duals.intercept))
        scores = getattr(nearby, "scores", None)
        if scores is None:
            scores = self._source.scores(w) + duals.intercept
        self._ascent.shrink(scores, _FAR_FROM_LEAVING)

    def _resume_above(self, duals: Duals, bounds: Any) -> None:
        """Under higher bounds: the variables at their bounds move towards the new ones together."""
        settled = duals.fractions >= _AT_BOUND
        alpha = duals.C / self._C * duals.fractions * bounds
        change = np.where(settled, bounds - alpha, 0.0)
        towards = self._source.combine(change * self._risk.y)
        curvature = float(towards @ towards)
        gain = float(change.sum()) - float(duals.w @ towards)
        step = 1.0 if gain >= curvature else max(gain, 0.0) / curvature  # the dual value is a parabola along it
        alpha = np.where(settled, bounds, alpha) if step == 1.0 else np.minimum(alpha + step * change, bounds)
        self._ascent.resume(alpha, duals.w + step * towards, float(duals.intercept))

    @property
    def duals(self) -> Duals:
        """What `resume` goes on from."""
        bounds = self._risk.each if self._risk.weights is None else self._risk.weights
        coef = -self._risk.y * self._ascent.coefficients(1.0 / self._C, False)
        fractions = np.divide(coef, bounds, out=np.ones_like(coef), where=np.asarray(bounds) > 0.0)
        return Duals(np.minimum(fractions, 1.0), self._C, self._ascent.v, self._ascent.intercept)

    def epoch(self) -> None:
        """One sweep over the examples that have not settled at a bound."""
        self._estimate = None
        self._ascent.epoch()

    def extrapolate(self) -> None:
        """Go on in the direction of the epochs since the last call, as far as it pays."""
        self._estimate = None
        self._ascent.extrapolate()

    def unshrink(self, point: Any = None) -> None:
        """Look at every example again, or at those that must not rest, as the scores at the weights reached tell."""
        if point is None:
            self._ascent.unshrink()
        else:
            self._ascent.unshrink(np.asarray(point.scores, np.float64))

    @property
    def weights(self) -> tuple[Array, float]:
        """The weights and the intercept reached."""
        return self._ascent.v, self._ascent.intercept

    @property
    def estimate(self) -> float:
        """The dual value by the running sums: what `plane` would prove but for rounding and the intercept's balance."""
        if self._estimate is None:
            self._estimate = self._ascent.dual_value
        return self._estimate

    @property
    def last_gain(self) -> float:
        """What the last epoch added to the dual value."""
        return self._ascent.gain

    @property
    def open_gap(self) -> float:
        """About the duality gap at the weights reached, as the last epoch met its examples."""
        return self._ascent.open_gap

    @property
    def share_active(self) -> float:
        """The fraction of the examples that the next epoch will look at."""
        return self._ascent.active / max(self._source.shape[0], 1)

    @property
    def share_at_bounds(self) -> float:
        """The fraction of the dual variables above zero that are at their bounds."""
        return self._ascent.share_at_bounds

    @property
    def first_gap(self) -> float:
        """What gap the first epoch leaves is not foreseen."""
        return float("inf")

    def plane(self) -> Cut:
        """The plane that the dual variables stand for, summed up afresh; value is not the risk anywhere."""
        # A little less than it takes: so that rounding leaves no variable above its bound.
        coef = self._ascent.coefficients(_WITHIN / self._C, self._intercept)
        if self._intercept:
            coef = balanced(coef)
        offset = self._risk.plane_offset(coef)
        return Cut(self._source.combine(coef), offset, np.nan, exact=False, mass=offset * (1.0 + 1e-9), coef=coef)

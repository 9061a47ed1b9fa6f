"""Dual coordinate ascent over the examples of a matrix, as planes and points of an objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cutplane._runtime.deadline import seconds_left
from cutplane.proof.rounding import gamma, length
from cutplane.risks.base import Array, ScoreCut
from cutplane.risks.intercept import balanced
from cutplane.risks.visited import AscentExamples, VisitedRisk
from cutplane.shards.batches import batches_pay
from cutplane.solvers.base import AscentStart, Climb, Cut, Duals, ScoredPoint
from cutplane.sources.base import Source

# Beyond this, squares of sums over examples are no longer numbers.
_LARGEST_SQUARE = 1e150
# Dual variables are scaled by this before they prove anything.
WITHIN = 1.0 - 2.0**-50
# Roundings of a coefficient and of an entry of a sum that are scaled.
_SCALING = 8.0
# Of its bound: what a dual variable at the bound is, but for rounding.
_AT_BOUND = 1.0 - 1e-12
# From one C to the next a slope is taken to grow by a factor within these; all of them together are then scaled by one
# within those.
_GROWTH = (0.2, 1.2)
_SCALED = (0.5, 1.5)
# Of the distance between two values of C, in logarithms: how far away they still tell where a run ends. The values may
# be as close as one likes, and a power of what lies between them anything.
_FURTHEST = 2.0
# How much more of its bound a plane may lack, before variables are moved into the balance that a penalised intercept
# asks for: that takes a pass.
_MOST_LEAN = 500.0
# Examples at a bound rest at first where their margins are at least so far from what would let them leave it.
_FAR_FROM_LEAVING = 0.3


class ExampleAscent:
    """Epochs of dual coordinate ascent for a sum of losses, one for each example.

    The dual variable of an example is its coefficient in the weights. It is at most C times the example's weight c_i
    times the steepest slope of the loss.

    Parameters
    ----------
    source : Source
    examples : AscentExamples
        The same, as ascent runs over them.
    risk : VisitedRisk
    C : float
    seed : int
        For the order of the examples.
    origin : array, optional
        Weights that those of the ascent count from.
    floor : array, optional
        What none of its weights falls below; -inf where one is free.
    n_threads : int
        For batches of examples, where these pay; 0: those of OpenMP.
    """

    def __init__(
        self,
        source: Source,
        examples: AscentExamples,
        risk: VisitedRisk,
        C: float,
        *,
        seed: int,
        origin: Array | None = None,
        floor: Array | None = None,
        n_threads: int = 0,
    ) -> None:
        self._source = source
        self._scale = examples.scale
        self._risk = risk
        self._C = C
        self._intercept = examples.intercept
        self._estimate: float | None = None
        self._origin = origin
        base = None if origin is None else source.scores(origin)
        self._ascent = risk.ascent(examples, C, seed, base)
        self._bounded = floor is not None
        if floor is not None:
            self._ascent.keep_above(np.ascontiguousarray(floor[: examples.features], np.float64))
        elif batches_pay(examples.matrix, n_threads):
            self._ascent.go_in_batches(examples.scale, n_threads)
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
        """Whether it can begin at the plane at zero."""
        return self._origin is None and not self._bounded

    def start(self, zero: ScoredPoint, least: float) -> AscentStart:
        """Begin with every dual variable at the best fraction of its value at scores of zero, if that is `least`."""
        scores = np.asarray(zero.scores, np.float64)
        coef = self._risk.balanced_cut(scores).coef if self._intercept else self._risk.cut(scores).coef
        slope = self._source.combine(coef)
        v = -self._C * slope
        square = float(v @ v)
        # Along the fraction, the dual value is a parabola, or nearly one close to 1.
        fractions = np.array([0.5, 0.75, WITHIN])
        values = np.array([self._dual_rise(-self._C * t * coef) - 0.5 * t * t * square for t in fractions])
        best = float(np.clip(_top_of_parabola(fractions, values), 0.0, WITHIN))
        if best >= least:
            roundings = float(self._source.extent.sum_depth) + _SCALING
            intercept = float(zero.intercept) if self._intercept else math.nan
            self._ascent.resume(-self._C * best * coef, best * v, intercept, roundings)
            self._estimate = None
        foreseen = 0.5 * square * (1.0 - best) / max(abs(values[2]), 1e-300)
        return AscentStart(self._plane(best * coef, best * slope), best, foreseen)

    @property
    def _bounds(self) -> Any:
        """C times the weight of each example, or of all."""
        return self._C * self._each

    @property
    def _each(self) -> Any:
        return self._risk.each if self._risk.weights is None else self._risk.weights

    def resume(self, duals: Duals, nearby: Any = None) -> bool:
        """Go on from the end of another ascent; a scored point near there, if one is known, saves a pass."""
        if self._bounded:
            return False
        if not self._risk.has_kinks:
            self._resume_scaled(duals)
        elif self._C < duals.C:
            self._resume_below(duals, nearby)
        else:
            self._resume_above(duals)
        return True

    def _resume_below(self, duals: Duals, nearby: Any) -> None:
        """Under lower bounds: variables beyond them are cut off, the others stay."""
        slopes = duals.slopes * (duals.C / self._C)
        within = np.clip(slopes, *self._risk.dual_range)
        w = duals.w - self._source.combine((slopes - within) * self._bounds)
        self._ascent.resume(within * self._bounds, w, float(duals.intercept))
        scores = getattr(nearby, "scores", None)
        if scores is None:
            full = w if self._origin is None else w + self._origin
            scores = self._source.scores(full) + (duals.intercept if self._intercept else 0.0)
        self._ascent.shrink(self._own(scores), _FAR_FROM_LEAVING)

    def _own(self, scores: Any) -> Array:
        """Scores without those of the origin."""
        own = np.asarray(scores, np.float64)
        return own if self._origin is None else own - self._source.scores(self._origin)

    def _resume_above(self, duals: Duals) -> None:
        """Under higher bounds: the variables at their bounds move towards the new ones together."""
        lowest, highest = self._risk.dual_range
        slopes = duals.slopes
        settled = (slopes != 0.0) & ((slopes >= highest * _AT_BOUND) | (slopes <= lowest * _AT_BOUND))
        coef = (duals.C / self._C) * slopes * self._bounds
        change = np.where(settled, slopes * self._bounds - coef, 0.0)
        towards = self._source.combine(change)
        curvature = float(towards @ towards)
        # The dual value is a parabola along it.
        gain = self._dual_rise(change) - float(duals.w @ towards)
        step = 1.0 if gain >= curvature else max(gain, 0.0) / curvature
        self._ascent.resume(coef + step * change, duals.w + step * towards, float(duals.intercept))

    def _dual_rise(self, coef: Array) -> float:
        """What coefficients, of a loss with kinks, add to the dual value but for the length of the weights."""
        rise = self._C * self._risk.plane_offset(-coef / self._C)
        return rise if self._origin is None else rise - float(self._source.combine(coef) @ self._origin)

    def _resume_scaled(self, duals: Duals) -> None:
        """Without kinks: where two runs lead, or between the same weights and the same slopes."""
        if duals.earlier is not None:
            self._resume_further(duals, *duals.earlier)
            return
        ratio = self._C / duals.C
        same = duals.slopes * (duals.C * self._each)
        square = float(duals.w @ duals.w)
        # With lower bounds, the same weights may lie beyond them.
        most = ratio if ratio < 1.0 and np.isfinite(np.max(self._risk.dual_range[1])) else max(1.0, ratio)
        ends = np.linspace(min(1.0, ratio), most, 3)
        values = [self._dual_rise(t * same) - 0.5 * t * t * square for t in ends]
        best = float(np.clip(_top_of_parabola(ends, np.array(values)), ends[0], ends[2]))
        self._ascent.resume(best * same, best * duals.w, float(duals.intercept))

    def _resume_further(self, duals: Duals, slopes: Array, C: float) -> None:
        """Where two runs lead: in the logarithms of C and of the slopes, along a straight line."""
        steps = min(_FURTHEST, math.log(self._C / duals.C) / math.log(duals.C / C))
        both = (slopes != 0.0) & (duals.slopes != 0.0)
        growth = np.divide(duals.slopes, slopes, out=np.ones_like(slopes), where=both)
        led = duals.slopes * np.clip(growth, *_GROWTH) ** steps
        coef = np.clip(led, *self._risk.dual_range) * self._bounds
        v = self._source.combine(coef)
        square = float(v @ v)
        fractions = np.array([0.8, 0.9, 1.0])
        values = np.array([self._dual_rise(t * coef) - 0.5 * t * t * square for t in fractions])
        best = float(np.clip(_top_of_parabola(fractions, values), *_SCALED))
        self._ascent.resume(best * coef, best * v, float(duals.intercept))

    @property
    def duals(self) -> Duals:
        """What `resume` goes on from."""
        slopes = self._ascent.coefficients(-1.0 / self._C, False)
        each = self._each
        if np.ndim(each):
            np.divide(slopes, each, out=slopes, where=each > 0.0)  # without a weight there is no slope
        else:
            slopes /= each
        np.clip(slopes, *self._risk.dual_range, out=slopes)  # but for rounding they are within
        return Duals(slopes, self._C, self._ascent.v, self._ascent.centre)

    @property
    def sweeps(self) -> int:
        """How many an epoch has: more than one where examples are few."""
        return self._ascent.sweeps

    def epoch(self) -> None:
        """A sweep, or several, over the examples that have not settled at a bound."""
        self._estimate = None
        self._ascent.epoch()

    def extrapolate(self) -> None:
        """Go on in the direction of the epochs since the last call, as far as it pays."""
        self._estimate = None
        self._ascent.extrapolate()

    def climb(self, products: int, gap: float) -> Climb:
        """Go on by conjugate gradients to where the dual value is greatest while no variable leaves its bound.

        Ends after so many products, each about an epoch over the variables between their bounds, or where the gap that
        these leave is no larger, or little next to what the others leave; with a gap of 0, at the top. Where weights
        have a floor, or the loss is not quadratic in pieces, nothing is done.
        """
        self._estimate = None
        return Climb(*self._ascent.climb(products, gap, seconds_left()))

    def unshrink(self, point: Any = None) -> None:
        """Look at every example again, or at those that must not rest, as the scores at the weights reached tell."""
        if point is None:
            self._ascent.unshrink()
        else:
            self._ascent.unshrink(self._own(point.scores))

    def renew(self) -> None:
        """Add up the weights afresh from the dual variables, and forget where the last epochs led."""
        self._estimate = None
        coef = -self._ascent.coefficients(1.0, False)
        self._ascent.resume(coef, self._source.combine(coef), self._ascent.centre)

    @property
    def weights(self) -> tuple[Array, float]:
        """The weights and the intercept reached."""
        return self._ascent.w, self._ascent.intercept

    @property
    def estimate(self) -> float:
        """The dual value by the running sums, less what balance costs: about what `plane` would prove."""
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

    def plane(self, room: float = 0.0) -> Cut:
        """The plane that the dual variables stand for; value is not the risk anywhere.

        Its slope is the running sum where rounding may have cost that no more than `room` of its bound, and else summed
        up afresh.
        """
        # A little less than it takes: so that rounding leaves no variable above its bound.
        scale = WITHIN / self._C
        leans = self._ascent.cost_of_lean > _MOST_LEAN * room
        coef = self._ascent.coefficients(scale, self._intercept or leans)
        if self._intercept:
            coef = balanced(coef)
        if self._intercept or leans:
            return self._plane(coef, self._source.combine(coef))
        v, drift = self._ascent.v, self._drift
        if drift * self._source.extent.reach * length(v) <= room:
            return self._plane(coef, -scale * v)._replace(drift=scale * drift)
        return self._plane(coef, self._source.combine(coef))

    @property
    def _drift(self) -> float:
        """How far the running sum can be from what the dual variables add up to, in lengths of the longest example."""
        return gamma(self._ascent.roundings + _SCALING) * self._ascent.travelled * (1.0 + 1e-9)

    def _plane(self, coef: Array, slope: Array) -> Cut:
        return dual_plane(self._risk, coef, slope, self._origin)


def dual_plane(risk: VisitedRisk, coef: Array, slope: Array, origin: Array | None) -> Cut:
    """The plane below the risk of these coefficients; value is not the risk anywhere.

    Whoever found them is not believed: where one is out of its bounds, no such plane is below the risk, and the one
    returned proves nothing.
    """
    if not _in_range(risk, coef):
        nothing = np.zeros_like(coef)
        return Cut(np.zeros_like(slope), risk.lower_bound, np.nan, exact=False, mass=0.0, coef=nothing)
    offset = risk.plane_offset(coef)
    mass = risk.mass(ScoreCut(coef, offset, np.nan))
    if origin is not None:
        offset += float(slope @ origin)
    return Cut(slope, offset, np.nan, exact=False, mass=mass, coef=coef)


def _in_range(risk: VisitedRisk, coef: Array) -> bool:
    lowest, highest = risk.dual_range
    weights = risk.each if risk.weights is None else risk.weights
    slopes = -coef
    with np.errstate(invalid="ignore"):  # no bound, and no weight: then no coefficient
        return not ((slopes < lowest * weights).any() or (slopes > highest * weights).any())


def _top_of_parabola(x: Array, y: Array) -> float:
    """Where the parabola through three points is greatest."""
    bend = (y[0] - 2.0 * y[1] + y[2]) / max((x[2] - x[1]) ** 2, 1e-300)
    slope = (y[2] - y[0]) / max(x[2] - x[0], 1e-300)
    return float(x[1] - slope / bend) if bend < 0.0 else float(x[np.argmax(y)])

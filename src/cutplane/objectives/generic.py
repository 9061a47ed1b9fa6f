"""Source x risk: cuts, rays and rounded risks as functions of the weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cutplane import _core
from cutplane.shards.hinge_ascent import HingeAscent
from cutplane.shards.near_hinges import NearHinges
from cutplane.proof.rounding import Rounding
from cutplane.risks.base import Array, Ray, Risk, RoundedRisk, Rows, ScoreCut, Smoothed
from cutplane.risks.hinge import Hinge
from cutplane.risks.intercept import balanced
from cutplane.risks.root import rising_root
from cutplane.solvers.base import Curvature, Cut, Evaluated, Point, SmoothedCut
from cutplane.solvers.bundle import SINGLE_FROM
from cutplane.sources.base import Source
from cutplane.sources.matrix import MatrixSource

# Examples looked at in one go by NumPy.
_PART = 1 << 16


@dataclass(frozen=True, slots=True)
class ScoredPoint(Point):
    """Weights together with their scores, the intercept included in these."""

    scores: Array


class Objective:
    """The risk of a sample as a function of the weights and, if there is one, of a free intercept.

    The intercept is profiled out: what a solver minimises is R(w) = min over b of the risk of X w + b, and its cuts
    have no component for b. Points carry the b they were scored with; they combine linearly, so a mixture costs no
    pass over the data.

    Parameters
    ----------
    source : Source
        The examples.
    risk : Risk
        The risk of their scores.
    intercept : bool
        Whether an unpenalised intercept is added to the scores.
    """

    def __init__(self, source: Source, risk: Risk, *, intercept: bool = False) -> None:
        self.source = source
        self.risk = risk
        self.intercept = intercept

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.source.shape[1]

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.source.shape[0]

    @property
    def lower_bound(self) -> float:
        """What the risk never falls below."""
        return self.risk.lower_bound

    @property
    def rounding(self) -> Rounding:
        """What rounding does to passes, and what planes are charged for it."""
        extent = self.source.extent
        if self.dimension >= SINGLE_FROM:  # the bundle may keep slopes in single precision, whatever their columns
            extent = extent._replace(columns=None)
        return Rounding(*extent, scale=self.risk.scale)

    def in_double(self) -> Objective:
        """The same with scores in double precision: itself."""
        return self

    def as_returned(self, point: Any) -> Any:
        """The point that a model which is made of this one has: what is proven must be proven of that."""
        return point

    def at(self, w: Array) -> ScoredPoint:
        """The point w with its best intercept: one pass over the data."""
        scores = self.source.scores(w) if w.any() else np.zeros(self.examples)
        return self._settle_in_place(ScoredPoint(w, 0.0, scores))

    def settle(self, point: ScoredPoint) -> ScoredPoint:
        """The same weights with the best intercept for them."""
        if not self.intercept:
            return point
        shift = self.risk.shift(point.scores)
        return ScoredPoint(point.w, point.intercept + shift, point.scores + shift)

    def _settle_in_place(self, point: ScoredPoint) -> ScoredPoint:
        """As `settle`, for a point that nobody else holds."""
        if not self.intercept:
            return point
        shift = self.risk.shift(point.scores)
        np.add(point.scores, shift, out=point.scores)
        return ScoredPoint(point.w, point.intercept + shift, point.scores)

    def mix(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """(1 - t) a + t b, without a pass over the data."""
        return self._mix_into(np.empty_like(a.scores), a, b, t)

    def _mix_into(self, scores: Array, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """As `mix`, with its scores written where those of a or b were, or elsewhere."""
        _core.mix_into(a.scores, b.scores, t, scores)
        return ScoredPoint(_core.mix(a.w, b.w, t), (1.0 - t) * a.intercept + t * b.intercept, scores)

    def value(self, point: ScoredPoint) -> float:
        """The risk at a point, exactly."""
        return self.risk.value(point.scores)

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the (profiled) risk at the point's weights."""
        if self.intercept:
            return self._balanced_cut(self.settle(point))
        return self._plane(self.risk.cut(point.scores))

    def _balanced_cut(self, settled: ScoredPoint) -> Cut:
        """The plane at a point with its best intercept."""
        return self._plane(self.risk.balanced_cut(settled.scores))

    def _plane(self, cut: ScoreCut) -> Cut:
        """A plane of the scores as one of the weights: a pass."""
        return Cut(self.source.combine(cut.coef), cut.offset, cut.value, mass=self.risk.mass(cut), coef=cut.coef)

    def advance(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """The point moved from a towards b, its risk, and (on call: a pass) the plane mu of the rest further on.

        a and b are used up: with many examples, room for their scores is most of what training takes, and the new
        scores are written there. With an intercept, the point of the plane is settled too, and taken for the moved one
        where it is better: the line from a to b moves the intercept along, so that its own best may lie beside it.
        """
        if not self.intercept:
            scores, value, cut = self.risk.advance(a.scores, b.scores, step, mu)
            moved = ScoredPoint(_core.mix(a.w, b.w, step), 0.0, scores)
            return moved, value, lambda: self._plane(cut)
        moved = self._settle_in_place(self._mix_into(a.scores, a, b, step))
        there = self._settle_in_place(self._mix_into(b.scores, moved, b, mu))
        value, value_there = self.value(moved), self.value(there)
        if 0.5 * _core.inner(there.w, there.w) + C * value_there < 0.5 * _core.inner(moved.w, moved.w) + C * value:
            moved, value = there, value_there
        return moved, value, lambda: self._balanced_cut(there)

    def ray(self, a: ScoredPoint, b: ScoredPoint) -> Ray | None:
        """The risk along the line from a to b, intercepts moving along."""
        return self.risk.ray(a.scores, b.scores)


def make_objective(source: Source, risk: Risk, *, intercept: bool = False) -> Objective:
    """The objective that lets the risk be minimised in every way it can be; no intercept where it changes nothing."""
    intercept = intercept and risk.takes_intercept and not risk.shift_invariant
    if isinstance(risk, RoundedRisk):
        return SmoothObjective(source, risk, intercept=intercept)
    return Objective(source, risk, intercept=intercept)


class SmoothObjective(Objective):
    """An objective whose risk can round its kinks, as Newton's method needs it.

    The sum runs over `source`, scaled as `risk` says, plus a plane for the examples left out: far from their kinks,
    these add a linear function.
    """

    risk: RoundedRisk

    def __init__(
        self,
        source: Source,
        risk: RoundedRisk,
        *,
        intercept: bool = False,
        rest: Cut | None = None,
        rest_balance: float = 0.0,
        keep: bool = False,
    ) -> None:
        super().__init__(source, risk, intercept=intercept)
        self._keep = keep  # whether planes come with their coefficients
        self._rest = rest
        self._rest_balance = rest_balance
        # Sums of the hinge go along with passes, so that coefficients are nowhere in memory.
        self._sums: Any = None
        if isinstance(source, MatrixSource) and isinstance(risk, Hinge) and not intercept and not keep:
            self._sums, self._matrix, self._n_threads = risk.core, source.core, source.n_threads
        self._kept: tuple[Rows, Any, Any] | None = None  # a sample: its examples, their source and risk
        self._anchored: tuple[Evaluated, SmoothObjective, ScoredPoint] | None = None  # the last of it
        self._ascent_scale: _core.AscentScale | None = None  # the same for every C

    @property
    def first_width(self) -> float:
        """The width that has most examples on a kink at w = 0."""
        return self.risk.first_width

    @property
    def proves_by_parts(self) -> bool:
        """Whether planes of `near` are below the whole risk to the last digit: those with an intercept are not."""
        return not self.intercept and not self._keep

    @property
    def newton_pays(self) -> bool:
        """Whether Newton's method is worth trying: it works on copies of the examples near their kinks."""
        return not self.source.streamed

    @property
    def ascent_epochs(self) -> tuple[float, float] | None:
        """Epochs of dual ascent, promised early on and as they turn out, above which others arrive sooner.

        None: what holds for two classes.
        """
        return None

    def smoothed(self, point: ScoredPoint, h: float) -> SmoothedCut:
        """The risk rounded over h at a point, and the plane below the risk itself that it gives."""
        if self._sums is not None:
            slope, s = self._sums.smoothed_plane(self._matrix, point.scores, h, self._n_threads)
        else:
            s = self.risk.smoothed(point.scores, h)
            if self.intercept and self._rest is None:
                s = _balanced(s, point.scores, self.risk)
            slope = self.source.combine(s.coef)
        return self._with_rest(point, slope, s)

    def _with_rest(self, point: ScoredPoint, slope: Array, s: Any) -> SmoothedCut:
        """The plane of the examples there are, and that of those left out."""
        offset, value, mass = s.offset, s.value, self.risk.mass(s)
        if self._rest is not None:
            slope = slope + self._rest.slope
            offset += self._rest.offset
            value += float(self._rest.slope @ point.w) + self._rest_balance * point.intercept + self._rest.offset
            mass += self._rest.mass
        return SmoothedCut(slope, offset, value, s.error, s.kinks, mass, s.coef if self._keep else None)

    def stepped(self, point: ScoredPoint | None, p: Array, h: float) -> tuple[ScoredPoint, SmoothedCut] | None:
        """The point + p (without one, p itself) and what `smoothed` says there, in one pass; None if it takes two."""
        if self._sums is None:
            return None
        base, w = (None, p) if point is None else (point.scores, point.w + p)
        scores, slope, s = self._scored_plane(np.ascontiguousarray(p), base, h)
        moved = ScoredPoint(w, 0.0, scores)
        return moved, self._with_rest(moved, slope, s)

    def _scored_plane(self, w: Array, base: Array | None, h: float) -> tuple[Array, Array, Any]:
        found: tuple[Array, Array, Any] = self._sums.scored_plane(self._matrix, w, base, h, self._n_threads)
        return found

    def between(self, start: ScoredPoint, end: ScoredPoint) -> ScoredPoint:
        """The direction from one point to another, which is used up: its scores are written where the end's were."""
        np.subtract(end.scores, start.scores, out=end.scores)
        return ScoredPoint(end.w - start.w, end.intercept - start.intercept, end.scores)

    def rounding_error(self, point: ScoredPoint, h: float) -> float:
        """What rounding over h costs at a point: no pass over the data."""
        return self.risk.rounding_error(point.scores, h)

    def extrapolated_slope(self, point: ScoredPoint, h: float, reach: float) -> Array:
        """The slope for width h if the examples within `reach` stayed on their kinks."""
        slope = self.source.combine(self.risk.extrapolated(point.scores, h, reach))
        return slope if self._rest is None else slope + self._rest.slope

    def curvature(self, point: ScoredPoint, h: float) -> Curvature:
        """h times the second derivative of the rounded risk, over the examples on the kink."""
        rows, weights = self.risk.kinks(point.scores, h)
        mean = None
        if self.intercept and weights.any():
            part = self.source.take(rows)
            mean = part.combine(weights) / np.sqrt(weights.sum())
        return Curvature(self.source, rows, weights, mean)

    def move(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint:
        """The point + t·direction, which is used up: the new scores are written where its own were."""
        scores = direction.scores
        if scores.ndim == 1:
            _core.move_along(point.scores, scores, t)
        else:
            scores *= t
            scores += point.scores
        return ScoredPoint(point.w + t * direction.w, point.intercept + t * direction.intercept, scores)

    def smoothed_ray(
        self, point: ScoredPoint, direction: ScoredPoint, t: float, h: float
    ) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at point + t·direction."""
        value, slope, curvature = self.risk.smoothed_ray(point.scores, direction.scores, t, h)
        if self._rest is not None:
            along = float(self._rest.slope @ direction.w) + self._rest_balance * direction.intercept
            start = float(self._rest.slope @ point.w) + self._rest_balance * point.intercept
            value += start + t * along + self._rest.offset
            slope += along
        return value, slope, curvature

    def balance(self, point: ScoredPoint, h: float) -> ScoredPoint:
        """The point with the intercept that makes the rounded risk least, so that its plane has none."""
        if not self.intercept:
            return point
        shift = _balancing_shift(self.risk, point.scores, h, self._rest_balance)
        return ScoredPoint(point.w, point.intercept + shift, point.scores + shift)

    def keeping(self) -> SmoothObjective:
        """The same objective, whose planes come with their coefficients: passes are no longer fused."""
        return SmoothObjective(self.source, self.risk, intercept=self.intercept, keep=True)

    @property
    def keeps_duals(self) -> bool:
        """Whether dual ascent can go on from where it ended for another C."""
        return isinstance(self.source, MatrixSource) and isinstance(self.risk, Hinge) and self._rest is None

    def dual_ascent(self, C: float, seed: int) -> HingeAscent | None:
        """Dual coordinate ascent on this objective; None where the examples cannot be visited one by one."""
        if not isinstance(self.source, MatrixSource) or not isinstance(self.risk, Hinge) or self._rest is not None:
            return None
        if self._ascent_scale is None:
            self._ascent_scale = _core.AscentScale(self.source.core, self.intercept, self.source.n_threads)
        return HingeAscent(self.source, self._ascent_scale, self.risk, C, intercept=self.intercept, seed=seed)

    def sample(self, rows: Rows, *, keep: bool = False) -> SmoothObjective:
        """An estimate of the objective from some of its examples, kept for `anchored_sample` if wanted."""
        source, risk = self.source.gathered(rows), self.risk.take(rows, scale=self.examples / len(rows))
        if keep:
            self._kept, self._anchored = (rows, source, risk), None
        return self._part(source, risk)

    @property
    def keeps_sample(self) -> bool:
        """Whether there is one for `anchored_sample`."""
        return self._kept is not None

    def anchored_sample(self, last: Evaluated) -> tuple[SmoothObjective, ScoredPoint]:
        """The kept sample with a plane that gives it the slope of the whole at some point, and that point of it."""
        assert self._kept is not None
        if self._anchored is None or self._anchored[0] is not last:
            rows, source, risk = self._kept
            scores = last.point.scores[rows].astype(np.float64, copy=False)
            part = self._completed(source, risk, scores, last.cut, last.h)
            self._anchored = last, part, replace(last.point, scores=scores)
        return self._anchored[1:]

    @property
    def correction(self) -> float:
        """The length of the slope of the plane for the examples left out: of a sample, how far it was off."""
        return 0.0 if self._rest is None else float(np.linalg.norm(self._rest.slope))

    def _completed(self, source: Any, risk: Any, scores: Array, whole: SmoothedCut, h: float) -> SmoothObjective:
        """Some examples, and a plane that makes up for what the whole has at a point and these have not."""
        part = risk.smoothed(scores, h)
        rest = Cut(
            whole.slope - source.combine(part.coef),
            whole.offset - part.offset,
            whole.value,
            mass=whole.mass + risk.mass(part),
        )
        # The whole is balanced: what some examples lack, the others have.
        return self._part(source, risk, rest, -part.coef.sum(axis=0))

    def _part(self, source: Any, risk: Any, rest: Cut | None = None, rest_balance: Any = 0.0) -> SmoothObjective:
        """The same kind of objective of other examples."""
        return SmoothObjective(source, risk, intercept=self.intercept, rest=rest, rest_balance=rest_balance)

    def near_rows(self, point: ScoredPoint, radius: float) -> Rows:
        """The examples within `radius` of their kinks."""
        return self.risk.kinks(point.scores, 2.0 * radius)[0]

    def near(self, point: ScoredPoint, whole: SmoothedCut, h: float, rows: Rows) -> SmoothObjective:
        """The objective with every example but `rows` replaced by its tangent.

        `whole` is the plane of the objective rounded over h at the point; all within h / 2 of their kinks are among
        the rows.
        """
        return self._completed(self.source.take(rows), self.risk.take(rows), point.scores[rows], whole, h)

    def crossed(self, point: ScoredPoint, direction: ScoredPoint) -> Rows:
        """The examples whose tangents at the point do not hold at point + direction."""
        if isinstance(self.risk, Hinge):
            starts = range(0, self.examples, _PART)
            return np.concatenate([self._crossed_in(slice(k, k + _PART), point, direction) for k in starts])
        before, after = self.risk.cut(point.scores)[0], self.risk.cut(point.scores + direction.scores)[0]
        differ = before != after
        return np.flatnonzero(differ if differ.ndim == 1 else differ.any(axis=1))

    def _crossed_in(self, part: slice, point: ScoredPoint, direction: ScoredPoint) -> Rows:
        """Of the hinge, among some examples."""
        assert isinstance(self.risk, Hinge)
        labels, before = self.risk.y[part], point.scores[part]
        differ = (labels * before <= 1.0) != (labels * (before + direction.scores[part]) <= 1.0)
        return np.asarray(np.flatnonzero(differ) + part.start, np.int64)

    def most_near_hinges(self, work: float) -> int:
        """How many examples `near_hinges` may take if each of its systems is to cost `work`; 0 where it cannot be."""
        if not isinstance(self.source, MatrixSource) or not isinstance(self.risk, Hinge) or self._rest is not None:
            return 0
        return min(self.examples // 5, int(work / self.source.gram_work))

    def near_hinges(self, point: ScoredPoint, radius: float, most: int) -> NearHinges:
        """The problem of the examples within `radius` of their kinks, of the `most` nearest where these are more."""
        assert isinstance(self.source, MatrixSource)
        assert isinstance(self.risk, Hinge)
        return NearHinges(self.source, self.risk, point.scores, radius, most=most, intercept=self.intercept)

    def score(self, w: Array, intercept: float) -> ScoredPoint:
        """The point with these weights and this intercept: one pass."""
        scores = self.source.scores(w) if w.any() else np.zeros(self.examples)
        return ScoredPoint(w, intercept, scores + intercept if self.intercept else scores)


def _balanced(s: Smoothed, scores: Array, risk: RoundedRisk) -> Smoothed:
    """The plane with coefficients that sum to zero to the last digit."""
    coef = balanced(s.coef)
    offset = risk.plane_offset(coef)
    return s._replace(coef=coef, offset=offset, error=s.value - float(coef @ scores) - offset)


def _balancing_shift(risk: RoundedRisk, scores: Array, h: float, rest: float) -> float:
    """The root in t of the slope of the rounded risk along a constant."""

    def slope(t: float) -> tuple[float, float]:
        _, slope, curvature = risk.smoothed_ray(scores, None, t, h)
        return slope + rest, curvature

    return rising_root(slope, 0.0, tolerance=1e-15)

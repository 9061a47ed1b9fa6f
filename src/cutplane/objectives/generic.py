"""The risk as a function of the weights, for cutting planes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Literal

from cutplane import _core
from cutplane.proof.rounding import Rounding
from cutplane.shards.base import Array, Handle, Shard, ShardPlane
from cutplane.solvers.base import Cut, Point, ScoredPoint
from cutplane.solvers.bundle.planes import SINGLE_FROM
from cutplane.solvers.protocols import RayLike


class Objective:
    """The risk of a sample as a function of the weights and, if there is one, of a free intercept.

    The intercept is profiled out: what a solver minimises is R(w) = min over b of the risk of X w + b, and its cuts
    have no component for b. Points carry the b they were scored with; they combine linearly, so a mixture costs no
    pass over the data.

    Parameters
    ----------
    shard : Shard
        The examples, and the risk of their scores.
    intercept : bool
        Whether an unpenalised intercept is added to the scores.
    origin : array, optional
        Weights that those of points count from: the scores of a point are those of its weights plus these.
    """

    #: What Newton's method would go by: rounded kinks, pairs, or nothing.
    newton_by: ClassVar[Literal["kinks", "pairs"] | None] = None

    shard: Shard

    def __init__(self, shard: Shard, *, intercept: bool = False, origin: Array | None = None) -> None:
        self.shard = shard
        self.intercept = intercept
        self.origin = origin

    @property
    def name(self) -> str:
        """Of the risk, as errors say it."""
        return self.shard.name

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.shard.dimension

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.shard.examples

    @property
    def lower_bound(self) -> float:
        """What the risk never falls below."""
        return self.shard.lower_bound

    @property
    def rounding(self) -> Rounding:
        """What rounding does to passes, and what planes are charged for it."""
        # From there on the bundle may keep slopes in single precision, whatever their columns.
        rounding = self.shard.rounding(by_columns=self.dimension < SINGLE_FROM)
        if self.origin is None:
            return rounding
        # Offsets of planes hold slopes times the origin: as far off as slopes are, and as sums over features are.
        depth = 1.0 + (self.dimension + 16.0) / (rounding.sum_depth + 16.0)
        return replace(rounding, scale=rounding.scale + depth * rounding.spread(self.origin))

    def in_double(self) -> Objective:
        """The same with scores in double precision: itself."""
        return self

    def in_single(self) -> Objective:
        """The same with scores in single precision, where the shard has them and they pay: itself."""
        return self

    def as_returned(self, point: Point) -> Point:
        """The point that a model which is made of this one has: what is proven must be proven of that."""
        return point

    def at(self, w: Array, nearby: ScoredPoint | None = None) -> ScoredPoint:
        """The point w with its best intercept: one pass over the data.

        `nearby` is a point whose intercept may be close to it, where that helps to find it.
        """
        return self._fit_intercept_in_place(ScoredPoint(w, 0.0, self._scores(w)))

    def _scores(self, w: Array) -> Handle:
        """The scores of weights that count from the origin."""
        return self.shard.at(w if self.origin is None else w + self.origin)

    def fit_intercept(self, point: ScoredPoint) -> ScoredPoint:
        """The same weights with the best intercept for them."""
        if not self.intercept:
            return point
        shift = self.shard.best_shift(point.scores)
        return ScoredPoint(point.w, point.intercept + shift, self.shard.shifted(point.scores, shift))

    def _fit_intercept_in_place(self, point: ScoredPoint) -> ScoredPoint:
        """As `fit_intercept`, for a point that nobody else holds."""
        if not self.intercept:
            return point
        shift = self.shard.best_shift(point.scores)
        scores = self.shard.shifted(point.scores, shift, in_place=True)
        return ScoredPoint(point.w, point.intercept + shift, scores)

    def mix(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """(1 - t) a + t b, without a pass over the data."""
        return self._mix_into(None, a, b, t)

    def _mix_into(self, room: Handle | None, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """As `mix`, with its scores written where those of a or b were, or elsewhere."""
        scores = self.shard.blend(a.scores, b.scores, t, room)
        return ScoredPoint(_core.mix(a.w, b.w, t), (1.0 - t) * a.intercept + t * b.intercept, scores)

    def value(self, point: ScoredPoint) -> float:
        """The risk at a point, exactly."""
        return self.shard.value(point.scores)

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the (profiled) risk at the point's weights."""
        if self.intercept:
            return self._cut(self.shard.balanced_cut(self.fit_intercept(point).scores))
        return self._cut(self.shard.cut(point.scores))

    def _cut(self, plane: ShardPlane) -> Cut:
        """A shard's plane as solvers take it."""
        return Cut(plane.slope, self._offset(plane), plane.value, mass=plane.mass, coef=plane.coef)

    def _offset(self, plane: ShardPlane) -> float:
        """The height of a shard's plane at the origin."""
        return plane.offset if self.origin is None else plane.offset + float(plane.slope @ self.origin)

    def advance(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """The point moved from a towards b, its risk, and (on call: a pass) the plane mu of the rest further on.

        a and b are used up: with many examples, room for their scores is most of what training takes, and the new
        scores are written there. With an intercept, the point of the plane is settled too, and taken for the moved one
        where it is better: the line from a to b moves the intercept along, so that its own best may lie beside it.
        """
        if not self.intercept:
            scores, value, cut = self.shard.advance(a.scores, b.scores, step, mu)
            return ScoredPoint(_core.mix(a.w, b.w, step), 0.0, scores), value, lambda: self._cut(cut())
        moved = self._fit_intercept_in_place(self._mix_into(a.scores, a, b, step))
        there = self._fit_intercept_in_place(self._mix_into(b.scores, moved, b, mu))
        value, value_there = self.value(moved), self.value(there)
        if 0.5 * _core.inner(there.w, there.w) + C * value_there < 0.5 * _core.inner(moved.w, moved.w) + C * value:
            moved, value = there, value_there
        return moved, value, lambda: self._cut(self.shard.balanced_cut(there.scores))

    def ray(self, a: ScoredPoint, b: ScoredPoint) -> RayLike | None:
        """The risk along the line from a to b, intercepts moving along."""
        return self.shard.ray(a.scores, b.scores)

"""The risk as a function of the weights, for cutting planes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal, Self

from cutplane.objectives.intercepts import Intercepts, MakeIntercepts, NoIntercept, mixture, mixture_over
from cutplane.proof.rounding import Rounding
from cutplane.shards.base import Array, Handle, Shard, ShardPlane
from cutplane.solvers.base import Cut, Point, ScoredPoint
from cutplane.solvers.bundle.planes import SINGLE_FROM, BundleLike
from cutplane.solvers.protocols import RayLike


class Objective:
    """The risk of a sample as a function of the weights and, if there is one, of a free intercept.

    The intercept is profiled out: see `cutplane.objectives.intercepts`. Points carry the b they were scored with; they
    combine linearly, so a mixture costs no pass over the data.

    Parameters
    ----------
    shard : Shard
        The examples, and the risk of their scores.
    intercept : callable
        Which unpenalised intercept is added to the scores: from the shard to a part of the objective.
    origin : array, optional
        Weights that those of points count from: the scores of a point are those of its weights plus these.
    """

    #: What Newton's method would go by: rounded kinks, pairs, classes that bend smoothly, or nothing.
    newton_by: ClassVar[Literal["kinks", "pairs", "classes"] | None] = None

    shard: Shard

    _intercepts: Intercepts

    def __init__(self, shard: Shard, *, intercept: MakeIntercepts = NoIntercept, origin: Array | None = None) -> None:
        self.shard = shard
        self._kind_of_intercept = intercept
        self._intercepts = intercept(shard)
        self.origin = origin

    @property
    def intercept(self) -> bool:
        """Whether an intercept is free."""
        return self._intercepts.free

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

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding does to passes, and what planes are charged for it."""
        # From there on the bundle may keep slopes in single precision, whatever their columns.
        rounding = self.shard.rounding(by_columns=self.dimension < SINGLE_FROM)
        if self.origin is None:
            return rounding
        # Offsets of planes hold slopes times the origin: as far off as slopes are, and as sums over features are.
        depth = 1.0 + (self.dimension + 16.0) / (rounding.sum_depth + 16.0)
        return replace(rounding, scale=rounding.scale + depth * rounding.spread(self.origin))

    def begun(self) -> Self:
        """The same for a run of its own: what a shard keeps from one plane to the next, no other run sees."""
        shard = self.shard.begun()
        if shard is self.shard:
            return self
        begun = copy(self)
        begun.shard, begun._intercepts = shard, self._kind_of_intercept(shard)
        return begun

    def in_double(self) -> Objective:
        """The same with scores in double precision: itself."""
        return self

    def in_single(self) -> Objective:
        """The same with scores in single precision, where the shard has them and they pay: itself."""
        return self

    def new_bundle(self) -> BundleLike | None:
        """A bundle of planes that lie with the examples; None: those of the host."""
        return None

    def as_returned(self, point: Point) -> Point:
        """The point that a model which is made of this one has: what is proven must be proven of that."""
        return point

    def at(self, w: Array, nearby: ScoredPoint | None = None) -> ScoredPoint:
        """The point w with its best intercept: one pass over the data.

        `nearby` is a point whose intercept may be close to it, where that helps to find it.
        """
        return self._intercepts.fit(ScoredPoint(w, 0.0, self._scores(w)), in_place=True)

    def _scores(self, w: Array) -> Handle:
        """The scores of weights that count from the origin."""
        return self.shard.at(w if self.origin is None else w + self.origin)

    def fit_intercept(self, point: ScoredPoint) -> ScoredPoint:
        """The same weights with the best intercept for them."""
        return self._intercepts.fit(point)

    def mix(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """(1 - t) a + t b, without a pass over the data."""
        return mixture(self.shard, a, b, t)

    def mix_over(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """The same, written over b, which is used up."""
        return mixture_over(self.shard, a, b, t)

    def value(self, point: ScoredPoint) -> float:
        """The risk at a point, exactly."""
        return self.shard.value(point.scores)

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the (profiled) risk at the point's weights."""
        return self._cut(self._intercepts.cut(point))

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
        scores are written there.
        """
        moved, value, plane = self._intercepts.advance(a, b, step, mu, C)
        return moved, value, lambda: self._cut(plane())

    def ray(self, a: ScoredPoint, b: ScoredPoint) -> RayLike | None:
        """The risk along the line from a to b, intercepts moving along."""
        return self.shard.ray(a.scores, b.scores)

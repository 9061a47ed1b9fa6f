"""The softmax risk as a function of the weights of all classes, and of their free intercepts."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np

from cutplane.objectives.generic import Objective
from cutplane.objectives.intercepts import MakeIntercepts, NoIntercept
from cutplane.shards.base import Array
from cutplane.shards.softmax import SoftmaxPlane, SoftmaxShard
from cutplane.shards.softmax_curvature import SoftmaxCurvature
from cutplane.solvers.base import Cut, Intercept, Point, ScoredPoint
from cutplane.solvers.protocols import RayLike


class FreeClassIntercepts(NoIntercept):
    """An intercept for every class, which the objective itself looks for."""

    free = True


class SoftmaxObjective(Objective):
    """The softmax risk of a sample, weights laid out in a vector row by row of W.

    Scores of points are those of their weights alone. With free intercepts, one for each class, what is minimised is
    R(w) = min over b of the risk of X W + b; planes are level along b but for their rounding, which is charged.

    Parameters
    ----------
    shard : SoftmaxShard
    intercept : callable
    origin : None
        Weights count from zero.
    """

    newton_by = "classes"

    shard: SoftmaxShard

    def __init__(
        self, shard: SoftmaxShard, *, intercept: MakeIntercepts = NoIntercept, origin: Array | None = None
    ) -> None:
        super().__init__(shard, intercept=intercept)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.shard.n_classes

    def _b(self, intercept: Intercept) -> Array:
        return np.zeros(self.n_classes) + intercept

    def as_returned(self, point: Point) -> Point:
        """Centred: weights and intercepts that sum to zero over classes say the same, and no others are as short."""
        rows, b = point.w.reshape(-1, self.n_classes), self._b(point.intercept)
        return Point((rows - rows.mean(axis=1, keepdims=True)).ravel(), b - b.mean() if self.intercept else b)

    def at(self, w: Array, nearby: ScoredPoint | None = None) -> ScoredPoint:
        """The point w with its best intercepts: one pass over the data."""
        return self.fit_intercept(self.score(w, 0.0 if nearby is None else nearby.intercept))

    def score(self, w: Array, intercept: Intercept) -> ScoredPoint:
        """The point with these weights and these intercepts: one pass."""
        return ScoredPoint(w, self._b(intercept), self._scores(w))

    def fit_intercept(self, point: ScoredPoint) -> ScoredPoint:
        """The same weights with the best intercepts for them: no pass."""
        if not self.intercept:
            return point
        return ScoredPoint(point.w, self.shard.best_intercepts(point.scores, self._b(point.intercept)), point.scores)

    def value(self, point: ScoredPoint) -> float:
        """The risk at a point."""
        return self.shard.value_at(point.scores, self._b(point.intercept))

    def evaluate(self, point: ScoredPoint) -> SoftmaxPlane:
        """The risk at a point, its gradient, and the plane below it: one pass."""
        return self.shard.plane(point.scores, self._b(point.intercept), free=self.intercept)

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the (profiled) risk at the point's weights."""
        return self.cut_of(self.evaluate(self.fit_intercept(point)))

    def cut_of(self, found: SoftmaxPlane) -> Cut:
        """The plane of an evaluation, as ledgers take it."""
        return self._cut(found.level)._replace(lean=float(found.level.lean))

    def ray(self, a: ScoredPoint, b: ScoredPoint) -> RayLike:
        """The risk along the line from a to b, intercepts moving along."""
        return self.shard.ray_between(a.scores, self._b(a.intercept), b.scores, self._b(b.intercept))

    def direction(self, p: Array, shift: Array) -> ScoredPoint:
        """A change of weights and intercepts: one pass."""
        return ScoredPoint(p, shift, self.shard.at(p))

    def moved(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint:
        """The point + t·direction: no pass."""
        scores = self.shard.moved(point.scores, direction.scores, t)
        return ScoredPoint(point.w + t * direction.w, point.intercept + t * direction.intercept, scores)

    def along(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the risk at point + t·direction: no pass."""
        b, shift = self._b(point.intercept), self._b(direction.intercept)
        return self.shard.along(point.scores, b, direction.scores, shift, t)

    def curvature(self, found: SoftmaxPlane) -> SoftmaxCurvature:
        """The second derivative of the risk where it was evaluated."""
        return self.shard.curvature(found.coef, free=self.intercept)

    def sample(self, size: int, generator: np.random.Generator) -> Self:
        """The objective of so many examples, drawn at random, as if they were all."""
        part = copy(self)
        part.__dict__.pop("rounding", None)
        part.shard = self.shard.sample(size, generator)
        part._intercepts = self._kind_of_intercept(part.shard)
        return part

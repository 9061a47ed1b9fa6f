"""The multi-class risk as a function of the weights of all classes, or of the features that classes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cutplane import _core
from cutplane.objectives.rounded import RoundedObjective
from cutplane.shards.base import Array, ClassShard
from cutplane.solvers.base import Cut, Intercept, Point, ScoredPoint
from cutplane.solvers.newton.system import LARGEST_FACTOR


class MulticlassObjective(RoundedObjective):
    """The multi-class risk of a sample as a function of the weights, laid out in a vector row by row of W.

    With free intercepts, one for each class, what is minimised is R(w) = min over b of the risk of X W Phi' + b.
    A plane lies below it iff its coefficients sum to zero for every class; `Multiclass.balanced` sees to that, so
    bounds hold however closely the inner minimum over b was found, and values are those at the b of the point.

    Parameters
    ----------
    shard : ClassShard
    intercept : bool
        Whether every class has an unpenalised intercept.
    origin : array, optional
        Weights that those of points count from.
    relative_gap : float
        What is aimed at. The best intercepts of a plane are looked for until it lacks a tenth of that, no longer.
    rest : Cut, optional
        The plane of the examples left out.
    rest_balance : array, optional
        How that rises with the intercepts.
    """

    shard: ClassShard

    def __init__(
        self,
        shard: ClassShard,
        *,
        intercept: bool = False,
        origin: Array | None = None,
        relative_gap: float = 1e-6,
        rest: Cut | None = None,
        rest_balance: Array | None = None,
    ) -> None:
        balance = np.zeros(shard.n_classes) if rest_balance is None else rest_balance
        super().__init__(shard, intercept=intercept, origin=origin, rest=rest, rest_balance=balance)
        self._relative_gap = relative_gap

    @property
    def newton_pays(self) -> bool:
        """Only with a factor of the curvature: without, conjugate gradients need hundreds of products a step."""
        return self.dimension <= LARGEST_FACTOR

    @property
    def ascent_epochs(self) -> tuple[float, float] | None:
        """Systems are larger than those of two classes; where weights are fewer than examples, so are OCA's planes.

        By the Gram matrix ascent mostly arrives first; Newton's method may where examples cannot be told apart.
        """
        if self.shard.goes_by_gram:
            return float("inf"), 250.0 if self.newton_pays else 2000.0
        if self.newton_pays:
            return 50.0, 150.0
        return (150.0, 400.0) if self.dimension < self.examples else None

    def as_returned(self, point: Point) -> Point:
        """Of two classes models keep the difference, which is rounded: so weights are made to be opposite."""
        if self.shard.n_classes != 2 or self.shard.classes_share:
            return point
        pairs = point.w.reshape(-1, 2)
        intercepts = np.zeros(2) + point.intercept
        signs = np.array([-0.5, 0.5])
        w = np.outer(pairs[:, 1] - pairs[:, 0], signs).ravel()
        return Point(w, (intercepts[1] - intercepts[0]) * signs)

    def at(self, w: Array, nearby: ScoredPoint | None = None) -> ScoredPoint:
        """The point w with nearly its best intercepts, looked for from those of a point nearby: one pass."""
        return self.fit_intercept(self.score(w, 0.0 if nearby is None else nearby.intercept))

    def score(self, w: Array, intercept: Intercept) -> ScoredPoint:
        """The point with these weights and these intercepts: one pass."""
        return super().score(w, self._of_each_class(intercept))

    def direction(self, p: Array, shift: Intercept) -> ScoredPoint:
        """A change of weights and intercepts: one pass."""
        return super().direction(p, self._of_each_class(shift))

    def _of_each_class(self, intercept: Intercept) -> Array:
        return np.broadcast_to(np.asarray(intercept, dtype=np.float64), (self.shard.n_classes,))

    def fit_intercept(self, point: ScoredPoint) -> ScoredPoint:
        """The same weights with nearly the best intercepts for them; never with worse ones."""
        if not self.intercept:
            return point
        other = self._shifted(point, self.shard.rough_shift(point.scores))
        return other if self.value(other) < self.value(point) else point

    def _shifted(self, point: ScoredPoint, shift: Any) -> ScoredPoint:
        return ScoredPoint(point.w, point.intercept + shift, self.shard.shifted(point.scores, shift))

    def _closely_settled(self, point: ScoredPoint, objective: float) -> tuple[ScoredPoint, float]:
        """With intercepts as close to the best as `objective`, per C, asks for; and the width of the rounding."""
        shift, h = self.shard.close_shift(point.scores, 0.1 * self._relative_gap * objective)
        return self._shifted(point, shift), h

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the (profiled) risk at the point's weights."""
        if not self.intercept:
            return self._cut(self.shard.cut(point.scores))
        settled, h = self._closely_settled(point, self.value(point))
        return self._cut(self.shard.balanced_cut(settled.scores, h))

    def advance(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """As `Objective.advance`; closely settled is only the point of the plane, taken for the moved one if better."""
        if not self.intercept:
            return self._advance_in_place(a, b, step, mu, C)
        moved = self.fit_intercept(self.mix(a, b, step))
        value = self.value(moved)
        objective = 0.5 * float(moved.w @ moved.w) / C + value
        there, h = self._closely_settled(self.mix(moved, b, mu), objective)
        value_there = self.value(there)
        if 0.5 * float(there.w @ there.w) / C + value_there < objective:
            moved, value = there, value_there
        return moved, value, lambda: self._cut(self.shard.balanced_cut(there.scores, h))

    def _advance_in_place(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """Without intercepts: weights, too, are written where those of b lay."""
        if not self.shard.advances_in_place:
            return super().advance(a, b, step, mu, C)
        scores, value, cut = self.shard.advance(a.scores, b.scores, step, mu)
        moved = ScoredPoint(_mixed_in_place(a.w, b.w, step), a.intercept, scores)
        return moved, value, lambda: self._cut(cut())

    def balance(self, point: ScoredPoint, h: float) -> ScoredPoint:
        """The point with the intercepts that make the rounded risk least."""
        if not self.intercept:
            return point
        return self._shifted(point, self.shard.rounded_shift(point.scores, h, np.asarray(self._rest_balance)))

    def keeping(self) -> MulticlassObjective:
        """The same objective, whose planes come with their coefficients."""
        return self._part(self.shard.keeping())

    @property
    def proves_by_parts(self) -> bool:
        """Not looked into."""
        return False

    def _part(  # type: ignore[override]
        self, shard: ClassShard, rest: Cut | None = None, rest_balance: Array | None = None
    ) -> MulticlassObjective:
        return MulticlassObjective(
            shard,
            intercept=self.intercept,
            origin=self.origin,
            relative_gap=self._relative_gap,
            rest=rest,
            rest_balance=rest_balance,
        )


def _mixed_in_place(a: Array, b: Array, t: float) -> Array:
    """(1 - t) a + t b, written over b."""
    if t == 0.0 or t == 1.0:
        return b if t == 1.0 else a
    _core.mix_into(a, b, t, b)
    return b

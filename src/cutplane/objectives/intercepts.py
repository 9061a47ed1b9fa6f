"""The intercept, a part that an objective is put together with: none, a free one, or a free one for each class.

A free intercept is profiled out: what a solver minimises is R(w) = min over b of the risk of X w + b, and its cuts have
no component for b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from cutplane import _core
from cutplane.risks.root import rising_root
from cutplane.shards.base import Array, ClassShard, Handle, RoundedShard, Shard, ShardPlane
from cutplane.solvers.base import Intercept, ScoredPoint
from cutplane.solvers.vectors import inner, mix

#: A point moved, its risk, and (on call: a pass) the plane further on.
Advance = tuple[ScoredPoint, float, Callable[[], ShardPlane]]

# How far from balance a rounded risk may be, relative to the width of the rounding.
_IN_BALANCE = 1e-6


class Intercepts(Protocol):
    """What an objective leaves to its intercept."""

    @property
    def free(self) -> bool: ...  # noqa: D102

    def fit(self, point: ScoredPoint, *, in_place: bool = False) -> ScoredPoint: ...  # noqa: D102

    def cut(self, point: ScoredPoint) -> ShardPlane: ...  # noqa: D102

    def advance(self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float) -> Advance: ...  # noqa: D102


class RoundedIntercepts(Intercepts, Protocol):
    """The same where the risk can round its kinks."""

    def scored(self, w: Array, intercept: Intercept, scores: Handle) -> ScoredPoint: ...  # noqa: D102

    def balance(self, point: ScoredPoint, h: float, rest: Intercept) -> ScoredPoint: ...  # noqa: D102


#: From the shard of an objective to the intercept on its examples.
MakeIntercepts = Callable[[Any], Intercepts]
MakeRoundedIntercepts = Callable[[Any], RoundedIntercepts]


class NoIntercept:
    """Scores are those of the weights alone."""

    free = False

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    def fit(self, point: ScoredPoint, *, in_place: bool = False) -> ScoredPoint:
        """The point itself."""
        return point

    def cut(self, point: ScoredPoint) -> ShardPlane:
        """The plane that touches the risk at the point."""
        return self._shard.cut(point.scores)

    def advance(self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float) -> Advance:
        """As `Objective.advance`; where the shard says so, weights, too, are written where those of b lay."""
        mixed = _mixed_in_place if self._shard.advances_in_place else mix
        scores, value, plane = self._shard.advance(a.scores, b.scores, step, mu)
        return ScoredPoint(mixed(a.w, b.w, step), a.intercept, scores), value, plane

    def scored(self, w: Array, intercept: Intercept, scores: Handle) -> ScoredPoint:
        """The point with these weights, whose scores are known."""
        return ScoredPoint(w, intercept, scores)

    def balance(self, point: ScoredPoint, h: float, rest: Intercept) -> ScoredPoint:
        """The point itself."""
        return point


class FreeIntercept:
    """One intercept: the best one is found exactly."""

    free = True

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    def fit(self, point: ScoredPoint, *, in_place: bool = False) -> ScoredPoint:
        """The same weights with the best intercept for them; `in_place`: nobody else holds the scores."""
        return shifted(self._shard, point, self._shard.best_shift(point.scores), in_place=in_place)

    def cut(self, point: ScoredPoint) -> ShardPlane:
        """The plane that touches the profiled risk at the point's weights."""
        return self._shard.balanced_cut(self.fit(point).scores)

    def advance(self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float) -> Advance:
        """As `Objective.advance`.

        The point of the plane is settled too, and taken for the moved one where it is better: the line from a to b
        moves the intercept along, so that its own best may lie beside it.
        """
        shard = self._shard
        moved = self.fit(mixture(shard, a, b, step, a.scores), in_place=True)
        there = self.fit(mixture(shard, moved, b, mu, b.scores), in_place=True)
        value, value_there = shard.value(moved.scores), shard.value(there.scores)
        if 0.5 * inner(there.w, there.w) + C * value_there < 0.5 * inner(moved.w, moved.w) + C * value:
            moved, value = there, value_there
        return moved, value, lambda: shard.balanced_cut(there.scores)


class RoundedIntercept(FreeIntercept):
    """The same of a risk that can round its kinks."""

    _shard: RoundedShard

    def __init__(self, shard: RoundedShard) -> None:
        super().__init__(shard)

    def scored(self, w: Array, intercept: Intercept, scores: Handle) -> ScoredPoint:
        """The point with these weights, whose scores are known, and this intercept."""
        return ScoredPoint(w, intercept, self._shard.shifted(scores, intercept))

    def balance(self, point: ScoredPoint, h: float, rest: Intercept) -> ScoredPoint:
        """The intercept that makes the rounded risk least, beside a plane that leans by `rest`."""

        def slope(t: float) -> tuple[float, float]:
            ((_, slope, curvature),) = self._shard.along(point.scores, None, (t,), h)
            return slope + float(rest), curvature

        # What is left is balanced by scaling, which costs no more than the rounding does.
        tolerance = max(1e-15, _IN_BALANCE * h / self._shard.first_width)
        return shifted(self._shard, point, rising_root(slope, 0.0, tolerance=tolerance))


class InterceptPerClass:
    """An intercept for every class: the best ones are found as closely as the gap asks.

    A plane lies below the profiled risk iff its coefficients sum to zero for every class; `balanced_cut` sees to that,
    so bounds hold however closely the inner minimum over b was found, and values are those at the b of the point.

    Parameters
    ----------
    shard : ClassShard
    relative_gap : float
        What is aimed at. The best intercepts of a plane are looked for until it lacks a tenth of that, no longer.
    """

    free = True

    def __init__(self, shard: ClassShard, *, relative_gap: float = 1e-6) -> None:
        self._shard, self._relative_gap = shard, relative_gap

    def fit(self, point: ScoredPoint, *, in_place: bool = False) -> ScoredPoint:
        """The same weights with nearly the best intercepts for them; never with worse ones."""
        shard = self._shard
        other = shifted(shard, point, shard.rough_shift(point.scores))
        return other if shard.value(other.scores) < shard.value(point.scores) else point

    def _closely_fit(self, point: ScoredPoint, objective: float) -> tuple[ScoredPoint, float]:
        """With intercepts as close to the best as `objective`, per C, asks for; and the width of the rounding."""
        shift, h = self._shard.close_shift(point.scores, 0.1 * self._relative_gap * objective)
        return shifted(self._shard, point, shift), h

    def cut(self, point: ScoredPoint) -> ShardPlane:
        """The plane that touches the profiled risk at the point's weights."""
        settled, h = self._closely_fit(point, self._shard.value(point.scores))
        return self._shard.balanced_cut(settled.scores, h)

    def advance(self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float) -> Advance:
        """As with one intercept; closely settled is only the point of the plane, taken for the moved one if better."""
        shard = self._shard
        moved = self.fit(mixture(shard, a, b, step))
        value = shard.value(moved.scores)
        objective = 0.5 * float(moved.w @ moved.w) / C + value
        there, h = self._closely_fit(mixture(shard, moved, b, mu), objective)
        value_there = shard.value(there.scores)
        if 0.5 * float(there.w @ there.w) / C + value_there < objective:
            moved, value = there, value_there
        return moved, value, lambda: shard.balanced_cut(there.scores, h)

    def scored(self, w: Array, intercept: Intercept, scores: Handle) -> ScoredPoint:
        """The point with these weights, whose scores are known, and these intercepts."""
        return ScoredPoint(w, intercept, self._shard.shifted(scores, intercept))

    def balance(self, point: ScoredPoint, h: float, rest: Intercept) -> ScoredPoint:
        """The intercepts that make the rounded risk least, beside a plane that leans by `rest`."""
        return shifted(self._shard, point, self._shard.rounded_shift(point.scores, h, np.asarray(rest)))


def shifted(shard: Shard, point: ScoredPoint, shift: Intercept, *, in_place: bool = False) -> ScoredPoint:
    """The same weights with another intercept."""
    return ScoredPoint(point.w, point.intercept + shift, shard.shifted(point.scores, shift, in_place=in_place))


def mixture(shard: Shard, a: ScoredPoint, b: ScoredPoint, t: float, room: Handle | None = None) -> ScoredPoint:
    """(1 - t) a + t b, without a pass over the data; scores are written to `room` where some is given."""
    scores = shard.blend(a.scores, b.scores, t, room)
    return ScoredPoint(mix(a.w, b.w, t), (1.0 - t) * a.intercept + t * b.intercept, scores)


def mixture_over(shard: Shard, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
    """The same, written over b, which is used up: room for as many weights and scores again would take longer."""
    scores = shard.blend(a.scores, b.scores, t, b.scores)
    w = _mixed_in_place(a.w, b.w, t) if isinstance(b.w, np.ndarray) else mix(a.w, b.w, t)
    return ScoredPoint(w, (1.0 - t) * a.intercept + t * b.intercept, scores)


def _mixed_in_place(a: Array, b: Array, t: float) -> Array:
    """(1 - t) a + t b, written over b."""
    if t == 0.0 or t == 1.0:
        return b if t == 1.0 else a
    _core.mix_into(a, b, t, b)
    return b

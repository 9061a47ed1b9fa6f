"""The risk with its kinks rounded, as a function of the weights: what Newton's method and dual ascent need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from cutplane.objectives.generic import Objective
from cutplane.objectives.intercepts import MakeRoundedIntercepts, NoIntercept, RoundedIntercepts
from cutplane.shards.base import Array, RoundedShard, ShardPlane
from cutplane.solvers.base import Curvature, Cut, Evaluated, Intercept, Point, ScoredPoint, SmoothedCut, Subset


class Sample(NamedTuple):
    """Some of the examples: which, and a shard of these alone."""

    drawn: Subset
    shard: RoundedShard


class RoundedObjective(Objective):
    """An objective whose risk can round its kinks.

    It is the sum over the shard's examples, plus a plane for those left out: far from their kinks, these add a linear
    function.

    Parameters
    ----------
    shard : RoundedShard
    intercept : callable
    origin : array, optional
        Weights that those of points count from.
    rest : Cut, optional
        The plane of the examples left out.
    rest_balance : float or array, optional
        How that rises with the intercept, or with the intercept of each class.
    """

    newton_by = "kinks"

    shard: RoundedShard
    _intercepts: RoundedIntercepts
    _kind_of_intercept: MakeRoundedIntercepts
    _rest_balance: Intercept

    def __init__(
        self,
        shard: RoundedShard,
        *,
        intercept: MakeRoundedIntercepts = NoIntercept,
        origin: Array | None = None,
        rest: Cut | None = None,
        rest_balance: Intercept | None = None,
    ) -> None:
        super().__init__(shard, intercept=intercept, origin=origin)
        self._rest = rest
        self._rest_balance = 0.0 if rest_balance is None else rest_balance

    def in_double(self) -> Self:
        """The same with scores in double precision."""
        double = self.shard.in_double()
        return self if double is self.shard else self._part(double)

    def in_single(self) -> Self:
        """The same with scores in single precision, where the shard has them and they pay."""
        single = self.shard.in_single()
        return self if single is self.shard else self._part(single)

    @property
    def first_width(self) -> float:
        """The width that has most examples on a kink at w = 0."""
        return self.shard.first_width

    @property
    def most_drawn(self) -> int:
        """How large a sample may be."""
        return self.shard.most_drawn

    @property
    def least_drawn(self) -> int:
        """How small a sample may be: a smaller one is no faster."""
        return self.shard.least_drawn

    @property
    def proves_by_parts(self) -> bool:
        """Whether planes of `near` are below the whole risk to the last digit: those with an intercept are not."""
        return not self.intercept and not self.shard.keeps

    @property
    def newton_pays(self) -> bool:
        """Whether Newton's method is worth trying: it works on copies of the examples near their kinks."""
        return not self.shard.streamed

    @property
    def long_products(self) -> bool:
        """Whether products with a curvature cost little however long the vectors are."""
        return self.shard.long_products

    @property
    def ascent_epochs(self) -> tuple[float, float] | None:
        """Epochs of dual ascent, promised early on and as they turn out, above which others arrive sooner.

        None: what holds for two classes.
        """
        return None

    def score(self, w: Array, intercept: Intercept) -> ScoredPoint:
        """The point with these weights and this intercept: one pass."""
        return self._intercepts.scored(w, intercept, self._scores(w))

    def direction(self, p: Array, shift: Intercept) -> ScoredPoint:
        """A change of weights and intercept: one pass."""
        return self._intercepts.scored(p, shift, self.shard.at(p))

    def with_scores(self, point: Point) -> ScoredPoint:
        """The point itself where it has its scores, or else the same with these: one pass."""
        return point if isinstance(point, ScoredPoint) else self.score(point.w, point.intercept)

    def smoothed(self, point: ScoredPoint, h: float) -> SmoothedCut:
        """The risk rounded over h at a point, and the plane below the risk itself that it gives."""
        balanced = self.intercept and self._rest is None
        return self._with_rest(point, self.shard.smoothed(point.scores, h, balanced=balanced))

    def _with_rest(self, point: ScoredPoint, plane: ShardPlane) -> SmoothedCut:
        """The plane of the examples there are, and that of those left out."""
        slope, offset, value, mass = plane.slope, self._offset(plane), plane.value, plane.mass
        if self._rest is not None:
            slope = slope + self._rest.slope
            offset += self._rest.offset
            value += self._rest_along(point) + self._rest.offset
            mass += self._rest.mass
        return SmoothedCut(slope, offset, value, plane.error, plane.kinks, mass, plane.coef)

    def _rest_along(self, point: ScoredPoint) -> float:
        """What the plane of the examples left out rises along a point or a direction."""
        assert self._rest is not None
        return float(self._rest.slope @ point.w) + float(np.dot(self._rest_balance, point.intercept))

    def stepped(self, point: ScoredPoint | None, p: Array, h: float) -> tuple[ScoredPoint, SmoothedCut] | None:
        """The point + p (without one, p itself) and what `smoothed` says there, in one pass; None if it takes two."""
        if not self.shard.fuses:
            return None
        base, w = (None, p) if point is None else (point.scores, point.w + p)
        found = self.shard.stepped(p if base is not None or self.origin is None else p + self.origin, base, h)
        moved = ScoredPoint(w, 0.0, found[0])
        return moved, self._with_rest(moved, found[1])

    def between(self, start: ScoredPoint, end: ScoredPoint) -> ScoredPoint:
        """The direction from one point to another, which is used up: its scores are written where the end's were."""
        scores = self.shard.difference(end.scores, start.scores)
        return ScoredPoint(end.w - start.w, end.intercept - start.intercept, scores)

    def rounding_error(self, point: ScoredPoint, h: float) -> float:
        """What rounding over h costs at a point: no pass over the data."""
        return self.shard.rounding_error(point.scores, h)

    def extrapolated_slope(self, point: ScoredPoint, h: float, reach: float) -> Array:
        """The slope for width h if the examples within `reach` stayed on their kinks."""
        slope = self.shard.extrapolated(point.scores, h, reach)
        return slope if self._rest is None else slope + self._rest.slope

    def curvature(self, point: ScoredPoint, h: float) -> Curvature:
        """H times the second derivative of the rounded risk, over the examples on the kink."""
        found: Curvature = self.shard.curvature(point.scores, h, centred=self.intercept)
        return found

    def move(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint:
        """The point + t·direction, which is used up: the new scores are written where its own were."""
        scores = self.shard.moved(point.scores, direction.scores, t)
        return ScoredPoint(point.w + t * direction.w, point.intercept + t * direction.intercept, scores)

    def smoothed_ray(
        self, point: ScoredPoint, direction: ScoredPoint, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]:
        """Value, slope and curvature of the rounded risk at point + t·direction, for each t of `steps`."""
        found = self.shard.along(point.scores, direction.scores, steps, h)
        if self._rest is None:
            return found
        start, along = self._rest_along(point) + self._rest.offset, self._rest_along(direction)
        return [
            (value + start + t * along, slope + along, curvature)
            for t, (value, slope, curvature) in zip(steps, found, strict=True)
        ]

    def balance(self, point: ScoredPoint, h: float) -> ScoredPoint:
        """The point with the intercept that makes the rounded risk least, so that its plane has none."""
        return self._intercepts.balance(point, h, self._rest_balance)

    def keeping(self) -> Self:
        """The same objective, whose planes come with their coefficients: passes are no longer fused."""
        return self._part(self.shard.keeping())

    @property
    def duals_stay(self) -> bool:
        """Whether a path of C falls: of larger C, most dual variables stay where they are."""
        return self.shard.duals_stay and self._rest is None

    @property
    def smooth(self) -> bool:
        """Whether the risk is known to have no kinks."""
        return self.shard.smooth

    def dual_ascent(self, C: float, seed: int, floor: Array | None = None) -> Any:
        """Dual ascent on this objective, for weights not below a floor; None where it cannot visit the examples."""
        if self._rest is not None:
            return None
        return self.shard.ascent(C, seed, intercept=self.intercept, origin=self.origin, floor=floor)

    def interior(self, C: float) -> Any:
        """An interior point over all examples of this objective; None where there is none."""
        if self._rest is not None:
            return None
        return self.shard.interior(C, intercept=self.intercept, origin=self.origin)

    @property
    def _visits_examples(self) -> bool:
        """Whether the risk is that of the shard alone: solvers that look at examples one by one know nothing else."""
        return self._rest is None and self.origin is None

    def draw(self, size: int, generator: np.random.Generator) -> Sample:
        """So many of the examples, at random."""
        (sample,) = self.samples([size], generator)
        return sample

    def samples(self, sizes: Sequence[int], generator: np.random.Generator) -> Iterator[Sample]:
        """So many of the examples at random, again and again: one after the other, where each takes its memory."""
        return (Sample(*each) for each in self.shard.samples(sizes, generator))

    def estimate(self, sample: Sample) -> Self:
        """An estimate of the objective from a sample."""
        return self._part(sample.shard)

    def anchored(self, sample: Sample, last: Evaluated) -> tuple[Self, ScoredPoint]:
        """The sample with a plane that gives it the slope of the whole at some point, and that point of it."""
        there = replace(last.point, scores=self.shard.restricted(last.point.scores, sample.drawn, gathered=True))
        return self._completed(sample.shard, there, last.cut, last.h), there

    @property
    def correction(self) -> float:
        """The length of the slope of the plane for the examples left out: of a sample, how far it was off."""
        return 0.0 if self._rest is None else float(np.linalg.norm(self._rest.slope))

    def _completed(self, part: RoundedShard, there: ScoredPoint, whole: SmoothedCut, h: float) -> Self:
        """Some examples, and a plane that makes up for what the whole has at a point and these have not."""
        plane = part.smoothed(there.scores, h, lean=True)
        offset = whole.offset - self._offset(plane)
        rest = Cut(whole.slope - plane.slope, offset, whole.value, mass=whole.mass + plane.mass)
        # The whole is balanced: what some examples lack, the others have.
        return self._part(part, rest, -plane.lean)

    def _part(self, shard: RoundedShard, rest: Cut | None = None, rest_balance: Intercept | None = None) -> Self:
        """The same kind of objective of other examples."""
        kind = self._kind_of_intercept
        return type(self)(shard, intercept=kind, origin=self.origin, rest=rest, rest_balance=rest_balance)

    def near_kinks(self, point: ScoredPoint, radius: float) -> Subset:
        """The examples within `radius` of their kinks."""
        return self.shard.near(point.scores, radius)

    def near(self, point: ScoredPoint, whole: SmoothedCut, h: float, subset: Subset) -> Self:
        """The objective with every example but some replaced by its tangent.

        `whole` is the plane of the objective rounded over h at the point; all within h / 2 of their kinks are in the
        subset.
        """
        part, scores = self.shard.part_at(point.scores, subset)
        return self._completed(part, replace(point, scores=scores), whole, h)

    def crossed(self, point: ScoredPoint, direction: ScoredPoint) -> Subset:
        """The examples whose tangents at the point do not hold at point + direction."""
        return self.shard.crossed(point.scores, direction.scores)

    def most_near_hinges(self, work: float) -> int:
        """How many examples `near_hinges` may take if each of its systems is to cost `work`; 0 where it cannot be."""
        return min(self.examples, int(work / self.shard.near_work)) if self._visits_examples else 0

    def near_hinges(self, point: ScoredPoint, radius: float, most: int) -> Any:
        """The problem of the examples within `radius` of their kinks, of the `most` nearest where these are more."""
        return self.shard.near_problem(point.scores, radius, most, intercept=self.intercept)

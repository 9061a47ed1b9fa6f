"""The sum of other shards whose risks can round their kinks: what Newton's method needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np

from cutplane.proof.rounding import exact_sum
from cutplane.shards.base import Array, Handle, NearPart, RoundedShard, ShardPlane, answers
from cutplane.shards.near_sum import NearSum
from cutplane.shards.sum_base import PlaneSumShard, each_of
from cutplane.shards.sum_parts import CurvatureSum, SubsetSum, added
from cutplane.shards.sum_planes import balancing_factors, plane_sum, without_lean
from cutplane.solvers.base import Curvature, Subset

# How often the radius of the near examples is halved, at most, until these are few.
_MOST_HALVINGS = 40
# Kinks that an example has at most.
_KINKS = 2


class SumShard(PlaneSumShard):
    """The sum of the risks of several shards that can round their kinks.

    There is no dual ascent: that visits examples one by one, in one place. Other solvers take over.

    Parameters
    ----------
    parts : sequence of RoundedShard
        The risk of each is its part of the whole one. Those without examples are left out.
    """

    kind: ClassVar[str] = "rounded"

    _parts: tuple[RoundedShard, ...]

    def __init__(self, parts: Sequence[RoundedShard]) -> None:
        super().__init__(parts)

    @property
    def first_width(self) -> float:
        """The width that has most examples on a kink at scores of zero."""
        return max(part.first_width for part in self._parts)

    @property
    def streamed(self) -> bool:
        """Whether every pass reads the examples from a file."""
        return any(part.streamed for part in self._parts)

    @property
    def keeps(self) -> bool:
        """Whether planes come with their coefficients."""
        return self._parts[0].keeps

    def keeping(self) -> Self:
        """The same, whose planes come with their coefficients."""
        return type(self)([part.keeping() for part in self._parts])

    def in_double(self) -> Self:
        """The same with scores in double precision."""
        return self._with([part.in_double() for part in self._parts])

    def in_single(self) -> Self:
        """The same with scores in single precision, in those parts where that pays."""
        return self._with([part.in_single() for part in self._parts])

    def sides(self, scores: Handle, h: float) -> Array:
        """What the positive and the negative coefficients of the rounded risk add up to."""
        return added(answers(part.sides(s, h) for part, s in self._of(scores)))

    @staticmethod
    def _balancing(sides: Array) -> Array:
        """By what coefficients that add up to these are scaled so that they are in balance."""
        return balancing_factors(sides)

    def smoothed(
        self,
        scores: Handle,
        h: float,
        *,
        balanced: bool = False,
        lean: bool = False,
        factors: Array | None = None,
    ) -> ShardPlane:
        """The risk rounded over h, and the plane below the risk itself that it gives: a pass."""
        if len(self._parts) == 1:
            (only,) = each_of(scores)
            return answers([self._parts[0].smoothed(only, h, balanced=balanced, lean=lean, factors=factors)])[0]
        if not balanced:
            return plane_sum(answers(part.smoothed(s, h, lean=lean, factors=factors) for part, s in self._of(scores)))
        factors = self._balancing(self.sides(scores, h))
        return without_lean(self.smoothed(scores, h, lean=True, factors=factors))

    @property
    def fuses(self) -> bool:
        """Whether there is `stepped`."""
        return all(part.fuses for part in self._parts)

    def stepped(self, p: Array, base: Handle | None, h: float) -> tuple[Handle, ShardPlane]:
        """The scores of p, added to `base`, and what `smoothed` says there, in one pass."""
        bases = (None,) * len(self._parts) if base is None else each_of(base)
        found = answers(part.stepped(p, start, h) for part, start in self._of(bases))
        return tuple(step[0] for step in found), plane_sum([step[1] for step in found])

    def difference(self, end: Handle, start: Handle) -> Handle:
        """The direction from start to end, which is used up."""
        return tuple(part.difference(x, y) for part, x, y in self._of(end, start))

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction, which is used up."""
        return tuple(part.moved(x, y, t) for part, x, y in self._of(scores, direction))

    def rounding_error(self, scores: Handle, h: float) -> float:
        """What rounding over h costs: no pass."""
        return exact_sum(answers(part.rounding_error(s, h) for part, s in self._of(scores)))

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array:
        """The slope for width h if the examples within `reach` stayed on their kinks: a pass."""
        return added(answers(part.extrapolated(s, h, reach) for part, s in self._of(scores)))

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> Curvature:
        """H times the second derivative of the rounded risk; `centred`: a free intercept moves along."""
        if len(self._parts) == 1 and not self.elsewhere:
            (only,) = each_of(scores)
            return self._parts[0].curvature(only, h, centred=centred)
        whole = CurvatureSum(tuple(part.curvature(s, h, centred=False) for part, s in self._of(scores)))
        return whole.centred() if centred else whole

    def along(
        self, scores: Handle, direction: Handle | None, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: 1), for each t of `steps`."""
        lines = (None,) * len(self._parts) if direction is None else each_of(direction)
        found = answers(part.along(s, line, steps, h) for part, s, line in self._of(scores, lines))
        sums = ([exact_sum(column) for column in zip(*each, strict=True)] for each in zip(*found, strict=True))
        return [(value, slope, curvature) for value, slope, curvature in sums]

    def draw(self, size: int, generator: np.random.Generator) -> Subset:
        """So many examples at random: of each part as many as it has of all."""
        ends = np.cumsum([0, *(part.examples for part in self._parts)])
        shares = np.diff(np.rint(ends * (size / ends[-1])).astype(int))
        # A generator for each part, so that none waits for another.
        own = [generator] if len(self._parts) == 1 else generator.spawn(len(self._parts))
        drawn = (part.draw(max(1, int(k)), each) for part, k, each in zip(self._parts, shares, own, strict=True))
        return SubsetSum(tuple(drawn))

    def near(self, scores: Handle, radius: float) -> Subset:
        """The examples within `radius` of their kinks."""
        return SubsetSum(tuple(part.near(s, radius) for part, s in self._of(scores)))

    def crossed(self, scores: Handle, direction: Handle) -> Subset:
        """The examples whose tangents do not hold at scores + direction."""
        return SubsetSum(tuple(part.crossed(x, y) for part, x, y in self._of(scores, direction)))

    def part(self, subset: Subset, *, scale: float = 1.0, gathered: bool = False) -> Self:
        """The sum over some examples, times `scale`; `gathered`: on a copy of these, in this process."""
        return type(self)(answers(self._asked_for(subset, scale=scale, gathered=gathered)))

    def _asked_for(self, subset: Subset, **how: Any) -> list[RoundedShard]:
        return [part.part(some, **how) for part, some, _ in self._taken(subset)]

    def samples(self, sizes: Sequence[int], generator: np.random.Generator) -> Iterator[tuple[Subset, Self]]:
        """Samples of these sizes: which examples, and the sum over these, as if they were all."""

        def drawn() -> Iterator[tuple[Subset, list[RoundedShard]]]:
            for size in sizes:
                subset = self.draw(size, generator)
                yield subset, self._asked_for(subset, scale=self.examples / len(subset), gathered=True)

        # From elsewhere they come all at once.
        for subset, parts in list(drawn()) if self.elsewhere else drawn():
            yield subset, type(self)(answers(parts))

    def restricted(self, scores: Handle, subset: Subset, *, gathered: bool = False) -> Handle:
        """The scores of some examples, as their `part` has them."""
        pairs = self._taken(subset, scores)
        return tuple(answers(part.restricted(s, some, gathered=gathered) for part, some, s in pairs))

    def part_at(self, scores: Handle, subset: Subset) -> tuple[Self, Handle]:
        """The sum over some examples, and their scores: all of it here where these are few and lie elsewhere."""
        gathered = self.elsewhere and len(subset) <= self._most_gathered
        asked = [
            (part.part(some, gathered=gathered), part.restricted(s, some, gathered=gathered))
            for part, some, s in self._taken(subset, scores)
        ]
        shards, handles = (answers(column) for column in zip(*asked, strict=True))
        return type(self)(shards), tuple(handles)

    def _taken(self, subset: Subset, scores: Handle | None = None) -> list[tuple[RoundedShard, Subset, Handle]]:
        """Those parts that have some of the examples, or the first."""
        handles = (None,) * len(self._parts) if scores is None else each_of(scores)
        every = list(self._of(cast(SubsetSum, subset).parts, handles))
        return [each for each in every if len(each[1])] or every[:1]

    @property
    def duals_stay(self) -> bool:
        """Whether a path of C falls: of larger C, most dual variables stay where they are."""
        return False

    @property
    def smooth(self) -> bool:
        """Nobody asks where examples cannot be visited one by one."""
        return False

    def ascent(
        self, C: float, seed: int, *, intercept: bool, origin: Array | None = None, floor: Array | None = None
    ) -> None:
        """None: dual ascent visits examples one by one, in one place. Other solvers take over."""

    def interior(self, C: float, *, intercept: bool, origin: Array | None = None) -> None:
        """None: an interior point over all examples has them in one place, too."""

    @property
    def near_work(self) -> float:
        """What an example adds to the work of each system of `near_problem`; infinite: a part has none."""
        return max(part.near_work for part in self._parts)

    def near_problem(self, scores: Handle, radius: float, most: int, *, intercept: bool) -> NearPart:
        """The problem of the examples within `radius` of their kinks, or of about the `most` nearest."""
        if len(self._parts) == 1 and not self.elsewhere:
            (only,) = each_of(scores)
            return self._parts[0].near_problem(only, radius, most, intercept=intercept)
        radius = self._radius_of_few(scores, radius, most)
        every = [_KINKS * part.examples for part in self._parts]
        parts = [part.near_problem(s, radius, n, intercept=intercept) for part, s, n in self._of(scores, every)]
        return NearSum(parts, radius)

    def _radius_of_few(self, scores: Handle, radius: float, most: int) -> float:
        """The radius given or, where more than `most` are within it, one that holds fewer: mostly more than half."""
        if len(self.near(scores, radius)) <= most:
            return radius
        few, many = 0.0, radius
        for _ in range(_MOST_HALVINGS):
            middle = 0.5 * (few + many)
            within = len(self.near(scores, middle))
            few, many = (few, middle) if within > most else (middle, many)
            if 2 * within >= most >= within:
                break
        return few

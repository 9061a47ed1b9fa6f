"""The risk of pairs of different rank, of scores that lie on a device."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.rank_layout import PairsThere, RankLayout, laid_out
from cutplane.device.rank_sums import RankOrder, RankPrefixes
from cutplane.risks import bracketing
from cutplane.risks.base import Risk, ScoreCut, Smoothed
from cutplane.risks.pairs import PairRisk, groups_drawn, inexact_sums, smoothed_inexactness
from cutplane.risks.stretches import one_of_each

# Up to so many levels, what is before each place is kept from one sweep over the same scores to the next.
_KEPT_LEVELS = 4


class RanksInOrder:
    """Scores in order: what every sweep over pairs starts from.

    Parameters
    ----------
    kernels : Kernels
    layout : RankLayout
    order : RankOrder
        By score.
    """

    def __init__(self, kernels: Kernels, layout: RankLayout, order: RankOrder) -> None:
        self._xp, self._sums, self._layout, self._order = kernels.xp, kernels.rank_sums(), layout, order
        self._kept: dict[int, RankPrefixes] = {}

    def cut(self) -> tuple[DeviceArray, float, float]:
        """The plane that touches the risk: coefficients, offset and value."""
        return self._swept(0.0, 0.0)

    def smoothed(self, h: float, reach: float) -> tuple[DeviceArray, float, float]:
        """The same with kinks rounded over h, of pairs within `reach` of theirs."""
        return self._swept(0.5 * reach, 1.0 / h)

    def _swept(self, reach: float, per_h: float) -> tuple[DeviceArray, float, float]:
        coef, value, offset = self._xp.zeros(len(self._order.key)), 0.0, 0.0
        for number, level in enumerate(self._layout.levels):
            sums = self._sums.swept(self._prefixes(number), level, reach, per_h, coef)
            value, offset = value + sums[0], offset + sums[1]
        return coef, offset, value

    def _prefixes(self, number: int) -> RankPrefixes:
        found = self._kept.get(number)
        if found is None:
            level, examples = self._layout.levels[number], self._layout.examples
            found = self._sums.prefixes(self._sums.by_node(self._order, examples, level), examples, level)
            if len(self._layout.levels) <= _KEPT_LEVELS:
                self._kept[number] = found
        return found


class DevicePairRay(NamedTuple):
    """The risk along a line of scores; every value or slope is a sort and a sweep."""

    risk: DevicePairRisk
    start: DeviceArray
    direction: DeviceArray
    accuracy: float

    def at(self, t: float) -> tuple[float, float]:
        """The risk at t and a slope there: that of the plane that touches it."""
        cut = self.risk.cut(self.start + t * self.direction)
        return cut.value, self.risk.along(cut.coef, self.direction)

    def value(self, t: float) -> float:
        """The risk at t."""
        return self.at(t)[0]

    def slope(self, t: float) -> float:
        """A slope at t."""
        return self.at(t)[1]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk, up to `accuracy` of the descent."""
        return bracketing.ray_minimum(self.at, quadratic, linear, C, accuracy=self.accuracy)


class DevicePairRisk(Risk):
    """As `PairRisk`, on a device.

    Parameters
    ----------
    kernels : Kernels
    given : PairsThere
        Ranks, groups and weights of the examples.
    share : float
        The risk is this many means.
    n_threads : int
        Of the host, for samples; 0 leaves it to OpenMP.
    """

    shift_invariant = True
    binary_only = True
    steepest = PairRisk.steepest
    ray_accuracy = PairRisk.ray_accuracy

    def __init__(self, kernels: Kernels, given: PairsThere, *, share: float = 1.0, n_threads: int = 0) -> None:
        self.kernels, self.given, self.share, self.n_threads = kernels, given, share, n_threads
        self._layout = laid_out(kernels, given, share)
        self.n_pairs, self.n_groups = int(self._layout.counts.sum()), len(self._layout.counts)
        self.total_mass, self.all_groups = self._layout.total_mass, self._layout.all_groups

    @classmethod
    def on(cls, kernels: Kernels, risk: PairRisk) -> DevicePairRisk:
        """A risk of the host, on a device."""
        ranks, groups, weights, equal_groups, n_threads, share = risk.made_of
        own = None if weights is None else np.asarray(weights, np.float64)
        there = [None if each is None else kernels.to_device(each) for each in (groups, own)]
        given = PairsThere(kernels.to_device(ranks), there[0], there[1], equal_groups)
        found = cls(kernels, given, share=share, n_threads=n_threads)
        found.total_weight = risk.total_weight
        return found

    @property
    def levels(self) -> int:
        """Of the tree over ranks: what coefficients are added up over."""
        return len(self._layout.levels)

    def weighing(self, share: float) -> Self:
        """The mean, so many times: a part of a larger one."""
        return type(self)(self.kernels, self.given, share=share, n_threads=self.n_threads)

    @property
    def inexact(self) -> float:  # type: ignore[override]
        """Pairs are counted exactly; products of weights are differences of sums over the examples."""
        return inexact_sums(weighted=self.given.weights is not None)

    def mass(self, cut: ScoreCut | Smoothed) -> float:
        """The sizes of a plane's coefficients, added up."""
        _, above, below = self.kernels.sides(cut.coef)
        return (above - below) * (1.0 + 1e-9) + self.inexact

    def smoothed_mass(self, smoothed: Smoothed, scores: DeviceArray, h: float) -> float:
        """As `mass`: places on a kink are sums over windows."""
        largest = self.size(scores)
        return self.mass(smoothed) + smoothed_inexactness(largest, h, weighted=self.given.weights is not None)

    def size(self, scores: DeviceArray) -> float:
        """The largest score, in size."""
        return float(abs(scores).max()) if scores.size else 0.0

    def resolution(self, scores: DeviceArray) -> float:
        """The step of the grid that scores are put on: see `PairRisk.resolution`."""
        return _core.grid_step(len(scores), self.size(scores))

    def sort(self, scores: DeviceArray) -> RanksInOrder:
        """The scores in order, on their grid."""
        largest = self.size(scores)
        if not np.isfinite(largest):
            raise ValueError("Scores must be finite.")
        order = self.kernels.rank_sums().by_score(scores, _core.grid_step(len(scores), largest), largest)
        return RanksInOrder(self.kernels, self._layout, order)

    def along(self, coef: DeviceArray, direction: DeviceArray) -> float:
        """The sum over examples of coefficients times a direction."""
        return self.kernels.sides(coef * direction)[0]

    def value(self, scores: DeviceArray) -> float:
        """The risk."""
        return self.cut(scores).value

    def cut(self, scores: DeviceArray) -> ScoreCut:
        """The plane at `scores`: every pair at or beyond its kink counts whole."""
        return ScoreCut(*self.sort(scores).cut())

    def rounded(self, order: RanksInOrder, scores: DeviceArray, h: float) -> Smoothed:
        """The risk rounded over h at scores whose order is known."""
        coef, offset, value = order.smoothed(h, h)
        return Smoothed(coef, offset, value, max(0.0, value - self.along(coef, scores) - offset), len(coef))

    def ray(self, start: DeviceArray, end: DeviceArray) -> DevicePairRay:
        """The restriction to a line."""
        return DevicePairRay(self, start, end - start, self.ray_accuracy)

    def take(self, rows: DeviceArray) -> Self:
        """The risk of a part of the sample: a mean of its own."""
        return type(self)(self.kernels, self.given.take(rows), share=self.share, n_threads=self.n_threads)

    def sample_rows(self, size: int, generator: np.random.Generator) -> DeviceArray:
        """About `size` examples that stand for all: see `PairRisk.sample_rows`."""
        n, groups, xp = len(self.given.ranks), self.given.groups, self.kernels.xp
        if groups is None and self._layout.levels[-1].shift == 0:
            sides = self._sides
            fewer = min(len(sides[0]), len(sides[1]), size // 2)
            drawn = [side[self._some(len(side), min(len(side), size - fewer), generator)] for side in sides]
            return xp.sort(xp.concatenate(drawn))
        if groups is None:
            return self._some(n, size, generator)
        group_of_leaf = self._layout.group_of_leaf
        count = int(group_of_leaf[-1]) + 1
        chosen = np.zeros(count, dtype=bool)
        chosen[one_of_each(count, groups_drawn(count, n, size), generator)] = True
        rows = xp.flatnonzero(self.kernels.to_device(chosen[group_of_leaf])[self._layout.examples.leaf])
        return rows if len(rows) < 2 * size else rows[self._some(len(rows), size, generator)]

    @cached_property
    def _sides(self) -> list[DeviceArray]:
        """The examples of two ranks."""
        rank = self._layout.examples.rank
        return [self.kernels.xp.flatnonzero(rank == side) for side in (0, 1)]

    def _some(self, n: int, size: int, generator: np.random.Generator) -> DeviceArray:
        return self.kernels.to_device(one_of_each(n, min(n, size), generator))

    def on_host(self, rows: DeviceArray) -> PairRisk:
        """The risk of a part of the sample, for the host: a mean of its own."""
        some = self.given.take(rows)
        ranks: NDArray[Any] = self.kernels.to_host(some.ranks)
        groups, weights = (None if each is None else self.kernels.to_host(each) for each in (some.groups, some.weights))
        part = PairRisk(ranks, groups, weights, equal_groups=self.given.equal_groups, n_threads=self.n_threads)
        return part.weighing(self.share) if self.share != 1.0 else part

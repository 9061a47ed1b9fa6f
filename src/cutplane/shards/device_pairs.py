"""A risk of pairs over examples on a GPU: sorts and sweeps are made there.

Samples of few examples, and those that the curvature is estimated from, are copied to the host: there they are done
with sooner than kernels start.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from cutplane._types import Codes
from cutplane.device.kernels import DeviceArray, Kernels, sum_depth_of
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.pair_risk import DevicePairRisk, RanksInOrder
from cutplane.device.rank_thresholds import least_error_thresholds_there
from cutplane.device.source import DeviceRows
from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.rounding import UNIT, Rounding, gamma
from cutplane.risks.base import ScoreCut, Smoothed
from cutplane.risks.pairs import NoPairsError, PairRisk
from cutplane.shards.base import Array, Handle, PairPart, PairRayLike, RoundedPairs, ShardPlane
from cutplane.shards.device_vectors import DeviceVectors, there
from cutplane.shards.host import HostShard
from cutplane.shards.pairs import PairCurvature, PairShard, representatives
from cutplane.sources import as_source

# Examples of a sample up to which it is the host's, and of the largest: from there on all serve.
_MOST_ON_HOST, _MOST_DRAWN = 1 << 14, 1 << 19


class DevicePairShard(DeviceVectors, HostShard):
    """The pair risk of a sample on a device.

    Parameters
    ----------
    source : DeviceRows
    risk : DevicePairRisk
    """

    kind = "pairs"

    source: DeviceRows
    risk: DevicePairRisk

    def __init__(self, source: DeviceRows, risk: DevicePairRisk) -> None:
        super().__init__(source, risk)
        self._last: tuple[DeviceArray, RanksInOrder] | None = None

    @property
    def _kernels(self) -> Kernels:
        return self.source.kernels

    def begun(self) -> Self:
        """The same for a run of its own: the order of the last scores is that run's."""
        return type(self)(self.source, self.risk)

    def rounding(self, *, by_columns: bool) -> Rounding:
        """Pairs are charged for as on the host, where no sum over the examples is cut into blocks."""
        depth = self.examples + 64 + self.risk.levels
        return replace(super().rounding(by_columns=by_columns), sum_depth=depth)

    @property
    def most_drawn(self) -> int:
        """How large a sample may be."""
        return _MOST_DRAWN

    @property
    def within_queries(self) -> bool:
        """Whether pairs are within queries; else they are across all examples."""
        return self.risk.given.groups is not None

    @property
    def total_mass(self) -> float:
        """What the mean is taken over: queries, or the weights of pairs."""
        return self.risk.total_mass

    @property
    def share(self) -> float:
        """The risk is this many means."""
        return self.risk.share

    def weighing(self, share: float) -> DevicePairShard:
        """The mean, so many times: a part of a larger one."""
        return DevicePairShard(self.source, self.risk.weighing(share))

    def _order(self, scores: DeviceArray) -> RanksInOrder:
        if self._last is None or self._last[0] is not scores:
            self._last = None  # makes room
            self._last = (scores, self.risk.sort(scores))
        return self._last[1]

    def _plane(self, cut: ScoreCut) -> ShardPlane:
        return ShardPlane(self.source.combine(cut.coef), cut.offset, cut.value, mass=self.risk.mass(cut))

    def ray(self, a: Handle, b: Handle) -> PairRayLike:
        """The risk along the line from a to b."""
        return self.risk.ray(there(a), there(b))

    def smoothed(self, scores: Handle, h: float) -> RoundedPairs:
        """The risk rounded over h, in terms of the scores."""
        return RoundedPairs(*self.risk.rounded(self._order(there(scores)), there(scores), h))

    def plane(self, smoothed: RoundedPairs, scores: Handle, h: float) -> ShardPlane:
        """The plane below the risk that a rounded one gives: a pass over the data."""
        coef = there(smoothed.coef)
        mass = self.risk.smoothed_mass(Smoothed(coef, *smoothed[1:]), there(scores), h)
        return ShardPlane(self.source.combine(coef), *smoothed[1:], mass=mass)

    def slope_along(self, smoothed: RoundedPairs, direction: Handle) -> float:
        """How a rounded risk rises along a direction."""
        return self.risk.along(there(smoothed.coef), there(direction))

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array:
        """The slope for width h if the pairs within `reach` stayed on their kinks."""
        return self.source.combine(self._order(there(scores)).smoothed(h, reach)[0])

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction."""
        return there(scores) + t * there(direction)

    def sample(self, size: int, generator: np.random.Generator) -> PairPart | None:
        """About `size` of the examples; None where these have no pair."""
        rows = self.risk.sample_rows(size, generator)
        if size <= _MOST_ON_HOST:
            return self._on_host(rows)
        try:
            return DevicePairShard(self.source.take(rows), self.risk.take(rows))
        except NoPairsError:
            return None

    def _on_host(self, rows: DeviceArray) -> PairShard | None:
        """Some examples, copied; None where these have no pair."""
        try:
            risk = self.risk.on_host(rows)
        except NoPairsError:
            return None
        return PairShard(as_source(self.source.take(rows).on_host(), n_threads=self.risk.n_threads), risk)

    @cached_property
    def _representatives(self) -> tuple[DeviceArray, PairShard]:
        """The examples that the curvature is estimated from, on the host."""
        size = representatives(self.dimension, self.risk.n_pairs / self.examples)
        if 2 * size <= self.examples:
            rows = self.risk.sample_rows(size, np.random.default_rng(0))
            part = self._on_host(rows)
            if part is not None:
                return rows, part
        every = self._kernels.xp.arange(self.examples)
        return every, cast(PairShard, self._on_host(every))

    def curvature(self, scores: Handle, h: float) -> PairCurvature:
        """An estimate of h times the second derivative of the rounded risk."""
        rows, part = self._representatives
        chosen: Array = self._kernels.to_host(there(scores)[rows])
        return PairCurvature(part, chosen, part.risk.sort(chosen), h)

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """The risk at weights, for the prover: afresh, by the plane at their scores, as `risk_at` has it."""
        scores = self.source.scores(w)
        largest = self.size(scores)
        if not math.isfinite(largest):
            return Evaluation(math.inf, math.inf)
        cut = self.risk.cut(scores)
        along, above, below = self._kernels.sides(cut.coef * scores)
        mass = max(self.risk.mass(cut), self.risk.steepest)  # a steeper plane may lie next to this one
        error = gamma(sum_depth_of(self.examples) + 1) * (above - below)
        error += 2.0 * mass * (delta + self.risk.resolution(scores))
        error += OPERATIONS * UNIT * (mass * (self.risk.scale + largest) + abs(cut.offset))
        value = cut.value if self.risk.inexact == 0.0 else -math.inf
        return Evaluation(max(along + cut.offset, value), error)


def device_pair_shard(source: DeviceMatrix, risk: PairRisk) -> DevicePairShard:
    """The shard of pairs of examples on a device; the risk is the host's."""
    return DevicePairShard(source.rows, DevicePairRisk.on(source.rows.kernels, risk))


def thresholds_there(rows: DeviceRows, w: Array, codes: Codes, n_classes: int, weights: Array | None) -> Array:
    """As `least_error_thresholds`, of the scores of weights: these stay on the device."""
    kernels = rows.kernels
    own = None if weights is None else kernels.to_device(np.asarray(weights, np.float64))
    return least_error_thresholds_there(kernels, rows.scores(w), kernels.to_device(codes), n_classes, own)

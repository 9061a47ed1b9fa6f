"""Which shard serves a source and a risk: the one place where they are asked for their types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple, cast

from cutplane._types import Codes
from cutplane.device.kernels import Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.pair_risk import DevicePairRisk
from cutplane.device.source import DenseRows
from cutplane.device.string_source import StringMatrix
from cutplane.risks.base import Risk, RoundedRisk
from cutplane.risks.hinge import Hinge
from cutplane.risks.pairs import PairRisk
from cutplane.risks.roc_area import RocArea
from cutplane.risks.separable import TubeRisk
from cutplane.risks.thresholds import least_error_thresholds
from cutplane.risks.visited import VisitedRisk
from cutplane.shards.base import Array, KindOfShard
from cutplane.shards.device import DeviceShard, device_shard
from cutplane.shards.device_pairs import DevicePairShard, device_pair_shard, thresholds_there
from cutplane.shards.device_part import DevicePart, Origin
from cutplane.shards.hinge import AugmentedHingeShard, HingeShard
from cutplane.shards.host import HostShard, RoundedHostShard
from cutplane.shards.long_planes import long_planes_shard
from cutplane.shards.pairs import PairShard
from cutplane.shards.scattered import (
    ScatteredRisk,
    ScatteredSource,
    augmented_scattered_shard,
    scattered_shard,
)
from cutplane.shards.scattered_pairs import ScatteredPairs, scattered_pair_shard
from cutplane.shards.tube import AugmentedTubeShard, TubeShard
from cutplane.shards.visited import AugmentedShard, VisitedShard
from cutplane.sources.augmented import AugmentedSource
from cutplane.sources.base import Source
from cutplane.sources.matrix import MatrixSource


class _Entry(NamedTuple):
    """What serves sources and risks of these kinds; `make` is told whether an intercept is free."""

    source: type
    risk: type
    make: Callable[[Any, Any, bool], KindOfShard]


# The first that fits: from those that know most of their source and risk to those that know least.
_ENTRIES = (
    _Entry(AugmentedSource, ScatteredRisk, augmented_scattered_shard),
    _Entry(ScatteredSource, ScatteredRisk, scattered_shard),
    _Entry(ScatteredSource, ScatteredPairs, scattered_pair_shard),
    _Entry(StringMatrix, VisitedRisk, lambda source, risk, intercept: long_planes_shard(source, risk)),
    _Entry(DeviceMatrix, VisitedRisk, lambda source, risk, intercept: device_shard(source, risk)),
    _Entry(DeviceMatrix, PairRisk, lambda source, risk, intercept: device_pair_shard(source, risk)),
    _Entry(DeviceMatrix, DevicePairRisk, lambda source, risk, intercept: DevicePairShard(source.rows, risk)),
    _Entry(MatrixSource, Hinge, lambda source, risk, intercept: HingeShard(source, risk, fused=not intercept)),
    _Entry(AugmentedSource, Hinge, lambda source, risk, intercept: AugmentedHingeShard(source, risk)),
    _Entry(MatrixSource, TubeRisk, lambda source, risk, intercept: TubeShard(source, risk)),
    _Entry(AugmentedSource, TubeRisk, lambda source, risk, intercept: AugmentedTubeShard(source, risk)),
    _Entry(MatrixSource, VisitedRisk, lambda source, risk, intercept: VisitedShard(source, risk)),
    _Entry(AugmentedSource, VisitedRisk, lambda source, risk, intercept: AugmentedShard(source, risk)),
    _Entry(Source, PairRisk, lambda source, risk, intercept: PairShard(source, risk)),
    _Entry(Source, RoundedRisk, lambda source, risk, intercept: RoundedHostShard(source, risk)),
    _Entry(Source, Risk, lambda source, risk, intercept: HostShard(source, risk)),
)


def lockstep_rows(source: Source) -> DenseRows | None:
    """The rows of a source that many classes can be trained on in lockstep."""
    rows = source.rows if isinstance(source, DeviceMatrix) else None
    return rows if isinstance(rows, DenseRows) else None


def threshold_of(source: Source, risk: Risk, w: Array) -> float:
    """What to add to the scores of weights so that their signs decide, where no intercept was trained."""
    if isinstance(source, DeviceMatrix) and isinstance(risk, RocArea):
        ranks, _, weights, *_ = risk.made_of
        return -float(thresholds_there(source.rows, w, ranks, 2, weights)[0])
    return risk.threshold(source.scores(w))


def thresholds_of(source: Source, w: Array, codes: Codes, n_classes: int, weights: Array | None) -> Array:
    """The thresholds between ordered classes that make the least absolute error on the scores of weights."""
    if isinstance(source, DeviceMatrix):
        return thresholds_there(source.rows, w, codes, n_classes, weights)
    return least_error_thresholds(source.scores(w), codes, n_classes, weights)


def device_kernels(source: object) -> Kernels | None:
    """Those of the device that a source lies on; None of anything else."""
    return source.rows.kernels if isinstance(source, DeviceMatrix) else None


def make_shard(source: Source, risk: Risk, *, intercept: bool = False) -> KindOfShard:
    """The shard that knows most of this source and this risk."""
    return _maker(type(source), type(risk))(source, risk, intercept)


@cache
def _maker(source: type, risk: type) -> Callable[[Any, Any, bool], KindOfShard]:
    for entry in _ENTRIES:
        if issubclass(source, entry.source) and issubclass(risk, entry.risk):
            return entry.make
    raise TypeError(f"{source.__name__} and {risk.__name__} must be a Source and a Risk.")


def make_part(source: Source, risk: Risk, *, intercept: bool) -> KindOfShard:
    """The shard of a part of a sum: what is gathered of it can be sent to a process without a device."""
    shard = make_shard(source, risk, intercept=intercept)
    if not isinstance(shard, DeviceShard):
        return shard
    origin = Origin(cast(RoundedRisk, risk), partial(make_shard, intercept=intercept))
    return DevicePart(shard.source, shard.risk, origin)

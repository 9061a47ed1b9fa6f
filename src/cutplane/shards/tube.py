"""Tubes over the rows of a matrix: losses that rise on both sides of a tube around the target."""

from __future__ import annotations

from cutplane.risks.separable import TubeRisk
from cutplane.shards.kinked import KinkedShard
from cutplane.shards.visited import AugmentedShard


class TubeShard(KinkedShard):
    """The tube of a matrix: the epsilon-insensitive, the absolute and the quantile loss."""

    risk: TubeRisk


class AugmentedTubeShard(TubeShard, AugmentedShard):
    """The tube of a matrix with a constant last feature: a penalised intercept."""

"""A plane that leans on no intercept, by mixing two that lean to opposite sides."""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from cutplane.proof.rounding import leaning_mass
from cutplane.risks.intercept import opposite_leans
from cutplane.shards.base import Array, Handle, ShardPlane
from cutplane.shards.sum_planes import mixed


class Leaning(Protocol):
    """What is asked of a shard."""

    def leans(self, scores: Handle, shifts: Array) -> Array: ...  # noqa: D102

    def size(self, scores: Handle) -> float: ...  # noqa: D102

    def cut(self, scores: Handle) -> ShardPlane: ...  # noqa: D102

    def shifted(self, scores: Handle, shift: float | Array, *, in_place: bool = False) -> Handle: ...  # noqa: D102

    def value(self, scores: Handle) -> float: ...  # noqa: D102


def balanced_plane(shard: Leaning, scores: Handle) -> ShardPlane:
    """The plane at scores with their best shift in them, mixed with one from beside, so that it does not lean."""
    (here,) = shard.leans(scores, np.zeros(1)).tolist()
    if here == 0.0:
        return shard.cut(scores)
    shift, opposite = opposite_leans(partial(shard.leans, scores), here, shard.size(scores))
    share = opposite / (opposite - here)
    plane = mixed(shard.cut(scores), shard.cut(shard.shifted(scores, shift)), share)
    left = share * here + (1.0 - share) * opposite
    return plane._replace(value=shard.value(scores), mass=leaning_mass(plane.mass, left))

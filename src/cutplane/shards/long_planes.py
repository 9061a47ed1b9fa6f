"""Examples on a device whose weights are so many that they lie there, too: for cutting planes.

Slopes, weights and planes never leave the device before the end; on the host are the sums, and the QP over the planes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cutplane.device.bundle import DeviceBundle
from cutplane.device.kernels import DeviceArray
from cutplane.device.risk import DeviceRisk
from cutplane.device.string_source import StringMatrix
from cutplane.device.vectors import DeviceVector
from cutplane.risks.visited import VisitedRisk
from cutplane.shards.base import Handle, KindOfShard
from cutplane.shards.device import DeviceShard
from cutplane.shards.host import RoundedHostShard


class LongPlanesShard(DeviceShard):
    """A sum of losses over rows on a device; weights and slopes are vectors of the device."""

    kind: ClassVar[str] = "long planes"

    def at(self, w: Any) -> Handle:
        """The scores of weights: one pass."""
        there = self.placed(w)
        if there.inner(there) == 0.0 or not self.examples:
            return self._kernels.xp.zeros(self.examples)
        return self.source.scores_there(there.array)

    def placed(self, w: Any) -> DeviceVector:
        """Weights, on the device."""
        return DeviceVector.on(self._kernels, w)

    def new_bundle(self) -> DeviceBundle:
        """One without planes."""
        return DeviceBundle(self._kernels, self.dimension, lower_bound=self.lower_bound)

    def _slope(self, coef: DeviceArray) -> Any:
        return DeviceVector(self._kernels, self.source.combine_there(coef))


def long_planes_shard(source: StringMatrix, risk: VisitedRisk) -> KindOfShard:
    """The shard of strings on a device; with a loss that is not known there, scores come to the host."""
    there = DeviceRisk.on(source.rows.kernels, risk)
    return RoundedHostShard(source, risk) if there is None else LongPlanesShard(source.rows, there)

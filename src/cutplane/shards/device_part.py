"""Examples on the GPU of a worker, as a part of a sum that lies elsewhere: what is gathered of them can be sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cutplane.device.kernels import DeviceArray
from cutplane.device.risk import DeviceRisk
from cutplane.device.source import DeviceRows
from cutplane.risks.base import Risk, RoundedRisk
from cutplane.shards.base import Handle
from cutplane.shards.device import DeviceShard
from cutplane.shards.rows import positions_of
from cutplane.solvers.base import Subset
from cutplane.sources.base import Source
from cutplane.sources.matrix import as_source


class Origin(NamedTuple):
    """What examples on a device are of the risk of a part, on the host: some of them, so many times.

    Attributes
    ----------
    risk : RoundedRisk
        Of all examples of the part.
    make : callable
        From a source and a risk of the host to their shard.
    positions : array of the device, or None
        Which of them: all.
    scale : float
    """

    risk: RoundedRisk
    make: Callable[[Source, Risk], Any]
    positions: DeviceArray | None = None
    scale: float = 1.0

    def part(self, rows: DeviceArray, scale: float) -> Origin:
        """Of some of these."""
        positions = rows if self.positions is None else self.positions[rows]
        return self._replace(positions=positions, scale=self.scale * scale)


class DevicePart(DeviceShard):
    """A shard of rows on a device whose gathered examples are arrays of the host, for a process without a device.

    Parameters
    ----------
    source : DeviceRows
    risk : DeviceRisk
    origin : Origin
        What they are of the risk on the host.
    keeps : bool
        Whether planes come with their coefficients: on the host.
    """

    def __init__(self, source: DeviceRows, risk: DeviceRisk, origin: Origin, *, keeps: bool = False) -> None:
        super().__init__(source, risk, keeps=keeps)
        self._origin = origin

    def keeping(self) -> DevicePart:
        """The same, whose planes come with their coefficients."""
        return DevicePart(self.source, self.risk, self._origin, keeps=True)

    def part(self, subset: Subset, *, scale: float = 1.0, gathered: bool = False) -> Any:
        """The sum over some examples, times `scale`; `gathered`: on a copy of these on the host."""
        rows: Any = positions_of(subset)
        source, origin = self.source.take(rows), self._origin.part(rows, scale)
        if not gathered:
            return DevicePart(source, self.risk.take(rows, scale=scale), origin, keeps=self.keeps)
        positions = np.asarray(self._kernels.to_host(origin.positions), np.int64)
        risk = origin.risk.take(positions, scale=origin.scale)
        return origin.make(as_source(source.on_host()), risk)

    def restricted(self, scores: Handle, subset: Subset, *, gathered: bool = False) -> Handle:
        """The scores of some examples, where their `part` has them."""
        chosen = super().restricted(scores, subset)
        return self._kernels.to_host(chosen) if gathered else chosen

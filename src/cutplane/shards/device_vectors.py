"""Vectors of examples that lie on a device: what its shards do with these, whatever the risk."""

from __future__ import annotations

from typing import cast

from cutplane.device.kernels import DeviceArray
from cutplane.device.source import DeviceRows
from cutplane.shards.base import Array, Handle


def there(handle: Handle) -> DeviceArray:
    """What a handle of such a shard holds."""
    return cast(DeviceArray, handle)


class DeviceVectors:
    """In front of a shard of the host, which it is the same as but for where vectors lie."""

    source: DeviceRows

    def at(self, w: Array) -> Handle:
        """The scores of weights: one pass."""
        return self.source.scores(w) if w.any() else self.source.kernels.xp.zeros(self.source.shape[0])

    def shifted(self, scores: Handle, shift: float | Array, *, in_place: bool = False) -> Handle:
        """The scores plus a constant, where they were if nobody else holds them."""
        values = there(scores)
        if not in_place:
            return values + shift
        values += shift
        return values

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b, in memory of its own or in that of a handle that is used up."""
        mixed = (1.0 - t) * there(a) + t * there(b)
        if into is None:
            return mixed
        there(into)[:] = mixed
        return into

    def size(self, scores: Handle) -> float:
        """The largest score, in size."""
        values = there(scores)
        return float(abs(values).max()) if values.size else 0.0

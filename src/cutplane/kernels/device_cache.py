"""Rows of a kernel matrix that a device keeps: those that were asked for last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cutplane.device.kernels import DeviceArray
from cutplane.device.pair_steps import KernelRows


class DeviceRowCache:
    """Room for some of the rows; what was not asked for longest makes way for what is.

    Parameters
    ----------
    xp : module
        Of arrays on the device.
    size : int
        Of the matrix.
    room : int
        How many rows are kept.
    """

    def __init__(self, xp: Any, size: int, room: int) -> None:
        self._xp, self._room, self._turn = xp, room, 0
        self._values = xp.empty((room, size), np.float32)
        self._place = xp.full(size, -1, np.int32)  # of each row, where it is kept
        self._row = xp.full(room, -1, np.int64)  # at each place, whose row it is
        self._asked = xp.zeros(room, np.int64)  # and when it was last asked for

    def rows(self, columns: DeviceArray, block: Callable[[DeviceArray], DeviceArray]) -> KernelRows:
        """The rows of examples, in an array of any shape; `block` computes those that are not there."""
        xp = self._xp
        wanted = xp.unique(columns)
        if len(wanted) > self._room:
            return KernelRows(block(wanted), xp.searchsorted(wanted, columns).astype(np.int32))
        self._turn += 1
        place = self._place[wanted]
        missing = wanted[place < 0]
        self._asked[place[place >= 0]] = self._turn
        if len(missing):
            self._keep(missing, block(missing))
        return KernelRows(self._values, self._place[columns])

    def _keep(self, missing: DeviceArray, values: DeviceArray) -> None:
        """Put rows where those lay that were not asked for longest."""
        places = self._xp.argsort(self._asked)[: len(missing)]
        gone = self._row[places]
        self._place[gone[gone >= 0]] = -1
        self._values[places] = values
        self._row[places], self._asked[places] = missing, self._turn
        self._place[missing] = places.astype(np.int32)

"""Examples on a device, as solvers of the host have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.device.kernels import LARGEST, Array
from cutplane.device.source import DeviceRows
from cutplane.sources.base import Extent, Rows, Source
from cutplane.sources.matrix import as_source


class DeviceMatrix(Source):
    """Examples on a device, as the host sees them: scores come here.

    Shards that know of the device take `rows`, whose vectors of examples stay there.

    Parameters
    ----------
    rows : DeviceRows
    """

    def __init__(self, rows: DeviceRows) -> None:
        self.rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent elsewhere, they are rows of the host."""
        return as_source, (self.rows.on_host(),)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        return self.rows.shape

    @property
    def extent(self) -> Extent:
        """What rounding in passes is charged by."""
        return self.rows.extent

    @property
    def row_bytes(self) -> float:
        """What an example takes, in the mean."""
        return self.rows.row_bytes

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature` on the same rows."""
        return self.rows.gram_cost

    def scores(self, w: Array) -> Array:
        """X @ w."""
        found: Array = self.rows.kernels.to_host(self.rows.scores(w))
        return found

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        return self.rows.combine(coef)

    def take(self, rows: Rows) -> DeviceMatrix:
        """A copy of some rows, on the device."""
        return DeviceMatrix(self.rows.take(rows))

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i'."""
        return self.rows.gram(rows, weights)

    def dense_rows(self, rows: Rows, scale: Array, centre: Array | None = None) -> Array:
        """scale[i] (x_i - centre) for some rows, as a dense array."""
        return self.rows.dense_rows(rows, scale, centre)

    def check_finite(self) -> None:
        """Refuse values that are not finite or far too large; an error names the first column that has one."""
        sizes = np.zeros(0) if self.extent.columns is None else self.extent.columns
        wrong = np.flatnonzero(~(sizes <= LARGEST))
        if len(wrong):
            raise ValueError(f"Column {wrong[0]} of X has a value that is not finite, or beyond {LARGEST:g}.")

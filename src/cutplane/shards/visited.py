"""A sum of losses over the rows of a matrix in memory: dual ascent can visit the examples one by one."""

from __future__ import annotations

from typing import Any

from cutplane import _core
from cutplane.risks.visited import VisitedRisk
from cutplane.shards.base import Array
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.shards.host import RoundedHostShard
from cutplane.sources.matrix import MatrixSource


class VisitedShard(RoundedHostShard):
    """Losses of the rows of a matrix.

    Parameters
    ----------
    source : MatrixSource
    risk : VisitedRisk
    keeps : bool
        Whether planes come with their coefficients.
    """

    source: MatrixSource
    risk: VisitedRisk

    def __init__(self, source: MatrixSource, risk: VisitedRisk, *, keeps: bool = False) -> None:
        super().__init__(source, risk, keeps=keeps)
        self._ascent_scale: _core.AscentScale | None = None  # the same for every C

    @property
    def keeps_duals(self) -> bool:
        """Whether dual ascent can go on from where it ended for another C."""
        return True

    def ascent(self, C: float, seed: int, *, intercept: bool, origin: Array | None = None) -> Any:
        """Dual coordinate ascent."""
        if self._ascent_scale is None:
            self._ascent_scale = _core.AscentScale(self.source.core, self.source.n_threads)
        return ExampleAscent(
            self.source, self._ascent_scale, self.risk, C, intercept=intercept, seed=seed, origin=origin
        )

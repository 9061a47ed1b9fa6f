"""A sum of losses over the rows of a matrix in memory: dual ascent can visit the examples one by one."""

from __future__ import annotations

from typing import Any

from cutplane import _core
from cutplane.risks.visited import AscentExamples, InteriorExamples, VisitedRisk
from cutplane.shards.base import Array
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.shards.example_interior import ExampleInterior
from cutplane.shards.host import RoundedHostShard
from cutplane.sources.augmented import AugmentedSource
from cutplane.sources.base import Source
from cutplane.sources.matrix import MatrixSource, matrix_of


class VisitedShard(RoundedHostShard):
    """Losses of the rows of a matrix.

    Parameters
    ----------
    source : MatrixSource
    risk : VisitedRisk
    keeps : bool
        Whether planes come with their coefficients.
    """

    risk: VisitedRisk

    def __init__(self, source: Source, risk: VisitedRisk, *, keeps: bool = False) -> None:
        super().__init__(source, risk, keeps=keeps)
        self._ascent_scale: _core.AscentScale | None = None  # the same for every C

    def __getstate__(self) -> dict[str, Any]:
        """Without what the core keeps."""
        return {**vars(self), "_ascent_scale": None}

    def keeping(self) -> VisitedShard:
        """The same, whose planes come with their coefficients."""
        return VisitedShard(self.source, self.risk, keeps=True)

    @property
    def duals_stay(self) -> bool:
        """Whether a path of C falls: of larger C, most dual variables stay where they are."""
        return self.risk.has_kinks

    @property
    def smooth(self) -> bool:
        """Whether the risk has no kinks."""
        return not self.risk.has_kinks

    @property
    def _visited(self) -> tuple[MatrixSource | None, float]:
        """The matrix, and the value of a constant last feature beside it."""
        return matrix_of(self.source), 0.0

    def ascent(
        self, C: float, seed: int, *, intercept: bool, origin: Array | None = None, floor: Array | None = None
    ) -> Any:
        """Dual coordinate ascent; None where the examples are not the rows of a matrix in memory."""
        matrix, constant = self._visited
        if matrix is None:
            return None
        examples = AscentExamples(matrix.core, self._scale_of(matrix), intercept, constant)
        threads = matrix.n_threads
        return ExampleAscent(
            self.source, examples, self.risk, C, seed=seed, origin=origin, floor=floor, n_threads=threads
        )

    def interior(self, C: float, *, intercept: bool, origin: Array | None = None) -> ExampleInterior | None:
        """An interior point over all examples; None where these are not the rows of a matrix in memory."""
        matrix, constant = self._visited
        if matrix is None:
            return None
        examples = InteriorExamples(matrix.core, intercept, constant, matrix.n_threads)

        def make() -> _core.InteriorPoint:
            return self.risk.interior(examples, C, None if origin is None else self.source.scores(origin))

        def mean_square() -> float:  # a pass over the examples, which may be many
            return self._scale_of(matrix).mean_square

        return ExampleInterior(self.source, self.risk, make, C, mean_square, intercept=intercept, origin=origin)

    def _scale_of(self, matrix: MatrixSource) -> _core.AscentScale:
        if self._ascent_scale is None:
            self._ascent_scale = _core.AscentScale(matrix.squares)
        return self._ascent_scale


class AugmentedShard(VisitedShard):
    """The same with a constant last feature: a penalised intercept."""

    source: AugmentedSource

    def keeping(self) -> AugmentedShard:
        """The same, whose planes come with their coefficients."""
        return AugmentedShard(self.source, self.risk, keeps=True)

    @property
    def duals_stay(self) -> bool:
        """Whether a path of C falls: of larger C, most dual variables stay where they are."""
        return self._visited[0] is not None and self.risk.has_kinks

    @property
    def _visited(self) -> tuple[MatrixSource | None, float]:
        return matrix_of(self.source.base), self.source.constant

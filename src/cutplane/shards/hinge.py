"""The hinge over examples in memory: sums go along with passes, so that coefficients are nowhere in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.rounding import SINGLE_UNIT, Rounding
from cutplane.risks.hinge import Hinge
from cutplane.shards.base import Array, Handle, ShardPlane
from cutplane.shards.host import scores_of
from cutplane.shards.kinked import KinkedShard
from cutplane.shards.rows import RowSet
from cutplane.shards.visited import AugmentedShard
from cutplane.solvers.base import ScoresTooCoarseError, Subset
from cutplane.sources.matrix import MatrixSource

# Examples looked at in one go by NumPy.
_PART = 1 << 16
# Scores in single precision are worth it where examples are many and have few entries each.
_MANY_EXAMPLES = 1 << 16
_FEW_ENTRIES = 128


class HingeNeighbours(KinkedShard):
    """The hinge of any source: which examples leave their kinks."""

    risk: Hinge

    def crossed(self, scores: Handle, direction: Handle) -> Subset:
        """The examples whose tangents do not hold at scores + direction."""
        start, along = scores_of(scores), scores_of(direction)
        parts = [self._crossed_in(slice(k, k + _PART), start, along) for k in range(0, self.examples, _PART)]
        return RowSet(np.concatenate(parts))

    def _crossed_in(self, part: slice, scores: Array, direction: Array) -> Any:
        labels, before = self.risk.y[part], scores[part]
        differ = (labels * before <= 1.0) != (labels * (before + direction[part]) <= 1.0)
        return np.asarray(np.flatnonzero(differ) + part.start, np.int64)


class AugmentedHingeShard(HingeNeighbours, AugmentedShard):
    """The hinge of a matrix with a constant last feature: a penalised intercept."""


class HingeShard(HingeNeighbours):
    """The hinge of a matrix.

    Parameters
    ----------
    source : MatrixSource
    risk : Hinge
    fused : bool
        Whether sums go along with passes: not where an intercept has to balance them.
    """

    source: MatrixSource

    def __init__(self, source: MatrixSource, risk: Hinge, *, fused: bool = True) -> None:
        super().__init__(source, risk)
        self._fused = fused

    def _like(self, source: Any, risk: Any) -> Self:
        return type(self)(source, risk, fused=self._fused)

    def smoothed(
        self,
        scores: Handle,
        h: float,
        *,
        balanced: bool = False,
        lean: bool = False,
        factors: Array | None = None,
    ) -> ShardPlane:
        """The risk rounded over h, and the plane below the risk itself that it gives: one pass."""
        if not self._fused or balanced or lean or factors is not None:
            return super().smoothed(scores, h, balanced=balanced, lean=lean, factors=factors)
        source = self.source
        return self._smoothed_plane(*self.risk.core.smoothed_plane(source.core, scores_of(scores), h, source.n_threads))

    @property
    def fuses(self) -> bool:
        """Whether there is `stepped`."""
        return self._fused

    def stepped(self, p: Array, base: Handle | None, h: float) -> tuple[Handle, ShardPlane]:
        """The scores of p, added to `base`, and what `smoothed` says there, in one pass."""
        start = None if base is None else scores_of(base)
        scores, slope, s = self._scored_plane(np.ascontiguousarray(p), start, h)
        return scores, self._smoothed_plane(slope, s)

    def _scored_plane(self, p: Array, base: Array | None, h: float) -> tuple[Array, Array, Any]:
        source = self.source
        found: tuple[Array, Array, Any] = self.risk.core.scored_plane(source.core, p, base, h, source.n_threads)
        return found

    def in_single(self) -> HingeShard:
        """The same with scores in single precision, where these take much of the memory and the time."""
        many = self.examples >= _MANY_EXAMPLES and self.source.per_row <= _FEW_ENTRIES
        return SingleHingeShard(self.source, self.risk) if self._fused and many else self


def _single(handle: Handle) -> NDArray[np.float32]:
    return cast(NDArray[np.float32], handle)


class SingleHingeShard(HingeShard):
    """The hinge with scores in single precision: half the memory, and half of what line searches read.

    Planes lie below the risk whatever their coefficients are, so rounded scores cost the lower bound nothing. The upper
    one they do: bounds on the way allow for it, and in the end the prover evaluates the risk in double precision.
    """

    def __init__(self, source: MatrixSource, risk: Hinge) -> None:
        super().__init__(source, risk)

    def _like(self, source: Any, risk: Any) -> Any:
        return HingeShard(source, risk)

    def in_double(self) -> HingeShard:
        """The same with scores in double precision."""
        return HingeShard(self.source, self.risk)

    def in_single(self) -> HingeShard:
        """Itself."""
        return self

    def rounding(self, *, by_columns: bool) -> Rounding:
        """Scores are kept in single precision."""
        return replace(super().rounding(by_columns=by_columns), unit=SINGLE_UNIT)

    def at(self, w: Array) -> Handle:
        """The scores of weights: one pass."""
        if not w.any():
            return np.zeros(self.examples, np.float32)
        scores, held = self.source.core.single_scores(np.ascontiguousarray(w), self.source.n_threads)
        if not held:
            raise ScoresTooCoarseError
        return scores

    def _scored_plane(self, p: Array, base: Any, h: float) -> tuple[Any, Array, Any]:
        source = self.source
        scores, slope, s = self.risk.core.single_scored_plane(source.core, p, base, h, source.n_threads)
        if s.value == float("inf"):
            raise ScoresTooCoarseError
        return scores, slope, s

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b."""
        start = scores_of(a)
        mixed = start + t * (scores_of(b) - start)
        if into is None:
            return mixed
        np.copyto(scores_of(into), mixed)
        return into

    def cut(self, scores: Handle) -> ShardPlane:
        """The plane that touches the risk at the scores, but for rounding: one pass."""
        return self._cut_towards(_single(scores), _single(scores), 0.0)

    def _cut_towards(self, scores: NDArray[np.float32], end: NDArray[np.float32], mu: float) -> ShardPlane:
        """The plane at scores + mu·(end - scores)."""
        source = self.source
        slope, offset, value = self.risk.core.cut_plane(source.core, scores, end, mu, source.n_threads)
        return ShardPlane(slope, offset, value, mass=offset * (1.0 + 1e-9))

    def advance(self, a: Handle, b: Handle, step: float, mu: float) -> tuple[Handle, float, Callable[[], ShardPlane]]:
        """The scores moved from a, which is used up, towards b, which is not; their risk; the plane further on."""
        start, end = _single(a), _single(b)
        value = self.risk.core.move(start, end, step, self.source.n_threads)
        return start, value, lambda: self._cut_towards(start, end, mu)

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array:
        """The slope for width h if the examples within `reach` stayed on their kinks: one pass."""
        source = self.source
        slope: Array = self.risk.core.extrapolated_slope(source.core, _single(scores), h, reach, source.n_threads)
        return slope

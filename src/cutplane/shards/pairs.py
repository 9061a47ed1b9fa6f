"""A risk of pairs over examples in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.proof.rounding import Rounding
from cutplane.risks.base import Rows, ScoreCut, Smoothed
from cutplane.risks.pairs import NoPairsError, PairRay, PairRisk, rounded
from cutplane.shards.base import Array, Handle, RoundedPairs, ShardPlane
from cutplane.shards.host import HostShard, scores_of
from cutplane.solvers.base import ProductsHere
from cutplane.sources.base import Source
from cutplane.sources.matrix import matrix_of

# Examples that the curvature is estimated from: at least this many, and so many for each feature.
_LEAST_ROWS = 8000
_ROWS_PER_FEATURE = 20
# So many pairs for each feature, if that is no more than so many times as many examples.
_PAIRS_PER_FEATURE, _MOST_TIMES = 2500, 8


def representatives(features: int, pairs_each: float) -> int:
    """From how many examples the curvature is estimated: more where each is in few pairs."""
    least = max(_LEAST_ROWS, _ROWS_PER_FEATURE * features)
    return int(min(_MOST_TIMES * least, max(least, _PAIRS_PER_FEATURE * features / pairs_each)))


class PairShard(HostShard):
    """The pair risk of a sample.

    Scores are sorted once for all that is asked of a handle in a row, and from the order found last.
    """

    kind: ClassVar[str] = "pairs"

    risk: PairRisk

    def __init__(self, source: Source, risk: PairRisk) -> None:
        super().__init__(source, risk)
        self._last: tuple[Array, _core.SortedPairs] | None = None
        self._near: _core.PairOrder | None = None
        self._valued: tuple[Array, ScoreCut] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Without what is kept from one call to the next."""
        return PairShard, (self.source, self.risk)

    def _order(self, scores: Array) -> _core.SortedPairs:
        if self._last is None or self._last[0] is not scores:
            self._last = (scores, self.risk.sort(scores, self._near))
            self._near = self._last[1]
        return self._last[1]

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b; what was known of scores that are written over is forgotten."""
        if into is not None:
            self._last = self._valued = None
        return super().blend(a, b, t, into)

    def begun(self) -> Self:
        """The same for a run of its own: the order of the last scores is that run's."""
        return type(self)(self.source, self.risk)

    def rounding(self, *, by_columns: bool) -> Rounding:
        """Sweeps add up pairs without cutting the examples into blocks."""
        return replace(super().rounding(by_columns=by_columns), sum_depth=self.examples + 64)

    @property
    def within_queries(self) -> bool:
        """Whether pairs are within queries; else they are across all examples."""
        return self.risk.groups is not None

    @property
    def total_mass(self) -> float:
        """What the mean is taken over: queries, or the weights of pairs."""
        return self.risk.total_mass

    @property
    def share(self) -> float:
        """The risk is this many means."""
        return self.risk.share

    def weighing(self, share: float) -> PairShard:
        """The mean, so many times: a part of a larger one."""
        return PairShard(self.source, self.risk.weighing(share))

    @property
    def query_sizes(self) -> NDArray[np.int64]:
        """The number of examples of each query."""
        groups = self.risk.groups
        return np.array([self.examples]) if groups is None else np.bincount(groups)

    def of_queries(self, first: int, last: int) -> PairShard | None:
        """The queries from one up to another, that one not included; None where these have no pair."""
        groups = self.risk.groups
        assert groups is not None
        return self._part(np.flatnonzero((groups >= first) & (groups < last)))

    def ray(self, a: Handle, b: Handle) -> PairRay:
        """The risk along the line from a to b."""
        start, end = scores_of(a), scores_of(b)
        ray = self.risk.ray(start, end, self._near)
        self._near = ray.core
        if self._valued is None or self._valued[0] is not start:
            return ray
        cut = self._valued[1]
        return ray._replace(first=(cut.value, float(cut.coef @ (end - start))))

    def value(self, scores: Handle) -> float:
        """The risk."""
        cut = self._cut(scores_of(scores))
        self._valued = (scores_of(scores), cut)
        return cut.value

    def cut(self, scores: Handle) -> ShardPlane:
        """The plane that touches the risk at the scores: a pass."""
        known = self._valued
        return self._plane(known[1] if known and known[0] is scores else self._cut(scores_of(scores)))

    def advance(self, a: Handle, b: Handle, step: float, mu: float) -> tuple[Handle, float, Callable[[], ShardPlane]]:
        """The scores moved from a towards b, their risk, and (on call: a pass) the plane mu of the rest further on."""
        moved = self.moved(a, scores_of(b) - scores_of(a), step)
        value = self.value(moved)
        ahead = self.moved(moved, scores_of(b) - scores_of(moved), mu)
        return moved, value, lambda: self.cut(ahead)

    def _cut(self, scores: Array) -> ScoreCut:
        return ScoreCut(*self._order(scores).cut())

    def smoothed(self, scores: Handle, h: float) -> RoundedPairs:
        """The risk rounded over h, in terms of the scores."""
        return RoundedPairs(*rounded(self._order(scores_of(scores)), scores_of(scores), h))

    def plane(self, smoothed: RoundedPairs, scores: Handle, h: float) -> ShardPlane:
        """The plane below the risk that a rounded one gives: a pass over the data."""
        coef = scores_of(smoothed.coef)
        mass = self.risk.smoothed_mass(Smoothed(coef, *smoothed[1:]), scores_of(scores), h)
        return ShardPlane(self.source.combine(coef), *smoothed[1:], mass=mass)

    def slope_along(self, smoothed: RoundedPairs, direction: Handle) -> float:
        """How a rounded risk rises along a direction."""
        return float(scores_of(smoothed.coef) @ scores_of(direction))

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array:
        """The slope for width h if the pairs within `reach` stayed on their kinks."""
        return self.source.combine(self._order(scores_of(scores)).smoothed(h, reach)[0])

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction."""
        return scores_of(scores) + t * scores_of(direction)

    def sample(self, size: int, generator: np.random.Generator) -> PairShard | None:
        """About `size` of the examples; None where these have no pair."""
        return self._part(self.risk.sample_rows(size, generator))

    def _part(self, rows: Rows) -> PairShard | None:
        try:
            return PairShard(self.source.take(rows), self.risk.take(rows))
        except NoPairsError:
            return None

    @cached_property
    def _representatives(self) -> tuple[Rows | None, PairShard]:
        """The examples that the curvature is estimated from."""
        size = representatives(self.dimension, self.risk.n_pairs / self.examples)
        if 2 * size > self.examples:
            return None, self
        rows = self.risk.sample_rows(size, np.random.default_rng(0))
        part = self._part(rows)
        return (None, self) if part is None else (rows, part)

    def curvature(self, scores: Handle, h: float) -> PairCurvature:
        """An estimate of h times the second derivative of the rounded risk."""
        values = scores_of(scores)
        rows, part = self._representatives
        if rows is None:
            return PairCurvature(self, values, self._order(values), h)
        chosen = np.ascontiguousarray(values[rows])
        return PairCurvature(part, chosen, part.risk.sort(chosen), h)


@dataclass(frozen=True, slots=True)
class PairCurvature(ProductsHere):
    """X' L X, L being the Laplacian of the pairs on the kink: what `solvers.newton.system` solves with."""

    shard: PairShard
    scores: Array
    order: _core.SortedPairs
    h: float

    @property
    def examples(self) -> int:
        """The number of examples it is made from."""
        return self.shard.examples

    def product(self, v: Array) -> Array:
        """The curvature times v."""
        source = self.shard.source
        return source.combine(self.order.curvature(self.h, source.scores(v)))

    def shift(self, p: Array) -> float:
        """There is no intercept."""
        return 0.0

    def root(self, most: int) -> None:
        """Not at hand."""

    def sampled_root(self, most: int) -> None:
        """Not at hand."""

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products: measured, roughly. It is a dense product whatever the rows are."""
        source, d = self.shard.source, self.shard.dimension
        matrix = matrix_of(source)
        per_row = float(d) if matrix is None else matrix.per_row
        return max(2.0, d * d / (150.0 * max(per_row, 1.0)))

    @property
    def exact(self) -> bool:
        """Whether `matrix` is the curvature to more digits than a direction needs: it is not taken to be."""
        return False

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from about `most` of its examples."""
        part, order = self.shard, self.order
        if most is not None and most < part.examples:
            rows = part.risk.sample_rows(most, np.random.default_rng(0))
            fewer = part._part(rows)
            if fewer is not None:
                part, order = fewer, fewer.risk.sort(np.ascontiguousarray(self.scores[rows]))
        dense = _dense(part.source)
        against = np.empty(dense.shape)
        order.curvature_of_rows(self.h, dense.astype(np.float64), against)
        # As a preconditioner: single precision will do. Where it overflows, the system finds no direction, and others
        # take over.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(dense.T @ against.astype(np.float32), dtype=np.float64)


def _dense(source: Source) -> NDArray[np.float32]:
    """All rows of a small source."""
    n, d = source.shape
    matrix = matrix_of(source)
    if matrix is not None:
        return matrix.core.gather(np.arange(n, dtype=np.int64), np.ones(n), matrix.n_threads)
    return source.scores(np.eye(d)).astype(np.float32)

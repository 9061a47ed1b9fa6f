"""Examples in the memory of this process: a source, and a risk of its scores.

Handles are arrays of scores. What takes long is done by the compiled core, through the source and the risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np

from cutplane import _core
from cutplane.proof.evaluation import Evaluation, risk_at
from cutplane.proof.prover import InterceptBound
from cutplane.proof.rounding import Rounding
from cutplane.risks.base import Ray, Risk, RoundedRisk, ScoreCut, Smoothed
from cutplane.risks.intercept import balanced as in_balance
from cutplane.shards.base import Array, Handle, NearPart, ShardPlane
from cutplane.shards.curvature import RowCurvature
from cutplane.shards.rows import RowSet, positions_of, spread
from cutplane.shards.vectors import any_weight, shifted
from cutplane.solvers.base import Subset
from cutplane.sources.base import Source


def scores_of(handle: Handle) -> Array:
    """What a handle of this process holds."""
    return cast(Array, handle)


class HostShard:
    """Any risk of a source's scores.

    Parameters
    ----------
    source : Source
        The examples.
    risk : Risk
        Of their scores.
    """

    #: Which objective it is for.
    kind: ClassVar[str] = "planes"
    #: Whether products with a curvature cost little however long the vectors are.
    long_products: bool = False

    risk: Risk

    def __init__(self, source: Source, risk: Risk) -> None:
        self.source = source
        self.risk = risk

    @property
    def dimension(self) -> int:
        """The number of weights."""
        return self.source.shape[1]

    @property
    def name(self) -> str:
        """Of the risk."""
        return self.risk.name

    @property
    def examples(self) -> int:
        """The number of examples."""
        return self.source.shape[0]

    @property
    def lower_bound(self) -> float:
        """What the risk never falls below."""
        return self.risk.lower_bound

    @property
    def advances_in_place(self) -> bool:
        """Whether `advance` goes with weights that are written where those of the end lay."""
        return False

    @property
    def elsewhere(self) -> bool:
        """Whether examples lie in other processes."""
        return False

    @property
    def row_bytes(self) -> float:
        """What an example takes, in the mean."""
        return self.source.row_bytes

    @property
    def most_drawn(self) -> int:
        """How large a sample may be."""
        return self.examples

    @property
    def least_drawn(self) -> int:
        """How small a sample may be: a smaller one is no faster."""
        return 0

    def rounding(self, *, by_columns: bool) -> Rounding:
        """What rounding does to passes; by column where that is asked for."""
        extent = self.source.extent
        if not by_columns:
            extent = extent._replace(columns=None)
        return Rounding(*extent, scale=self.risk.scale, least_mass=self.risk.least_mass)

    def begun(self) -> Self:
        """The same for a run of its own: itself, as nothing is kept from one plane to the next."""
        return self

    def at(self, w: Array) -> Handle:
        """The scores of weights: one pass."""
        return self.source.scores(w) if any_weight(w) else np.zeros(self.examples)

    def shifted(self, scores: Handle, shift: float | Array, *, in_place: bool = False) -> Handle:
        """The scores plus a constant, where they were if nobody else holds them."""
        return shifted(scores_of(scores), shift, in_place=in_place)

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b, in memory of its own or in that of a handle that is used up."""
        room = np.empty_like(scores_of(a)) if into is None else scores_of(into)
        _core.mix_into(scores_of(a), scores_of(b), t, room)
        return room

    def value(self, scores: Handle) -> float:
        """The risk."""
        return self.risk.value(scores_of(scores))

    def best_shift(self, scores: Handle) -> float:
        """The constant that, added to all scores, makes the risk least."""
        return self.risk.shift(scores_of(scores))

    def leans(self, scores: Handle, shifts: Array) -> Array:
        """What the coefficients of the planes at scores + shift add up to: the slope along constants, at several."""
        return self.risk.leans(scores_of(scores), shifts)

    def turns(self, scores: Handle, low: float, high: float, most: int) -> tuple[Array, Array] | None:
        """Where that slope jumps between two constants, and by how much; None: at more than `most`, or it bends."""
        found = self.risk.turns(scores_of(scores), low, high)
        return found if found is None or len(found[0]) <= most else None

    def size(self, scores: Handle) -> float:
        """The largest score, in size."""
        return float(np.abs(scores_of(scores)).max(initial=0.0))

    def cut(self, scores: Handle) -> ShardPlane:
        """The plane that touches the risk at the scores: a pass."""
        return self._plane(self.risk.cut(scores_of(scores)))

    def balanced_cut(self, scores: Handle) -> ShardPlane:
        """The same at scores with their best shift in them, with coefficients that sum to zero."""
        return self._plane(self.risk.balanced_cut(scores_of(scores)))

    def _plane(self, cut: ScoreCut) -> ShardPlane:
        slope = self.source.combine(cut.coef)
        return ShardPlane(slope, cut.offset, cut.value, mass=self.risk.mass(cut), coef=cut.coef)

    def advance(self, a: Handle, b: Handle, step: float, mu: float) -> tuple[Handle, float, Callable[[], ShardPlane]]:
        """The scores moved from a towards b, their risk, and (on call: a pass) the plane mu of the rest further on.

        Both handles are used up.
        """
        scores, value, cut = self.risk.advance(scores_of(a), scores_of(b), step, mu)
        return scores, value, lambda: self._plane(cut)

    def ray(self, a: Handle, b: Handle) -> Ray | None:
        """The risk along the line from a to b."""
        return self.risk.ray(scores_of(a), scores_of(b))

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """The risk at weights and an intercept, for the prover: afresh, in double precision, by its definition.

        `delta` is how far a score can be off.
        """
        scores = self.source.scores(w)
        scores += intercept
        return risk_at(self.risk, scores, delta)

    def evaluated_closely(self, w: Array, intercept: float | Array) -> Evaluation | None:
        """The same from scores that are rounded about once; None where that takes too long."""
        found = self.source.close_scores(w, intercept)
        return None if found is None else risk_at(self.risk, *found)

    def intercept_bound(self) -> InterceptBound:
        """How far from zero the best intercept is at most, for the prover."""
        return self.risk.intercept_bound(self.examples)


class RoundedHostShard(HostShard):
    """A risk that can round its kinks.

    Parameters
    ----------
    source : Source
    risk : RoundedRisk
    keeps : bool
        Whether planes come with their coefficients.
    """

    kind: ClassVar[str] = "rounded"

    risk: RoundedRisk

    def __init__(self, source: Source, risk: RoundedRisk, *, keeps: bool = False) -> None:
        super().__init__(source, risk)
        self.keeps = keeps

    @property
    def first_width(self) -> float:
        """The width that has most examples on a kink at scores of zero."""
        return self.risk.first_width

    @property
    def streamed(self) -> bool:
        """Whether every pass reads the examples from a file."""
        return self.source.streamed

    def keeping(self) -> RoundedHostShard:
        """The same, whose planes come with their coefficients."""
        return RoundedHostShard(self.source, self.risk, keeps=True)

    def in_double(self) -> RoundedHostShard:
        """The same with scores in double precision: itself."""
        return self

    def in_single(self) -> RoundedHostShard:
        """The same with scores in single precision, where that is known how to be done: itself."""
        return self

    def sides(self, scores: Handle, h: float) -> Array:
        """What the positive and the negative coefficients of the rounded risk add up to."""
        coef = self.risk.smoothed(scores_of(scores), h).coef
        return np.array([coef[coef > 0.0].sum(), coef[coef < 0.0].sum()])

    def smoothed(
        self,
        scores: Handle,
        h: float,
        *,
        balanced: bool = False,
        lean: bool = False,
        factors: Array | None = None,
    ) -> ShardPlane:
        """The risk rounded over h, and the plane below the risk itself that it gives: a pass.

        Parameters
        ----------
        scores : handle
        h : float
        balanced : bool
            With coefficients that sum to zero to the last digit.
        lean : bool
            With what they sum to.
        factors : array of two floats, optional
            Positive and negative coefficients are scaled by these, at most 1.
        """
        values = scores_of(scores)
        s = self.risk.smoothed(values, h)
        if balanced:
            s = self._in_balance(s, values)
        elif factors is not None:
            s = self._scaled(s, factors, values)
        leaning = s.coef.sum(axis=0) if lean else 0.0
        return self._smoothed_plane(self.source.combine(s.coef), s, leaning, s.coef if self.keeps else None)

    def _in_balance(self, s: Smoothed, scores: Array) -> Smoothed:
        """The plane with coefficients that sum to zero to the last digit."""
        return _with_coefficients(s, in_balance(s.coef), scores, self.risk)

    def _scaled(self, s: Smoothed, factors: Array, scores: Array) -> Smoothed:
        """The plane with its positive and its negative coefficients scaled down."""
        return _with_coefficients(s, s.coef * np.where(s.coef > 0.0, *factors), scores, self.risk)

    def _smoothed_plane(self, slope: Array, s: Any, lean: float | Array = 0.0, coef: Array | None = None) -> ShardPlane:
        return ShardPlane(slope, s.offset, s.value, s.error, s.kinks, self.risk.mass(s), lean, coef)

    @property
    def fuses(self) -> bool:
        """Whether there is `stepped`."""
        return False

    def stepped(self, p: Array, base: Handle | None, h: float) -> tuple[Handle, ShardPlane]:
        """The scores of p, added to `base`, and what `smoothed` says there, in one pass."""
        raise NotImplementedError

    def difference(self, end: Handle, start: Handle) -> Handle:
        """The direction from start to end, which is used up."""
        values = scores_of(end)
        return np.subtract(values, scores_of(start), out=values)

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction, which is used up."""
        along = scores_of(direction)
        if along.ndim == 1:
            _core.move_along(scores_of(scores), along, t)
        else:
            along *= t
            along += scores_of(scores)
        return along

    def rounding_error(self, scores: Handle, h: float) -> float:
        """What rounding over h costs: no pass."""
        return self.risk.rounding_error(scores_of(scores), h)

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array:
        """The slope for width h if the examples within `reach` stayed on their kinks: a pass."""
        return self.source.combine(self.risk.extrapolated(scores_of(scores), h, reach))

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> RowCurvature:
        """H times the second derivative of the rounded risk; `centred`: a free intercept moves along."""
        rows, weights = self.risk.kinks(scores_of(scores), h)
        weight = float(weights.sum()) if centred else 0.0
        mean = self.source.take(rows).combine(weights) / math.sqrt(weight) if weight > 0.0 else None
        return RowCurvature(self.source, rows, weights, mean)

    def along(
        self, scores: Handle, direction: Handle | None, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: 1), for each t of `steps`."""
        line = None if direction is None else scores_of(direction)
        return [self.risk.smoothed_ray(scores_of(scores), line, t, h) for t in steps]

    def draw(self, size: int, generator: np.random.Generator) -> Subset:
        """So many examples at random."""
        return spread(self.examples, size, generator)

    def near(self, scores: Handle, radius: float) -> Subset:
        """The examples within `radius` of their kinks."""
        return RowSet(self.risk.kinks(scores_of(scores), 2.0 * radius)[0])

    def crossed(self, scores: Handle, direction: Handle) -> Subset:
        """The examples whose tangents do not hold at scores + direction."""
        start = scores_of(scores)
        differ = self.risk.cut(start)[0] != self.risk.cut(start + scores_of(direction))[0]
        return RowSet(np.flatnonzero(differ if differ.ndim == 1 else differ.any(axis=1)))

    def part(self, subset: Subset, *, scale: float = 1.0, gathered: bool = False) -> Self:
        """The sum over some examples, times `scale`; `gathered`: on a copy of these."""
        rows = positions_of(subset)
        source = self.source.gathered(rows) if gathered else self.source.take(rows)
        return self._like(source, self.risk.take(rows, scale=scale))

    def _like(self, source: Any, risk: Any) -> Self:
        """The same kind of shard of other examples."""
        return type(self)(source, risk)

    def restricted(self, scores: Handle, subset: Subset, *, gathered: bool = False) -> Handle:
        """The scores of some examples, as their `part` has them."""
        return scores_of(scores)[positions_of(subset)].astype(np.float64, copy=False)

    def part_at(self, scores: Handle, subset: Subset) -> tuple[Self, Handle]:
        """The sum over some examples, and their scores."""
        return self.part(subset), self.restricted(scores, subset)

    def samples(self, sizes: Sequence[int], generator: np.random.Generator) -> Iterator[tuple[Subset, Self]]:
        """Samples of these sizes: which examples, and the sum over these, as if they were all."""
        for size in sizes:
            drawn = self.draw(size, generator)
            yield drawn, self.part(drawn, scale=self.examples / len(drawn), gathered=True)

    @property
    def duals_stay(self) -> bool:
        """Whether a path of C falls: of larger C, most dual variables stay where they are."""
        return False

    @property
    def smooth(self) -> bool:
        """Whether the risk is known to have no kinks."""
        return False

    def ascent(
        self, C: float, seed: int, *, intercept: bool, origin: Array | None = None, floor: Array | None = None
    ) -> Any:
        """Dual ascent over the examples; None where these cannot be visited one by one."""
        return None

    def interior(self, C: float, *, intercept: bool, origin: Array | None = None) -> Any:
        """An interior point over all examples; None where these cannot be visited one by one."""
        return None

    @property
    def near_work(self) -> float:
        """What an example adds to the work of each system of `near_problem`; infinite: there is none."""
        return float("inf")

    @property
    def gram_cost(self) -> float:
        """What the matrix of a curvature costs, in products."""
        return float(self.source.gram_cost)

    @property
    def exact_gram(self) -> bool:
        """Whether that is summed up in double precision."""
        return bool(self.source.exact_gram)

    def near_problem(self, scores: Handle, radius: float, most: int, *, intercept: bool) -> NearPart:
        """The problem of the examples within `radius` of their kinks, or of the `most` nearest: for interior points."""
        raise NotImplementedError


def _with_coefficients(s: Smoothed, coef: Array, scores: Array, risk: RoundedRisk) -> Smoothed:
    offset = risk.plane_offset(coef)
    return s._replace(coef=coef, offset=offset, error=s.value - _core.inner(coef, scores) - offset)

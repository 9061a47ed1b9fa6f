"""Examples on a GPU: a source and a risk whose vectors of examples lie there.

What solvers ask is the same as on the host; handles are arrays of the device. Sums come to the host, slopes too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from cutplane.device.kernels import DeviceArray, SmoothedSums, sum_depth_of
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.risk import DeviceRisk
from cutplane.device.source import DeviceRows
from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.rounding import UNIT, gamma
from cutplane.risks.intercept import NoInterceptError, least_shift_between
from cutplane.risks.visited import VisitedRisk
from cutplane.shards.balance import balanced_plane
from cutplane.shards.base import Array, Handle, KindOfShard, NearPart, ShardPlane
from cutplane.shards.curvature import RowCurvature
from cutplane.shards.device_vectors import DeviceVectors, there
from cutplane.shards.hinges import is_sum_of_hinges
from cutplane.shards.host import RoundedHostShard
from cutplane.shards.near_hinges import NearHinges
from cutplane.shards.rows import RowSet, spread
from cutplane.shards.sum_planes import balancing_factors, without_lean
from cutplane.solvers.base import Cut, Products, Subset

# Constants looked at in one go for the best intercept, ever nearer to zero, and the furthest, in units of the scores.
_NEARER = np.array([1.0, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-4, 1e-6])
_FURTHEST = 1e15


# Weights from which vectors are long: shorter ones are done with sooner on the host than a kernel starts.
_LONG = 1 << 16
# Examples of the least sample.
_LEAST_DRAWN = 1 << 17


class DeviceShard(DeviceVectors, RoundedHostShard):
    """A sum of losses over rows on a device.

    Parameters
    ----------
    source : DeviceRows
    risk : DeviceRisk
    keeps : bool
        Whether planes come with their coefficients: on the host.
    """

    source: DeviceRows
    risk: DeviceRisk
    long_products = True  # vectors stay where the examples lie

    def __init__(self, source: DeviceRows, risk: DeviceRisk, *, keeps: bool = False) -> None:
        super().__init__(source, risk, keeps=keeps)
        self._kernels = source.kernels

    def _like(self, source: Any, risk: Any) -> Self:
        return type(self)(source, risk, keeps=self.keeps)

    def keeping(self) -> DeviceShard:
        """The same, whose planes come with their coefficients."""
        return DeviceShard(self.source, self.risk, keeps=True)

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction, which is used up."""
        along = there(direction)
        along *= t
        along += there(scores)
        return along

    def best_shift(self, scores: Handle) -> float:
        """The constant that, added to all scores, makes the risk least."""
        leans = partial(self.leans, scores)
        reach = max(1.0, self.size(scores)) + self.risk.scale
        furthest = _FURTHEST * reach
        while True:
            # Scores have an intercept in them more often than not, which is nearly the best.
            places = reach * np.concatenate([-_NEARER, _NEARER[::-1]])
            slopes = leans(places)
            if slopes[0] <= 0.0 <= slopes[-1]:
                turns = partial(self.turns, scores, most=1 << 17)
                return least_shift_between(places, leans, turns, slopes)
            if reach > furthest:
                raise NoInterceptError
            reach *= float(2 * len(_NEARER))

    def turns(self, scores: Handle, low: float, high: float, most: int) -> tuple[Array, Array] | None:
        """Where the slope along constants jumps between two of them, and by how much; None: too often, or it bends."""
        found = self.risk.turns_within(there(scores), low, high, most)
        return None if found is None else (self._kernels.to_host(found[0]), self._kernels.to_host(found[1]))

    def balanced_cut(self, scores: Handle) -> ShardPlane:
        """The plane at scores with their best shift in them, which does not lean."""
        return balanced_plane(self, scores)

    def cut(self, scores: Handle) -> ShardPlane:
        """The plane that touches the risk at the scores: a pass."""
        coef, value, offset, mass = self._kernels.cut(self.risk.of, there(scores))
        return ShardPlane(self._slope(coef), offset, value, mass=_rounded(mass), coef=self.kept(coef))

    def _slope(self, coef: DeviceArray) -> Array:
        return self.source.combine(coef)

    def kept(self, coef: DeviceArray) -> Array | None:
        """Coefficients on the host, where planes come with them."""
        return self._kernels.to_host(coef) if self.keeps else None

    def advance(self, a: Handle, b: Handle, step: float, mu: float) -> tuple[Handle, float, Callable[[], ShardPlane]]:
        """The scores moved from a towards b, their risk, and (on call: a pass) the plane mu of the rest further on."""
        moved = self.blend(a, b, step, a)
        return moved, self.value(moved), lambda: self.cut(self.blend(moved, b, mu))

    def sides(self, scores: Handle, h: float) -> Array:
        """What the positive and the negative coefficients of the rounded risk add up to."""
        return np.array(self._kernels.sides(self.risk.smoothed(there(scores), h).coef)[1:])

    def smoothed(
        self,
        scores: Handle,
        h: float,
        *,
        balanced: bool = False,
        lean: bool = False,
        factors: Array | None = None,
    ) -> ShardPlane:
        """The risk rounded over h, and the plane below the risk itself that it gives: a pass."""
        s = self._kernels.smoothed(self.risk.of, there(scores), h)
        if balanced:
            factors = balancing_factors(np.array(self._kernels.sides(s.coef)[1:]))
        if factors is not None:
            s = self._scaled_down(s, factors, there(scores))
        plane = ShardPlane(
            self._slope(s.coef),
            s.offset,
            s.value,
            s.error,
            s.curved if self.risk.has_kinks else self.examples,
            _rounded(s.mass),
            self._kernels.sides(s.coef)[0] if lean or balanced else 0.0,
            self.kept(s.coef),
        )
        return without_lean(plane) if balanced else plane

    def _scaled_down(self, s: SmoothedSums, factors: Array, scores: DeviceArray) -> SmoothedSums:
        up, down = factors.tolist()
        coef = s.coef * self._kernels.xp.where(s.coef > 0.0, up, down)
        offset, mass = self._kernels.offset(self.risk.of, coef)
        along = self._kernels.sides(coef * scores)[0]
        return s._replace(coef=coef, offset=offset, error=s.value - along - offset, mass=mass)

    def along(
        self, scores: Handle, direction: Handle | None, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: 1), for each t of `steps`."""
        return self.risk.probed(there(scores), None if direction is None else there(direction), steps, h)

    def draw(self, size: int, generator: np.random.Generator) -> Subset:
        """So many examples at random."""
        return RowSet(self._kernels.to_device(spread(self.examples, size, generator).positions))

    @property
    def least_drawn(self) -> int:
        """How small a sample may be: with fewer examples, starting kernels takes longer than these do."""
        return _LEAST_DRAWN

    @property
    def near_work(self) -> float:
        """What an example adds to the work of each system of `near_problem`; infinite: there is none."""
        return float(self.source.gram_work) if is_sum_of_hinges(self.risk.of.loss) else float("inf")

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> DeviceCurvature:
        """H times the second derivative of the rounded risk; `centred`: a free intercept moves along."""
        return DeviceCurvature(*super().curvature(scores, h, centred=centred))

    def near_problem(self, scores: Handle, radius: float, most: int, *, intercept: bool) -> NearPart:
        """The problem of the examples within `radius` of their kinks, or of the `most` nearest."""
        return _NearThere(self, there(scores), radius, most=most, intercept=intercept)

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """The risk at weights and an intercept, for the prover: afresh, by the definition of the loss."""
        scores = self.source.scores(w)
        scores += float(intercept)
        terms = self.risk.terms
        loss, y = terms.loss, terms.y.astype(np.float64)
        off = delta + float(loss.own_rounding(scores, y))
        values, steepness = loss.value(scores, y), loss.steepness(scores, y, off)
        if terms.weights is not None:
            values, steepness = terms.weights * values, terms.weights * steepness
        each = terms.each if terms.weights is None else 1.0
        value = each * self._kernels.sides(values)[0]
        steep = each * self._kernels.sides(steepness)[0]
        if not math.isfinite(value):
            return Evaluation(math.inf, math.inf)
        relative = gamma(sum_depth_of(self.examples)) + OPERATIONS * UNIT
        return Evaluation(value, relative * value + steep * off * (1.0 + 1e-9))


class _NearThere(NearHinges):
    """The same of rows of a device: its planes are balanced there."""

    def __init__(self, shard: DeviceShard, scores: DeviceArray, radius: float, *, most: int, intercept: bool) -> None:
        super().__init__(shard.source, shard.risk, scores, radius, most=most, intercept=intercept)
        self._kept = shard.kept

    def plane(self, at: Handle) -> Cut:
        """The plane below the whole risk that gives each near example its dual variable."""
        coef = self._coefficients(at)
        if self.intercept:
            coef = coef * np.where(coef > 0.0, *balancing_factors(self._sides_of(coef)).tolist())
        plane = self._below_risk(coef)
        if self.intercept:
            plane = without_lean(plane._replace(lean=float(coef.sum())))
        return Cut(plane.slope, plane.offset, np.nan, exact=False, mass=plane.mass, coef=self._kept(coef))


class DeviceCurvature(RowCurvature):
    """The same as of rows of the host; long vectors stay on the device from one product to the next."""

    source: DeviceRows

    def products(self) -> Products:
        """Products where examples lie; short vectors are the host's."""
        if self.source.shape[1] < _LONG or not len(self.rows):
            return super().products()
        kernels = self.source.kernels
        part, weights = self.source.bent(self.rows, self.weights)
        mean = None if self.mean is None else kernels.to_device(self.mean)

        def times(v: DeviceArray) -> DeviceArray:
            found = part.combine_there(weights * part.scores_there(v))
            return found if mean is None else found - mean * float(mean @ v)

        return Products(kernels.to_device, kernels.to_host, times, partial(part.squares_there, weights))


def _rounded(mass: float) -> float:
    """Sizes of coefficients, added up, and a little more for the rounding of the sum."""
    return mass * (1.0 + 1e-9)


def device_shard(source: DeviceMatrix, risk: VisitedRisk) -> KindOfShard:
    """The shard of rows on a device; with a loss that is not known there, scores come to the host."""
    found = DeviceRisk.on(source.rows.kernels, risk)
    return RoundedHostShard(source, risk) if found is None else DeviceShard(source.rows, found)

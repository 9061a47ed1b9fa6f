"""The softmax risk over examples in memory: scores of every class, shape (n, n_classes)."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from cutplane import _core
from cutplane.proof.evaluation import OPERATIONS, Evaluation
from cutplane.proof.rounding import UNIT, Rounding, gamma
from cutplane.proof.softmax import softmax_at
from cutplane.risks.softmax import Softmax, SoftmaxCut, SoftmaxRay
from cutplane.shards.base import Array, Handle, ShardPlane
from cutplane.shards.host import HostShard, scores_of
from cutplane.shards.rows import spread
from cutplane.shards.softmax_curvature import SoftmaxCurvature
from cutplane.shards.vectors import any_weight
from cutplane.sources.class_scores import ClassScores
from cutplane.sources.rough import RoughPasses

# A sum of flows that is this small beside the examples' weight needs no search for better intercepts: what is left is
# balanced by a mixture, which then costs next to nothing.
_IN_BALANCE = 1e-15
# Newton steps in the intercepts alone, at most: they arrive in two or three.
_MOST_STEPS = 30
# Of the decrease that a Newton step promises, what it must bring.
_SUFFICIENT = 1e-4
# Values tell decreases apart that are more than this, relative to them.
_TOLD = 1e-13


class SoftmaxPlane(NamedTuple):
    """The plane at scores + b, and one beside it that is level along the intercepts.

    Attributes
    ----------
    slope : array
        The gradient of the risk.
    totals : array of shape (n_classes,)
        The gradient along the intercepts.
    value : float
        The risk.
    level : ShardPlane
        Below the risk whatever the intercepts are.
    coef : handle
        The coefficients, from which curvature is made.
    """

    slope: Array
    totals: Array
    value: float
    level: ShardPlane
    coef: Handle


class SoftmaxShard(HostShard):
    """The softmax risk of a sample. Handles are scores of the weights alone: intercepts are added where they are used.

    Parameters
    ----------
    source : ClassScores
    risk : Softmax
    """

    kind: ClassVar[str] = "softmax"

    source: ClassScores  # type: ignore[assignment]
    risk: Softmax

    def __init__(self, source: ClassScores, risk: Softmax) -> None:
        super().__init__(source, risk)  # type: ignore[arg-type]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.risk.n_classes

    def rounding(self, *, by_columns: bool) -> Rounding:
        """As every shard; coefficients are quotients of sums over the classes."""
        return super().rounding(by_columns=by_columns).after(self.risk.sum_depth)

    def at(self, w: Array) -> Handle:
        """The scores of weights: one pass."""
        return self.source.scores(w) if any_weight(w) else np.zeros((self.examples, self.n_classes))

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b, in memory of its own or in that of a handle that is used up."""
        start, end = scores_of(a), scores_of(b)
        room = np.empty_like(start) if into is None else scores_of(into)
        _core.mix_into(start.ravel(), end.ravel(), t, room.reshape(-1))
        return room

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle:
        """Scores + t·direction."""
        return scores_of(scores) + t * scores_of(direction)

    def value_at(self, scores: Handle, b: Array) -> float:
        """The risk at scores + b."""
        values = scores_of(scores) + b
        return self.risk.value(values)

    def along(self, scores: Handle, b: Array, direction: Handle, shift: Array, t: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the risk at scores + b + t·(direction + shift)."""
        return self.risk.along(scores_of(scores) + b, scores_of(direction) + shift, t)

    def ray_between(self, a: Handle, b_a: Array, b: Handle, b_b: Array) -> SoftmaxRay:
        """The risk along the line from scores + intercepts to others."""
        return self.risk.ray(scores_of(a) + b_a, scores_of(b) + b_b)

    def best_intercepts(self, scores: Handle, b: Array) -> Array:
        """The intercepts that make the risk least, or nearly so: Newton's method from b, halved where it overshoots."""
        values = scores_of(scores)
        value, slope, curvature = self.risk.in_intercepts(values, b)
        for _ in range(_MOST_STEPS):
            if float(np.abs(slope).sum()) <= _IN_BALANCE:
                break
            # The constant is in the kernel of the curvature; ones take it out.
            step = -np.linalg.lstsq(curvature + 1.0 / len(b), slope, rcond=1e-12)[0]
            t, promised = 1.0, -float(slope @ step)
            while True:
                tried = b + t * step
                found = self.risk.in_intercepts(values, tried)
                if found[0] <= value - _SUFFICIENT * t * promised or t < 1e-6:
                    break
                if promised <= _TOLD * abs(value):  # the value no longer tells: the slope does
                    break
                t *= 0.5
            if not found[0] < value and not 2.0 * float(np.abs(found[1]).sum()) < float(np.abs(slope).sum()):
                break
            b, (value, slope, curvature) = tried, found
        return np.asarray(b - b.mean())

    def plane(self, scores: Handle, b: Array, *, free: bool) -> SoftmaxPlane:
        """The plane at scores + b: one pass. `free`: whether intercepts are, so that one that is level is wanted."""
        cut = self.risk.cut_at(scores_of(scores), b)
        slope = self.source.combine(cut.coef)
        whole = ShardPlane(slope, cut.offset, cut.value, mass=self._mass(cut))
        return SoftmaxPlane(slope, cut.totals, cut.value, self._level(cut, whole) if free else whole, cut.coef)

    def _mass(self, cut: SoftmaxCut) -> float:
        """Sizes of coefficients, and of the probabilities that they are rounded as, beside what sums are charged by."""
        return float(np.abs(cut.coef).sum()) * (1.0 + 1e-9) + self._rounded_probabilities

    @cached_property
    def _rounded_probabilities(self) -> float:
        depth = self.rounding(by_columns=False).sum_depth
        return self.risk.least_mass * min(1.0, (2.0 * self.n_classes + OPERATIONS) / depth)

    def _level(self, cut: SoftmaxCut, plane: ShardPlane) -> ShardPlane:
        """The mixture of the plane with one of the same probabilities q for all examples, so that totals are zero.

        With the mean probabilities r of the plane and the shares m of the classes, (1 - t) r + t q = m gives
        q = r + (m - r) / t, none of which is negative if t is at least 1 - m_k / r_k for every class. Planes of
        probabilities q have the slope (Σ c_i x_i) q' - Σ c_i x_i e_{y_i}' and the offset H(q)·Σ c_i.
        """
        mean, of_classes, share, weight = self._same_for_all
        r = share + cut.totals
        t = float(np.max(np.divide(cut.totals, r, out=np.zeros_like(r), where=r > 0.0), initial=0.0))
        if t > 0.0:
            t = min(1.0, t * (1.0 + 1e-9) + 1e-300)
            q = np.maximum(0.0, r - cut.totals / t)
            q /= q.sum()
            entropy = -float(q @ np.log(q, out=np.zeros_like(q), where=q > 0.0))
            slope = (1.0 - t) * plane.slope + t * (np.outer(mean, q) - of_classes).ravel()
            offset = (1.0 - t) * plane.offset + t * entropy * weight
            totals = (1.0 - t) * cut.totals + t * (weight * q - share)
            mass = (1.0 - t) * plane.mass + 2.0 * t * weight
        else:
            slope, offset, totals, mass = plane.slope, plane.offset, cut.totals, plane.mass
        # Totals are sums over the examples too. Intercepts within D of each other are within D / 2 of a constant.
        sizes = max(0.0, mass - (1.0 - t) * self._rounded_probabilities) + 4.0 * UNIT * mass
        lean = 0.5 * float(np.abs(totals).sum()) + gamma(self.risk.sum_depth) * 2.0 * sizes
        return plane._replace(slope=slope, offset=offset, mass=mass, lean=lean)

    @cached_property
    def _same_for_all(self) -> tuple[Array, Array, Array, float]:
        """Σ c_i x_i, the same by class, the weight of each class, and that of all."""
        weights, k = self.risk.example_weights, self.n_classes
        by_class = np.zeros((self.examples, k))
        by_class[np.arange(self.examples), self.risk.y] = weights
        of_classes = self.source.source.combine(by_class)
        share = np.bincount(self.risk.y, weights, k).astype(np.float64)
        return of_classes.sum(axis=1), of_classes, share, float(share.sum())

    def curvature(self, coef: Handle, *, free: bool) -> SoftmaxCurvature:
        """The second derivative of the risk where the plane with these coefficients was taken."""
        return SoftmaxCurvature(self.source.source, self._passes, self.risk, scores_of(coef), free=free)

    @cached_property
    def _passes(self) -> RoughPasses:
        return self.source.source.rough()

    def sample(self, size: int, generator: np.random.Generator) -> Self:
        """So many of the examples at random, as if they were all; on a copy of these."""
        rows = spread(self.examples, size, generator).positions
        scale = self.examples / len(rows)
        return type(self)(self.source.gathered(rows), self.risk.take(rows, scale=scale))

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation:
        """As every shard: afresh, by its definition."""
        scores = self.source.scores(w)
        scores += intercept
        return softmax_at(scores, self.risk.y, self.risk.weights, self.risk.each, delta)

    def evaluated_closely(self, w: Array, intercept: float | Array) -> Evaluation | None:
        """The same from scores that are rounded about once; None where that takes too long."""
        found = self.source.close_scores(w, intercept)
        return None if found is None else softmax_at(found[0], self.risk.y, self.risk.weights, self.risk.each, found[1])

"""Crammer and Singer's multi-class risk for any cost, with margin or slack re-scaling."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane import _core
from cutplane.proof.rounding import UNIT, gamma
from cutplane.risks.base import Array, RoundedRisk, Rows, ScoreCut, Smoothed
from cutplane.risks.core_ray import CoreRay
from cutplane.risks.intercept_bounds import ClassWeights
from cutplane.risks.multiclass_intercepts import (
    FLAT,
    FLAT_ON_THE_WAY,
    ROUGH_WIDTH,
    WIDTHS,
    closest_shift,
    rounded_shift,
)

RESCALINGS = ("margin", "slack")
# From so many scores on, scores of zero are looked for. With 63,000 examples of 150 classes an evaluation takes 10 s.
_MANY_SCORES = 1 << 20


class MulticlassRay(CoreRay):
    """The multi-class risk along a line of scores."""

    __slots__ = ()

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk: upper envelopes, then selection."""
        return float(self.core.ray_minimum(self.start, self.end, quadratic, linear, C, self.n_threads))


class Multiclass(RoundedRisk):
    """Sum of c_i max over y of [cost(y_i, y) + factor·(s_iy - s_iy_i)], the c_i summing to one.

    The factor is 1 with margin re-scaling and cost(y_i, y) with slack re-scaling (OCA eqs. 15 and 16); for the 0/1
    cost they are the same.

    Parameters
    ----------
    y : array of shape (n,)
        The classes, 0 to n_classes - 1.
    n_classes : int
    cost_matrix : array of shape (n_classes, n_classes), optional
        cost_matrix[k, y] is what it costs to say y of an example of class k: zero on the diagonal, positive elsewhere.
        The default is 1 for every mistake.
    rescaling : {"margin", "slack"}
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    n_threads : int
        0 leaves it to OpenMP.

    Attributes
    ----------
    total_weight : float
        The sum of the sample weights: C per example times this is the C of the mean risk.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.multiclass import Multiclass
    >>> risk = Multiclass(np.array([0, 2]), 3)
    >>> risk.value(np.array([[2.0, 0.5, 0.0], [1.0, 0.0, 0.5]]))
    0.75
    """

    def __init__(
        self,
        y: ArrayLike,
        n_classes: int,
        cost_matrix: ArrayLike | None = None,
        *,
        rescaling: str = "margin",
        sample_weight: ArrayLike | None = None,
        n_threads: int = 0,
    ) -> None:
        if rescaling not in RESCALINGS:
            raise ValueError(f"rescaling={rescaling!r} must be one of {', '.join(map(repr, RESCALINGS))}.")
        labels = np.ascontiguousarray(y, dtype=np.int32)
        cost = check_cost_matrix(cost_matrix, n_classes)
        if sample_weight is None:
            self.total_weight = float(len(labels))
            weights, each = None, 1.0 / len(labels)
        else:
            raw = np.asarray(sample_weight, dtype=np.float64)
            self.total_weight = float(raw.sum())
            weights, each = np.ascontiguousarray(raw / self.total_weight), 0.0
        self._set(labels, weights, each, cost, rescaling, n_threads)

    def _set(
        self, y: NDArray[np.int32], weights: Array | None, each: float, cost: Array, rescaling: str, n_threads: int
    ) -> None:
        self.y = y
        self.weights = weights
        self.each = each
        self.cost = cost
        self.rescaling = rescaling
        self._n_threads = n_threads
        self._core = _core.Multiclass(y, weights, each, cost, rescaling == "slack")
        self.first_width = 4.0 * self.mean_cost

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.cost)

    @property
    def mean_cost(self) -> float:
        """The mean cost of a mistake: the scale of the risk."""
        return float(self.cost.sum()) / (self.n_classes * (self.n_classes - 1))

    @property
    def scale(self) -> float:
        """The largest cost."""
        return float(self.cost.max())

    @property
    def steepest(self) -> float:  # type: ignore[override]
        """Every example moves weight from its own class to others."""
        return 2.0 * self.largest_factor

    def resolution(self, scores: Array) -> float:
        """Sums over examples, in blocks as the core has them: a mean is off as if every score were off by so much."""
        n = len(scores)
        blocks = min(max(n * self.n_classes // (1 << 15), 1), 64)
        return gamma(n / blocks + blocks + 16) * (self.scale + float(np.abs(scores).max(initial=0.0)))

    @property
    def largest_factor(self) -> float:
        """The most that a violated margin is multiplied by."""
        return 1.0 if self.rescaling == "margin" else float(self.cost.max())

    def intercept_bound(self, n: int) -> ClassWeights:
        """How far apart the best intercepts are at most."""
        each = self.each if self.weights is None else 1.0
        weights = np.asarray(each * np.bincount(self.y, self.weights, self.n_classes), np.float64)
        mistakes = self.cost[~np.eye(self.n_classes, dtype=bool)]
        factor = 1.0 if self.rescaling == "margin" else float(mistakes.min())
        return ClassWeights(weights, factor, self.scale)

    @property
    def has_blocks(self) -> bool:
        """Whether lines are costs by class plus scores, as dual ascent over the examples' blocks has it."""
        return self.rescaling == "margin"

    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""
        part = object.__new__(type(self))
        part.total_weight = self.total_weight
        weights = None if self.weights is None else self.weights[rows] * scale
        part._set(self.y[rows], weights, self.each * scale, self.cost, self.rescaling, self._n_threads)
        return part

    def value(self, scores: Array) -> float:
        """The risk."""
        return self._core.value(scores, self._n_threads)

    def cut(self, scores: Array) -> ScoreCut:
        """The plane at `scores`: of every example, the class that costs most (OCA section 3.2)."""
        return ScoreCut(*self._core.cut(scores, self._n_threads))

    def decide(self, scores: Array) -> NDArray[np.intp]:
        """The class with the highest score."""
        return np.asarray(scores.argmax(axis=1))

    def ray(self, start: Array, end: Array) -> MulticlassRay:
        """The exact restriction to a line."""
        return MulticlassRay(self._core, start, end, self._n_threads)

    def advance(self, scores: Array, end: Array, step: float, mu: float) -> tuple[Array, float, ScoreCut]:
        """OCA's step in one sweep, in place: the scores moved, their risk, and the plane mu further on."""
        value, chosen, offset, cut_value = self.advance_choosing(scores, end, step, mu)
        return scores, value, ScoreCut(self._core.coefficients(chosen, self._n_threads), offset, cut_value)

    def advance_choosing(
        self, scores: Array, end: Array, step: float, mu: float
    ) -> tuple[float, NDArray[np.int32], float, float]:
        """As `advance`, moving `scores` themselves; of the plane its choices of classes, its offset and its height."""
        return self._core.advance(scores, end, step, mu, self._n_threads)

    def cut_choosing(self, scores: Array) -> tuple[NDArray[np.int32], float, float]:
        """As `cut`: the plane's choices of classes, its offset and its height."""
        return self._core.advance(scores, scores, 0.0, 0.0, self._n_threads)[1:]

    def change_choices(
        self, matrix: _core.Matrix, slope: Array, before: NDArray[np.int32] | None, chosen: NDArray[np.int32]
    ) -> None:
        """Make the slope, of shape (d, n_classes), of a plane with some choices of classes that of one with others.

        Without choices before, it is zero.
        """
        self._core.change_choices(matrix, before, chosen, slope, self._n_threads)

    def shift(self, scores: Array) -> Array:  # type: ignore[override]
        """Intercepts, one for each class, that make the risk least up to 1e-6 of the mean cost."""
        return self.best_shift(scores, 0.0)[0]

    def best_shift(self, scores: Array, enough: float) -> tuple[Array, float]:
        """As `shift`, but only until what rounding takes from a plane is `enough`; and the width of that rounding."""
        return closest_shift(
            lambda h, start, flat: self.rounded_shift(scores, h, start=start, flat=flat),
            lambda b, h: self.smoothed(scores + b, h).error,
            self.n_classes,
            self.mean_cost,
            enough,
        )

    def rough_shift(self, scores: Array) -> Array:
        """Intercepts that are nearly the best, in few sweeps."""
        return self.rounded_shift(scores, ROUGH_WIDTH * self.mean_cost, flat=FLAT_ON_THE_WAY)

    def rounded_shift(
        self, scores: Array, h: float, *, rest: Array | None = None, start: Array | None = None, flat: float = FLAT
    ) -> Array:
        """Intercepts that make the risk rounded over h, plus <rest, b>, least: Newton's method.

        Where all scores are zero, examples of a class are alike: of many, one stands for them all.
        """
        extra = np.zeros(self.n_classes) if rest is None else rest
        core = self._core
        if scores.size >= _MANY_SCORES and not (scores[:1].any() or scores.any()):
            core, scores = self._of_classes, np.zeros((self.n_classes, self.n_classes))

        def derivatives(at: Array) -> tuple[Array, Array]:
            _, gradient, hessian = core.intercepts(scores, at, h, self._n_threads)
            return gradient + extra, hessian

        return rounded_shift(
            derivatives,
            np.zeros(self.n_classes) if start is None else start,
            scale=self.mean_cost,
            resolved=4.0 * UNIT * float(np.abs(scores).max(initial=0.0)),
            flat=flat,
        )

    @cached_property
    def _of_classes(self) -> _core.Multiclass:
        """One example for each class, which weighs as much as all of its examples."""
        counts: Array = np.bincount(self.y, self.weights, self.n_classes).astype(np.float64)
        weights = counts * (self.each if self.weights is None else 1.0)
        classes = np.arange(self.n_classes, dtype=np.int32)
        return _core.Multiclass(classes, weights, 0.0, self.cost, self.rescaling == "slack")

    def in_intercepts(self, scores: Array, b: Array, h: float) -> tuple[Array, Array]:
        """Slope and second derivative of the risk rounded over h in the intercepts, at scores + b."""
        _, gradient, hessian = self._core.intercepts(scores, b, h, self._n_threads)
        return gradient, hessian

    def balanced_cut(self, scores: Array, h: float | None = None) -> ScoreCut:
        """The plane at scores that `shift` leaves alone: below the risk whatever the intercepts are.

        Where they are those of `best_shift`, with its width h.
        """
        width = WIDTHS[-1] * self.mean_cost if h is None else h
        coef, sums = self._core.smoothed(scores, width, self._n_threads)
        coef, offset = self.balanced(coef)
        return ScoreCut(coef, offset, sums.value)

    def make_feasible(self, coef: Array) -> tuple[float, float]:
        """Make coefficients those of a plane that holds, where they lie; its offset, and their sizes added up.

        None is negative then but the true class's, and none add up to more than c_i. Of margin re-scaling. Dual ascent
        keeps to that but for rounding, unless examples are all zero.
        """
        return self._core.make_feasible(coef, self._n_threads)

    def balanced(self, coef: Array) -> tuple[Array, float]:
        """Coefficients and offset of a plane scaled down, as little as need be, until every column sums to zero."""
        return self._core.balanced(coef, self._n_threads)

    def flows(self, coef: Array) -> Array:
        """By class and other class, what the coefficients move from the first to the second; zero on the diagonal."""
        flows = np.zeros((self.n_classes,) * 2)
        np.add.at(flows, self.y, coef)
        np.fill_diagonal(flows, 0.0)
        return flows

    def with_flows(self, coef: Array, kept: Array) -> tuple[Array, float]:
        """Coefficients and offset of a plane with a fraction of each flow kept."""
        rows, scaled = np.arange(len(self.y)), coef * kept[self.y]
        scaled[rows, self.y] = 0.0
        scaled[rows, self.y] = -scaled.sum(axis=1)
        return scaled, self.plane_offset(scaled)

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The risk rounded over a width h."""
        coef, sums = self._core.smoothed(scores, h, self._n_threads)
        return Smoothed(coef, sums.offset, sums.value, sums.error, sums.kinks)

    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        """Coefficients of the risk rounded over h as if classes on the kink of width `reach` stayed on it."""
        return self._core.extrapolated(scores, h, reach, self._n_threads)

    def kinks(self, scores: Array, h: float) -> tuple[Rows, Array]:
        """The examples on their kinks of width h, and their weights."""
        found = self.meetings(scores, h)
        return found.rows, found.weights

    def meetings(self, scores: Array, h: float) -> _core.Kinks:
        """The examples on their kinks of width h, with the classes that meet there."""
        return self._core.kinks(scores, h, self._n_threads)

    def curvature(self, kinks: _core.Kinks, scores: Array) -> Array:
        """H times the second derivative of the rounded risk, applied to the scores of the examples on their kinks."""
        return self._core.curvature(kinks, scores, self._n_threads)

    def smoothed_ray(self, scores: Array, direction: Array | None, t: float, h: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at scores + t·direction (None: a constant, no change)."""
        way = np.zeros_like(scores) if direction is None else direction
        return self._core.ray(scores, way, False, t, h, self._n_threads)

    def plane_offset(self, coef: Array) -> float:
        """The offset of the plane with these coefficients: each stands for a weight p = coef / factor of its class."""
        mistakes = 1.0 - np.eye(self.n_classes)
        per_weight = self.cost if self.rescaling == "margin" else mistakes
        return float(np.vdot(coef, per_weight[self.y]))


def check_cost_matrix(cost_matrix: ArrayLike | None, n_classes: int) -> Array:
    """The costs as an array; an error says what is wrong with them."""
    if n_classes < 2:
        raise ValueError(f"n_classes={n_classes} must be at least 2.")
    if cost_matrix is None:
        return np.ones((n_classes, n_classes)) - np.eye(n_classes)
    cost = np.ascontiguousarray(cost_matrix, dtype=np.float64)
    if cost.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has the shape {cost.shape}; with {n_classes} classes it must be {(n_classes, n_classes)}."
        )
    wrong = ~np.isfinite(cost) | np.where(np.eye(n_classes, dtype=bool), cost != 0.0, cost <= 0.0)
    if wrong.any():
        row, column = (int(k) for k in np.argwhere(wrong)[0])
        must = (
            "be 0: right answers cost nothing" if row == column else "be positive and finite: mistakes cost something"
        )
        raise ValueError(f"cost_matrix[{row}, {column}] is {cost[row, column]}; it must {must}.")
    return cost


def balancing_flows(flows: Array) -> Array:
    """The fraction of each flow between classes to keep so that as much flows into every class as out of it."""
    count = len(flows)
    # One example of each class, with all that flows out of it.
    classes = _core.Multiclass(np.arange(count, dtype=np.int32), None, 1.0, np.ones((count, count)), False)
    balanced, _ = classes.balanced(flows - np.diag(flows.sum(axis=1)))
    return np.divide(balanced, flows, out=np.ones_like(flows), where=flows > 0.0)

"""The multi-class risk as a function of the weights of all classes, or of the features that classes share."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from cutplane import _core
from cutplane.objective import ScoredPoint, SmoothObjective
from cutplane.risks.base import Array, Rows
from cutplane.risks.multiclass import Multiclass
from cutplane.solvers.base import Cut, SmoothedCut
from cutplane.solvers.newton_system import LARGEST_FACTOR
from cutplane.sources.base import Source
from cutplane.sources.matrix import MatrixSource


class ClassScores:
    """The linear map from weights to the scores of every class: X W Phi', W of shape (d, q) laid out in a vector.

    Parameters
    ----------
    source : Source
        The examples X.
    class_features : array of shape (n_classes, q) or None
        Phi; None is the identity: weights of its own for every class.
    n_classes : int
    """

    def __init__(self, source: Source, class_features: Array | None, n_classes: int) -> None:
        self.source = source
        self.class_features = class_features
        self.n_classes = n_classes

    @property
    def columns(self) -> int:
        """Weights per feature."""
        return self.n_classes if self.class_features is None else self.class_features.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and weights."""
        n, d = self.source.shape
        return n, d * self.columns

    def scores(self, w: Array) -> Array:
        """The scores of every example and class, shape (n, n_classes)."""
        found = self.source.scores(w.reshape(-1, self.columns))
        return found if self.class_features is None else np.ascontiguousarray(found @ self.class_features.T)

    def combine(self, coef: Array) -> Array:
        """The adjoint: coefficients of shape (n, n_classes) to a vector as long as the weights."""
        shared = coef if self.class_features is None else np.ascontiguousarray(coef @ self.class_features)
        return self.source.combine(shared).ravel()

    def take(self, rows: Rows) -> ClassScores:
        """The map over some examples."""
        return ClassScores(self.source.take(rows), self.class_features, self.n_classes)


class MulticlassObjective(SmoothObjective):
    """The multi-class risk of a sample as a function of the weights, laid out in a vector row by row of W.

    With free intercepts, one for each class, what is minimised is R(w) = min over b of the risk of X W Phi' + b.
    A plane lies below it iff its coefficients sum to zero for every class; `Multiclass.balanced` sees to that, so
    bounds hold however closely the inner minimum over b was found, and values are those at the b of the point.

    Parameters
    ----------
    source : Source
        The examples.
    risk : Multiclass
        The risk of their scores.
    class_features : array of shape (n_classes, q), optional
        Features of the classes, through which they share weights.
    intercept : bool
        Whether every class has an unpenalised intercept.
    """

    risk: Multiclass
    source: ClassScores  # type: ignore[assignment]

    def __init__(
        self,
        source: Source | ClassScores,
        risk: Multiclass,
        *,
        class_features: Array | None = None,
        intercept: bool = False,
        rest: Cut | None = None,
        rest_balance: Array | None = None,
    ) -> None:
        scores = source if isinstance(source, ClassScores) else ClassScores(source, class_features, risk.n_classes)
        super().__init__(scores, risk, intercept=intercept, rest=rest)  # type: ignore[arg-type]
        self._leaning = np.zeros(risk.n_classes) if rest_balance is None else rest_balance

    @property
    def newton_pays(self) -> bool:
        """Only with a factor of the curvature: without, conjugate gradients need hundreds of products a step."""
        return self.dimension <= LARGEST_FACTOR

    @property
    def ascent_epochs(self) -> tuple[float, float] | None:
        """Systems are larger than those of two classes; where weights are fewer than examples, so are OCA's planes."""
        if self.newton_pays:
            return 50.0, 150.0
        return (150.0, 400.0) if self.dimension < self.examples else None

    def at(self, w: Array) -> ScoredPoint:
        """The point w with its best intercepts: one pass over the data."""
        return self.settle(self.score(w, 0.0))

    def settle(self, point: ScoredPoint) -> ScoredPoint:
        """The same weights with nearly the best intercepts for them; never with worse ones."""
        if not self.intercept:
            return point
        return self._better(point, self._shifted(point, self.risk.rough_shift(point.scores)))

    def _shifted(self, point: ScoredPoint, shift: Array) -> ScoredPoint:
        return ScoredPoint(point.w, point.intercept + shift, point.scores + shift)  # type: ignore[arg-type]

    def _better(self, point: ScoredPoint, other: ScoredPoint) -> ScoredPoint:
        return other if self.value(other) < self.value(point) else point

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the (profiled) risk at the point's weights."""
        if not self.intercept:
            return super().cut(point)
        return self._balanced_cut(self._shifted(point, self.risk.shift(point.scores)))

    def _balanced_cut(self, settled: ScoredPoint) -> Cut:
        """The plane at the rounded risk's own best intercepts: there it is in balance but for rounding."""
        coef, offset, value = self.risk.balanced_cut(settled.scores)
        return Cut(self.source.combine(coef), offset, value)

    def advance(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """As `Objective.advance`; closely settled is only the point of the plane, taken for the moved one if better."""
        if not self.intercept:
            return self._advance_choosing(a, b, step, mu, C)
        moved = self.settle(self.mix(a, b, step))
        there = self.mix(moved, b, mu)
        there = self._shifted(there, self.risk.shift(there.scores))
        value, value_there = self.value(moved), self.value(there)
        if 0.5 * float(there.w @ there.w) + C * value_there < 0.5 * float(moved.w @ moved.w) + C * value:
            moved, value = there, value_there
        return moved, value, lambda: self._balanced_cut(there)

    def _advance_choosing(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """Without intercepts; where classes have weights of their own, without coefficients for all of them."""
        examples = self.source.source
        if self.source.class_features is not None or not isinstance(examples, MatrixSource):
            return super().advance(a, b, step, mu, C)
        scores, value, chosen, offset, cut_value = self.risk.advance_choosing(a.scores, b.scores, step, mu)
        moved = ScoredPoint(_core.mix(a.w, b.w, step), a.intercept, scores)
        return moved, value, lambda: Cut(self.risk.combine(examples.core, chosen).ravel(), offset, cut_value)

    def score(self, w: Array, intercept: Any) -> ScoredPoint:
        """The point with these weights and these intercepts: one pass."""
        shape = (self.examples, self.risk.n_classes)
        scores = self.source.scores(w) if w.any() else np.zeros(shape)
        b = np.broadcast_to(np.asarray(intercept, dtype=np.float64), shape[1:])
        return ScoredPoint(w, b, scores + b if self.intercept else scores)  # type: ignore[arg-type]

    def mix(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """(1 - t) a + t b, without a pass over the data and in as little memory as it takes."""
        intercept: Any = a.intercept + t * (b.intercept - a.intercept)
        scores = _core.mix(a.scores.ravel(), b.scores.ravel(), t).reshape(a.scores.shape)
        return ScoredPoint(_core.mix(a.w, b.w, t), intercept, scores)

    def smoothed(self, point: ScoredPoint, h: float) -> SmoothedCut:
        """The risk rounded over h at a point, and the plane below the risk itself that it gives."""
        s = self.risk.smoothed(point.scores, h)
        if self.intercept and self._rest is None:
            coef, offset = self.risk.balanced(s.coef)
            height = float(np.vdot(coef, point.scores)) + offset
            s = s._replace(coef=coef, offset=offset, error=s.value - height)
        slope, offset, value = self.source.combine(s.coef), s.offset, s.value
        if self._rest is not None:
            slope = slope + self._rest.slope
            offset += self._rest.offset
            value += self._rest_along(point) + self._rest.offset
        return SmoothedCut(slope, offset, value, s.error, s.kinks)

    def _rest_along(self, point: ScoredPoint) -> float:
        """What the plane of the examples left out rises along a point or a direction."""
        assert self._rest is not None
        return float(self._rest.slope @ point.w) + float(self._leaning @ point.intercept)

    def smoothed_ray(
        self, point: ScoredPoint, direction: ScoredPoint, t: float, h: float
    ) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at point + t·direction."""
        value, slope, curvature = self.risk.smoothed_ray(point.scores, direction.scores, t, h)
        if self._rest is not None:
            along = self._rest_along(direction)
            value += self._rest_along(point) + t * along + self._rest.offset
            slope += along
        return value, slope, curvature

    def balance(self, point: ScoredPoint, h: float) -> ScoredPoint:
        """The point with the intercepts that make the rounded risk least."""
        if not self.intercept:
            return point
        shift = self.risk.rounded_shift(point.scores, h, rest=self._leaning)
        return ScoredPoint(point.w, point.intercept + shift, point.scores + shift)  # type: ignore[arg-type]

    def curvature(self, point: ScoredPoint, h: float) -> MulticlassCurvature:  # type: ignore[override]
        """H times the second derivative of the rounded risk, over the examples on their kinks."""
        return MulticlassCurvature(self.source, self.risk, self.risk.meetings(point.scores, h), self.intercept)

    def sample(self, rows: Rows) -> MulticlassObjective:
        """An estimate of the objective from some of its examples."""
        part = self.risk.take(rows, scale=self.examples / len(rows))
        return MulticlassObjective(self.source.take(rows), part, intercept=self.intercept)

    def near(self, point: ScoredPoint, whole: SmoothedCut, h: float, radius: float) -> MulticlassObjective:
        """The objective with every example further than `radius` from its kinks replaced by its tangent."""
        rows, _ = self.risk.kinks(point.scores, 2.0 * radius)
        source, risk = self.source.take(rows), self.risk.take(rows)
        part = risk.smoothed(point.scores[rows], h)
        rest = Cut(whole.slope - source.combine(part.coef), whole.offset - part.offset, whole.value)
        # The whole is balanced: what the near examples lack, the far ones have.
        leaning = -part.coef.sum(axis=0)
        return MulticlassObjective(source, risk, intercept=self.intercept, rest=rest, rest_balance=leaning)

    def dual_ascent(self, C: float, seed: int) -> Any:
        """Dual ascent over the examples' blocks; None where it does not go: blocks need weights of their own."""
        plain = self.source.class_features is None and self.risk.rescaling == "margin"
        if not plain or not isinstance(self.source.source, MatrixSource) or self._rest is not None:
            return None
        return MulticlassAscent(self.source.source, self.risk, C, intercept=self.intercept, seed=seed)


class MulticlassAscent:
    """Epochs of dual ascent over the examples' blocks, as planes and points of an objective."""

    def __init__(self, source: MatrixSource, risk: Multiclass, C: float, *, intercept: bool, seed: int) -> None:
        self._source = source
        self._risk = risk
        self._C = C
        self._intercept = intercept
        self._dual_value: float | None = None
        upper = None if risk.weights is None else C * risk.weights
        self._ascent = _core.BlockAscent(
            source.core, risk.y, risk.cost, upper, C * risk.each, intercept, seed, source.n_threads
        )

    @property
    def mean_square(self) -> float:
        """The mean squared length of an example."""
        return self._ascent.mean_square

    @property
    def can_start(self) -> bool:
        """Blocks begin at their true classes: the plane at zero, where all other classes tie, is no better."""
        return False

    def start(self, plane: Cut, fraction: float) -> None:
        """Not for blocks."""
        raise NotImplementedError("Blocks begin at their true classes.")

    def resume(self, duals: Any) -> bool:
        """Blocks always begin at their true classes."""
        return False

    @property
    def duals(self) -> None:
        """Nothing to go on from."""

    def epoch(self) -> None:
        """One sweep over the examples that have not settled."""
        self._dual_value = None
        self._ascent.epoch()

    def extrapolate(self) -> None:
        """Not for blocks."""

    def revive(self, point: ScoredPoint | None = None) -> None:
        """Look at every example again; those that must not rest are not told apart."""
        if point is None:
            self._ascent.unshrink()

    @property
    def weights(self) -> tuple[Array, Array]:
        """The weights and the intercepts reached."""
        return self._ascent.v.ravel(), self._ascent.intercepts

    @property
    def estimate(self) -> float:
        """The dual value by the running sums: what `plane` would prove but for rounding and the balance."""
        if self._dual_value is None:
            self._dual_value = self._ascent.dual_value
        return self._dual_value

    @property
    def last_gain(self) -> float:
        """Not counted."""
        return 0.0

    @property
    def first_gap(self) -> float:
        """About the gap that the first epoch leaves: measured, on text and images, within a factor of four."""
        return 0.6 * self._C / self._source.shape[0] * self.mean_square

    def plane(self) -> Cut:
        """The plane that the dual variables stand for, summed up afresh; value is not the risk anywhere."""
        coef, offset = self._ascent.coefficients(1.0 / self._C)
        if self._intercept:
            coef, offset = self._risk.balanced(coef)
        return Cut(self._source.combine(coef).ravel(), offset, np.nan, exact=False)


class MulticlassCurvature:
    """The curvature of the rounded risk, times h: a sum over the pairs of classes that meet in an example.

    The second derivative of the projection on the simplex is that of the spread of the lines that meet: for m of them
    the sum over their pairs of squared differences, divided by m.
    """

    def __init__(self, source: ClassScores, risk: Multiclass, kinks: _core.Kinks, intercept: bool) -> None:
        self.rows = kinks.rows
        self._all = source
        self._source = source.take(self.rows)
        self._risk = risk
        self._kinks = kinks
        self._intercept = intercept
        self._inverse: Array | None = None  # of the intercepts' own curvature

    def product(self, v: Array) -> Array:
        """The curvature times v, the intercepts moving along as suits them best."""
        if not len(self.rows):
            return np.zeros_like(v)
        scores = self._source.scores(v)
        change = self._risk.curvature(self._kinks, scores)
        if self._intercept:
            change = self._risk.curvature(self._kinks, scores - self._inverse_curvature @ change.sum(axis=0))
        return self._source.combine(change)

    def shift(self, p: Array) -> Any:
        """The change of the intercepts that goes with a change p of the weights."""
        if not self._intercept or not len(self.rows):
            return 0.0
        return -self._inverse_curvature @ self._risk.curvature(self._kinks, self._source.scores(p)).sum(axis=0)

    @property
    def _inverse_curvature(self) -> Array:
        if self._inverse is None:
            matrix = np.zeros((self._risk.n_classes,) * 2)
            for _, weights, classes in self._groups(None):
                matrix += weights.sum() * np.outer(classes, classes)
            self._inverse = np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=np.float64)
        return self._inverse

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products."""
        return float(2.0 * self._all.source.gram_cost / self._all.columns)

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from `most` of its examples."""
        features, (_, d), q = self._all.class_features, self._all.source.shape, self._all.columns
        total = np.zeros((d, q, d, q))
        leaning, own = np.zeros((d, q, self._risk.n_classes)), np.zeros((self._risk.n_classes,) * 2)
        for rows, weights, classes in self._groups(most):
            gram = self._all.source.gram(rows, weights)
            gram = np.tril(gram) + np.tril(gram, -1).T
            shared = classes if features is None else features.T @ classes
            present = np.flatnonzero(shared)
            for a in present:
                for b in present:
                    total[:, a, :, b] += (shared[a] * shared[b]) * gram
            if self._intercept:
                mean = self._all.source.take(rows).combine(weights)
                leaning += np.multiply.outer(np.outer(mean, shared), classes)
                own += weights.sum() * np.outer(classes, classes)
        size = d * q
        if self._intercept:
            bent = leaning.reshape(size, -1)
            total -= (bent @ np.linalg.pinv(own, hermitian=True) @ bent.T).reshape(total.shape)
        return total.reshape(size, size)

    def _groups(self, most: int | None) -> Any:
        """Rows, weights and direction in the classes' scores of the pairs that meet, by pair (and true class)."""
        starts, classes, weights = self._kinks.starts, self._kinks.classes, self._kinks.weights
        chosen = np.arange(len(self.rows))
        factor = 1.0
        if most is not None and len(chosen) > most:
            every = -(-len(chosen) // most)
            chosen, factor = chosen[::every], float(every)
        count = self._risk.n_classes
        slack = self._risk.rescaling == "slack"
        sizes = np.diff(starts)[chosen]
        keys, places, shares = [], [], []
        for size in np.unique(sizes):
            of_size = chosen[sizes == size]
            sets = classes[starts[of_size][:, None] + np.arange(size)].astype(np.int64)
            true = self._risk.y[self.rows[of_size]].astype(np.int64) if slack else 0
            for a, b in combinations(range(size), 2):
                keys.append((sets[:, a] * count + sets[:, b]) * count + true)
                places.append(self.rows[of_size])
                shares.append(weights[of_size] * (2.0 * factor / size))
        if not keys:
            return
        key, place, share = np.concatenate(keys), np.concatenate(places), np.concatenate(shares)
        order = np.argsort(key, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            pair, true = divmod(int(key[part[0]]), count)
            yield np.ascontiguousarray(place[part]), share[part], self._direction(*divmod(pair, count), true)

    def _direction(self, a: int, b: int, true: int) -> Array:
        """The difference of the lines of classes a and b, as a vector over the classes."""
        direction = np.zeros(self._risk.n_classes)
        cost = self._risk.cost[true]
        scale_a, scale_b = (cost[a], cost[b]) if self._risk.rescaling == "slack" else (1.0, 1.0)
        direction[a] += scale_a
        direction[b] -= scale_b
        direction[true] -= scale_a - scale_b
        return direction

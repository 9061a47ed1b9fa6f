"""The multi-class risk as a function of the weights of all classes, or of the features that classes share."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from cutplane import _core
from cutplane.shards.multiclass_ascent import MulticlassAscent, gram_pays
from cutplane.shards.multiclass_curvature import MulticlassCurvature
from cutplane.objectives.generic import ScoredPoint, SmoothObjective
from cutplane.proof.rounding import balanced_mass
from cutplane.risks.base import Array
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.multiclass_choices import ChoiceSlopes
from cutplane.solvers.base import Cut, Point, SmoothedCut
from cutplane.solvers.newton_system import LARGEST_FACTOR
from cutplane.sources.base import Source
from cutplane.sources.class_scores import ClassScores
from cutplane.sources.matrix import MatrixSource


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
    relative_gap : float
        What is aimed at. The best intercepts of a plane are looked for until it lacks a tenth of that, no longer.
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
        relative_gap: float = 1e-6,
        rest: Cut | None = None,
        rest_balance: Array | None = None,
    ) -> None:
        self._relative_gap = relative_gap
        self._last_intercepts: Any = 0.0
        self._choices = ChoiceSlopes(risk)
        scores = source if isinstance(source, ClassScores) else ClassScores(source, class_features, risk.n_classes)
        super().__init__(scores, risk, intercept=intercept, rest=rest)  # type: ignore[arg-type]
        self._leaning = np.zeros(risk.n_classes) if rest_balance is None else rest_balance

    @property
    def newton_pays(self) -> bool:
        """Only with a factor of the curvature: without, conjugate gradients need hundreds of products a step."""
        return self.dimension <= LARGEST_FACTOR

    @property
    def ascent_epochs(self) -> tuple[float, float] | None:
        """Systems are larger than those of two classes; where weights are fewer than examples, so are OCA's planes.

        By the Gram matrix ascent mostly arrives first; Newton's method may where examples cannot be told apart.
        """
        examples = self.source.source
        if isinstance(examples, MatrixSource) and gram_pays(examples, self.risk.n_classes):
            return float("inf"), 250.0 if self.newton_pays else 2000.0
        if self.newton_pays:
            return 50.0, 150.0
        return (150.0, 400.0) if self.dimension < self.examples else None

    def as_returned(self, point: Any) -> Any:
        """Of two classes models keep the difference, which is rounded: so weights are made to be opposite."""
        if self.risk.n_classes != 2 or self.source.class_features is not None:
            return point
        pairs = point.w.reshape(-1, 2)
        intercepts = np.zeros(2) + point.intercept
        signs = np.array([-0.5, 0.5])
        w = np.outer(pairs[:, 1] - pairs[:, 0], signs).ravel()
        return Point(w, (intercepts[1] - intercepts[0]) * signs)

    def at(self, w: Array) -> ScoredPoint:
        """The point w with nearly its best intercepts, looked for from those of the last point: one pass."""
        settled = self.settle(self.score(w, self._last_intercepts))
        self._last_intercepts = settled.intercept
        return settled

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
        if self.intercept:
            return self._balanced_cut(*self._closely_settled(point, self.value(point)))
        examples = self._plain_examples
        if examples is None:
            return super().cut(point)
        chosen, offset, value = self.risk.cut_choosing(point.scores)
        return self._chosen_plane(examples, chosen, offset, value)._replace(slope=self._choices.last.copy())

    def _chosen_plane(self, examples: MatrixSource, chosen: Any, offset: float, value: float) -> Cut:
        """The plane that chooses a class for each example; its slope holds until the next."""
        return Cut(self._choices.slope(examples.core, chosen), offset, value, mass=self._choices.mass)

    @property
    def _plain_examples(self) -> MatrixSource | None:
        """The examples, where every class has weights of its own: planes then need no coefficients for all classes."""
        examples = self.source.source
        return examples if self.source.class_features is None and isinstance(examples, MatrixSource) else None

    def _closely_settled(self, point: ScoredPoint, objective: float) -> tuple[ScoredPoint, float]:
        """With intercepts as close to the best as `objective`, per C, asks for; and the width of the rounding."""
        shift, h = self.risk.best_shift(point.scores, 0.1 * self._relative_gap * objective)
        return self._shifted(point, shift), h

    def _balanced_cut(self, settled: ScoredPoint, h: float | None = None) -> Cut:
        """The plane at the rounded risk's own best intercepts: there it is in balance but for rounding."""
        cut = self.risk.balanced_cut(settled.scores, h)
        return self._plane(cut)._replace(mass=balanced_mass(cut.coef))

    def advance(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """As `Objective.advance`; closely settled is only the point of the plane, taken for the moved one if better."""
        if not self.intercept:
            return self._advance_choosing(a, b, step, mu, C)
        moved = self.settle(self.mix(a, b, step))
        value = self.value(moved)
        objective = 0.5 * float(moved.w @ moved.w) / C + value
        there, h = self._closely_settled(self.mix(moved, b, mu), objective)
        value_there = self.value(there)
        if 0.5 * float(there.w @ there.w) / C + value_there < objective:
            moved, value = there, value_there
        return moved, value, lambda: self._balanced_cut(there, h)

    def _advance_choosing(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """Without intercepts, in place: the scores of a are moved where they lie, the weights where those of b lay.

        A plane's slope holds until the next.
        """
        examples = self._plain_examples
        if examples is None:
            return super().advance(a, b, step, mu, C)
        whole = step == 1.0  # as CPA's: b itself, its scores where they are
        scores = b.scores if whole else a.scores
        value, chosen, offset, cut_value = self.risk.advance_choosing(scores, b.scores, 0.0 if whole else step, mu)
        moved = ScoredPoint(_mixed_in_place(a.w, b.w, step), a.intercept, scores)
        return moved, value, lambda: self._chosen_plane(examples, chosen, offset, cut_value)

    def score(self, w: Array, intercept: Any) -> ScoredPoint:
        """The point with these weights and these intercepts: one pass."""
        shape = (self.examples, self.risk.n_classes)
        scores = self.source.scores(w) if w.any() else np.zeros(shape)
        b = np.broadcast_to(np.asarray(intercept, dtype=np.float64), shape[1:])
        return ScoredPoint(w, b, scores + b if self.intercept else scores)  # type: ignore[arg-type]

    def mix(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        """(1 - t) a + t b, without a pass over the data and in as little memory as it takes."""
        intercept: Any = (1.0 - t) * a.intercept + t * b.intercept
        scores = _core.mix(a.scores.ravel(), b.scores.ravel(), t).reshape(a.scores.shape)
        return ScoredPoint(_core.mix(a.w, b.w, t), intercept, scores)

    def smoothed(self, point: ScoredPoint, h: float) -> SmoothedCut:
        """The risk rounded over h at a point, and the plane below the risk itself that it gives."""
        s = self.risk.smoothed(point.scores, h)
        if self.intercept and self._rest is None:
            coef, offset = self.risk.balanced(s.coef)
            height = float(np.vdot(coef, point.scores)) + offset
            s = s._replace(coef=coef, offset=offset, error=s.value - height)
        slope, offset, value, mass = self.source.combine(s.coef), s.offset, s.value, self.risk.mass(s)
        if self.intercept and self._rest is None:
            mass = balanced_mass(s.coef)
        if self._rest is not None:
            slope = slope + self._rest.slope
            offset += self._rest.offset
            value += self._rest_along(point) + self._rest.offset
            mass += self._rest.mass
        return SmoothedCut(slope, offset, value, s.error, s.kinks, mass, s.coef if self._keep else None)

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

    def keeping(self) -> MulticlassObjective:
        """The same objective, whose planes come with their coefficients."""
        twin = copy.copy(self)
        twin._keep = True
        return twin

    @property
    def proves_by_parts(self) -> bool:
        """Not looked into."""
        return False

    def _part(self, source: Any, risk: Any, rest: Cut | None = None, rest_balance: Any = None) -> MulticlassObjective:
        return MulticlassObjective(
            source,
            risk,
            intercept=self.intercept,
            relative_gap=self._relative_gap,
            rest=rest,
            rest_balance=rest_balance,
        )

    def dual_ascent(self, C: float, seed: int) -> Any:
        """Dual ascent over the examples' blocks; None where it does not go: blocks need weights of their own."""
        plain = self.source.class_features is None and self.risk.has_blocks
        if not plain or not isinstance(self.source.source, MatrixSource) or self._rest is not None:
            return None
        return MulticlassAscent(self.source.source, self.risk, C, intercept=self.intercept, seed=seed)


def _mixed_in_place(a: Array, b: Array, t: float) -> Array:
    """(1 - t) a + t b, written over b."""
    if t == 0.0 or t == 1.0:
        return b if t == 1.0 else a
    _core.mix_into(a, b, t, b)
    return b

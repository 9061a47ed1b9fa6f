"""The multi-class risk over examples in memory: scores of every class, shape (n, n_classes)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.proof.rounding import balanced_mass, leaning_mass
from cutplane.risks.base import Smoothed
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.multiclass_choices import ChoiceSlopes
from cutplane.shards.base import Array, Handle, ShardPlane
from cutplane.shards.host import RoundedHostShard, scores_of
from cutplane.shards.multiclass_ascent import MulticlassAscent, gram_pays
from cutplane.shards.multiclass_curvature import MulticlassCurvature
from cutplane.shards.vectors import any_weight
from cutplane.sources.class_scores import ClassScores
from cutplane.sources.matrix import MatrixSource, matrix_of


class MulticlassShard(RoundedHostShard):
    """The multi-class risk of a sample.

    Parameters
    ----------
    source : ClassScores
    risk : Multiclass
    keeps : bool
        Whether planes come with their coefficients.
    """

    kind: ClassVar[str] = "classes"

    source: ClassScores  # type: ignore[assignment]
    risk: Multiclass

    def __init__(self, source: ClassScores, risk: Multiclass, *, keeps: bool = False) -> None:
        super().__init__(source, risk, keeps=keeps)  # type: ignore[arg-type]
        self._choices = ChoiceSlopes(risk)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.risk.n_classes

    @property
    def classes_share(self) -> bool:
        """Whether classes share weights, by features of theirs."""
        return self.source.class_features is not None

    @property
    def streamed(self) -> bool:
        """Whether every pass reads the examples from a file."""
        return self.source.source.streamed

    def keeping(self) -> MulticlassShard:
        """The same, whose planes come with their coefficients."""
        return MulticlassShard(self.source, self.risk, keeps=True)

    def begun(self) -> Self:
        """The same for a run of its own: slopes are made from the one before, which must not be another run's."""
        return type(self)(self.source, self.risk, keeps=self.keeps)

    def at(self, w: Array) -> Handle:
        """The scores of weights: one pass."""
        return self.source.scores(w) if any_weight(w) else np.zeros((self.examples, self.n_classes))

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle:
        """(1 - t) a + t b, in memory of its own or in that of a handle that is used up."""
        start, end = scores_of(a), scores_of(b)
        room = np.empty_like(start) if into is None else scores_of(into)
        _core.mix_into(start.ravel(), end.ravel(), t, room.reshape(-1))
        return room

    def rough_shift(self, scores: Handle) -> Array:
        """Nearly the best intercepts to add."""
        return self.risk.rough_shift(scores_of(scores))

    def close_shift(self, scores: Handle, allowed: float) -> tuple[Array, float]:
        """Intercepts to add that leave no more than `allowed`, and the width of the rounding they were found with."""
        return self.risk.best_shift(scores_of(scores), allowed)

    def rounded_shift(self, scores: Handle, h: float, rest: Array) -> Array:
        """Intercepts to add that make the rounded risk least, beside a plane that leans by `rest`."""
        return self.risk.rounded_shift(scores_of(scores), h, rest=rest)

    def in_intercepts(self, scores: Handle, b: Array, h: float) -> tuple[Array, Array]:
        """Slope and second derivative of the risk rounded over h in the intercepts, at scores + b."""
        return self.risk.in_intercepts(scores_of(scores), b, h)

    @property
    def mean_cost(self) -> float:
        """The mean cost of a mistake: the scale of the risk."""
        return self.risk.mean_cost

    def balanced_cut(self, scores: Handle, h: float | None = None) -> ShardPlane:
        """The plane at the rounded risk's own best intercepts: there it is in balance but for rounding."""
        cut = self.risk.balanced_cut(scores_of(scores), h)
        return self._plane(cut)._replace(mass=balanced_mass(cut.coef))

    def cut(self, scores: Handle) -> ShardPlane:
        """The plane that touches the risk at the scores."""
        examples = self._plain_examples
        if examples is None:
            return super().cut(scores)
        chosen, offset, value = self.risk.cut_choosing(scores_of(scores))
        return self._chosen_plane(examples, chosen, offset, value)._replace(slope=self._choices.last.copy())

    def _chosen_plane(
        self, examples: MatrixSource, chosen: NDArray[np.int32], offset: float, value: float
    ) -> ShardPlane:
        """The plane that chooses a class for each example; its slope holds until the next."""
        return ShardPlane(self._choices.slope(examples.core, chosen), offset, value, mass=self._choices.mass)

    @property
    def _plain_examples(self) -> MatrixSource | None:
        """The examples, where every class has weights of its own: planes then need no coefficients for all classes."""
        return None if self.classes_share else matrix_of(self.source.source)

    def advance(self, a: Handle, b: Handle, step: float, mu: float) -> tuple[Handle, float, Callable[[], ShardPlane]]:
        """As `HostShard.advance`: scores are moved where they lie, and a plane's slope holds until the next."""
        examples = self._plain_examples
        if examples is None:
            return super().advance(a, b, step, mu)
        whole = step == 1.0  # as CPA's: b itself, its scores where they are
        end = scores_of(b)
        scores = end if whole else scores_of(a)
        value, chosen, offset, cut_value = self.risk.advance_choosing(scores, end, 0.0 if whole else step, mu)
        return scores, value, lambda: self._chosen_plane(examples, chosen, offset, cut_value)

    @property
    def advances_in_place(self) -> bool:
        """Whether weights, too, are written where those of the end lay."""
        return self._plain_examples is not None

    def smoothed(
        self,
        scores: Handle,
        h: float,
        *,
        balanced: bool = False,
        lean: bool = False,
        factors: Array | None = None,
    ) -> ShardPlane:
        """The risk rounded over h, and the plane below the risk itself; what a balanced one lacks is charged.

        `factors` are the fractions of flows between classes to keep.
        """
        plane = super().smoothed(scores, h, balanced=balanced, lean=lean or balanced, factors=factors)
        return plane._replace(mass=leaning_mass(plane.mass, plane.lean)) if balanced else plane

    def _in_balance(self, s: Smoothed, scores: Array) -> Smoothed:
        coef, offset = self.risk.balanced(s.coef)
        return s._replace(coef=coef, offset=offset, error=s.value - float(np.vdot(coef, scores)) - offset)

    def _scaled(self, s: Smoothed, factors: Array, scores: Array) -> Smoothed:
        coef, offset = self.risk.with_flows(s.coef, factors)
        return s._replace(coef=coef, offset=offset, error=s.value - float(np.vdot(coef, scores)) - offset)

    def sides(self, scores: Handle, h: float) -> Array:
        """By class and other class, what the coefficients of the rounded risk move from the first to the second."""
        return self.risk.flows(self.risk.smoothed(scores_of(scores), h).coef)

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> MulticlassCurvature:  # type: ignore[override]
        """H times the second derivative of the rounded risk, over the examples on their kinks."""
        return MulticlassCurvature(self.source, self.risk, self.risk.meetings(scores_of(scores), h), centred)

    def _like(self, source: Any, risk: Any) -> Self:
        return type(self)(source, risk)

    @property
    def goes_by_gram(self) -> bool:
        """Whether dual ascent goes by the Gram matrix, should it take long."""
        examples = matrix_of(self.source.source)
        return examples is not None and gram_pays(examples, self.n_classes)

    def ascent(
        self, C: float, seed: int, *, intercept: bool, origin: Array | None = None, floor: Array | None = None
    ) -> Any:
        """Dual ascent over the examples' blocks; None where it does not go: blocks need weights of their own."""
        examples = self._plain_examples
        if examples is None or not self.risk.has_blocks or origin is not None or floor is not None:
            return None
        return MulticlassAscent(examples, self.risk, C, intercept=intercept, seed=seed)

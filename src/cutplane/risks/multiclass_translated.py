"""The multi-class risk of scores to which a fixed part is added: what is left to learn beside given weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.risks.base import Array, Rows, ScoreCut, Smoothed
from cutplane.risks.multiclass import Multiclass, MulticlassRay


class TranslatedMulticlass(Multiclass):
    """R(base + s), R being a multi-class risk. Its planes are those of R: <coef, base + s> + offset."""

    base: Array

    @classmethod
    def of(cls, risk: Multiclass, base: Array) -> Self:
        """The risk of `base` + scores."""
        twin = object.__new__(cls)
        vars(twin).update(vars(risk))
        twin.base = base
        return twin

    @property
    def scale(self) -> float:
        """Offsets hold the coefficients times the fixed part, too."""
        return super().scale + float(np.abs(self.base).max(initial=0.0))

    @property
    def has_blocks(self) -> bool:
        """Lines lie at heights that differ from example to example, not only by class."""
        return False

    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        """The part of the sum that runs over some examples, times `scale`."""
        part = super().take(rows, scale=scale)
        part.base = np.ascontiguousarray(self.base[rows])
        return part

    def value(self, scores: Array) -> float:
        """The risk."""
        return super().value(self.base + scores)

    def cut(self, scores: Array) -> ScoreCut:
        """The plane at `scores`."""
        return self._plane(super().cut(self.base + scores))

    def _plane(self, cut: ScoreCut) -> ScoreCut:
        return cut._replace(offset=cut.offset + float(np.vdot(cut.coef, self.base)))

    def decide(self, scores: Array) -> NDArray[np.intp]:
        """The class with the highest score."""
        return super().decide(self.base + scores)

    def ray(self, start: Array, end: Array) -> MulticlassRay:
        """The exact restriction to a line."""
        return super().ray(self.base + start, self.base + end)

    def advance_choosing(
        self, scores: Array, end: Array, step: float, mu: float
    ) -> tuple[float, NDArray[np.int32], float, float]:
        """As `advance`, moving `scores` themselves; of the plane its choices of classes, its offset and its height."""
        moved = self.base + scores
        value, chosen, offset, height = super().advance_choosing(moved, self.base + end, step, mu)
        np.subtract(moved, self.base, out=scores)
        return value, chosen, offset + self._base_height(chosen), height

    def cut_choosing(self, scores: Array) -> tuple[NDArray[np.int32], float, float]:
        """As `cut`: the plane's choices of classes, its offset and its height."""
        chosen, offset, height = super().cut_choosing(self.base + scores)
        return chosen, offset + self._base_height(chosen), height

    def _base_height(self, chosen: NDArray[np.int32]) -> float:
        return float(np.vdot(self._core.coefficients(chosen, self._n_threads), self.base))

    def rounded_shift(self, scores: Array, h: float, **about: Any) -> Array:
        """Intercepts that make the risk rounded over h least."""
        return super().rounded_shift(self.base + scores, h, **about)

    def in_intercepts(self, scores: Array, b: Array, h: float) -> tuple[Array, Array]:
        """Slope and second derivative of the risk rounded over h in the intercepts, at scores + b."""
        return super().in_intercepts(self.base + scores, b, h)

    def balanced_cut(self, scores: Array, h: float | None = None) -> ScoreCut:
        """The plane at scores that `shift` leaves alone: below the risk whatever the intercepts are."""
        return super().balanced_cut(self.base + scores, h)  # whose plane is that of `balanced`, below

    def balanced(self, coef: Array) -> tuple[Array, float]:
        """Coefficients and offset of a plane scaled down until every column sums to zero."""
        coef, offset = super().balanced(coef)
        return coef, offset + float(np.vdot(coef, self.base))

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The risk rounded over a width h."""
        s = super().smoothed(self.base + scores, h)
        return s._replace(offset=s.offset + float(np.vdot(s.coef, self.base)))

    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        """Coefficients of the risk rounded over h as if classes on the kink of width `reach` stayed on it."""
        return super().extrapolated(self.base + scores, h, reach)

    def meetings(self, scores: Array, h: float) -> _core.Kinks:
        """The examples on their kinks of width h, with the classes that meet there."""
        return super().meetings(self.base + scores, h)

    def smoothed_ray(self, scores: Array, direction: Array | None, t: float, h: float) -> tuple[float, float, float]:
        """Value, slope and curvature of the rounded risk at scores + t·direction."""
        return super().smoothed_ray(self.base + scores, direction, t, h)

    def plane_offset(self, coef: Array) -> float:
        """The offset of the plane with these coefficients."""
        return super().plane_offset(coef) + float(np.vdot(coef, self.base))

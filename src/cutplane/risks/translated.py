"""A risk of scores to which a fixed part is added: what is left to learn beside a model that is given."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray

from cutplane.risks.base import Array, Ray, Risk, RoundedRisk, Rows, ScoreCut, Smoothed
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.multiclass_translated import TranslatedMulticlass


def translated(risk: Risk, base: Array) -> Risk:
    """The risk of `base` + scores, with every ability that `risk` has."""
    if isinstance(risk, Multiclass):
        return TranslatedMulticlass.of(risk, base)
    return _TranslatedRounded(risk, base) if isinstance(risk, RoundedRisk) else _Translated(risk, base)


class _Translated(Risk):
    """R(base + s). Its planes are those of R: <coef, base + s> + offset."""

    def __init__(self, risk: Any, base: Array) -> None:
        self._risk = risk
        self._base = base
        self.lower_bound = risk.lower_bound
        self.total_weight = risk.total_weight
        self.shift_invariant = risk.shift_invariant
        self.steepest = risk.steepest
        self.least_mass = risk.least_mass
        self.takes_intercept = risk.takes_intercept
        self.binary_only = risk.binary_only
        self._reach = float(abs(base).max(initial=0.0))

    @property
    def scale(self) -> float:
        """Offsets hold the coefficients times the fixed part, too."""
        return float(self._risk.scale) + self._reach

    @property
    def inexact(self) -> float:  # type: ignore[override]
        """As the risk itself."""
        return float(self._risk.inexact)

    @property
    def name(self) -> str:
        return str(self._risk.name)

    def _plane(self, cut: ScoreCut) -> ScoreCut:
        return cut._replace(offset=cut.offset + float((cut.coef * self._base).sum()))

    def value(self, scores: Array) -> float:
        return float(self._risk.value(self._base + scores))

    def cut(self, scores: Array) -> ScoreCut:
        return self._plane(self._risk.cut(self._base + scores))

    def decide(self, scores: Array) -> NDArray[Any]:
        decided: NDArray[Any] = self._risk.decide(self._base + scores)
        return decided

    def ray(self, start: Array, end: Array) -> Ray | None:
        ray: Ray | None = self._risk.ray(self._base + start, self._base + end)
        return ray

    def shift(self, scores: Array) -> float:
        return float(self._risk.shift(self._base + scores))

    def balanced_cut(self, scores: Array) -> ScoreCut:
        return self._plane(self._risk.balanced_cut(self._base + scores))


class _TranslatedRounded(_Translated, RoundedRisk):
    def __init__(self, risk: RoundedRisk, base: Array) -> None:
        super().__init__(risk, base)
        self.first_width = risk.first_width

    def take(self, rows: Rows, *, scale: float = 1.0) -> Self:
        return type(self)(self._risk.take(rows, scale=scale), self._base[rows])

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        s: Smoothed = self._risk.smoothed(self._base + scores, h)
        return s._replace(offset=s.offset + float(s.coef @ self._base))

    def extrapolated(self, scores: Array, h: float, reach: float) -> Array:
        coef: Array = self._risk.extrapolated(self._base + scores, h, reach)
        return coef

    def kinks(self, scores: Array, h: float) -> tuple[Rows, Array]:
        found: tuple[Rows, Array] = self._risk.kinks(self._base + scores, h)
        return found

    def smoothed_ray(self, scores: Array, direction: Array | None, t: float, h: float) -> tuple[float, float, float]:
        found: tuple[float, float, float] = self._risk.smoothed_ray(self._base + scores, direction, t, h)
        return found

    def plane_offset(self, coef: Array) -> float:
        return float(self._risk.plane_offset(coef)) + float(coef @ self._base)

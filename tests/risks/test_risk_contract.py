"""A risk needs `value`, `cut` and `decide`; the check finds what is wrong with one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane.risks.base import Array, Risk, ScoreCut
from cutplane.risks.hinge import Hinge
from cutplane.risks.huber import Huber
from cutplane.testing import check_risk

N = 12
LABELS = np.where(np.arange(N) % 3 == 0, 1, -1)


class Squared(Risk):
    """The least that a risk can be: the mean of ½ s²."""

    def value(self, scores: Array) -> float:
        return 0.5 * float(scores @ scores) / len(scores)

    def cut(self, scores: Array) -> ScoreCut:
        return ScoreCut(scores / len(scores), -self.value(scores), self.value(scores))

    def decide(self, scores: Array) -> Any:
        return np.sign(scores)


class Concave(Squared):
    lower_bound = -np.inf

    def value(self, scores: Array) -> float:
        return -float(np.abs(scores).sum())

    def cut(self, scores: Array) -> ScoreCut:
        return ScoreCut(-np.sign(scores), 0.0, self.value(scores))


class Negative(Squared):
    def value(self, scores: Array) -> float:
        return super().value(scores) - 1.0


class Loose(Squared):
    def cut(self, scores: Array) -> ScoreCut:
        return ScoreCut(scores / len(scores), -self.value(scores) - 0.1, self.value(scores))


class WrongValue(Squared):
    def cut(self, scores: Array) -> ScoreCut:
        return super().cut(scores)._replace(value=self.value(scores) + 1.0)


class OneDecision(Squared):
    def decide(self, scores: Array) -> Any:
        return [1]


class ShiftedRay(Hinge):
    def ray(self, start: Array, end: Array) -> Any:
        return super().ray(end, start)


class LazyRay(Hinge):
    def ray(self, start: Array, end: Array) -> Any:
        exact = super().ray(start, end)

        class Lazy:
            value, slope = exact.value, exact.slope

            def minimise(self, quadratic: float, linear: float, C: float) -> float:
                return exact.minimise(quadratic, linear, C) + 0.05

        return Lazy()


class TiltedRay(Hinge):
    """Its slopes are wrong by a millionth of the risk's size."""

    tilt = 0.0

    def ray(self, start: Array, end: Array) -> Any:
        exact, by = super().ray(start, end), self.tilt * 1e-6 * (np.abs(start).max() + np.abs(end).max())

        class Tilted:
            value, minimise = exact.value, exact.minimise

            def slope(self, t: float) -> float:
                return exact.slope(t) + by

        return Tilted()


class SteepRay(TiltedRay):
    tilt = 1.0


class FlatRay(TiltedRay):
    tilt = -1.0


class MeanShift(Hinge):
    def shift(self, scores: Array) -> float:
        return -float(scores.mean())


class Unbalanced(Hinge):
    def balanced_cut(self, scores: Array) -> ScoreCut:
        return self.cut(scores)


class Overshooting(Hinge):
    def smoothed(self, scores: Array, h: float) -> Any:
        return super().smoothed(scores, h)._replace(offset=1.0)


class FreeRounding(Hinge):
    def smoothed(self, scores: Array, h: float) -> Any:
        return super().smoothed(scores, h)._replace(error=0.0)


def test_three_members_are_enough() -> None:
    check_risk(Squared(), N)


@pytest.mark.parametrize("seed", range(3))
def test_any_risk_has_an_intercept(seed: int) -> None:
    scores = 10.0 * np.random.default_rng(seed).normal(size=N)
    shift = Squared().shift(scores)
    assert shift == pytest.approx(-scores.mean(), abs=1e-12)
    assert np.sum(Squared().balanced_cut(scores + shift).coef) == pytest.approx(0.0, abs=1e-15)


class Bare(Risk):
    """The hinge as a user may write it, kinks and all."""

    def __init__(self, y: Any, sample_weight: Any = None) -> None:
        self.y = np.asarray(y)

    def value(self, scores: Array) -> float:
        return float(np.maximum(0.0, 1.0 - self.y * scores).mean())

    def cut(self, scores: Array) -> ScoreCut:
        active = (1.0 - self.y * scores >= 0.0) / len(self.y)
        return ScoreCut(-self.y * active, float(active.sum()), self.value(scores))


def test_the_intercept_of_a_risk_with_kinks_is_found() -> None:
    check_risk(Bare(LABELS), N)


class OneAfterTheOther(Huber):
    """Adds the losses up in one sum, whose rounding is the most that an order of adding gives."""

    def value(self, scores: Array) -> float:
        away = scores - self.y
        slopes = np.clip(away, -30.0, 30.0)
        return float(np.cumsum(self.each * (slopes * (away - 0.5 * slopes)))[-1])

    def ray(self, start: Array, end: Array) -> Any:
        exact, value = super().ray(start, end), self.value

        class InOneSum:
            slope, minimise = exact.slope, exact.minimise

            def value(self, t: float) -> float:
                return value(start + t * (end - start))

        return InOneSum()


def test_the_order_of_adding_is_free() -> None:
    for seed in range(4):
        targets = np.random.default_rng(seed).integers(-3, 4, 200) + 0.0
        check_risk(OneAfterTheOther(targets, delta=30.0), 200, seed=seed)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Concave, "above the risk"),
        (Negative, r"at least lower_bound=0\.0"),
        (Loose, "does not touch"),
        (WrongValue, "its value is not the risk"),
        (OneDecision, "decide gave 1 predictions for 12"),
        (ShiftedRay, r"ray\.value\(0\.0\) is not the risk there"),
        (LazyRay, r"ray\.minimise"),
        (SteepRay, r"ray\.slope\(.*\) is .*, steeper than"),
        (FlatRay, r"ray\.slope\(.*\) is .*, flatter than"),
        (MeanShift, "shift gave"),
        (Unbalanced, "coefficients sum to"),
        (Overshooting, "above the risk"),
        (FreeRounding, "error is not value"),
    ],
)
def test_what_is_wrong_is_said(wrong: Any, words: str) -> None:
    risk = wrong(LABELS) if issubclass(wrong, Hinge) else wrong()
    with pytest.raises(AssertionError, match=words):
        check_risk(risk, N)

"""Structural bounds of whole-sample measures against every labelling there is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.risks.hinge import Hinge
from cutplane.risks.multivariate import BreakEven, ErrorCost, F1Risk, MultivariateRisk, PrecisionAtK
from cutplane.risks.registry import BINARY, find_loss, make_risk
from cutplane.testing import check_risk


def every_labelling(y: Any, s: Any, loss: Any, allowed: Any) -> float:
    """The bound by enumeration of the 2^n labellings."""
    best = -np.inf
    for labels in product((-1, 1), repeat=len(y)):
        guess = np.array(labels)
        if allowed(guess):
            flipped = guess != y
            best = max(best, loss(guess) - float((y * s)[flipped].sum()) / len(y))
    return best


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any]:
    n = draw(st.integers(2, 8))
    y = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    y[:2] = 1, -1
    return y, np.array(draw(st.lists(st.integers(-40, 40), min_size=n, max_size=n))) / draw(st.sampled_from([1, 8, 50]))


@given(problems(), st.integers(1, 8))
def test_the_bounds_are_those_of_the_worst_labelling(problem: tuple[Any, Any], k: int) -> None:
    y, s = problem
    positives = int((y > 0).sum())
    k = min(k, len(y))

    def precision_loss(guess: Any, k: int) -> float:
        return 1.0 - float(((guess > 0) & (y > 0)).sum()) / k

    def f1_loss(guess: Any) -> float:
        return 1.0 - 2.0 * float(((guess > 0) & (y > 0)).sum()) / float((guess > 0).sum() + (y > 0).sum())

    f1 = every_labelling(y, s, f1_loss, lambda g: True)
    assert F1Risk(y).value(s) == pytest.approx(f1, abs=1e-12)
    at_k = every_labelling(y, s, lambda g: precision_loss(g, k), lambda g: (g > 0).sum() == k)
    assert PrecisionAtK(y, k=k).value(s) == pytest.approx(max(0.0, at_k), abs=1e-12)
    even = every_labelling(y, s, lambda g: precision_loss(g, positives), lambda g: (g > 0).sum() == positives)
    assert BreakEven(y).value(s) == pytest.approx(even, abs=1e-12)
    costs = np.where(y > 0, 3.0, 0.5)
    worst = every_labelling(y, s * len(y), lambda g: float(costs[g != y].sum()), lambda g: True)
    assert ErrorCost(y, costs).value(s) == pytest.approx(worst / costs.sum(), abs=1e-12)


RNG = np.random.default_rng(0)
Y = RNG.choice([-1, 1], 40, p=[0.7, 0.3])


# Beside those of tests/risks/test_registry.py, which have no options.
@pytest.mark.parametrize("risk", [PrecisionAtK(Y, k=30), ErrorCost(Y, RNG.random(40))], ids=["many", "cost"])
def test_contract(risk: MultivariateRisk) -> None:
    check_risk(risk, 40)


@given(problems())
def test_the_intercept_of_f1(problem: tuple[Any, Any]) -> None:
    y, s = problem
    risk = F1Risk(y)
    b = risk.shift(s)
    least = risk.value(s + b)
    for other in np.concatenate([np.linspace(-5.0, 5.0, 101), -s, 1e-6 + b * np.ones(1)]):
        assert least <= risk.value(s + other) + 1e-12
    cut = risk.balanced_cut(s + b)
    assert cut.coef.sum() == pytest.approx(0.0, abs=1e-13)
    assert float(cut.coef @ (s + b)) + cut.offset == pytest.approx(least, abs=1e-11)


@pytest.mark.parametrize("score", [-35.0, 35.0, -1e3 / 3.0, 1e9 / 7.0])
def test_the_intercept_of_f1_where_lines_meet_but_for_rounding(score: float) -> None:
    risk = F1Risk(np.array([1, 1, -1]))
    assert risk.value(np.full(3, score + risk.shift(np.full(3, score)))) == pytest.approx(0.6)


def test_f1_of_a_large_sample_is_that_of_every_table() -> None:
    rng = np.random.default_rng(3)
    y = np.where(rng.random(300) < 0.2, 1, -1)
    s = 30.0 * rng.normal(size=300)
    positive, negative = np.sort(s[y > 0]), -np.sort(-s[y < 0])
    P = len(positive)
    a, c = np.arange(P + 1)[:, None], np.arange(len(negative) + 1)
    bound = 1.0 - 2.0 * (P - a) / (2.0 * P - a + c)
    bound = bound + (np.append(0, np.cumsum(negative)) - np.append(0, np.cumsum(positive))[:, None]) / 300
    assert F1Risk(y).value(s) == pytest.approx(bound.max(), abs=1e-12)


def test_equal_costs_are_the_hinge() -> None:
    s = RNG.normal(size=40)
    assert ErrorCost(Y).value(s) == pytest.approx(Hinge(Y).value(s))
    assert isinstance(make_risk(find_loss("error_cost", BINARY), Y, None), Hinge)


def test_weights_are_refused_where_examples_are_counted() -> None:
    for risk, typed in ((F1Risk, "f1"), (PrecisionAtK, "prec@k"), (BreakEven, "prbep")):
        with pytest.raises(ValueError, match=f"^loss='{typed}' counts .* leave sample_weight and class_weight out"):
            risk(Y, np.ones(40))


def test_k_must_be_possible() -> None:
    for k in (41, 0, 2.5, "3", True, float("nan")):
        with pytest.raises(ValueError, match=f"^k={k!r} must be a whole number from 1 to the number of examples, 40"):
            PrecisionAtK(Y, k=k)


def test_k_examples_are_above_the_threshold() -> None:
    s = RNG.normal(size=40)
    for k in (1, 7, 39, 40):
        assert np.count_nonzero(s + PrecisionAtK(Y, k=k).threshold(s) > 0) == k

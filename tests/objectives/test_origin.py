"""An objective whose weights count from an origin is the plain one moved there, whatever is asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cutplane.objectives.factory import make_multiclass, make_objective
from cutplane.risks.multiclass import Multiclass
from cutplane.risks.registry import BINARY
from cutplane.solvers.base import Evaluated
from cutplane.sources import as_source

N, D = 80, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = np.where(X[:, 0] + 0.7 * RNG.normal(size=N) > 0.3, 1, -1)
CLASSES = RNG.integers(0, 3, N)


def both(name: str, intercept: bool) -> tuple[Any, Any, np.ndarray]:
    """The objective from an origin, the plain one, and the origin."""
    origin = np.random.default_rng(5).normal(size=3 * D if name == "classes" else D)
    if name == "classes":
        made = [
            make_multiclass(as_source(X), Multiclass(CLASSES, 3), intercept=intercept, origin=each)
            for each in (origin, None)
        ]
    else:
        risk = BINARY[name](Y)
        made = [make_objective(as_source(X), risk, intercept=intercept, origin=each) for each in (origin, None)]
    return *made, origin


names = pytest.mark.parametrize("name", [*sorted(BINARY), "classes"])
rounded = pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic", "classes"])
intercepts = pytest.mark.parametrize("intercept", [False, True])


def assert_same_plane(moved: Any, plain: Any, origin: np.ndarray) -> None:
    assert_allclose(moved.slope, plain.slope, atol=1e-12)
    assert moved.offset == pytest.approx(plain.offset + plain.slope @ origin, abs=1e-12)
    assert moved.value == pytest.approx(plain.value, abs=1e-12)


@names
@intercepts
def test_values_and_planes(name: str, intercept: bool) -> None:
    moved, plain, origin = both(name, intercept)
    for w in np.random.default_rng(1).normal(size=(5, len(origin))):
        here, there = moved.at(w), plain.at(w + origin)
        assert_allclose(here.w, w)
        assert moved.value(here) == pytest.approx(plain.value(there), abs=1e-9)
        cut = moved.cut(here)
        for v in np.random.default_rng(2).normal(size=(5, len(origin))):
            assert cut.slope @ v + cut.offset <= plain.value(plain.at(v + origin)) + 1e-9


@rounded
@intercepts
def test_rounded_planes_steps_and_samples(name: str, intercept: bool) -> None:
    moved, plain, origin = both(name, intercept)
    rng, h = np.random.default_rng(3), 0.7
    w, p, b = rng.normal(size=len(origin)), rng.normal(size=len(origin)), 0.2 if intercept else 0.0
    here, there = moved.balance(moved.score(w, b), h), plain.balance(plain.score(w + origin, b), h)
    whole = moved.smoothed(here, h)
    assert_same_plane(whole, plain.smoothed(there, h), origin)
    direction, other = moved.direction(p, 0.1 * b), plain.direction(p, 0.1 * b)
    assert moved.smoothed_ray(here, direction, [0.3], h)[0] == pytest.approx(
        plain.smoothed_ray(there, other, [0.3], h)[0]
    )
    nearby = moved.near(here, whole, h, moved.near_kinks(here, h))
    assert_allclose(nearby.smoothed(nearby.score(here.w, here.intercept), h).slope, whole.slope, atol=1e-10)
    assert nearby.smoothed(nearby.score(here.w, here.intercept), h).value == pytest.approx(whole.value)
    sample = moved.draw(40, np.random.default_rng(0))
    part, point = moved.anchored(sample, Evaluated(here, whole, h))
    assert_allclose(part.smoothed(point, h).slope, whole.slope, atol=1e-10)
    assert part.smoothed(point, h).offset == pytest.approx(whole.offset, abs=1e-10)
    end = moved.move(here, direction, 0.5)
    assert moved.value(end) == pytest.approx(plain.value(plain.score(end.w + origin, end.intercept)))


@rounded
def test_a_step_in_one_pass(name: str) -> None:
    moved, plain, origin = both(name, False)
    w = np.random.default_rng(4).normal(size=len(origin))
    tried = moved.stepped(None, w, 0.5)
    if tried is not None:
        assert_same_plane(tried[1], plain.smoothed(plain.score(w + origin, 0.0), 0.5), origin)
        further = moved.stepped(tried[0], w, 0.5)
        assert further is not None
        assert_same_plane(further[1], plain.smoothed(plain.score(2.0 * w + origin, 0.0), 0.5), origin)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic"])
@intercepts
def test_dual_ascent_counts_from_the_origin(name: str, intercept: bool) -> None:
    """Its plane is below the risk, and its bound reaches the objective of its weights."""
    moved, plain, origin = both(name, intercept)
    C = 5.0
    ascent = moved.dual_ascent(C, 0)
    for _ in range(2000):
        ascent.epoch()
        ascent.unshrink(moved.score(*ascent.weights))
    plane = ascent.plane()
    for v in np.random.default_rng(2).normal(size=(5, len(origin))):
        assert plane.slope @ v + plane.offset <= plain.value(plain.at(v + origin)) + 1e-9
    point = moved.fit_intercept(moved.score(*ascent.weights))
    upper = 0.5 * point.w @ point.w + C * moved.value(point)
    lower = C * plane.offset - 0.5 * C**2 * plane.slope @ plane.slope
    assert lower == pytest.approx(upper, rel=1e-3)


def test_near_problems_know_no_origin() -> None:
    assert both("hinge", False)[0].most_near_hinges(1e9) == 0


def test_offsets_are_charged_for_the_origin() -> None:
    moved, plain, origin = both("hinge", False)
    assert moved.rounding.scale >= plain.rounding.scale + np.abs(X @ origin).max()

"""The hinge: its values, planes, rays, intercepts and rounded versions."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.risks.hinge import Hinge
from cutplane.testing import check_risk
from cutplane.testing.reference import HingeSample

ROUNDING = 1e-12


class Case(NamedTuple):
    """A hinge, its reference, and scores to try it on."""

    risk: Hinge
    reference: HingeSample
    scores: np.ndarray
    direction: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        return self.reference.c


def make(seed: int, n: int, kind: str, weighted: bool, log_scale: float = 0.0) -> Case:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[: 2 if n > 1 else 0] = (1, -1)[: min(n, 2)]  # both sides
    weights = rng.integers(0, 4, size=n).astype(float) if weighted else None
    if weights is not None:
        weights[:2] = 1.0
    scores, direction = rng.normal(size=(2, n))
    if kind == "ties":  # many breakpoints at the same places, many examples on their kinks
        scores, direction = rng.integers(-2, 3, size=(2, n)).astype(float)
    elif kind == "still":  # most examples do not move
        direction[rng.random(n) < 0.8] = 0.0
    elif kind == "spread":  # breakpoints of every size, beyond ±2^128 too
        scores = np.zeros(n)  # so that no step is lost in adding
        direction = rng.choice([-1.0, 1.0], n) * 2.0 ** rng.uniform(-140, 140, n)
    elif kind == "zero":
        direction = np.zeros(n)
    scale = 10.0**log_scale
    risk = Hinge(y, weights)
    shares = None if weights is None else weights / weights.sum()
    return Case(risk, HingeSample(y, shares), scale * scores, scale * direction)


cases = st.builds(
    make,
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    kind=st.sampled_from(["normal", "ties", "still", "spread", "zero"]),
    weighted=st.booleans(),
    log_scale=st.sampled_from([0.0, 0.0, -8.0, 8.0]),
)
tame_cases = st.builds(
    make,
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    kind=st.sampled_from(["normal", "ties", "still"]),
    weighted=st.booleans(),
    log_scale=st.sampled_from([0.0, 0.0, -3.0, 3.0]),
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 50])
def test_contract(n: int, weighted: bool) -> None:
    check_risk(make(0, n, "normal", weighted).risk, n)


def test_values_by_hand() -> None:
    risk = Hinge([1, -1, 1])
    assert risk.value(np.array([0.0, 0.0, 0.0])) == 1.0
    assert risk.value(np.array([2.0, -1.0, 0.25])) == 0.25
    assert_array_equal(risk.decide(np.array([0.5, -0.5, 0.0])), [1, -1, -1])


@given(cases)
def test_twins_agree(case: Case) -> None:
    risk, twin, s = case.risk, case.reference, case.scores
    size = 1.0 + float(case.weight @ np.abs(s))
    assert risk.value(s) == pytest.approx(twin.value(s), rel=ROUNDING)
    for h in (4.0, 0.3, 1e-6):
        for mine, theirs in (
            (risk.cut(s), twin.cut(s)),
            (risk.balanced_cut(s), twin.balanced_cut(s, 1e-9)),
            (risk.smoothed(s, h), twin.smoothed(s, h)),
        ):
            assert_allclose(mine.coef, theirs.coef, atol=ROUNDING)
            assert_allclose(mine[1:], theirs[1:], atol=ROUNDING * size)
        assert_allclose(risk.extrapolated(s, h, 2 * h), twin.extrapolated(s, h, 2 * h), atol=ROUNDING, rtol=ROUNDING)
        for mine, theirs in zip(risk.kinks(s, h), twin.kinks(s, h), strict=True):
            assert_allclose(mine, theirs, rtol=ROUNDING)


@given(tame_cases, st.sampled_from([0.0, 2.0, 0.3, 1e-3]), st.floats(-3, 3))
def test_twins_agree_on_rays(case: Case, h: float, t: float) -> None:
    for direction in (case.direction, None):
        mine = case.risk.smoothed_ray(case.scores, direction, t, h)
        theirs = case.reference.ray(case.scores, 1.0 if direction is None else direction, t, h)
        reach = 1.0 if direction is None else float(np.abs(direction).max())
        size = 1.0 + float(np.abs(case.scores).max()) + reach * (1.0 + abs(t))
        assert mine[0] == pytest.approx(theirs[0], abs=ROUNDING * size)
        # An example within rounding of a kink may count on either side of it.
        z = 1.0 - case.reference.y * (case.scores + t * (1.0 if direction is None else direction))
        if np.abs(np.abs(z) - 0.5 * h).min() > 1e-9 * size:
            assert mine[1] == pytest.approx(theirs[1], abs=ROUNDING * reach)
            assert mine[2] == pytest.approx(theirs[2], abs=ROUNDING * (reach**2 / h if h else 1.0))


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_weights_are_repetitions(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    times = rng.integers(0, 4, size=n)
    times[0] = 1
    weighted, repeated = Hinge(y, times), Hinge(np.repeat(y, times))
    s = rng.normal(size=n)
    many = np.repeat(s, times)
    assert weighted.total_weight == repeated.total_weight
    assert weighted.value(s) == pytest.approx(repeated.value(many), rel=ROUNDING)
    mine, theirs = weighted.cut(s), repeated.cut(many)
    assert mine.offset == pytest.approx(theirs.offset, rel=ROUNDING)
    assert_allclose(np.repeat(mine.coef, times), theirs.coef * np.repeat(times, times), atol=ROUNDING)
    end = s + rng.normal(size=n)
    steps = [
        risk.ray(a, b).minimise(1.0, 0.0, 10.0)
        for risk, a, b in ((weighted, s, end), (repeated, many, np.repeat(end, times)))
    ]
    assert steps[0] == pytest.approx(steps[1], rel=1e-9)


@given(cases)
def test_planes_are_below_at_any_scores(case: Case) -> None:
    risk, s = case.risk, case.scores
    rng = np.random.default_rng(0)
    planes = [risk.cut(s), risk.smoothed(s, 1.0), risk.smoothed(s, 1e-3)]
    for plane in planes:
        for scale in (0.0, 1.0, 1e4):
            other = scale * rng.normal(size=len(s))
            size = 1.0 + float(case.weight @ np.abs(other))
            assert plane.coef @ other + plane.offset <= risk.value(other) + ROUNDING * size
    cut = planes[0]
    size = 1.0 + float(case.weight @ np.abs(s))
    assert cut.coef @ s + cut.offset == pytest.approx(risk.value(s), abs=ROUNDING * size)


@given(cases)
def test_rounding_costs_less_the_narrower_it_is(case: Case) -> None:
    widths = [8.0, 2.0, 0.5, 1e-2, 1e-5]
    errors = [case.risk.smoothed(case.scores, h).error for h in widths]
    for h, error in zip(widths, errors, strict=True):
        assert -ROUNDING <= error <= h / 16 + ROUNDING, "pi z is at most h/16 below the hinge"
    assert all(after <= before + ROUNDING for before, after in pairwise(errors))


# --- rays ---


@given(tame_cases, st.floats(-2, 2), st.floats(0.01, 1))
def test_a_ray_is_the_risk_on_the_line(case: Case, t: float, step: float) -> None:
    risk, s = case.risk, case.scores
    ray = risk.ray(s, s + case.direction)
    size = 1.0 + float(np.abs(s).max() + 4.0 * np.abs(case.direction).max())
    values = [risk.value(s + k * case.direction) for k in (t, t + step)]
    assert ray.value(t) == pytest.approx(values[0], abs=ROUNDING * size)
    rise = values[1] - values[0]
    assert ray.slope(t) * step <= rise + ROUNDING * size
    assert ray.slope(t + step) * step >= rise - ROUNDING * size


def line_value(case: Case, direction: np.ndarray, t: float, q: float, linear: float, C: float) -> float:
    return 0.5 * q * t * t + linear * t + C * case.reference.value(case.scores + t * direction)


@given(
    tame_cases,
    st.sampled_from([0.0, 1e-6, 0.5, 30.0, 1e6]),
    st.sampled_from([0.0, -0.7, 2.0, 1e-9]),
    st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_the_minimum_of_a_ray(case: Case, q: float, linear: float, C: float) -> None:
    if q == 0.0:  # bounded below only if no falling line is left at the end
        linear = abs(linear)
    found = case.risk.ray(case.scores, case.scores + case.direction).minimise(q, linear, C)
    direction = (case.scores + case.direction) - case.scores
    best = case.reference.ray_minimum(case.scores, direction, q, linear, C)
    assert found >= 0.0
    assert np.isfinite(found)
    grid = np.concatenate([[best], np.linspace(0.0, 3.0, 61), found * np.linspace(0.9, 1.1, 11)])
    value = line_value(case, direction, found, q, linear, C)
    size = C * (1.0 + np.abs(case.scores).max() + found * np.abs(direction).max()) + abs(linear) * found
    for t in grid:
        assert value <= line_value(case, direction, t, q, linear, C) + 1e-11 * (size + q * found**2)


@given(cases, st.sampled_from([1e-30, 1e-3, 1.0, 1e30]))
def test_the_minimum_of_a_ray_of_any_size(case: Case, q: float) -> None:
    """Breakpoints from 2^-140 to 2^140: the step is where the slope changes its sign."""
    C = 3.0
    end = case.scores + case.direction
    direction = end - case.scores
    found = case.risk.ray(case.scores, end).minimise(q, 0.0, C)
    assert np.isfinite(found)
    if found == case.reference.ray_minimum(case.scores, direction, q, 0.0, C):
        return
    # The slope is a sum of terms of very different sizes: either side of the root it has the right sign.
    terms = C * case.weight * np.abs(direction)
    for t, sign in ((found * (1 - 1e-9), 1.0), (found * (1 + 1e-9), -1.0)):
        if found > 0.0:
            slope = q * t + C * case.reference.ray(case.scores, direction, t)[1]
            assert sign * slope <= 1e-12 * (terms.sum() + q * t)


@pytest.mark.parametrize("exponent", [-300, -200, -129, -10, 0, 10, 127, 128, 129, 200, 300])
def test_a_breakpoint_of_any_size(exponent: int) -> None:
    # One example whose loss falls until t = 2^exponent, and one that has none and does not move.
    start, falls = np.array([0.0, -5.0]), np.array([2.0**-exponent, -5.0])
    found = Hinge([1, -1]).ray(start, falls).minimise(0.0, 0.0, 1.0)
    assert found * 2.0**-exponent >= 1.0
    # Another one rises from twice as far on: between the two is no loss at all.
    start, both = np.zeros(2), np.array([2.0**-exponent, 2.0 ** -(exponent + 2)])
    found = Hinge([1, 1]).ray(start, both).minimise(0.0, 0.2 * 2.0**-exponent, 1.0)
    assert found == 2.0**exponent, "0.125·2^-exponent is what the second loss still falls by, less than 0.2"


def test_many_equal_breakpoints() -> None:
    y = np.array([1, -1] * 50_000)
    s = np.zeros(len(y))
    risk = Hinge(y)
    assert risk.ray(s, y.astype(float)).minimise(0.1, 0.0, 1.0) == 1.0
    assert risk.ray(s, y.astype(float)).minimise(10.0, 0.0, 1.0) == pytest.approx(0.1)
    assert risk.ray(s, -y.astype(float)).minimise(0.1, 0.0, 1.0) == 0.0
    assert risk.ray(s, s).minimise(0.5, -1.0, 1.0) == pytest.approx(2.0)


# --- the intercept ---


@given(cases)
def test_the_best_intercept(case: Case) -> None:
    shift = case.risk.shift(case.scores)
    assert np.isfinite(shift)
    least = case.reference.value(case.scores + case.reference.best_intercept(case.scores))
    found = case.reference.value(case.scores + shift)
    assert found <= least + ROUNDING * (1.0 + np.abs(case.scores).max())


@pytest.mark.parametrize("label", [1, -1])
def test_an_intercept_for_one_side_only(label: int) -> None:
    # A part of a sample may hold one class only: then there is no loss at all.
    scores = np.random.default_rng(0).normal(size=20)
    risk = Hinge(np.full(20, label))
    shift = risk.shift(scores)
    assert np.isfinite(shift)
    assert risk.value(scores + shift) <= ROUNDING


@given(tame_cases)
def test_balanced_cuts_are_below_the_risk_with_its_best_intercept(case: Case) -> None:
    risk = case.risk
    settled = case.scores + risk.shift(case.scores)
    plane = risk.balanced_cut(settled)
    assert abs(plane.coef.sum()) <= ROUNDING
    scale = 1.0 + float(np.abs(settled).max())
    assert plane.coef @ settled + plane.offset == pytest.approx(risk.value(settled), abs=1e-8 * scale)
    rng = np.random.default_rng(0)
    for size in (0.0, 1.0, 1e3):
        other = settled + size * rng.normal(size=len(settled))
        profiled = risk.value(other + risk.shift(other))
        assert plane.coef @ other + plane.offset <= profiled + ROUNDING * (scale + size)


def test_a_balanced_cut_away_from_the_best_intercept_is_below_all_the_same() -> None:
    for seed in range(20):
        case = make(seed, 30, "normal", seed % 2 == 0)
        plane = case.risk.balanced_cut(case.scores + 0.8)
        assert abs(plane.coef.sum()) <= ROUNDING
        for b in np.linspace(-3, 3, 25):
            assert plane.coef @ (case.scores + b) + plane.offset <= case.risk.value(case.scores + b) + ROUNDING


# --- parts and threads ---


@given(tame_cases, st.floats(0.1, 10.0))
def test_a_sum_over_parts_is_the_whole(case: Case, scale: float) -> None:
    n = len(case.scores)
    rows = np.random.default_rng(0).permutation(n)
    parts = [rows[: n // 2], rows[n // 2 :]]
    values = [case.risk.take(part, scale=scale).value(case.scores[part]) for part in parts]
    assert sum(values) == pytest.approx(scale * case.risk.value(case.scores), rel=ROUNDING)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_no_bit(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    n = 150_000
    y = np.where(rng.random(n) < 0.5, 1, -1)
    weights = rng.random(n) if weighted else None
    s, direction = rng.normal(size=(2, n))

    def everything(threads: int) -> list[np.ndarray]:
        risk = Hinge(y, weights, n_threads=threads)
        ray = risk.ray(s, s + direction)
        settled = s + risk.shift(s)
        numbers = [risk.value(s), ray.value(0.3), ray.slope(0.3), ray.minimise(1.0, 0.2, 5.0), settled[0]]
        planes = [risk.cut(s), risk.balanced_cut(settled), risk.smoothed(s, 0.3)]
        parts = [np.array(numbers), *risk.kinks(s, 0.1), risk.extrapolated(s, 0.1, 0.3)]
        parts += [np.array(risk.smoothed_ray(s, None, 0.1, 0.2))]
        return parts + [np.append(plane.coef, plane[1:]) for plane in planes]

    alone = everything(1)
    for threads in (2, 5):
        for one, several in zip(alone, everything(threads), strict=True):
            assert_array_equal(several, one)


@pytest.mark.parametrize("quadratic", [0.0, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("linear", [-1e5, -1.0, 0.0, 1e5])
@pytest.mark.parametrize("kind", ["scattered", "sorted", "alike", "far apart", "few values"])
def test_the_step_among_very_many_examples_is_where_the_slope_turns(kind: str, linear: float, quadratic: float) -> None:
    rng = np.random.default_rng(0)
    n = 80_000  # enough for a part of them to tell where to look
    y = np.where(rng.random(n) < 0.3, 1, -1)
    s, direction = rng.normal(size=(2, n))
    direction += 0.5 * y
    if kind == "sorted":  # and a part of them says little of the others
        s, direction = np.sort(s), np.sort(direction)
    elif kind == "alike":
        s, direction = np.zeros(n), 2.0 * y
    elif kind == "far apart":
        direction *= 10.0 ** rng.uniform(-8.0, 8.0, size=n)
    elif kind == "few values":
        s, direction = np.round(s), np.round(direction)
    ray = Hinge(y, rng.random(n)).ray(s, s + direction)
    step = ray.minimise(quadratic, linear, 1.0)

    def slope(t: float) -> float:
        return quadratic * t + linear + ray.slope(t)

    assert step >= 0.0
    scale = 1e-9 * (abs(linear) + np.abs(direction).sum() + quadratic * step)
    assert slope(step * (1.0 + 1e-9) + 1e-12) >= -scale or slope(1e300) < 0.0
    assert step == 0.0 or slope(step * (1.0 - 1e-9)) <= scale


def test_scores_of_the_wrong_length_are_refused() -> None:
    risk = Hinge([1, -1, 1])
    for call in (risk.value, risk.cut, risk.shift, lambda s: risk.ray(s, s).value(0.0)):
        with pytest.raises(ValueError, match="one score per label"):
            call(np.zeros(2))

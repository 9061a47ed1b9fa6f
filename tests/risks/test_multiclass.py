"""The multi-class risk: planes, rays and rounding against readable twins, for both re-scalings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane.risks.multiclass import Multiclass
from cutplane.risks.multiclass_choices import ChoiceSlopes
from cutplane.sources.matrix import as_source
from cutplane.testing import check_risk

RESCALINGS = ("margin", "slack")


def lines(scores: Any, y: Any, cost: Any, rescaling: str) -> Any:
    """Every example's loss of every class; the risk is the mean of their maxima."""
    differences = scores - scores[np.arange(len(y)), y][:, None]
    return cost[y] * (1.0 + differences) if rescaling == "slack" else cost[y] + differences


def random_cost(rng: np.random.Generator, classes: int) -> Any:
    cost = rng.uniform(0.2, 3.0, (classes, classes))
    np.fill_diagonal(cost, 0.0)
    return cost


@pytest.mark.parametrize("rescaling", RESCALINGS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 5])
def test_contract(rescaling: str, weighted: bool, classes: int) -> None:
    rng = np.random.default_rng(classes)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 20)])
    weights = rng.uniform(0.1, 2.0, len(y)) if weighted else None
    risk = Multiclass(y, classes, random_cost(rng, classes), rescaling=rescaling, sample_weight=weights)
    check_risk(risk, len(y), n_scores=classes)


@pytest.mark.parametrize("rescaling", RESCALINGS)
def test_intercepts_are_looked_for_as_closely_as_asked(rescaling: str) -> None:
    rng = np.random.default_rng(9)
    n, classes = 400, 5
    y = rng.integers(0, classes, n)
    risk = Multiclass(y, classes, random_cost(rng, classes), rescaling=rescaling)
    scores = rng.normal(size=(n, classes)) + np.eye(classes)[y]
    least = risk.value(scores + risk.shift(scores))
    widths = []
    for enough in (0.0, 1e-5, 1e-3, 1e-1):
        b, h = risk.best_shift(scores, enough)
        coef, offset, _ = risk.balanced_cut(scores + b, h)
        height = float(np.vdot(coef, scores)) + offset
        assert np.abs(coef.sum(axis=0)).max() < 1e-12
        assert least - 3.0 * enough - 1e-5 <= height <= least + 1e-9
        widths.append(h)
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@given(st.integers(0, 10_000), st.integers(2, 7), st.sampled_from(RESCALINGS), st.booleans())
def test_value_and_ray_are_maxima_of_lines(seed: int, classes: int, rescaling: str, integers: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    y, cost = rng.integers(0, classes, n), random_cost(rng, classes)
    if integers:  # many ties
        cost = np.ones((classes, classes)) - np.eye(classes)
    start, end = rng.normal(size=(2, n, classes))
    if integers:
        start, end = np.round(2 * start), np.round(2 * end)
    risk = Multiclass(y, classes, cost, rescaling=rescaling)

    def value(t: float) -> float:
        return float(lines(start + t * (end - start), y, cost, rescaling).max(axis=1).mean())

    ray = risk.ray(start, end)
    for t in (0.0, 0.4, 1.0, 3.0):
        np.testing.assert_allclose(ray.value(t), value(t), rtol=1e-12, atol=1e-12)
    quadratic, linear, C = float(rng.uniform(0.01, 2.0)), float(rng.normal()), float(rng.uniform(0.1, 20.0))
    found = ray.minimise(quadratic, linear, C)
    # The minimum is at a crossing of two lines, at zero, or at the root of a slope between crossings.
    z0 = lines(start, y, cost, rescaling)
    rise = lines(end, y, cost, rescaling) - z0
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (z0[:, :, None] - z0[:, None, :]) / (rise[:, None, :] - rise[:, :, None])
    crossings = np.unique(np.append(meet[np.isfinite(meet) & (meet > 0)], 0.0))
    middles = np.append((crossings[1:] + crossings[:-1]) / 2, crossings[-1] + 1.0)
    roots = [max(0.0, -(linear + C * ray.slope(t)) / quadratic) for t in middles]

    def objective(t: float) -> float:
        return 0.5 * quadratic * t * t + linear * t + C * value(t)

    best = min(objective(t) for t in [*crossings, *roots])
    assert objective(found) <= best + 1e-9 * (1.0 + abs(best))


@pytest.mark.parametrize("rescaling", RESCALINGS)
@pytest.mark.parametrize("equal", [False, True])
def test_the_minimum_along_a_ray_of_many_examples(rescaling: str, equal: bool) -> None:
    rng = np.random.default_rng(5)
    n, classes = 60_193, 5  # enough for a part of them to tell where to look: every 32nd, in blocks of a multiple of 32
    y = rng.integers(0, classes, n)
    risk = Multiclass(y, classes, None if equal else random_cost(rng, classes), rescaling=rescaling)
    start = rng.normal(size=(n, classes))
    # Towards the true classes, away from them, hardly at all, and such that the part is far off: it differs.
    right = start + 3.0 * np.eye(classes)[y]
    away = 2.0 * start - right
    part = (np.arange(n) % 32 < 2)[:, None]
    misleading = np.where(part, right, start + 0.05 * rng.normal(size=start.shape))
    for end in (right, away, start + 1e-9 * (right - start), misleading, np.where(part, away, right)):
        ray = risk.ray(start, end)
        for quadratic, linear, C in ((1.0, 0.1, 1.0), (1e-3, -0.2, 5.0), (4.0, -1e-4, 1e-3)):
            found = ray.minimise(quadratic, linear, C)
            around = found + np.array([-1e-7, 1e-7]) * max(1.0, found)
            left, right_of = (quadratic * t + linear + C * ray.slope(t) for t in around)
            assert right_of >= -1e-9
            assert found == 0.0 or left <= 1e-9


@pytest.mark.parametrize("rescaling", RESCALINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_planes_of_chosen_classes_are_summed_up_without_their_coefficients(rescaling: str, weighted: bool) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 4, 300)
    weights = rng.uniform(0.5, 2.0, 300) if weighted else None
    risk = Multiclass(y, 4, random_cost(rng, 4), rescaling=rescaling, sample_weight=weights)
    X = rng.normal(size=(300, 7)) * (rng.uniform(size=(300, 7)) < 0.5)
    start, end = rng.normal(size=(2, 300, 4))
    cuts = [risk.advance(start.copy(), end, step, 0.2)[2] for step in np.linspace(0.0, 0.3, 40)]
    chosen = [np.where(cut.coef > 0.0, np.arange(4), 0).sum(axis=1) for cut in cuts]
    chosen = [
        np.where((cut.coef != 0.0).any(axis=1), c, y).astype(np.int32) for cut, c in zip(cuts, chosen, strict=True)
    ]
    changed = [np.count_nonzero(a != b) for a, b in pairwise(chosen)]
    assert max(changed) > 0
    assert max(changed) < min(np.count_nonzero(c != y) for c in chosen)  # so that slopes are made of the last ones
    for layout in (X, np.asfortranarray(X), sp.csr_matrix(X)):
        slopes = ChoiceSlopes(risk)
        for cut, c in zip(cuts, chosen, strict=True):
            found = slopes.slope(as_source(layout).core, c)
            np.testing.assert_allclose(found.reshape(7, 4), X.T @ cut.coef, atol=1e-14)
        np.testing.assert_array_equal(risk.advance_choosing(start.copy(), end, 0.3, 0.2)[1], chosen[-1])


@pytest.mark.parametrize("rescaling", RESCALINGS)
@pytest.mark.parametrize("classes", [2, 3, 4, 7, 12])
@pytest.mark.parametrize("equal", [False, True])
def test_advance_is_a_step_a_value_and_a_cut(rescaling: str, classes: int, equal: bool) -> None:
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 57)
    risk = Multiclass(y, classes, None if equal else random_cost(rng, classes), rescaling=rescaling)
    start, end = rng.normal(size=(2, 57, classes))
    moved, value, cut = risk.advance(start.copy(), end, 0.3, 0.2)
    np.testing.assert_allclose(moved, start + 0.3 * (end - start), rtol=1e-14, atol=1e-15)
    assert value == pytest.approx(risk.value(moved), rel=1e-14)
    expected = risk.cut(moved + 0.2 * (end - moved))
    np.testing.assert_allclose(cut.coef, expected.coef, atol=1e-16)
    assert (cut.offset, cut.value) == pytest.approx((expected.offset, expected.value), rel=1e-12)
    there = risk.cut(end)
    chosen, offset, height = risk.cut_choosing(end)
    assert (offset, height) == pytest.approx((there.offset, there.value), rel=1e-12)
    right = np.where(np.arange(classes) == y[:, None], 0.0, there.coef)
    np.testing.assert_array_equal(chosen, np.where(right.any(axis=1), right.argmax(axis=1), y))


@pytest.mark.parametrize("rescaling", RESCALINGS)
def test_curvature_is_the_derivative_of_the_rounded_slope(rescaling: str) -> None:
    rng = np.random.default_rng(1)
    y, h = rng.integers(0, 5, 40), 1.0
    risk = Multiclass(y, 5, random_cost(rng, 5), rescaling=rescaling)
    scores, direction = 0.4 * rng.normal(size=(40, 5)), rng.normal(size=(40, 5))
    found = risk.meetings(scores, h)
    rows, step = found.rows, 1e-7
    assert len(rows) > 10
    assert np.diff(found.starts).max() > 2  # three classes and more meet
    ahead, behind = (risk.smoothed(scores + sign * step * direction, h).coef for sign in (1, -1))
    expected = h * (ahead - behind)[rows] / (2 * step)
    np.testing.assert_allclose(risk.curvature(found, direction[rows]), expected, atol=1e-6)
    value, slope, curvature = risk.smoothed_ray(scores, direction, 0.0, h)
    assert slope == pytest.approx(np.vdot(risk.smoothed(scores, h).coef, direction))
    assert h * curvature == pytest.approx(np.vdot(direction[rows], expected), rel=1e-5)
    assert value >= risk.value(scores)


@given(st.integers(0, 10_000), st.integers(2, 8), st.sampled_from(RESCALINGS))
def test_balanced_planes_stay_below_and_lean_on_no_class(seed: int, classes: int, rescaling: str) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, 30)
    risk = Multiclass(y, classes, random_cost(rng, classes), rescaling=rescaling)
    rounded = risk.smoothed(rng.normal(size=(30, classes)), 2.0)
    coef, offset = risk.balanced(rounded.coef)
    np.testing.assert_allclose(coef.sum(axis=0), 0.0, atol=1e-15)
    assert np.all(np.abs(coef) <= np.abs(rounded.coef) + 1e-16)
    for scale in (0.1, 1.0, 30.0):
        scores = scale * rng.normal(size=(30, classes))
        assert np.vdot(coef, scores) + offset <= risk.value(scores) + 1e-12 * (1.0 + scale)


@pytest.mark.parametrize("equal", [False, True])
def test_threads_do_not_matter(equal: bool) -> None:
    rng = np.random.default_rng(2)
    n, classes = 40_000, 6
    y, cost = rng.integers(0, classes, n), None if equal else random_cost(rng, classes)
    start, end = rng.normal(size=(2, n, classes))
    one, two = (Multiclass(y, classes, cost, n_threads=threads) for threads in (1, 2))
    steps = [each.advance(start.copy(), end, 0.3, 0.1) for each in (one, two)]
    assert np.array_equal(steps[0][0], steps[1][0])
    assert steps[0][1] == steps[1][1]
    assert steps[0][2].value == steps[1][2].value
    assert one.value(start) == two.value(start)
    assert np.array_equal(one.cut(start).coef, two.cut(start).coef)
    assert one.ray(start, end).minimise(1.0, -0.1, 2.0) == two.ray(start, end).minimise(1.0, -0.1, 2.0)
    assert one.smoothed(start, 0.5)[1:] == two.smoothed(start, 0.5)[1:]
    assert np.array_equal(one.shift(start), two.shift(start))


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (np.ones((2, 2)), r"cost_matrix has the shape \(2, 2\); with 3 classes it must be \(3, 3\)"),
        (np.ones((3, 3)), r"cost_matrix\[0, 0\] is 1\.0; it must be 0"),
        ([[0, 1, 1], [1, 0, -2], [1, 1, 0]], r"cost_matrix\[1, 2\] is -2\.0; it must be positive"),
        ([[0, 1, np.nan], [1, 0, 1], [1, 1, 0]], r"cost_matrix\[0, 2\] is nan"),
    ],
)
def test_costs_that_make_no_sense(cost: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Multiclass(np.array([0, 1, 2]), 3, cost)


def test_what_else_is_refused() -> None:
    with pytest.raises(ValueError, match="rescaling='both' must be one of 'margin', 'slack'"):
        Multiclass(np.array([0, 1]), 2, rescaling="both")
    with pytest.raises(ValueError, match="n_classes=1 must be at least 2"):
        Multiclass(np.array([0, 0]), 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 5, 40])
def test_coefficients_become_those_of_a_plane_that_holds(classes, weighted):
    """Whatever they were; those that hold already stay as they are, but for their last digits."""
    rng = np.random.default_rng(classes)
    n = 3000
    y = rng.integers(0, classes, n).astype(np.int32)
    cost = rng.uniform(0.5, 2.0, (classes, classes)) * (1.0 - np.eye(classes))
    weights = rng.uniform(0.1, 3.0, n) if weighted else None
    risk = Multiclass(y, classes, cost, sample_weight=weights)
    most = np.full(n, risk.each) if risk.weights is None else risk.weights
    rows, others = np.arange(n), rng.normal(size=(n, classes)) / n
    others[:500] = np.abs(others[:500])
    others[:500] *= (0.9 * most[:500] / others[:500].sum(axis=1))[:, None]
    coef = others.copy()
    offset, mass = risk.make_feasible(coef)

    positive = np.where(np.arange(classes) == y[:, None], 0.0, coef)
    assert (positive >= 0.0).all()
    assert (positive.sum(axis=1) <= most).all()
    np.testing.assert_allclose(coef[rows, y], -positive.sum(axis=1), rtol=1e-14, atol=0.0)
    kept = np.where(np.arange(classes) == y[:500, None], 0.0, others[:500])
    np.testing.assert_array_equal(positive[:500], kept)
    assert offset == pytest.approx((positive * cost[y]).sum(), rel=1e-12)
    assert mass == pytest.approx(np.abs(coef).sum(), rel=1e-12)
    for _ in range(5):
        scores = rng.normal(size=(n, classes))
        assert (coef * scores).sum() + offset <= risk.value(scores) * (1.0 + 1e-12)


def test_slack_rescaling_has_no_such_coefficients():
    risk = Multiclass(np.array([0, 1], np.int32), 2, rescaling="slack")
    with pytest.raises(ValueError, match="margin re-scaling"):
        risk.make_feasible(np.zeros((2, 2)))

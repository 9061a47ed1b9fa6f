"""Source x risk: what solvers see is the risk of the scores, the intercept profiled out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.objectives.factory import make_objective, objective_of
from cutplane.objectives.generic import Objective
from cutplane.objectives.rounded import RoundedObjective
from cutplane.risks.hinge import Hinge
from cutplane.risks.logistic import Logistic
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.shards.rows import RowSet, positions_of
from cutplane.solvers.base import Evaluated, ScoredPoint
from cutplane.sources import Source, as_source
from cutplane.sources.augmented import AugmentedSource
from cutplane.testing.reference import HingeSample

C = 20.0


def make(seed: int = 0, n: int = 60, d: int = 4, *, intercept: bool, weighted: bool = False) -> RoundedObjective:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.3, 1, -1)
    y[:2] = 1, -1
    risk = Hinge(y, rng.random(n) + 0.1 if weighted else None)
    return make_objective(as_source(sp.csr_array(X) if seed % 2 else X), risk, intercept=intercept)


def sweeping(objective: RoundedObjective, C: float) -> ExampleAscent:
    """Dual ascent whose epochs are single sweeps, however few the examples are."""
    ascent = objective.dual_ascent(C, seed=0)
    ascent._ascent.sweeps = 1
    return ascent


def best_value(objective: Objective, w: np.ndarray) -> float:
    """The risk at w with its best intercept, by trying every kink."""
    risk = objective.shard.risk
    weights = np.full(len(risk.y), risk.each) if risk.weights is None else risk.weights
    twin, scores = HingeSample(risk.y, weights), objective.shard.source.scores(w)
    return twin.value(scores + twin.best_intercept(scores)) if objective.intercept else twin.value(scores)


objectives = st.builds(make, st.integers(0, 1000), st.integers(2, 60), intercept=st.booleans(), weighted=st.booleans())
intercepts = pytest.mark.parametrize("intercept", [False, True])


@given(objectives, st.integers(0, 1000))
def test_a_point_has_the_best_intercept(objective: RoundedObjective, seed: int) -> None:
    w = np.random.default_rng(seed).normal(size=4)
    point = objective.at(w)
    assert objective.value(point) == pytest.approx(best_value(objective, w), abs=1e-12)
    assert_allclose(point.scores, objective.shard.source.scores(w) + point.intercept, atol=1e-12)
    if not objective.intercept:
        assert point.intercept == 0.0


@given(objectives, st.floats(-1, 2))
def test_a_mixture_is_scored_without_a_pass(objective: RoundedObjective, t: float) -> None:
    rng = np.random.default_rng(0)
    a, b = objective.at(rng.normal(size=4)), objective.at(rng.normal(size=4))
    mixed = objective.mix(a, b, t)
    assert_allclose(mixed.w, (1 - t) * a.w + t * b.w, atol=1e-12)
    assert_allclose(mixed.scores, objective.shard.source.scores(mixed.w) + mixed.intercept, atol=1e-12)
    ray = objective.ray(a, b)
    assert ray.value(t) == pytest.approx(objective.value(mixed), abs=1e-12)
    moved = objective.move(a, b, t)
    assert_allclose(moved.scores, objective.shard.source.scores(moved.w) + moved.intercept, atol=1e-12)


@given(objectives, st.integers(0, 1000))
def test_cuts_are_below_the_profiled_risk(objective: RoundedObjective, seed: int) -> None:
    rng = np.random.default_rng(seed)
    point = objective.mix(objective.at(rng.normal(size=4)), objective.at(rng.normal(size=4)), 0.3)
    cut = objective.cut(point)
    here = best_value(objective, point.w)
    assert cut.exact
    assert cut.value == pytest.approx(here, abs=1e-12)
    assert cut.slope @ point.w + cut.offset == pytest.approx(here, abs=1e-8)
    for scale in (0.0, 0.1, 1.0, 100.0):
        w = point.w + scale * rng.normal(size=4)
        assert cut.slope @ w + cut.offset <= best_value(objective, w) + 1e-12 * (1 + scale)


@given(objectives, st.sampled_from([4.0, 0.5, 1e-3]))
def test_rounded_planes_are_below_the_profiled_risk(objective: RoundedObjective, h: float) -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=4)
    point = objective.balance(objective.score(w, 0.3), h)
    if not objective.intercept:  # the 0.3 is in no score
        assert_allclose(point.scores, objective.shard.source.scores(w), rtol=1e-12, atol=1e-12)
    cut = objective.smoothed(point, h)
    assert cut.error == pytest.approx(cut.value - cut.slope @ w - cut.offset, abs=1e-9)
    assert cut.error == pytest.approx(objective.rounding_error(point, h), abs=1e-9)
    for scale in (0.0, 0.1, 1.0, 100.0):
        other = w + scale * rng.normal(size=4)
        assert cut.slope @ other + cut.offset <= best_value(objective, other) + 1e-11 * (1 + scale)


@pytest.mark.parametrize("h", [1.0, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_rounded_planes_do_not_lean_on_the_intercept(h: float, scale: float) -> None:
    """Below the risk for any intercept means: the coefficients sum to zero, however fine the rounding is.

    A constant feature would see them: its slope is their sum, times its size.
    """
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 3)), np.full(200, 1e9)])
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0.3, 1, -1)
    # Uneven weights: no set of whole examples balances, so that one on its kink must.
    objective = make_objective(as_source(X), Hinge(y, rng.random(200) + 0.1), intercept=True)
    w = np.array([scale, 0.3 * scale, -0.1 * scale, 0.0])
    point = objective.balance(objective.score(w, 0.0), h)
    assert abs(objective.smoothed(point, h).slope[-1]) <= 1e9 * 1e-15


@intercepts
@pytest.mark.parametrize("h", [2.0, 0.3])
def test_curvature_is_the_second_derivative(intercept: bool, h: float) -> None:
    """h times the Hessian of the rounded risk, the intercept following the weights."""
    objective = make(0, 200, intercept=intercept, weighted=True)
    rng = np.random.default_rng(1)
    w, v = 0.3 * rng.normal(size=(2, 4))

    def slope(t: float) -> np.ndarray:
        return objective.smoothed(objective.balance(objective.score(w + t * v, 0.0), h), h).slope

    point = objective.balance(objective.score(w, 0.0), h)
    curvature = objective.curvature(point, h)
    step = 1e-6
    numeric = (slope(step) - slope(-step)) / (2 * step)
    assert_allclose(curvature.product(v) / h, numeric, atol=1e-6)
    if intercept:
        moved = objective.balance(objective.score(w + step * v, 0.0), h)
        assert curvature.shift(v) == pytest.approx((moved.intercept - point.intercept) / step, abs=1e-4)


@intercepts
def test_a_rounded_ray_is_the_rounded_risk_on_a_line(intercept: bool) -> None:
    objective = make(0, 100, intercept=intercept)
    rng = np.random.default_rng(2)
    point, v = objective.score(rng.normal(size=4), 0.2), rng.normal(size=4)
    h, step = 0.7, 1e-5
    for t in (0.0, 0.4, 1.3):
        towards = objective.score(v, -0.5)  # `move` uses it up
        ((_, slope, curvature),) = objective.smoothed_ray(point, towards, [t], h)
        below, above = objective.smoothed_ray(point, towards, [t - step, t + step], h)
        assert slope == pytest.approx((above[0] - below[0]) / (2 * step), abs=1e-8)
        assert curvature == pytest.approx((above[1] - below[1]) / (2 * step), abs=1e-1 * max(1.0, curvature))
        moved = objective.smoothed(objective.move(point, towards, t), h)
        along = moved.slope @ towards.w
        if not intercept:
            assert slope == pytest.approx(along, abs=1e-12)


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
def test_tangents_stand_in_for_far_examples(intercept: bool, weighted: bool) -> None:
    """`near` is the whole at the point, and stays it while no example moves further than the radius."""
    objective = make(0, 300, intercept=intercept, weighted=weighted)
    rng = np.random.default_rng(3)
    h, radius = 0.2, 0.6
    point = objective.balance(objective.score(rng.normal(size=4), 0.0), h)
    near = objective.near(point, objective.smoothed(point, h), h, objective.near_kinks(point, radius))
    assert 0 < near.examples < objective.examples
    largest = np.abs(objective.shard.source.scores(np.eye(4))).sum(axis=1).max()
    moves = [np.zeros(4), *((radius - h) / largest * rng.uniform(-1, 1, size=(5, 4)))]
    for move in moves:
        whole_point, near_point = (f.balance(f.score(point.w + move, point.intercept), h) for f in (objective, near))
        assert near_point.intercept == pytest.approx(whole_point.intercept, abs=1e-9)
        whole, part = objective.smoothed(whole_point, h), near.smoothed(near_point, h)
        assert part.value == pytest.approx(whole.value, abs=1e-9)
        assert part.error == pytest.approx(whole.error, abs=1e-9)
        assert part.offset == pytest.approx(whole.offset, abs=1e-9)
        assert_allclose(part.slope, whole.slope, atol=1e-9)
        towards = ScoredPoint(np.ones(4), 0.0, objective.shard.source.scores(np.ones(4)))
        near_towards = near.score(np.ones(4), 0.0)
        assert_allclose(
            near.smoothed_ray(near_point, near_towards, [0.0], h)[0],
            objective.smoothed_ray(whole_point, towards, [0.0], h)[0],
            atol=1e-9,
        )
        assert_allclose(
            near.extrapolated_slope(near_point, 0.25 * h, h),
            objective.extrapolated_slope(whole_point, 0.25 * h, h),
            atol=1e-9,
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_step_and_its_plane_in_one_pass(seed: int, weighted: bool) -> None:
    objective, h = make(seed, 5000, intercept=False, weighted=weighted), 0.4
    point = objective.score(np.array([1.0, -0.2, 0.3, 0.0]), 0.0)
    near = objective.near(point, objective.smoothed(point, h), h, objective.near_kinks(point, 0.5))
    p = np.array([-0.3, 0.2, 0.0, 0.1])
    for part in (objective, near):
        begin = part.score(point.w, 0.0)
        for base, end in ((None, p), (begin, point.w + p)):
            found = part.stepped(base, p, h)
            assert found is not None
            moved, plane = found
            there = part.score(end, 0.0)
            assert_array_equal(moved.w, end)
            assert_allclose(moved.scores, there.scores, atol=1e-12)
            for one, other in zip(plane[:-1], part.smoothed(there, h)[:-1], strict=True):  # no coefficients are kept
                assert_allclose(one, other, atol=1e-12)
        direction = part.between(begin, moved)
        assert_allclose(direction.w, p, atol=1e-15)
        assert_allclose(direction.scores, part.score(p, 0.0).scores, atol=1e-12)
    assert make(seed, 60, intercept=True).stepped(None, p, h) is None


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_estimates_the_whole(intercept: bool, weighted: bool) -> None:
    objective = make(0, 400, intercept=intercept, weighted=weighted)
    w = np.array([1.0, -0.2, 0.3, 0.0])
    rows = np.random.default_rng(0).permutation(400)
    quarters = [objective.shard.part(RowSet(np.sort(rows[k::4])), scale=4.0, gathered=True) for k in range(4)]
    parts = [objective_of(quarter, intercept=intercept) for quarter in quarters]
    values = [part.value(part.score(w, 0.1)) for part in parts]
    assert np.mean(values) == pytest.approx(objective.value(objective.score(w, 0.1)), rel=1e-12)
    everything = objective.estimate(objective.draw(400, np.random.default_rng(0)))
    assert everything.value(everything.at(w)) == pytest.approx(objective.value(objective.at(w)), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_planes_of_near_examples_are_below_the_whole_risk(weighted: bool) -> None:
    """Wherever their own problem goes: they prove bounds of the whole."""
    objective = make(0, 300, intercept=False, weighted=weighted)
    assert objective.proves_by_parts
    rng = np.random.default_rng(5)
    h = 0.3
    point = objective.score(rng.normal(size=4), 0.0)
    near = objective.near(point, objective.smoothed(point, h), h, objective.near_kinks(point, 0.4))
    nearer_still = near.near(
        near.score(point.w, 0.0), near.smoothed(near.score(point.w, 0.0), h), h, RowSet(np.arange(20))
    )
    for part in (near, nearer_still):
        for there in 3.0 * rng.normal(size=(5, 4)):
            plane = part.smoothed(part.score(there, 0.0), 0.5 * h)
            for w in 10.0 * rng.normal(size=(20, 4)):
                assert plane.slope @ w + plane.offset <= best_value(objective, w) + 1e-10


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
def test_an_anchored_sample_has_the_slope_of_the_whole(intercept: bool, weighted: bool) -> None:
    objective = make(0, 400, intercept=intercept, weighted=weighted)
    h, size = 0.5, 100
    point = objective.balance(objective.score(np.array([1.0, -0.2, 0.3, 0.0]), 0.0), h)
    whole = objective.smoothed(point, h)
    sample = objective.draw(size, np.random.default_rng(1))
    plain = objective.estimate(sample)
    assert plain.correction == 0.0
    narrow = objective.balance(point, 0.2)
    for last in (Evaluated(point, whole, h), Evaluated(narrow, objective.smoothed(narrow, 0.2), 0.2)):
        part, there = objective.anchored(sample, last)
        assert part.examples == size
        assert_allclose(there.scores, part.score(point.w, there.intercept).scores, atol=1e-12)
        assert part.balance(there, last.h).intercept == pytest.approx(last.point.intercept, abs=1e-9)
        assert_allclose(part.smoothed(there, last.h).slope, last.cut.slope, atol=1e-12)
        of_sample = _slope(plain, point.w, last.point.intercept, last.h)
        assert part.correction == pytest.approx(np.linalg.norm(last.cut.slope - of_sample), abs=1e-12)
        assert part.correction > 0.0
        assert_allclose(
            part.smoothed(part.score(np.ones(4), 0.0), h).slope - part.smoothed(there, h).slope,
            _slope(plain, np.ones(4), 0.0, h) - _slope(plain, point.w, last.point.intercept, h),
            atol=1e-12,
        )


def _slope(objective: RoundedObjective, w: np.ndarray, intercept: float, h: float) -> np.ndarray:
    """Of the rounded risk, at an intercept that need not be the best."""
    return objective.shard.source.combine(objective.shard.risk.smoothed(objective.score(w, intercept).scores, h).coef)


@intercepts
def test_dual_variables_are_a_plane(intercept: bool) -> None:
    objective = make(0, 100, intercept=intercept, weighted=True)
    ascent = sweeping(objective, C)
    rng = np.random.default_rng(0)
    for _ in range(5):
        ascent.epoch()
        plane = ascent.plane()
        assert not plane.exact
        for scale in (0.0, 1.0, 10.0):
            w = scale * rng.normal(size=4)
            assert plane.slope @ w + plane.offset <= best_value(objective, w) + 1e-11 * (1.0 + scale)
    if not intercept:
        v = C * plane.slope
        assert_allclose(ascent.weights[0], -v, atol=1e-12)
        assert ascent.estimate == pytest.approx(C * plane.offset - 0.5 * v @ v, rel=1e-12)


@intercepts
@pytest.mark.parametrize("weighted", [False, True])
def test_extrapolation_keeps_weights_and_duals_together_and_never_loses(intercept: bool, weighted: bool) -> None:
    objective = make(3, n=300, d=40, intercept=intercept, weighted=weighted)
    ascent = sweeping(objective, 2000.0)
    moved = 0
    for _ in range(12):
        ascent.epoch()
        before, weights = ascent.estimate, ascent.weights[0]
        ascent.extrapolate()
        moved += not np.array_equal(weights, ascent.weights[0])
        alpha = -ascent._ascent.coefficients(1.0, False)
        assert_allclose(ascent.weights[0], objective.shard.source.combine(alpha), rtol=1e-9, atol=1e-9)
        bounds = 2000.0 * (
            objective.shard.risk.each if objective.shard.risk.weights is None else objective.shard.risk.weights
        )
        assert np.all(alpha * objective.shard.risk.y >= 0.0)
        assert np.all(alpha * objective.shard.risk.y <= bounds)
        if not intercept:
            assert ascent.estimate >= before * (1.0 - 1e-12)
    assert moved > 3


def test_only_examples_that_left_their_bounds_too_early_come_back() -> None:
    objective = make(1, n=400, intercept=False)
    ascent = sweeping(objective, C)
    for _ in range(30):
        ascent.epoch()
    active = ascent.share_active
    assert active < 1.0
    y, weights = objective.shard.risk.y, ascent.weights[0]
    at_upper = ascent.duals.slopes != 0.0
    settled = ScoredPoint(weights, 0.0, np.where(at_upper, 0.0, 2.0 * y))  # losses at the upper bound, none at zero
    ascent.unshrink(settled)
    assert ascent.share_active == active
    ascent.unshrink(ScoredPoint(weights, 0.0, np.where(at_upper, 2.0 * y, 0.0)))
    assert ascent.share_active == 1.0


@intercepts
def test_a_start_at_the_plane_at_zero_keeps_weights_and_duals_together(intercept: bool) -> None:
    objective = make(7, n=200, intercept=intercept, weighted=True)
    ascent = sweeping(objective, C)
    assert 0.0 < ascent.start(objective.at(np.zeros(4)), least=0.0).fraction < 1.0
    for _ in range(3):
        assert_allclose(
            ascent.weights[0], -objective.shard.source.combine(ascent._ascent.coefficients(1.0, False)), atol=1e-9
        )
        ascent.epoch()


@pytest.mark.parametrize("weighted", [False, True])
def test_gain_of_an_epoch_is_what_the_dual_value_rises_by(weighted: bool) -> None:
    objective = make(5, n=200, intercept=False, weighted=weighted)
    ascent = sweeping(objective, C)
    before = 0.0
    for _ in range(6):
        ascent.epoch()
        assert ascent.last_gain > 0.0
        assert_allclose(ascent.estimate - before, ascent.last_gain, rtol=1e-6, atol=1e-12)
        before = ascent.estimate


@pytest.mark.parametrize("weighted", [False, True])
def test_an_epoch_tells_the_gap_that_it_has_met(weighted: bool) -> None:
    """Where no example has a feature of another, nothing changes between their turns: the gap is that before."""
    rng = np.random.default_rng(2)
    y = np.where(rng.random(30) < 0.5, 1, -1).astype(np.int8)
    risk = Hinge(y, rng.uniform(0.5, 2.0, 30) if weighted else None)
    objective = make_objective(as_source(np.diag(rng.uniform(0.1, 2.0, 30))), risk)
    ascent = sweeping(objective, C)
    for _ in range(3):
        w = ascent.weights[0]
        gap = 0.5 * w @ w + C * objective.value(objective.at(w)) - ascent.estimate
        ascent.epoch()
        assert ascent.open_gap == pytest.approx(gap, rel=1e-9, abs=1e-9)
    assert ascent.open_gap == pytest.approx(0.0, abs=1e-9)


def test_an_epoch_tells_about_the_gap_it_leaves() -> None:
    objective = make(3, n=200, intercept=False)
    ascent = sweeping(objective, C)
    for _ in range(40):
        ascent.epoch()
    w = ascent.weights[0]
    gap = 0.5 * w @ w + C * objective.value(objective.at(w)) - ascent.estimate
    assert 0.1 * gap <= ascent.open_gap <= 10.0 * gap


def test_two_directions_find_the_optimum_of_a_plane() -> None:
    """Two dual variables that meet no bound: the second extrapolation that knows two directions ends at the optimum."""
    X = np.array([[1.0, 0.2, 0.0], [1.0, 0.0, 0.3]])  # nearly the same: ascent alone is slow
    objective = make_objective(as_source(X), Hinge(np.array([1, 1], np.int8)))
    ascents = [sweeping(objective, 1e6) for _ in range(2)]
    for _ in range(3):
        for ascent in ascents:
            ascent.epoch()
        ascents[0].extrapolate()
    best = 0.5 * np.linalg.solve(X @ X.T, np.ones(2)).sum()
    assert ascents[0].estimate == pytest.approx(best, rel=1e-9)
    assert ascents[1].estimate < best * (1.0 - 1e-6)


def test_examples_met_on_the_way() -> None:
    """`crossed` are those on the other side of their kinks; with them, `near` is exact where it was not."""
    objective = make(0, 300, intercept=False, weighted=True)
    rng = np.random.default_rng(3)
    h = 0.05
    point, direction = (objective.score(rng.normal(size=4), 0.0) for _ in range(2))
    before, after = (
        objective.shard.risk.y * scores < 1.0 for scores in (point.scores, point.scores + direction.scores)
    )
    crossed = objective.crossed(point, direction)
    assert_array_equal(positions_of(crossed), np.flatnonzero(before != after))
    rows = objective.near_kinks(point, 3.0 * h)
    assert len(crossed.minus(rows)) > 0
    there = point.w + direction.w
    whole = objective.smoothed(objective.score(there, 0.0), h)
    near = objective.near(point, objective.smoothed(point, h), h, rows)
    assert near.smoothed(near.score(there, 0.0), h).value < whole.value - 1e-3
    # Those that end on a kink bend, too.
    ends = objective.near_kinks(objective.score(there, 0.0), 0.5 * h)
    every = rows.union(crossed, ends)
    near = objective.near(point, objective.smoothed(point, h), h, every)
    assert near.examples < objective.examples
    assert near.smoothed(near.score(there, 0.0), h).value == pytest.approx(whole.value, abs=1e-12)


@intercepts
def test_ascent_goes_on_under_lower_bounds(intercept: bool) -> None:
    """Variables above their new bounds are cut off, the others stay; only examples at bounds rest."""
    objective = make(0, 100, intercept=intercept, weighted=True)
    first = sweeping(objective, C)
    for _ in range(200):
        first.epoch()
    resumed = sweeping(objective, 0.3 * C)
    resumed.resume(first.duals)
    fractions = np.abs(resumed.duals.slopes)
    assert_allclose(fractions, np.minimum(np.abs(first.duals.slopes) / 0.3, 1.0), atol=1e-12)
    free = np.count_nonzero((fractions > 0.0) & (fractions < 1.0))
    assert free / objective.examples <= resumed.share_active < 1.0
    cold = sweeping(objective, 0.3 * C)
    for _ in range(300):
        for each in (cold, resumed):
            each.epoch()
            each.unshrink(objective.score(*each.weights))
    assert resumed.estimate == pytest.approx(cold.estimate, rel=1e-3 if intercept else 1e-6)


@intercepts
@pytest.mark.parametrize("factor", [0.2, 1.0, 3.0])
def test_ascent_goes_on_at_another_C(intercept: bool, factor: float) -> None:
    objective = make(0, 100, intercept=intercept, weighted=True)
    first = sweeping(objective, C)
    for _ in range(50):
        first.epoch()
    resumed, cold = (sweeping(objective, factor * C) for _ in range(2))
    assert resumed.resume(first.duals)
    kept = np.abs(first.duals.slopes) * min(1.0, 1.0 / factor)
    assert np.all(np.abs(resumed.duals.slopes) >= kept - 1e-12)
    assert np.all(np.abs(resumed.duals.slopes) <= 1.0)
    plane = resumed.plane()
    for scale in (0.0, 1.0, 10.0):
        w = scale * np.random.default_rng(1).normal(size=4)
        assert plane.slope @ w + plane.offset <= best_value(objective, w) + 1e-11 * (1.0 + scale)
    if not intercept:
        assert_allclose(resumed.weights[0], -factor * C * plane.slope, atol=1e-12)
        cold.epoch()
        assert factor < 1.0 or resumed.estimate > cold.estimate  # a good start: better than a sweep from nothing


def test_examples_that_cannot_be_visited_one_by_one() -> None:
    objective = make(0, intercept=False)
    once = AugmentedSource(objective.shard.source, 1.0)
    assert make_objective(once, objective.shard.risk).dual_ascent(C, seed=0) is not None
    assert make_objective(AugmentedSource(once, 1.0), objective.shard.risk).dual_ascent(C, seed=0) is None


def test_zero_weights_need_no_pass() -> None:
    class Unread(Source):
        shape = (60, 4)

        def combine(self, coef: np.ndarray) -> np.ndarray:
            raise AssertionError("nor is any plane asked for")

        take = combine

        def scores(self, w: np.ndarray) -> np.ndarray:
            raise AssertionError("the scores of zero are zero")

    objective = make(0, intercept=True)
    unread = make_objective(Unread(), objective.shard.risk, intercept=True)
    assert unread.value(unread.at(np.zeros(4))) == objective.value(objective.at(np.zeros(4)))


@pytest.mark.parametrize("large", [1.0, 1e3, 1e6])
def test_the_dual_value_of_the_logistic_loss_never_falls(large: float) -> None:
    """Where C times the squared length of an example is large, its own problem has a step; it is solved even so."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 4))
    y = np.where(X[:, 0] + generator.normal(size=300) > 0.0, 1.0, -1.0)
    ascent = sweeping(make_objective(as_source(X), Logistic(y)), 300.0 * large)
    before = 0.0
    for _ in range(5):
        ascent.epoch()
        assert ascent.estimate > before * (1.0 + 1e-9)
        before = ascent.estimate

"""The bundle: what it stores, forgets, shares and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.solvers.bundle.planes import Bundle

seeds = st.integers(0, 2**32 - 1)


def random_bundle(seed: int, n: int = 30, d: int = 6) -> Bundle:
    rng = np.random.default_rng(seed)
    return Bundle.from_planes(rng.normal(size=(n, d)), rng.random(n))


def test_no_planes_leave_the_lower_bound() -> None:
    solution = Bundle(3, lower_bound=0.25).solve(2.0)
    np.testing.assert_array_equal(solution.w, np.zeros(3))
    assert solution.lower == 0.5
    assert solution.risk_model == 0.25
    assert solution.weights.shape == (0,)


def test_one_plane_by_hand() -> None:
    # min ½w² + C·max(1 - 2w, 0): w = 2C while the plane is above zero there, then w = ½.
    bundle = Bundle(1)
    bundle.add([-2.0], 1.0)
    small, large = bundle.solve(0.1), bundle.solve(10.0)
    assert small.w[0] == pytest.approx(0.2)
    assert small.lower == pytest.approx(0.02 + 0.1 * 0.6)
    assert large.w[0] == pytest.approx(0.5)
    assert large.lower == pytest.approx(0.125)
    assert large.weights[0] == pytest.approx(0.025)


def test_lower_is_what_planes_and_weights_prove() -> None:
    bundle = random_bundle(0)
    C = 3.0
    solution = bundle.solve(C)
    slopes, offsets = bundle.planes
    np.testing.assert_allclose(solution.w, -C * solution.weights @ slopes, rtol=1e-14, atol=1e-15)
    assert solution.lower == pytest.approx(C * solution.weights @ offsets - 0.5 * solution.w @ solution.w, rel=1e-14)


@pytest.mark.parametrize(
    ("slope", "offset"),
    [([1.0, -2.0], 0.5), ([0.0, 0.0], 0.3), ([0.0, 0.0], -5.0), ([3.0, 1.0], -5.0)],
    ids=["duplicate", "flat and high", "flat and below the lower bound", "below the lower bound"],
)
def test_degenerate_planes(slope: list[float], offset: float) -> None:
    bundle = Bundle(2)
    bundle.add([1.0, -2.0], 0.5)
    before = bundle.solve(1.0)
    for _ in range(3):
        bundle.add(slope, offset)
        after = bundle.solve(1.0)
    w = after.w
    height = max(0.0, w @ np.array([1.0, -2.0]) + 0.5, w @ np.array(slope) + offset)
    assert after.lower >= before.lower - 1e-15
    assert 0.5 * w @ w + height == pytest.approx(after.lower, rel=1e-13)


@given(seeds)
def test_pruning_changes_no_solution(seed: int) -> None:
    bundle = random_bundle(seed)
    before = [bundle.solve(1.0) for _ in range(3)][-1]
    pruned = bundle.prune(3)
    after = bundle.solve(1.0)
    assert pruned == np.count_nonzero(before.weights == 0.0)
    assert len(bundle) == after.weights.size == 30 - pruned
    assert after.lower == pytest.approx(before.lower, rel=1e-12)
    np.testing.assert_allclose(after.w, before.w, atol=1e-9)


def test_pruning_waits_and_spares_planes_with_weight() -> None:
    bundle = random_bundle(1)
    assert bundle.prune(1) == 0, "no solve has found any plane idle yet"
    carrying = np.count_nonzero(bundle.solve(1.0).weights)
    assert bundle.prune(2) == 0
    bundle.add(np.zeros(6), 0.0)
    bundle.solve(1.0)
    bundle.prune(2)
    assert len(bundle) == carrying + 1, "the youngest plane has been idle once only"
    slopes, offsets = bundle.planes
    assert not slopes[-1].any()
    assert offsets[-1] == 0.0


def test_planes_round_trip() -> None:
    bundle = random_bundle(2)
    twin = Bundle.from_planes(*bundle.planes)
    for mine, theirs in zip(bundle.planes, twin.planes, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert twin.solve(2.0).lower == bundle.solve(2.0).lower


def test_a_slope_is_copied() -> None:
    slope = np.array([1.0, 2.0])
    bundle = Bundle(2)
    bundle.add(slope, 0.5)
    slope[:] = np.nan
    np.testing.assert_array_equal(bundle.planes[0], [[1.0, 2.0]])


def test_a_copy_is_independent_and_warm() -> None:
    bundle = random_bundle(3)
    first = bundle.solve(5.0)
    twin = bundle.copy()
    assert twin.solve(5.0).pivots == 0, "the weights came along"
    twin.add(np.ones(6), 100.0)
    twin.solve(5.0)
    twin.prune(1)
    assert len(bundle) == 30
    assert bundle.solve(5.0).lower == first.lower
    del bundle
    assert np.isfinite(twin.solve(1.0).lower)


def test_threads_change_no_bit() -> None:
    rng = np.random.default_rng(4)
    slopes, offsets = rng.normal(size=(8, 200_000)), rng.random(8)
    one, two = (Bundle.from_planes(slopes, offsets, n_threads=n).solve(1e-3) for n in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    assert one.lower == two.lower


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_any_real_dtype(dtype: type) -> None:
    bundle = Bundle(3)
    bundle.add(np.array([1, 2, 3], dtype=dtype), 1)
    bundle.add(np.ones((3, 2), order="C")[:, 0], 1)
    assert bundle.planes[0].dtype == np.float64


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_slopes_must_be_finite(bad: float) -> None:
    bundle = random_bundle(5)
    before = bundle.solve(1.0).lower
    with pytest.raises(ValueError, match=r"slope has the value .* at feature 4"):
        bundle.add([0.0, 0.0, 0.0, 0.0, bad, 0.0], 0.0)
    with pytest.raises(ValueError, match="offset is"):
        bundle.add(np.zeros(6), bad)
    assert len(bundle) == 30
    assert bundle.solve(1.0).lower == before


@pytest.mark.parametrize("length", [1e-160, 1e-80, 1e70])
@pytest.mark.parametrize("C", [1e-10, 1.0, 1e10])
def test_extreme_lengths(length: float, C: float) -> None:
    rng = np.random.default_rng(6)
    bundle = Bundle(3)
    for _ in range(20):
        bundle.add(length * rng.normal(size=3), rng.random())
        solution = bundle.solve(C)
        assert (solution.weights >= 0.0).all()
        assert solution.weights.sum() <= 1.0 + 1e-15
        assert solution.violation <= 1e-9 or C * length**2 > 1e6
        bundle.prune(5)


def test_slopes_must_not_overflow() -> None:
    with pytest.raises(ValueError, match=r"reaches 1e\+200"):
        Bundle(2).add([1e200, 0.0], 0.0)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"shape \(3,\) must have shape \(2,\)"):
        Bundle(2).add(np.zeros(3), 0.0)
    with pytest.raises(ValueError, match="must have shapes"):
        Bundle.from_planes(np.zeros((3, 2)), np.zeros(2))
    with pytest.raises(ValueError, match="dimension=0"):
        Bundle(0)
    with pytest.raises(ValueError, match="lower_bound=nan"):
        Bundle(1, lower_bound=float("nan"))
    with pytest.raises(ValueError, match="idle=0"):
        Bundle(1).prune(0)


@pytest.mark.parametrize("seed", range(5))
def test_planes_in_single_precision_prove_no_more_than_their_own_slopes(seed):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(12, 40)) * 10.0 ** rng.integers(-3, 4, size=(12, 1))
    slopes[6:] = slopes[:6] * (1 + 1e-7 * rng.normal(size=(6, 40)))  # nearly the same: weights cancel them
    offsets = rng.uniform(size=12)
    single, double = Bundle(40, single=True), Bundle(40)
    for slope, offset in zip(slopes, offsets, strict=True):
        single.add(slope, offset)
        double.add(slope, offset)
    for C in (1e-2, 1.0, 1e2):
        found = single.solve(C)
        own = C * found.weights @ offsets - 0.5 * np.sum((C * found.weights @ slopes) ** 2)
        assert found.lower <= own + 1e-12 * abs(own)
        assert found.lower <= double.solve(C).lower * (1 + 1e-9)
    assert single.memory * 2 == double.memory


def test_copies_of_single_planes_keep_what_they_are_off():
    import pickle

    rng = np.random.default_rng(0)
    bundle = Bundle(30, single=True, most=9)
    for _ in range(5):
        bundle.add(rng.normal(size=30), rng.uniform())
    again = pickle.loads(pickle.dumps(bundle))
    assert np.array_equal(again._core.errors(), bundle._core.errors())
    assert (again._core.errors() > 0).all()
    assert np.isclose(again.solve(1.0).lower, bundle.solve(1.0).lower)


def test_a_full_bundle_drops_idle_planes_first_and_merges_without_loss():
    rng = np.random.default_rng(1)
    bundle, free = Bundle(20, most=6), Bundle(20)
    lower = -np.inf
    w = np.zeros(20)
    data = rng.normal(size=(60, 20))
    for _ in range(40):
        # A plane of R(w) = mean of max(0, 1 - <x, w>).
        on = data @ w < 1.0
        slope, offset = -data[on].sum(axis=0) / 60, on.sum() / 60
        bundle.add(slope, offset)
        free.add(slope, offset)
        assert len(bundle) <= 6
        solution = bundle.solve(5.0)
        assert solution.lower >= lower - 1e-9
        assert solution.lower <= free.solve(5.0).lower + 1e-9
        lower, w = solution.lower, solution.w
    assert lower > 0.9 * free.solve(5.0).lower


def test_the_most_planes_must_be_two():
    with pytest.raises(ValueError, match="most=1 must be at least 2"):
        Bundle(3, most=1)

"""Sums of long vectors in one sweep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cutplane import _core


@pytest.mark.parametrize("n", [0, 1, 5000, 70_001])
def test_a_weighted_sum_is_added_up_in_double_for_any_number_of_threads(n):
    rng = np.random.default_rng(n)
    vectors = [rng.normal(size=n).astype(np.float32) for _ in range(7)]
    weights = rng.normal(size=7) * 1e6
    expected = sum(weight * vector.astype(np.float64) for weight, vector in zip(weights, vectors, strict=True))
    found = _core.combine(vectors, weights, n, 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found, _core.combine(vectors, weights, n, 2))


def test_a_weighted_sum_of_nothing_is_zero():
    np.testing.assert_array_equal(_core.combine([], np.zeros(0), 3, 1), np.zeros(3))


def test_vectors_and_weights_that_do_not_fit_are_refused():
    vector = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="a weight for each vector"):
        _core.combine([vector], np.zeros(2), 3, 1)
    with pytest.raises(ValueError, match="of one length"):
        _core.combine([vector, np.zeros(4, np.float32)], np.zeros(2), 3, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_direction_becomes_the_point_it_leads_to(dtype):
    rng = np.random.default_rng(0)
    a, direction = rng.normal(size=(2, 100_003)).astype(dtype)
    there = a + dtype(0.3) * direction
    _core.move_along(a, direction, 0.3)
    np.testing.assert_allclose(
        direction, there, rtol=1e-6 if dtype is np.float32 else 1e-15, atol=1e-6 if dtype is np.float32 else 1e-15
    )
    with pytest.raises(ValueError, match="one length"):
        _core.move_along(a, direction[1:], 0.3)


@pytest.mark.parametrize("n", [0, 1, 5000, 200_003])
def test_scaled_and_shifted_by_any_number_of_threads(n):
    a = np.random.default_rng(n).normal(size=n)
    for factor, shift in ((1.0, 0.3), (-0.7, 0.0), (2.0, -1.0)):
        for threads in (1, 2, 3):
            out = np.full(n, np.nan)
            _core.scale_and_shift(a, factor, shift, out, threads)
            np.testing.assert_allclose(out, factor * a + shift, rtol=1e-15, atol=1e-15)
    same = a.copy()
    _core.scale_and_shift(same, 1.0, 0.3, same)
    np.testing.assert_array_equal(same, a + 0.3)
    with pytest.raises(ValueError, match="one length"):
        _core.scale_and_shift(a, 1.0, 0.0, np.zeros(n + 1))


@pytest.mark.parametrize("n", [0, 1, 5000, 200_003])
def test_positions_of_what_is_not_zero(n):
    rng = np.random.default_rng(n)
    a = np.where(rng.random(n) < 0.1, rng.normal(size=n), 0.0)
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(_core.nonzero(a, threads), np.flatnonzero(a))


@pytest.mark.parametrize("n", [0, 1, 5000, 200_003])
def test_sizes_are_added_up_by_any_number_of_threads(n):
    a = np.random.default_rng(n).normal(size=n)
    found = [_core.mass(a, threads) for threads in (1, 2, 3)]
    np.testing.assert_allclose(found, math.fsum(np.abs(a)), rtol=1e-15)
    assert len(set(found)) == 1


@pytest.mark.parametrize("n", [2, 5000, 200_003])
@pytest.mark.parametrize("lean", [-0.5, 0.0, 1e-9, 3.0])
def test_the_heavier_side_is_scaled_down_into_balance(n, lean):
    a = np.random.default_rng(n).normal(size=n) + lean
    a[0], a[-1] = 1.0, -1.0
    found = _core.balanced(a, 1)
    assert abs(math.fsum(found)) <= 4.0 * np.finfo(float).eps * math.fsum(np.abs(found))
    lighter = a < 0.0 if math.fsum(a) > 0.0 else a > 0.0
    np.testing.assert_allclose(found[lighter], a[lighter], rtol=1e-13)
    assert (np.sign(found) == np.sign(a)).all()
    assert (np.abs(found) <= np.abs(a)).all()
    for threads in (2, 3):
        np.testing.assert_array_equal(found, _core.balanced(a, threads))


def test_what_has_one_side_alone_is_balanced_by_nothing():
    np.testing.assert_array_equal(_core.balanced(np.array([1.0, 0.0, 2.0])), np.zeros(3))
    np.testing.assert_array_equal(_core.balanced(np.array([-1.0, -2.0])), np.zeros(2))
    assert len(_core.balanced(np.zeros(0))) == 0


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200_003])
def test_sums_for_proofs_are_those_of_exact_arithmetic_for_any_number_of_threads(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    expected = {
        "square": math.fsum((0.3 * a) ** 2),
        "square_of_sum": math.fsum((a + 0.3 * b) ** 2),
        "sized": math.fsum(np.abs(a * b)),
    }
    for threads in (1, 2, 3):
        found = {
            "square": _core.square(a, 0.3, threads),
            "square_of_sum": _core.square_of_sum(a, b, 0.3, threads),
            "sized": _core.sized(np.abs(a), b, threads),
        }
        for name, value in found.items():
            np.testing.assert_allclose(value, expected[name], rtol=8e-15, err_msg=name)


@pytest.mark.parametrize("each", [0, 1, 3, 64, 1000])
def test_weights_are_sized_by_feature(each):
    rng = np.random.default_rng(each)
    sizes, w = rng.uniform(size=70), rng.normal(size=70 * each)
    found = _core.sized(sizes, w)
    np.testing.assert_allclose(found, np.abs(w) @ np.repeat(sizes, each), rtol=1e-13)
    with pytest.raises(ValueError, match="as many weights of each size"):
        _core.sized(sizes, rng.normal(size=70 * each + 1))


def test_sums_that_overflow_are_infinite():
    assert _core.square(np.full(200, 1e200)) == math.inf
    assert math.isnan(_core.square(np.array([1.0, np.nan])))

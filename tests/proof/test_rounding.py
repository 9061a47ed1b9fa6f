"""What rounding can do is charged."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.proof.rounding import Rounding, balanced_mass, close_products, distance, half_square, length


# Sums of many are taken in parts, which is the same for any size but one that underflows.
@pytest.mark.parametrize(
    ("number", "size"),
    [*product([1, 2, 1000], [1e-200, 1e-163, 1e-158, 1e-100, 1.0, 1e60]), *product([65_537], [1e-163, 1.0])],
)
def test_half_the_square_is_within_its_error(number: int, size: float) -> None:
    w = size * np.random.default_rng(number).normal(size=number)
    value, error = half_square(w)
    true = sum(Fraction(each) ** 2 for each in w.tolist()) / 2
    assert Fraction(value) - Fraction(error) <= true <= Fraction(value) + Fraction(error)


@pytest.mark.parametrize("factor", [0.3, 1e-7, 1e5])
@pytest.mark.parametrize("size", [1000, 65_537])
def test_sums_of_squares_of_multiples_are_within_their_error(size: int, factor: float) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(2, size))
    exact = [Fraction(factor) * Fraction(each) for each in a.tolist()]
    true = sum(each**2 for each in exact)
    value, error = half_square(a, factor)
    assert abs(Fraction(value) - true / 2) <= Fraction(error)
    assert true <= Fraction(length(a, factor)) ** 2 <= true * (1 + Fraction(1, 10**8))
    apart = sum((each + Fraction(other)) ** 2 for each, other in zip(exact, b.tolist(), strict=True))
    assert apart <= Fraction(distance(b, a, factor)) ** 2 <= apart * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize("each", [1, 7, 105])
def test_a_feature_may_have_several_weights(each: int) -> None:
    rng = np.random.default_rng(each)
    sizes, w = rng.uniform(size=300), rng.normal(size=300 * each)
    near, repeated = (Rounding(3.0, 1, 1, columns).around(w) for columns in (sizes, np.repeat(sizes, each)))
    np.testing.assert_allclose(near, repeated, rtol=1e-13)
    assert near.products >= np.abs(w) @ np.repeat(sizes, each) * (1.0 - 1e-12)


def test_nothing_is_charged_for_nothing() -> None:
    assert half_square(np.zeros(5)) == (0.0, 0.0)


@pytest.mark.parametrize("classes", [2, 3, 20, 400])
def test_what_leans_is_charged_for_every_class(classes: int) -> None:
    """However intercepts within 1 of each other are chosen: half of the classes lean up, half of them down."""
    coef = np.zeros((4, classes))
    coef[0, : classes // 2], coef[0, classes // 2 : classes // 2 * 2] = 1e-6, -1e-6
    intercepts = np.where(coef.sum(axis=0) > 0.0, -0.5, 0.5)
    lost = -float(coef.sum(axis=0) @ intercepts)
    assert lost > 0.0
    assert Rounding(1.0, 1, 1).imbalance(balanced_mass(coef)) >= lost


@given(st.integers(0, 10_000))
def test_close_products_are_rounded_about_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4, 37)) * 10.0 ** rng.integers(-6, 7, 37)
    w = rng.normal(size=37) * 10.0 ** rng.integers(-9, 4)
    b = -float((X @ w)[0])  # the first nearly cancels
    found, off = close_products(X, w, b)
    for i, row in enumerate(X.tolist()):
        exact = sum((Fraction(x) * Fraction(v) for x, v in zip(row, w.tolist(), strict=True)), Fraction(b))
        assert abs(exact - Fraction(float(found[i]))) <= Fraction(float(off[i]))
    assert off[0] <= 1e-25 * float(np.abs(X[0]) @ np.abs(w)) + 4e-16 * abs(found[0]) + 1e-300

"""What rounding can do is charged."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from cutplane.proof.rounding import Rounding, balanced_mass, half_square


# Sums of many are taken in parts, which is the same for any size but one that underflows.
@pytest.mark.parametrize(
    ("length", "size"),
    [*product([1, 2, 1000], [1e-200, 1e-163, 1e-158, 1e-100, 1.0, 1e60]), *product([65_537], [1e-163, 1.0])],
)
def test_half_the_square_is_within_its_error(length: int, size: float) -> None:
    w = size * np.random.default_rng(length).normal(size=length)
    value, error = half_square(w)
    true = sum(Fraction(each) ** 2 for each in w.tolist()) / 2
    assert Fraction(value) - Fraction(error) <= true <= Fraction(value) + Fraction(error)


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

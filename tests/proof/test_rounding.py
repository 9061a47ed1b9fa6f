"""What rounding can do is charged."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from cutplane.proof.rounding import half_square


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

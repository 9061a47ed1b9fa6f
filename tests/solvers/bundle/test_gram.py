"""Planes known by their products solve as the same planes known by their slopes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.solvers.bundle.gram import GramBundle
from cutplane.solvers.bundle.planes import Bundle


def both(seed: int, n: int, d: int) -> tuple[Bundle, GramBundle]:
    rng = np.random.default_rng(seed)
    slopes, offsets = rng.normal(size=(n, d)), rng.uniform(0, 1, n)
    gram = slopes @ slopes.T
    by_products = GramBundle()
    for i in range(n):
        by_products.add(gram[i, : i + 1], offsets[i])
    return Bundle.from_planes(slopes, offsets), by_products


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6), st.floats(1e-3, 1e3))
def test_products_are_all_it_takes(seed, n, d, C):
    by_slopes, by_products = both(seed, n, d)
    expected, found = by_slopes.solve(C), by_products.solve(C)
    assert found.value == pytest.approx(expected.lower, rel=1e-9, abs=1e-9)
    assert found.squared_norm == pytest.approx(float(expected.w @ expected.w), rel=1e-6, abs=1e-9)
    assert found.risk_model == pytest.approx(expected.risk_model, rel=1e-6, abs=1e-9)


def test_idle_planes_can_be_dropped():
    _, bundle = both(1, 10, 3)
    for _ in range(3):
        before = bundle.solve(2.0)
    idle = bundle.idle(3)
    assert len(idle) > 0
    assert not before.weights[idle].any()
    bundle.remove(idle)
    assert len(bundle) == 10 - len(idle)
    assert bundle.solve(2.0).value == pytest.approx(before.value, rel=1e-12)


def test_what_does_not_fit_is_refused():
    _, bundle = both(0, 2, 2)
    with pytest.raises(ValueError, match="one product for each plane"):
        bundle.add(np.array([1.0]), 0.0)
    with pytest.raises(ValueError, match="finite"):
        bundle.add(np.array([1.0, np.nan, 1.0]), 0.0)
    with pytest.raises(ValueError, match="ascending"):
        bundle.remove(np.array([5]))

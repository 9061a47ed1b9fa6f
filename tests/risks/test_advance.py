"""OCA's step in one sweep is the step taken apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.risks.base import Risk
from cutplane.risks.hinge import Hinge


@given(st.integers(1, 2000), st.floats(-1.0, 3.0), st.floats(0.0, 1.0), st.booleans(), st.integers(0, 2**32 - 1))
def test_one_sweep_is_the_step_taken_apart(n: int, step: float, mu: float, weighted: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    risk = Hinge(y, rng.uniform(0.1, 2.0, n) if weighted else None)
    start, end = rng.normal(size=n), rng.normal(size=n)
    apart_moved, apart_value, apart_cut = Risk.advance(risk, start, end, step, mu)
    moved, value, cut = risk.advance(start, end, step, mu)  # uses both up
    np.testing.assert_allclose(moved, apart_moved, rtol=1e-12, atol=1e-12)
    assert value == pytest.approx(apart_value, rel=1e-12)
    assert cut.offset == pytest.approx(apart_cut.offset, rel=1e-12)
    assert cut.value == pytest.approx(apart_cut.value, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(cut.coef, apart_cut.coef, rtol=1e-12, atol=0)

"""The compiled QP and the compiled ascent against their twins, which try everything or go one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane.objectives.factory import make_objective
from cutplane.risks.hinge import Hinge
from cutplane.solvers.bundle.planes import Bundle
from cutplane.sources import as_source
from cutplane.testing import reference


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 6),
    dimension=st.integers(1, 4),
    log_C=st.floats(-3, 3),
    lower_bound=st.sampled_from([0.0, -1.0, 0.3]),
)
def test_the_qp_finds_what_trying_every_support_finds(
    seed: int, count: int, dimension: int, log_C: float, lower_bound: float
) -> None:
    rng = np.random.default_rng(seed)
    slopes, offsets, C = rng.normal(size=(count, dimension)), rng.random(count), 10.0**log_C
    solution = Bundle.from_planes(slopes, offsets, lower_bound=lower_bound).solve(C)
    w, value = reference.reduced_qp(slopes, offsets, C, lower_bound)
    assert solution.lower == pytest.approx(value, rel=1e-7, abs=1e-9 * C)
    np.testing.assert_allclose(solution.w, w, atol=1e-4 * (1.0 + np.abs(w).max()))


@pytest.mark.parametrize("store", [np.array, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_ascents_reach_the_same_dual_value(store, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.7)
    X[::10] = 0.0
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)
    C = 12.0
    risk = Hinge(y, rng.random(60) + 0.1 if weighted else None)
    ascent = make_objective(as_source(store(X)), risk).dual_ascent(C, seed=3)
    values = []
    for _ in range(400):
        ascent.epoch()
        values.append(ascent.estimate)
        ascent.unshrink()
    upper = C * (np.full(60, 1 / 60) if risk.weights is None else risk.weights)
    alpha, v = reference.dual_ascent(X, y, upper, 400)
    best = alpha.sum() - 0.5 * v @ v
    assert all(after >= before - 1e-12 for before, after in pairwise(values))
    assert values[-1] == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(ascent.weights[0], v, atol=1e-2)

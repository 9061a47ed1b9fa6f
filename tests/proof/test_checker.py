"""What dual variables prove is below every model's objective, and tight for good ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane.proof.checker import Problem, check
from cutplane.proof.codes import BITS, decode, encode
from cutplane.proof.data_hash import hash_data
from cutplane.proof.evaluation import risk_at
from cutplane.proof.losses import LOSSES, make_loss
from cutplane.risks.registry import BINARY, REGRESSION

PARAMETERS: dict[str, dict[str, float]] = {
    "tube": {"epsilon": 0.3, "above": 0.7, "below": 1.5},
    "squared_tube": {"epsilon": 0.2},
    "huber": {"delta": 0.8},
}


def targets(name: str, rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n) if name in PARAMETERS else rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1))
def test_slopes_and_conjugates_are_of_planes_below_the_loss(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    loss, y = make_loss(name, PARAMETERS.get(name, {})), targets(name, rng, 50)
    low, high = (np.clip(limit, -3.0, 3.0) for limit in loss.slopes(y))
    p = np.clip(low + (high - low) * rng.choice([0.0, 1.0, rng.uniform()], 50), low, high)
    s = rng.normal(size=50) * 10.0 ** rng.uniform(-3, 2)
    below = p * s - loss.conjugate(p, y)
    assert (below <= loss.value(s, y) + 1e-12 * (1.0 + np.abs(p * s))).all()
    # ... and touch it somewhere: no higher plane has this slope.
    grid = np.linspace(-30.0, 30.0, 60_001)
    reached = np.array([np.max(p[k] * grid - loss.value(grid, np.full_like(grid, y[k]))) for k in range(3)])
    assert (loss.conjugate(p, y)[:3] >= reached - 1e-9).all()
    assert (loss.conjugate(p, y)[:3] <= reached + 1e-2).all()


@pytest.mark.parametrize("name", LOSSES)
def test_no_plane_has_a_slope_that_the_loss_has_nowhere(name: str) -> None:
    loss = make_loss(name, PARAMETERS.get(name, {}))
    y = np.array([-1.0, 1.0])
    low, high = loss.slopes(y)
    for limit, away in ((low, -1e-6), (high, 1e-6)):
        finite = np.isfinite(limit)
        assert np.isinf(loss.conjugate(np.where(finite, limit, 0.0) + away, y))[finite].all()


@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1), delta=st.floats(0.0, 1.0))
def test_no_loss_is_steeper_than_it_says(name: str, seed: int, delta: float) -> None:
    rng = np.random.default_rng(seed)
    loss, y, s = make_loss(name, PARAMETERS.get(name, {})), targets(name, rng, 20), rng.normal(size=20)
    moved = s + delta * rng.uniform(-1.0, 1.0, 20)
    change = np.abs(loss.value(moved, y) - loss.value(s, y))
    assert (change <= loss.steepness(s, y, delta) * delta + 1e-12).all()


@pytest.mark.parametrize("name", [*BINARY, *REGRESSION])
def test_terms_are_the_risk(name: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 40).astype(np.int8) if name in BINARY else rng.normal(size=40)
    risk = (BINARY | REGRESSION)[name](y, None)
    scores = rng.normal(size=40)
    value, error = risk_at(risk, scores, 0.0)
    assert 0.0 <= error <= 1e-12
    assert abs(value - risk.value(scores)) <= error + 1e-14


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", LOSSES)
@given(seed=st.integers(0, 2**32 - 1))
def test_codes_are_slopes_that_the_loss_has_and_in_balance(name: str, bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    loss, y = make_loss(name, PARAMETERS.get(name, {})), targets(name, rng, 60)
    low, high = (np.clip(limit, -2.0, 2.0) for limit in loss.slopes(y))
    p, weight = low + (high - low) * rng.uniform(size=60), rng.uniform(0.1, 3.0, 60)
    plain = decode(encode(p, loss, y, bits), loss, y, weight, balance=False)
    assert np.isfinite(loss.conjugate(plain, y)).all()
    assert np.abs(plain - p).max() <= 2.5 / (2 ** (bits - 1) - 1) + 1e-12
    level = decode(encode(p, loss, y, bits), loss, y, weight, balance=True)
    assert abs(float((weight * level).sum())) <= 1e-13 * float((weight * np.abs(level)).sum()) + 1e-300


def exact_objective(X: Any, problem: Problem, w: np.ndarray, b: float) -> Fraction:
    """Of the hinge, in whole numbers."""
    total = sum((Fraction(float(v)) ** 2 for v in w), Fraction(0)) / 2
    for row, y, c in zip(X, problem.y, problem.weight, strict=True):
        score = sum((Fraction(float(a)) * Fraction(float(v)) for a, v in zip(row, w, strict=True)), Fraction(float(b)))
        total += Fraction(float(c)) * max(Fraction(0), 1 - Fraction(float(y)) * score)
    return total


@given(st.integers(0, 2**32 - 1), st.sampled_from(["none", "free"]), st.sampled_from([1e-6, 1.0, 1e6]))
def test_bounds_are_inequalities_of_real_numbers(seed: int, intercept: str, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(12, 3)), 1) * scale
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    problem = Problem(make_loss("hinge", {}), y, rng.uniform(0.1, 3.0, 12), intercept)
    p = -y * rng.uniform(size=12)
    if intercept == "free":
        p = decode(encode(p, problem.loss, y, 16), problem.loss, y, problem.weight, balance=True)
    w, b = rng.normal(size=3) / scale, float(rng.normal()) if intercept == "free" else 0.0
    bounds = check(X, problem, w, b, p)
    exact = exact_objective(X, problem, w, b)
    assert exact <= Fraction(bounds.objective) <= exact * (1 + Fraction(1, 10**11)) + Fraction(1, 10**300)
    # Any other model is above the bound, too.
    for _ in range(5):
        other = rng.normal(size=3) / scale * 10.0 ** rng.uniform(-2, 1)
        c = float(rng.normal()) if intercept == "free" else 0.0
        assert Fraction(bounds.lower_bound) <= exact_objective(X, problem, other, c)


def test_slopes_out_of_their_limits_prove_nothing() -> None:
    problem = Problem(make_loss("hinge", {}), np.array([1.0, -1.0]), np.ones(2))
    assert check(np.eye(2), problem, np.zeros(2), 0.0, np.array([-1.1, 0.5])).lower_bound == -np.inf
    assert check(np.eye(2), problem, np.zeros(2), 0.0, np.array([0.1, 0.5])).lower_bound == -np.inf


def test_the_hash_is_of_values_not_of_layouts() -> None:
    rng = np.random.default_rng(0)
    X = np.where(rng.uniform(size=(5000, 7)) < 0.5, 0.0, rng.normal(size=(5000, 7)).astype(np.float32)).astype(
        np.float64
    )
    y = rng.choice([0, 1], 5000)
    same = [X, X.astype(np.float32), np.asfortranarray(X), sp.csr_array(X), sp.csr_matrix(X.astype(np.float32))]
    unsorted = sp.csr_array(X)
    unsorted.indices = unsorted.indices.copy()
    first = slice(unsorted.indptr[0], unsorted.indptr[1])
    unsorted.indices[first], unsorted.data[first] = (
        unsorted.indices[first][::-1].copy(),
        unsorted.data[first][::-1].copy(),
    )
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    assert len({hash_data(each, y) for each in [*same, unsorted]}) == 1
    other = X.copy()
    other[4999, 6] = np.nextafter(other[4999, 6], 9.0)
    swapped = X[:, ::-1]
    hashes = {
        hash_data(X, y),
        hash_data(other, y),
        hash_data(swapped, y),
        hash_data(X, 1 - y),
        hash_data(X, y, np.ones(5000)),
    }
    assert len(hashes) == 5

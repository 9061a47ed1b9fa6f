"""What weights of examples prove is below every one-class machine's objective, and a proof file keeps it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane import LinearOneClassSVM, load, verify
from cutplane.proof.file import ProofError
from cutplane.proof.one_class import BITS, check_one_class, decode, encode, limits


def exact_objective(X: Any, weight: Any, nu: float, w: Any, rho: float) -> Fraction:
    real, threshold = [Fraction(float(v)) for v in w], Fraction(rho)
    whole = Fraction(nu) * sum((Fraction(float(v)) for v in weight), Fraction(0))
    total = sum((v * v for v in real), Fraction(0)) / 2 - threshold
    for row, each in zip(X, weight, strict=True):
        score = sum((Fraction(float(a)) * v for a, v in zip(row, real, strict=True)), Fraction(0))
        total += Fraction(float(each)) / whole * max(Fraction(0), threshold - score)
    return total


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.5, 1.0]), st.sampled_from([1e-4, 1.0, 1e4]))
def test_bounds_are_inequalities_of_real_numbers(seed: int, nu: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(8, 2)) + 1.0, 1) * scale
    weight = rng.uniform(0.1, 2.0, 8)
    limit = limits(weight, nu)
    pi = decode(encode(limit * rng.uniform(size=8), limit, int(rng.choice(BITS))), limit)
    w, rho = rng.normal(size=2) * scale, float(rng.normal()) * scale**2
    bounds = check_one_class(X, limit, w, rho, pi)
    exact = exact_objective(X, weight, nu, w, rho)
    size = abs(exact) + Fraction(abs(rho)) + Fraction(scale**2)
    assert exact <= Fraction(bounds.objective) <= exact + size / 10**9
    assert np.isfinite(bounds.lower_bound)
    for far in (1.0, 1.0, 1.0, 1e6, 1e12):
        other = exact_objective(X, weight, nu, rng.normal(size=2) * scale, far * float(rng.normal()) * scale**2)
        assert Fraction(bounds.lower_bound) <= other


def test_weights_beyond_their_limits_prove_nothing() -> None:
    limit = np.full(4, 0.5)
    assert check_one_class(np.eye(4), limit, np.zeros(4), 0.0, np.array([0.6, 0.4, 0.0, 0.0])).lower_bound == -np.inf
    assert check_one_class(np.eye(4), limit, np.zeros(4), 0.0, np.array([-0.1, 0.4, 0.4, 0.3])).lower_bound == -np.inf


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_keeps_a_proof_of_the_optimum(nu: float, weighted: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3)) + 1.0
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    model = LinearOneClassSVM(nu, keep_proof=True).fit(X, sample_weight=weights)
    model.save(tmp_path / "m", proof=True)
    (bounds,) = verify(load(tmp_path / "m"), sp.csr_array(X), sample_weight=weights)
    assert bounds.gap <= model.tol
    assert bounds.objective == pytest.approx(model.objective_, rel=1e-9)
    each = np.ones(60) if weights is None else weights
    w, rho = cp.Variable(3), cp.Variable()
    losses = (each / (nu * each.sum())) @ cp.pos(rho - X @ w)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + losses - rho), [cp.abs(rho) <= 1e3])
    problem.solve(solver=cp.CLARABEL)
    size = 1e-6 * abs(problem.value)
    assert bounds.lower_bound - size <= problem.value <= bounds.objective + size


def test_another_model_other_data_and_changed_proofs_fail() -> None:
    X = np.random.default_rng(2).normal(size=(60, 3)) + 1.0
    model = LinearOneClassSVM(0.2, keep_proof=True).fit(X)
    proof = model.proof_
    with pytest.raises(ProofError, match="other data"):
        verify(model, X[::-1])
    for numbers, why in (
        (proof.numbers[:-1], "damaged"),
        (proof.numbers.astype(float), "damaged"),
        (proof.numbers[::-1], "prove"),
    ):
        model.proof_ = replace(proof, numbers=numbers)
        with pytest.raises(ProofError, match=why):
            verify(model, X)
    model.proof_ = proof
    model.offset_ = model.offset_ + 0.1
    with pytest.raises(ProofError, match="not the weights"):
        verify(model, X)

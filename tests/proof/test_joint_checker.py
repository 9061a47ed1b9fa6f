"""What shares of wrong classes prove is below every model's objective: by exact arithmetic and by CVXPY."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane.proof.joint_checker import JointProblem, check_joint
from cutplane.proof.joint_codes import BITS, JointCodes, circulation, decode, encode

K, N, D = 3, 9, 2


def problem_of(rng: np.random.Generator, intercept: str, slack: bool, more: bool) -> JointProblem:
    cost = np.round(rng.uniform(0.5, 2.0, (K, K)), 1) * (1.0 - np.eye(K))
    return JointProblem(
        np.arange(N) % K,
        rng.uniform(0.1, 2.0, N),
        cost,
        slack,
        intercept,
        2.0,
        rng.normal(size=(D, K)) if more else None,
        np.array([True, False]) if more else None,
    )


def shares_of(rng: np.random.Generator, problem: JointProblem, bits: int = 16) -> Any:
    raw = rng.uniform(size=(N, K)) * (rng.uniform(size=(N, K)) < 0.7)
    raw[np.arange(N), problem.y] = 0.0
    raw /= np.maximum(1.0, raw.sum(axis=1, keepdims=True))
    return decode(encode(raw, bits), problem.y, problem.factors, problem.weight, balance=problem.intercept == "free")


def fraction(values: Any) -> list[Fraction]:
    return [Fraction(float(v)) for v in np.ravel(values)]


def exact_objective(X: Any, problem: JointProblem, W: Any, b: Any) -> Fraction:
    """Of a model, in whole numbers."""
    prior = np.zeros((D, K)) if problem.prior is None else problem.prior
    total = sum(((w - q) ** 2 for w, q in zip(fraction(W), fraction(prior), strict=True)), Fraction(0)) / 2
    if problem.intercept == "penalised":
        total += sum(((v / Fraction(problem.scaling)) ** 2 for v in fraction(b)), Fraction(0)) / 2
    for row, y, c in zip(X, problem.y, problem.weight, strict=True):
        x = fraction(row)
        s = [sum((a * w for a, w in zip(x, fraction(W[:, k]), strict=True)), Fraction(float(b[k]))) for k in range(K)]
        lines = [
            Fraction(float(problem.cost[y, k])) + Fraction(float(problem.factors[y, k])) * (s[k] - s[y])
            for k in range(K)
        ]
        total += Fraction(float(c)) * max(lines)
    return total


def model_of(rng: np.random.Generator, problem: JointProblem, scale: float) -> tuple[Any, Any]:
    W = rng.normal(size=(D, K)) / scale
    if problem.nonnegative is not None:
        W[problem.nonnegative] = np.abs(W[problem.nonnegative])
    return W, np.zeros(K) if problem.intercept == "none" else rng.normal(size=K)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["none", "free", "penalised"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1e-4, 1.0, 1e4]),
)
def test_bounds_are_inequalities_of_real_numbers(
    seed: int, intercept: str, slack: bool, more: bool, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(N, D)), 1) * scale
    problem = problem_of(rng, intercept, slack, more)
    W, b = model_of(rng, problem, scale)
    bounds = check_joint(X, problem, W, b, shares_of(rng, problem))
    exact = exact_objective(X, problem, W, b)
    assert exact <= Fraction(bounds.objective) <= exact * (1 + Fraction(1, 10**11)) + Fraction(1, 10**300)
    assert np.isfinite(bounds.lower_bound)
    for _ in range(5):
        other = model_of(rng, problem, scale * 10.0 ** rng.uniform(-1, 2))
        assert Fraction(bounds.lower_bound) <= exact_objective(X, problem, *other)


def test_shares_that_are_none_prove_nothing() -> None:
    rng = np.random.default_rng(0)
    problem, X = problem_of(rng, "none", False, False), rng.normal(size=(N, D))
    W, b = model_of(rng, problem, 1.0)
    for share, where in ((-0.1, (0, 1)), (0.2, (0, 0)), (1.1, (0, 1))):
        shares = np.zeros((N, K))
        shares[where] = share
        assert check_joint(X, problem, W, b, sp.csr_array(shares)).lower_bound == -np.inf
    assert check_joint(X, problem, W, b, sp.csr_array((N, K))).lower_bound >= -1e-9


def test_a_negative_weight_that_may_not_be_has_no_objective() -> None:
    rng = np.random.default_rng(0)
    problem, X = problem_of(rng, "none", False, True), rng.normal(size=(N, D))
    bounds = check_joint(X, problem, -np.ones((D, K)), np.zeros(K), sp.csr_array((N, K)))
    assert bounds.objective == np.inf


@pytest.mark.parametrize("bits", BITS)
@given(seed=st.integers(0, 2**32 - 1))
def test_codes_are_feasible_and_in_balance(bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, "free", True, False)
    shares = shares_of(rng, problem, bits).toarray()
    assert (shares >= 0.0).all()
    assert (shares.sum(axis=1) < 1.0).all()
    assert not shares[np.arange(N), problem.y].any()
    flow = problem.weight[:, None] * problem.factors[problem.y] * shares
    out = np.bincount(problem.y, flow.sum(axis=1), K)
    assert np.abs(flow.sum(axis=0) - out).max() <= 1e-13 * max(flow.sum(), 1e-300)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_a_circulation_takes_away_no_more_than_does_not_return(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    flows = rng.uniform(size=(k, k)) * (rng.uniform(size=(k, k)) < 0.5)
    np.fill_diagonal(flows, 0.0)
    kept = circulation(flows)
    assert ((kept >= 0.0) & (kept <= flows)).all()
    assert np.abs(kept.sum(axis=0) - kept.sum(axis=1)).max() <= 1e-13 * max(flows.sum(), 1e-300)
    assert np.allclose(circulation(kept), kept, atol=1e-12)
    level = flows + flows.T
    assert np.allclose(circulation(level), level, atol=1e-12)


@pytest.mark.parametrize(
    "codes",
    [
        JointCodes(np.arange(N + 1), np.zeros(N, np.uint8), np.zeros(N, np.int8)),
        JointCodes(np.arange(N + 1), np.zeros(N, np.uint8), np.zeros(N + 1, np.uint8)),
        JointCodes(np.arange(N), np.zeros(N - 1, np.uint8), np.zeros(N - 1, np.uint8)),
        JointCodes(np.arange(N + 1)[::-1].copy(), np.zeros(N, np.uint8), np.zeros(N, np.uint8)),
        JointCodes(np.arange(N + 1), np.full(N, K, np.uint8), np.zeros(N, np.uint8)),
        JointCodes(np.arange(N + 1.0), np.zeros(N, np.uint8), np.zeros(N, np.uint8)),
    ],
)
def test_damaged_codes_are_refused(codes: JointCodes) -> None:
    problem = problem_of(np.random.default_rng(0), "free", False, False)
    with pytest.raises(ValueError, match="its codes are"):
        decode(codes, problem.y, problem.factors, problem.weight, balance=True)


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
@pytest.mark.parametrize("slack", [False, True])
@pytest.mark.parametrize("more", [False, True])
def test_the_best_shares_meet_the_optimum_of_cvxpy(intercept: str, slack: bool, more: bool) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, D))
    problem = problem_of(rng, intercept, slack, more)
    W, b, loss = cp.Variable((D, K)), cp.Variable(K), cp.Variable(N)
    s, lines = X @ W + np.ones((N, 1)) @ cp.reshape(b, (1, K), order="C"), {}
    for i, y in enumerate(problem.y):
        for k in range(K):
            lines[i, k] = loss[i] >= problem.cost[y, k] + problem.factors[y, k] * (s[i, k] - s[i, y])
    limits = [W[problem.nonnegative] >= 0] if problem.nonnegative is not None else []
    limits += [b == 0] if intercept == "none" else []
    objective = 0.5 * cp.sum_squares(W - (0.0 if problem.prior is None else problem.prior)) + problem.weight @ loss
    if intercept == "penalised":
        objective += 0.5 * cp.sum_squares(b / problem.scaling)
    program = cp.Problem(cp.Minimize(objective), [*lines.values(), *limits])
    program.solve(solver=cp.CLARABEL)
    shares = np.zeros((N, K))
    for (i, k), line in lines.items():
        if k != problem.y[i]:
            shares[i, k] = float(line.dual_value) / problem.weight[i]
    found = decode(encode(shares, 32), problem.y, problem.factors, problem.weight, balance=intercept == "free")
    weights = W.value.copy()
    if problem.nonnegative is not None:
        weights[problem.nonnegative] = np.maximum(weights[problem.nonnegative], 0.0)
    bounds = check_joint(X, problem, weights, b.value, found)
    assert bounds.lower_bound <= program.value * (1.0 + 1e-6)
    assert bounds.gap <= 1e-5

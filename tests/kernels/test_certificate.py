"""The prover against bounds that come from elsewhere: extended precision, and an interior point."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve
from cutplane.kernels.certificate import Flat, certify, multipliers, prove, prove_together
from cutplane.proof.certificate import Certificate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + RNG.normal(size=40) > 0, 1, -1)
TARGET = X[:, 0] + 0.3 * RNG.normal(size=40)
KERNEL = Kernel("rbf", gamma=0.3)
K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
PROBLEMS = {
    "classification": DualProblem.classification(Y, 3.0),
    "weighted": DualProblem.classification(Y, RNG.uniform(0.1, 5.0, 40)),
    "regression": DualProblem.regression(TARGET, 2.0, 0.1),
    "one class": DualProblem.one_class(40, 0.3),
    "nu classification": DualProblem.nu_classification(Y, 0.4),
    "nu regression": DualProblem.nu_regression(TARGET, 2.0, 0.4),
}


def optimum(problem: DualProblem) -> float:
    """By CVXPY and Clarabel, from the factor of the kernel matrix."""
    copies = len(problem.y) // len(K)
    factor = np.linalg.cholesky(K + 1e-13 * np.eye(len(K)))
    a = cp.Variable(len(problem.y))
    b = cp.multiply(problem.y.astype(float), a)
    of_rows = sum(b[c * len(K) : (c + 1) * len(K)] for c in range(copies))
    start = np.zeros(len(problem.y)) if problem.start is None else problem.start
    signs = problem.y.astype(float)
    groups = [signs > 0, signs < 0] if problem.grouped else [np.ones(len(signs), bool)]
    held = [(signs * g) @ a == (signs * g) @ start for g in groups]
    goal = cp.Minimize(0.5 * cp.sum_squares(factor.T @ of_rows) + problem.p @ a)
    return -float(cp.Problem(goal, [a >= 0, a <= problem.upper, *held]).solve(solver=cp.CLARABEL))


def certificate_of(problem: DualProblem, **ways: Any) -> Certificate:
    result = solve(problem, KernelMatrix(X, KERNEL), **ways)
    coef = (problem.y * result.alpha).reshape(-1, len(X)).sum(axis=0)
    support = np.flatnonzero(coef)
    return certify(KERNEL, X, problem, support, coef[support], result.rho)


@pytest.mark.parametrize("name", list(PROBLEMS))
@pytest.mark.parametrize("max_iter", [1, 20, None])
def test_the_optimum_lies_between_the_bounds(name: str, max_iter: int | None) -> None:
    found = certificate_of(PROBLEMS[name], max_iter=max_iter, eps=1e-6)
    best = optimum(PROBLEMS[name])
    assert found.lower_bound <= best + 1e-7 * abs(best)
    assert found.objective >= best - 1e-7 * abs(best)
    if max_iter is None:
        assert found.gap < 1e-4


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_what_the_solver_proves_of_its_own_matrix_is_near_what_is_true_of_the_kernel(name: str) -> None:
    result = solve(PROBLEMS[name], KernelMatrix(X, KERNEL))
    found = certificate_of(PROBLEMS[name])
    assert result.primal == pytest.approx(found.objective, rel=1e-4)
    assert result.dual == pytest.approx(found.lower_bound, rel=1e-4)
    assert result.dual <= result.primal


def test_an_equality_that_does_not_hold_is_paid_for() -> None:
    problem, alpha = PROBLEMS["classification"], np.full(40, 0.1)
    feasible = alpha * np.where(Y > 0, np.sum(Y < 0) / np.sum(Y > 0), 1.0)
    exact = prove(problem, feasible, (0.0, 0.0), K @ (Y * feasible), np.zeros(40), 1.0).lower_bound
    bent = feasible.copy()
    bent[0] += 0.05
    charged = prove(problem, bent, (0.0, 0.0), K @ (Y * bent), np.zeros(40), 1.0).lower_bound
    without = bent.sum() - 0.5 * (Y * bent) @ K @ (Y * bent)
    assert charged < without - 0.01
    assert exact == pytest.approx(feasible.sum() - 0.5 * (Y * feasible) @ K @ (Y * feasible), rel=1e-12)


def test_multipliers_beyond_their_bounds_are_put_on_them() -> None:
    problem = DualProblem.classification(np.array([1, -1]), 1.0)
    zero = np.zeros(2)  # the kernel is 0, so the optimum is C for each example
    assert prove(problem, np.array([2.0, 2.0]), (0.0, 0.0), zero, zero, 0.0).lower_bound == pytest.approx(2.0)


def test_coefficients_of_a_regression_are_split_so_that_sums_stay() -> None:
    problem = PROBLEMS["nu regression"]
    coef = np.zeros(40)
    coef[:2] = 1.5, -1.5
    alpha = multipliers(problem, coef)
    assert np.all((alpha >= 0.0) & (alpha <= problem.upper))
    np.testing.assert_allclose(alpha[:40] - alpha[40:], coef, atol=1e-12)
    assert problem.start is not None
    assert alpha[:40].sum() == pytest.approx(problem.start[:40].sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_many_small_problems_are_those_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 40, 30)
    problems = [DualProblem.classification(np.where(rng.random(n) < 0.5, 1, -1), rng.uniform(0, 3, n)) for n in sizes]
    flat = Flat.of(problems)
    alpha, rho = rng.uniform(0, 3, len(flat.y)), np.repeat(rng.normal(size=(30, 1)), 2, axis=1)
    for problem, (begin, end) in zip(problems, flat.parts, strict=True):  # as near to feasible as rounding leaves them
        part = np.minimum(alpha[begin:end], problem.upper)
        sums = [part[problem.y > 0].sum(), part[problem.y < 0].sum()]
        side = np.where(problem.y > 0, min(sums) / max(sums[0], 1e-300), min(sums) / max(sums[1], 1e-300))
        alpha[begin:end] = side * part
    scores, errors = rng.normal(size=len(alpha)), rng.uniform(0, 1e-6, len(alpha))
    found = prove_together(flat, alpha, rho, scores, errors, 2.0)
    for k, (problem, (begin, end)) in enumerate(zip(problems, flat.parts, strict=True)):
        part = slice(begin, end)
        alone = prove(problem, alpha[part], (rho[k, 0], rho[k, 1]), scores[part], errors[part], 2.0)
        slack = 1e-11 * (1.0 + abs(alone.objective))
        assert alone.objective - 1e-15 <= found[k].objective <= alone.objective + slack
        assert alone.lower_bound - slack <= found[k].lower_bound <= alone.lower_bound + 1e-15

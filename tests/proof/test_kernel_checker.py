"""What coefficients of kernel machines prove is below every machine's objective: by exact arithmetic and by CVXPY."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane.proof.definite import definite
from cutplane.proof.kernel_checker import KernelCase, check_kernel
from cutplane.proof.kernel_machines import KernelRisk, Sided, Tubed, share_of
from cutplane.proof.kernel_values import KernelFunction, products

KERNELS = [
    KernelFunction("linear"),
    KernelFunction("rbf", 0.7),
    KernelFunction("poly", 0.3, 3, 1.0),
    KernelFunction("sigmoid", 0.2, 3, -0.1),
    KernelFunction("laplacian", 0.4),
    KernelFunction("chi2", 0.9),
]


def real_kernel(kernel: KernelFunction, x: Any, z: Any) -> Decimal:
    """The kernel with sixty digits."""
    x, z = ([Decimal(float(v)) for v in row] for row in (x, z))
    g, c = Decimal(kernel.gamma), Decimal(kernel.coef0)
    pairs = list(zip(x, z, strict=True))
    dot = sum((a * b for a, b in pairs), Decimal(0))
    if kernel.name == "linear":
        return dot
    if kernel.name == "poly":
        return (g * dot + c) ** kernel.degree
    if kernel.name == "sigmoid":
        e = (-2 * abs(g * dot + c)).exp()
        return (1 - e) / (1 + e) * (1 if g * dot + c > 0 else -1)
    if kernel.name == "rbf":
        return (-g * sum((a - b) ** 2 for a, b in pairs)).exp()
    if kernel.name == "laplacian":
        return (-g * sum(abs(a - b) for a, b in pairs)).exp()
    return (-g * sum(((a - b) ** 2 / (a + b) for a, b in pairs if a + b != 0), Decimal(0))).exp()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1e-6, 1.0, 30.0]), sparse=st.booleans())
def test_kernel_values_are_within_their_errors(kernel: KernelFunction, seed: int, size: float, sparse: bool) -> None:
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(5, 3))) * size + (100.0 * size if rng.uniform() < 0.3 else 0.0)
    if kernel.name != "chi2":
        X *= rng.choice([-1.0, 1.0], X.shape)
    data = sp.csr_array(X) if sparse else X
    (_, values, errors), *_ = kernel.blocks(data, np.array([0, 2]))
    with localcontext() as context:
        context.prec = 60
        for i in range(5):
            for k, j in enumerate((0, 2)):
                real = real_kernel(kernel, X[i], X[j])
                assert abs(Decimal(float(values[i, k])) - real) <= Decimal(float(errors[i, k]))
    assert (errors <= 1e-7 * np.abs(values).max() + 1e-280).all()
    assert kernel.own_values(data) * (1.0 + 1e-9) >= max(float(real_kernel(kernel, x, x)) for x in X)


def test_blocks_do_not_change_products(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(40, 3)), rng.normal(size=(7, 2))
    whole, _ = products(KERNELS[1], X, np.arange(7), coef)
    monkeypatch.setattr("cutplane.proof.kernel_values._BLOCK", 20)
    parts, errors = products(KERNELS[1], X, np.arange(7), coef)
    assert (np.abs(parts - whole) <= 2.0 * errors).all()


def exactly_definite(A: list[list[Fraction]]) -> bool:
    """By elimination without rounding."""
    A = [row[:] for row in A]
    for k in range(len(A)):
        if A[k][k] < 0 or (A[k][k] == 0 and any(A[k][k + 1 :])):
            return False
        for i in range(k + 1, len(A)):
            factor = A[i][k] / A[k][k] if A[k][k] else Fraction(0)
            A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
    return True


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_a_matrix_is_definite_with_so_much_on_its_diagonal(seed: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, rng.integers(1, 5)))
    K = (root @ root.T).astype(dtype)
    known = definite(KernelFunction("precomputed"), K)
    assert known.diagonal is not None
    assert known.diagonal <= 1e3 * np.finfo(dtype).eps * np.abs(K).max()
    assert "positive semi-definite" in known.premise
    half = Fraction(1, 2)
    real = [[(Fraction(float(K[i, j])) + Fraction(float(K[j, i]))) * half for j in range(6)] for i in range(6)]
    for i in range(6):
        real[i][i] += Fraction(known.diagonal)
    assert exactly_definite(real)


def test_what_is_not_definite_is_seen_and_what_is_large_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    given = KernelFunction("precomputed")
    assert definite(given, np.diag([1.0, -1e-6, 1.0])).diagonal is None
    assert definite(KernelFunction("rbf"), np.eye(3)).premise == ""
    monkeypatch.setattr("cutplane.proof.definite.MOST_ROWS", 2)
    assert "not checked" in definite(given, np.eye(3)).premise


def machines(n: int, rng: np.random.Generator) -> dict[str, KernelRisk]:
    y, z = np.where(np.arange(n) % 2, 1.0, -1.0), rng.normal(size=n)
    c = np.round(rng.uniform(0.2, 2.0, n), 3)
    # Each class must have half of it, or there is no optimum.
    share = min(0.3, 1.8 * min(float(c[y > 0].sum()), float(c[y < 0].sum())) / float(c.sum()))
    return {
        "classification": Sided(y, c),
        "nu classification": Sided(y, c, share_of(share, c)),
        "one class": Sided(np.ones(n), c, share_of(0.4, c), intercept=False),
        "all of one class": Sided(np.ones(n), c, share_of(1.0, c), intercept=False),
        "regression": Tubed(z, c, 0.1),
        "nu regression": Tubed(z, c, total=share_of(0.5, c)),
    }


def exact_objective(K: list[list[Fraction]], risk: Any, coef: Any, b: float, width: float) -> Fraction:
    """Of a machine, without rounding."""
    real = [Fraction(float(v)) for v in coef]
    s = [sum((k * v for k, v in zip(row, real, strict=True)), Fraction(0)) for row in K]
    total = sum((a * v for a, v in zip(s, real, strict=True)), Fraction(0)) / 2
    shift, wide = Fraction(b), Fraction(width)
    for t, c in enumerate(risk.weight):
        if isinstance(risk, Sided):
            loss = wide - Fraction(float(risk.y[t])) * (s[t] + shift)
        else:
            loss = abs(s[t] + shift - Fraction(float(risk.z[t]))) - wide
        total += Fraction(float(c)) * max(Fraction(0), loss)
    if risk.total is not None:
        total += (-1 if isinstance(risk, Sided) else 1) * Fraction(risk.total) * wide
    return total


NAMES = list(machines(4, np.random.default_rng(0)))


def point(risk: Any, rng: np.random.Generator, n: int) -> tuple[np.ndarray, float, float]:
    """Any machine, of those that the problem is about."""
    coef = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 0.5)
    free_b = not (isinstance(risk, Sided) and not risk.intercept)
    width = 1.0 if isinstance(risk, Sided) else getattr(risk, "epsilon", 0.0)
    if risk.total is not None:
        width = abs(float(rng.normal()))
    return coef, float(rng.normal()) if free_b else 0.0, width


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-3, 1.0, 1e3]), near=st.booleans())
def test_bounds_are_inequalities_of_real_numbers(name: str, seed: int, scale: float, near: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 8
    X = np.round(rng.normal(size=(n, 2)), 1) * scale
    risk = machines(n, rng)[name]
    kernel = KernelFunction("poly", 0.5, 2, 1.0) if near else KernelFunction("linear")
    rows = [[Fraction(float(v)) for v in row] for row in X]
    K = [[sum((a * b for a, b in zip(x, z, strict=True)), Fraction(0)) for z in rows] for x in rows]
    if near:
        K = [[(v / 2 + 1) ** 2 for v in row] for row in K]
    coef, b, width = point(risk, rng, n)
    (bounds,) = check_kernel(kernel, X, [KernelCase(risk, np.arange(n), coef, b, width)])
    exact = exact_objective(K, risk, coef, b, width)
    assert exact <= Fraction(bounds.objective)
    assert Fraction(bounds.objective) - exact <= Fraction(1, 10**9) * (abs(exact) + 1 + Fraction(1e3) * abs(exact))
    assert np.isfinite(bounds.lower_bound)
    for _ in range(5):
        assert Fraction(bounds.lower_bound) <= exact_objective(K, risk, *point(risk, rng, n))
    zero = np.zeros(n), 0.0, width if risk.total is None else 0.0
    assert Fraction(bounds.lower_bound) <= exact_objective(K, risk, *zero)


@pytest.mark.parametrize("name", NAMES)
def test_good_coefficients_meet_the_optimum_of_cvxpy(name: str) -> None:
    rng = np.random.default_rng(5)
    n = 16
    X = rng.normal(size=(n, 3))
    risk: Any = machines(n, rng)[name]
    kernel = KernelFunction("rbf", 0.5)
    K = products(kernel, X, np.arange(n), np.eye(n))[0]
    root = np.linalg.cholesky(K)
    w, b, width = cp.Variable(n), cp.Variable(), cp.Variable()
    s = root @ w
    sided = isinstance(risk, Sided)
    limits = [width >= 0] if risk.total is not None else [width == (1.0 if sided else risk.epsilon)]
    if sided and not risk.intercept:
        limits = [b == 0]
    violation = width - cp.multiply(risk.y, s + b) if sided else cp.abs(s + b - risk.z) - width
    objective = 0.5 * cp.sum_squares(w) + risk.weight @ cp.pos(violation)
    if risk.total is not None:
        objective += (-1.0 if sided else 1.0) * risk.total * width
    problem = cp.Problem(cp.Minimize(objective), limits)
    problem.solve(solver=cp.CLARABEL)
    coef = np.linalg.solve(root.T, w.value)
    case = KernelCase(risk, np.arange(n), coef, float(b.value), float(width.value))
    (bounds,) = check_kernel(kernel, X, [case])
    size = 1e-6 * (1.0 + abs(problem.value))
    assert bounds.lower_bound <= problem.value + size
    assert problem.value - size <= bounds.objective <= problem.value + 100.0 * size
    assert bounds.lower_bound >= problem.value - 100.0 * size

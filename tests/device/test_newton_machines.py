"""Newton's method for kernel machines: it ends where pair steps end, and leaves what is feasible however it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cutplane.device.cholesky import factorised
from cutplane.device.kernels import Kernels
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, device_newton, device_smo, solve
from cutplane.kernels.device_matrix import DeviceKernelMatrix, device_kernel_matrix
from cutplane.kernels.device_newton import OneMachine, newton
from cutplane.kernels.device_smo import DeviceRun, solve_on_device
from cutplane.kernels.smo_result import SMOResult

N = 240
RBF = Kernel("rbf", gamma=0.3)


def examples(n: int = N) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    X = rng.normal(size=(n, 4))
    X[:, 0] += y
    return X, y


X, Y = examples()
Z = X[:, 1] + np.sin(3.0 * X[:, 0])
WEIGHTS = np.where(np.arange(N) < 20, 0.0, np.random.default_rng(1).random(N))
PROBLEMS = {
    "classification": (RBF, DualProblem.classification(Y, np.full(N, 10.0))),
    "weights": (RBF, DualProblem.classification(Y, 10.0 * WEIGHTS)),
    "regression": (RBF, DualProblem.regression(Z, np.full(N, 10.0), 0.1)),
    "one class": (RBF, DualProblem.one_class(N, 0.2)),
    "nu": (RBF, DualProblem.nu_classification(Y, 0.3)),
    "nu, regression": (RBF, DualProblem.nu_regression(Z, np.full(N, 10.0), 0.3)),
    "linear": (Kernel("linear"), DualProblem.classification(Y, np.full(N, 10.0))),
    "polynomial": (Kernel("poly", gamma=0.2, coef0=1.0, degree=3), DualProblem.classification(Y, np.full(N, 10.0))),
    "sigmoid": (Kernel("sigmoid", gamma=0.5, coef0=-1.0), DualProblem.classification(Y, np.full(N, 10.0))),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Newton's method has its turn after some pair steps; what came of each turn."""
    found: list[bool] = []

    def noted(*given: Any) -> bool:
        found.append(newton(*given))
        return found[-1]

    monkeypatch.setattr(device_smo, "newton", noted)
    early = replace(device_newton.TUNING, cost_at_least=40.0, factors=0.0, crowd=9.0)
    monkeypatch.setattr(device_newton, "TUNING", early)
    return found


def run(kernels: Kernels, kernel: Kernel, problem: DualProblem, eps: float = 1e-3) -> SMOResult:
    matrix = device_kernel_matrix(kernels, X, kernel)
    return solve_on_device([problem], [np.arange(N)], matrix, DeviceRun(eps, working_set=32))[0]


def check_feasible(problem: DualProblem, alpha: Any) -> None:
    assert (alpha >= 0.0).all()
    assert (alpha <= problem.upper).all()
    start = np.zeros(len(alpha)) if problem.start is None else problem.start
    for part in [problem.y == 1, problem.y == -1] if problem.grouped else [slice(None)]:
        coef = (problem.y * alpha)[part]
        assert_allclose(coef.sum(), (problem.y * start)[part].sum(), atol=1e-9 * max(1.0, np.abs(coef).sum()))


@pytest.mark.parametrize("name", PROBLEMS)
def test_ends_where_pair_steps_end(kernels: Kernels, calls: list[bool], name: str) -> None:
    kernel, problem = PROBLEMS[name]
    found = run(kernels, kernel, problem)
    alone = solve(problem, KernelMatrix(X, kernel), eps=1e-3)
    assert calls, "it had no turn"
    assert found.stop_reason == "kkt"
    assert found.violation <= 1e-3
    check_feasible(problem, found.alpha)
    if kernel.definite:
        assert found.dual <= alone.primal
        assert alone.dual <= found.primal
        assert_allclose(found.rho, alone.rho, atol=5e-3 * max(1.0, float(np.abs(alone.rho).max())))


@pytest.mark.parametrize("name", ["classification", "weights", "regression", "nu", "nu, regression", "linear"])
def test_takes_few_pair_steps(kernels: Kernels, calls: list[bool], name: str) -> None:
    found = run(kernels, *PROBLEMS[name], eps=1e-5)
    assert any(calls)
    assert found.n_iter < solve(PROBLEMS[name][1], KernelMatrix(X, PROBLEMS[name][0]), eps=1e-5).n_iter


def machine_of(matrix: DeviceKernelMatrix, problem: DualProblem) -> OneMachine:
    """A machine before its first step."""
    to = matrix.device.to_device
    n = len(problem.y)
    column = to(np.resize(np.arange(matrix.size, dtype=np.int32), n))
    bare = -(problem.y * problem.p)
    values = to(problem.y), to(problem.upper), to(np.zeros(n)), to(bare.copy()), column, to(bare)
    return OneMachine(*values, [slice(0, n)])


def test_what_fails_leaves_what_was(kernels: Kernels) -> None:
    """Nobody between bounds, no time, no room: multipliers are those they were."""
    matrix, problem = device_kernel_matrix(kernels, X, RBF), PROBLEMS["classification"][1]
    machine = machine_of(matrix, problem)
    assert not newton(matrix, machine, (2.0, 2.0), 1e-3, lambda: False)
    assert not kernels.to_host(machine.alpha).any()
    machine.alpha[...] = 1.0
    machine.pull[...] = machine.pull - 0.5
    before = kernels.to_host(machine.alpha), kernels.to_host(machine.pull)
    assert not newton(matrix, machine, (2.0, 2.0), 1e-3, lambda: True)
    assert_array_equal(kernels.to_host(machine.alpha), before[0])
    assert_array_equal(kernels.to_host(machine.pull), before[1])


def test_ctrl_c_leaves_what_was(kernels: Kernels) -> None:
    matrix, problem = device_kernel_matrix(kernels, X, RBF), PROBLEMS["classification"][1]
    machine = machine_of(matrix, problem)
    machine.alpha[:50] = 1.0
    before, looks = kernels.to_host(machine.alpha), iter([False, False])

    def interrupt() -> bool:
        try:
            return next(looks)
        except StopIteration:
            raise KeyboardInterrupt from None

    with pytest.raises(KeyboardInterrupt):
        newton(matrix, machine, (2.0, 2.0), 1e-3, interrupt)
    assert_array_equal(kernels.to_host(machine.alpha), before)


def test_pulls_belong_to_the_multipliers(kernels: Kernels) -> None:
    """From a start that is far off: pulls are those that follow from the multipliers, whose sum is kept."""
    problem = PROBLEMS["classification"][1]
    matrix = device_kernel_matrix(kernels, X, RBF)
    machine = machine_of(matrix, problem)
    first = np.zeros(N)
    first[np.flatnonzero(problem.y > 0)[:30]] = first[np.flatnonzero(problem.y < 0)[:30]] = 5.0
    K = RBF.block(X, X).astype(np.float64)
    machine.alpha[...] = kernels.to_device(first)
    machine.pull[...] = kernels.to_device(problem.y - K @ (problem.y * first))
    assert newton(matrix, machine, (2.0, 2.0), 1e-3, lambda: False)
    alpha = kernels.to_host(machine.alpha)
    check_feasible(problem, alpha)
    assert_allclose(kernels.to_host(machine.pull), problem.y - K @ (problem.y * alpha), atol=1e-4)
    assert np.count_nonzero(alpha) < 0.9 * N


@pytest.mark.parametrize("n", [1, 5, 32, 77])
def test_factor_in_blocks(kernels: Kernels, n: int) -> None:
    rng = np.random.default_rng(n)
    B, right = rng.normal(size=(n, n)), rng.normal(size=(n, 2))
    A = B @ B.T + np.eye(n)
    pairs = kernels.pair_steps()
    lower = np.where(np.tri(n, dtype=bool), A, np.nan)  # what is above the diagonal is not read
    factor = factorised(kernels.to_device(lower), pairs.inverse_root, at_once=16)
    assert factor is not None
    assert_allclose(kernels.to_host(factor.solve(kernels.to_device(right), kernels.xp)), np.linalg.solve(A, right))
    assert factorised(kernels.to_device(A - 1e3 * np.eye(n)), pairs.inverse_root, at_once=16) is None

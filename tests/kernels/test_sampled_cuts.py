"""Sampled cuts: exact ones prove the optimum of the kernel machine, sampled ones come near it."""

from __future__ import annotations

from dataclasses import replace

import cvxpy
import numpy as np
import pytest

from cutplane.kernels import sampled_cuts
from cutplane.kernels.constant_time_cuts import ConstantTimeCuts
from cutplane.kernels.expansions import HostKernelRows
from cutplane.kernels.functions import Kernel
from cutplane.kernels.sampled_cuts import minimise
from cutplane.kernels.whole_sample_cuts import ExactCuts, LinearTimeCuts
from cutplane.structured.factored import BinaryHinge, ClassHinge

KERNEL = Kernel("rbf", gamma=2.0)
MEMORY = 1 << 26


def moons(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=0.25, random_state=seed)
    return X, np.where(y == 1, 1, -1).astype(np.int8)


def root(K: np.ndarray) -> np.ndarray:
    """F with F F' = K; kernel values are single precision, so K may have tiny negative eigenvalues."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def optimum(K: np.ndarray, y: np.ndarray, C: float, bias: float = 0.0) -> float:
    """min ½|w|² + C·mean hinge, by its dual."""
    n = len(y)
    factor = root(K + bias**2)
    a = cvxpy.Variable(n)
    value = cvxpy.sum(a) - 0.5 * cvxpy.sum_squares(factor.T @ cvxpy.multiply(y, a))
    return float(cvxpy.Problem(cvxpy.Maximize(value), [a >= 0, a <= C / n]).solve(solver="CLARABEL"))


def multiclass_optimum(K: np.ndarray, codes: np.ndarray, C: float) -> float:
    n, k = len(codes), codes.max() + 1
    factor = root(K)
    W = cvxpy.Variable((n, k))
    scores = factor @ W
    cost = 1.0 - np.eye(k)[codes]
    truth = cvxpy.sum(cvxpy.multiply(scores, np.eye(k)[codes]), axis=1)
    losses = cvxpy.max(scores + cost, axis=1) - truth
    return float(
        cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(W) + C / n * cvxpy.sum(losses))).solve("CLARABEL")
    )


@pytest.mark.parametrize("stabilised", [False, True])
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_exact_cuts_prove_the_optimum_of_the_kernel_machine(stabilised, bias):
    X, y = moons(60)
    C = 100.0
    best = optimum(KERNEL.block(X, X).astype(float), y, C, bias)
    finder = ExactCuts(BinaryHinge(y, bias), HostKernelRows(X, KERNEL), memory=MEMORY, stabilised=stabilised)
    outcome = minimise(finder, C, risk_tol=1e-5)
    assert outcome.reason == "risk_tol"
    assert outcome.lower_bound <= best * (1 + 1e-6) <= outcome.objective * (1 + 1e-5)
    assert outcome.objective - outcome.lower_bound <= 1e-5 * C * (1 + 1e-6)
    assert outcome.bound == pytest.approx(outcome.objective - outcome.history[-1].value)


@pytest.mark.parametrize("stabilised", [False, True])
def test_exact_cuts_prove_the_optimum_for_several_classes(stabilised):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    X += 2.0 * np.eye(3, 2)[codes]
    C = 40.0
    best = multiclass_optimum(KERNEL.block(X, X).astype(float), codes, C)
    risk = ClassHinge(codes, 1.0 - np.eye(3))
    finder = ExactCuts(risk, HostKernelRows(X, KERNEL), memory=MEMORY, stabilised=stabilised)
    outcome = minimise(finder, C, risk_tol=1e-4)
    assert outcome.lower_bound <= best * (1 + 1e-5) <= outcome.objective * (1 + 2e-5)
    assert outcome.objective <= best + 1.1e-4 * C


@pytest.mark.parametrize("stabilised", [False, True])
def test_the_objective_that_is_reported_is_that_of_the_expansion(stabilised):
    X, y = moons(200)
    C = 200.0
    finder = LinearTimeCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), 50, 3, memory=MEMORY, stabilised=stabilised)
    outcome = minimise(finder, C, risk_tol=1e-3)
    K = KERNEL.block(X, X).astype(float)
    scores = K[:, outcome.rows] @ outcome.coef[:, 0]
    square = outcome.coef[:, 0] @ scores[outcome.rows]
    value = 0.5 * square + C * np.maximum(0.0, 1.0 - y * scores).mean()
    assert value == pytest.approx(outcome.objective, rel=1e-4)
    assert outcome.lower_bound is None


def test_linear_time_cuts_come_near_the_optimum_and_stay_within_their_bound():
    X, y = moons(300)
    C = 300.0
    best = optimum(KERNEL.block(X, X).astype(float), y, C)
    finder = LinearTimeCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), 100, 0, memory=MEMORY, stabilised=True)
    outcome = minimise(finder, C, risk_tol=1e-3)
    assert outcome.violation <= 1e-3
    assert best * (1 - 1e-6) <= outcome.objective <= 1.1 * best
    assert outcome.objective - best <= outcome.bound
    assert outcome.probability == 0.95


def test_bounds_are_those_of_the_theorems():
    X, y = moons(100)
    C, risk_tol, T, r = 50.0, 0.01, 1000, 25
    linear = LinearTimeCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), r, 0, memory=MEMORY, stabilised=True)
    # Theorem 2 with R = 1 and the largest loss 1, at the confidence of 95 %.
    excess = risk_tol + np.sqrt(4 * C / r * np.log(T / 0.05))
    assert linear.bound(C, risk_tol, 0.001, 0.95, T) == pytest.approx(C * excess)
    assert linear.bound(C, risk_tol, 0.5, 0.95, T) == pytest.approx(C * (excess + 0.49))
    # Theorem 3, which may fail with twice its delta.
    constant = ConstantTimeCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), r, 0, stabilised=True)
    excess = risk_tol + 2 * (1 + 2 * np.sqrt(2 * C)) * np.sqrt(np.log(T / 0.025) / (2 * r))
    assert constant.bound(C, risk_tol, -0.2, 0.95, T) == pytest.approx(C * excess)


def test_constant_time_cuts_never_look_beyond_their_samples():
    X, y = moons(100_000)
    seen = set()

    class Watched(BinaryHinge):
        def violations(self, examples, scores, weights):
            seen.update(examples.tolist())
            return super().violations(examples, scores, weights)

    rows = HostKernelRows(X, KERNEL, like=np.arange(50))
    outcome = minimise(ConstantTimeCuts(Watched(y), rows, 50, 0, stabilised=False), 1e4, max_iter=5)
    assert len(outcome.history) == 5
    assert len(seen) <= 250
    assert outcome.lower_bound is None


@pytest.mark.parametrize("make", ["linear", "constant"])
def test_a_seed_repeats_a_run_for_any_number_of_threads(make):
    X, y = moons(400)
    found = []
    for threads in (1, 2):
        rows = HostKernelRows(X, KERNEL, n_threads=threads, like=np.arange(20) if make == "constant" else None)
        risk = BinaryHinge(y, n_threads=threads)
        if make == "constant":
            finder = ConstantTimeCuts(risk, rows, 60, 7, stabilised=True)
        else:
            finder = LinearTimeCuts(risk, rows, 60, 7, memory=MEMORY, stabilised=True)
        found.append(minimise(finder, 400.0, max_iter=30))
    np.testing.assert_array_equal(found[0].rows, found[1].rows)
    np.testing.assert_array_equal(found[0].coef, found[1].coef)


def test_idle_cuts_are_dropped():
    X, y = moons(500)
    finder = LinearTimeCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), 20, 0, memory=MEMORY, stabilised=False)
    outcome = minimise(finder, 500.0, risk_tol=1e-6, max_iter=150)
    assert outcome.history[-1].cuts < 149


@pytest.mark.parametrize("kernel", ["precomputed", "callable"])
def test_kernels_from_the_caller_give_the_same_cuts(kernel):
    X, y = moons(80)
    own = KERNEL.block(X, X).astype(np.float64)
    if kernel == "precomputed":
        rows = HostKernelRows(own, Kernel("precomputed"))
    else:
        rows = HostKernelRows(X, Kernel("callable", function=lambda A, B: KERNEL.block(A, B)))
    outcomes = [
        minimise(ExactCuts(BinaryHinge(y), each, memory=MEMORY, stabilised=False), 80.0, risk_tol=1e-4)
        for each in (rows, HostKernelRows(X, KERNEL))
    ]
    assert outcomes[0].objective == pytest.approx(outcomes[1].objective, rel=1e-4)


def test_memory_that_does_not_suffice_is_one_sentence():
    X, y = moons(300)
    finder = LinearTimeCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), 20, 0, memory=4 * 300 * 3, stabilised=False)
    with pytest.raises(MemoryError, match=r"4 cuts with 300 rows do not fit .* 3 do"):
        minimise(finder, 300.0, risk_tol=1e-6)


@pytest.mark.parametrize("stabilised", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_an_interrupted_run_returns_the_point_that_it_reports(exact, stabilised):
    X, y = moons(200)

    class Impatient(HostKernelRows):
        """Interrupted where time is spent: while kernel values are computed."""

        calls = 0

        def products(self, left, right, size, **settings):
            self.calls += 1
            if self.calls == 12:
                raise KeyboardInterrupt
            return super().products(left, right, size, **settings)

    settings = {"memory": MEMORY, "stabilised": stabilised}
    rows, risk = Impatient(X, KERNEL), BinaryHinge(y)
    finder = ExactCuts(risk, rows, **settings) if exact else LinearTimeCuts(risk, rows, 50, 0, **settings)
    outcome = minimise(finder, 200.0, risk_tol=1e-6)
    assert outcome.reason == "interrupted"
    scores = KERNEL.block(X, X[outcome.rows]).astype(float) @ outcome.coef[:, 0]
    square = outcome.coef[:, 0] @ scores[outcome.rows]
    objective = 0.5 * square + 200.0 * np.maximum(0.0, 1.0 - y * scores).mean()
    assert outcome.objective == pytest.approx(objective, rel=1e-4)


def test_cuts_without_weight_give_way_where_memory_is_full():
    X, y = moons(500)
    found = []
    for cuts in (10_000, 18):
        rows = HostKernelRows(X, KERNEL)
        finder = LinearTimeCuts(BinaryHinge(y), rows, 60, 0, memory=4 * 500 * cuts, stabilised=True)
        found.append(minimise(finder, 500.0, risk_tol=1e-3))
    most = [max(step.cuts for step in outcome.history) for outcome in found]
    assert most[1] <= 18 < most[0]
    assert found[1].reason == "risk_tol"


def test_a_kernel_that_its_cuts_show_not_to_be_positive_semi_definite_is_warned_of_and_ends():
    y = moons(400)[1]
    # Every second squared length is negative: not those of the rows that are looked at first.
    squares = np.where(np.arange(400) % 2, -1.0, 0.001)
    squares[-1] = 0.001
    rows = HostKernelRows(np.diag(squares), Kernel("precomputed"))
    finder = ExactCuts(BinaryHinge(y), rows, memory=MEMORY, stabilised=False)
    assert not finder.indefinite
    with pytest.warns(UserWarning, match=r"A cut has the squared length -.* not positive semi-definite"):
        outcome = minimise(finder, 400.0, max_iter=20)
    assert len(outcome.history) <= 20
    assert outcome.bound == np.inf


@pytest.mark.parametrize(
    "make",
    [
        lambda risk, rows: ExactCuts(risk, rows, memory=MEMORY, stabilised=True),
        lambda risk, rows: LinearTimeCuts(risk, rows, 50, 0, memory=MEMORY, stabilised=True),
        lambda risk, rows: ConstantTimeCuts(risk, rows, 50, 0, stabilised=True),
    ],
)
def test_a_kernel_is_tried_before_anything_is_proven_with_it(make):
    X, y = moons(500)
    # Cuts of this kernel may have positive squared lengths: only its matrix shows what it is.
    rows = HostKernelRows(X, Kernel("sigmoid", gamma=1.0, coef0=-1.0))
    with pytest.warns(UserWarning, match=r"200 rows has the eigenvalue -.* not positive semi-definite"):
        finder = make(BinaryHinge(y), rows)
    outcome = minimise(finder, 500.0, max_iter=3)
    assert outcome.bound == np.inf
    assert outcome.lower_bound is None


@pytest.mark.parametrize("kernel", [Kernel("poly", gamma=1.0, coef0=1.0, degree=3), KERNEL, "precomputed"])
@pytest.mark.filterwarnings("error")
def test_positive_semi_definite_kernels_are_not_warned_of(kernel):
    X, y = moons(300)
    rows = (
        HostKernelRows(X, kernel)
        if kernel != "precomputed"
        else HostKernelRows(KERNEL.block(X, X), Kernel("precomputed"))
    )
    finder = ExactCuts(BinaryHinge(y), rows, memory=MEMORY, stabilised=True)
    assert np.isfinite(minimise(finder, 300.0, max_iter=3).bound)


def test_a_kernel_that_is_not_symmetric_is_refused():
    X, y = moons(30)
    matrix = KERNEL.block(X, X).astype(np.float64)
    matrix[3, 7] += 0.25
    with pytest.raises(ValueError, match=r"The kernel is .* for rows (3 and 7|7 and 3) of X, and .*; a kernel is symm"):
        ConstantTimeCuts(BinaryHinge(y), HostKernelRows(matrix, Kernel("precomputed")), 10, 0, stabilised=True)


@pytest.mark.filterwarnings("ignore:The kernel matrix")
def test_a_run_that_may_have_no_minimum_to_come_near_is_bounded(monkeypatch):
    monkeypatch.setattr(sampled_cuts, "TUNING", replace(sampled_cuts.TUNING, indefinite_iterations=15))
    X, y = moons(100)
    rows = HostKernelRows(X, Kernel("sigmoid", gamma=1.0, coef0=-2.0))
    finder = LinearTimeCuts(BinaryHinge(y), rows, 20, 0, memory=MEMORY, stabilised=True)
    outcome = minimise(finder, 1000.0)
    assert (len(outcome.history), outcome.reason) == (15, "max_iter")
    assert np.isfinite(outcome.coef).all()


def test_exact_cuts_end_where_rounding_is_all_that_is_left():
    X, y = moons(100)
    finder = ExactCuts(BinaryHinge(y), HostKernelRows(X, KERNEL), memory=MEMORY, stabilised=True)
    outcome = minimise(finder, 100.0, risk_tol=1e-16, max_iter=None)
    assert outcome.reason == "stalled"
    assert outcome.violation <= 1e-5


@pytest.mark.parametrize("stabilised", [False, True])
def test_a_cut_that_takes_longer_than_there_is_time_is_left_out(stabilised, monkeypatch):
    X, y = moons(100)
    made = []

    class Watched(HostKernelRows):
        values_at_once = 100 * 10  # ten rows between two looks at the clock

        def _products(self, left, part, right):
            made.append(part)
            return super()._products(left, part, right)

    finder = ExactCuts(BinaryHinge(y), Watched(X, KERNEL), memory=MEMORY, stabilised=stabilised)
    monkeypatch.setattr("cutplane.kernels.expansions.time_is_up", lambda: len(made) >= 24)
    outcome = minimise(finder, 100.0, risk_tol=1e-6)
    assert (outcome.reason, len(made), len(outcome.history)) == ("time_limit", 24, 5)
    coef = np.zeros(100)
    coef[outcome.rows] = outcome.coef[:, 0]
    scores = KERNEL.block(X, X).astype(float) @ coef
    objective = 0.5 * coef @ scores + 100.0 * np.maximum(0.0, 1.0 - y * scores).mean()
    assert outcome.objective == pytest.approx(objective, rel=1e-4)
    assert outcome.objective < 100.0  # four cuts were whole

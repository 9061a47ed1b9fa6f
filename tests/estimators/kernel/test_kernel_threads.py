"""Threads of kernel machines: who has how many, and results that do not depend on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from threadpoolctl import ThreadpoolController, threadpool_limits

from cutplane import SVC, SVR
from cutplane.estimators.kernel import kernel_machine, machines
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, SMOResult, solve


@contextmanager
def recorded_matrices() -> Iterator[list[KernelMatrix]]:
    """The kernel matrices that estimators make."""
    made: list[KernelMatrix] = []

    def make(*args: Any, **kwargs: Any) -> KernelMatrix:
        made.append(KernelMatrix(*args, **kwargs))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_machine, "KernelMatrix", make)
        yield made


def blas_threads() -> list[int]:
    return [each["num_threads"] for each in ThreadpoolController().select(user_api="blas").info()]


@pytest.mark.parametrize("kind", [SVC, SVR])
def test_the_blas_has_one_thread_while_machines_train(kind: Any) -> None:
    """Its threads spin for a while after every sum over many variables, on cores that the machines need."""
    X, y = load_digits(return_X_y=True)
    seen: list[int] = []
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert max(before) == 2
        kind(n_jobs=2, on_step=lambda step: seen.extend(blas_threads())).fit(X[:300], y[:300])
        assert blas_threads() == before
    assert set(seen) == {1}


def test_pairs_of_classes_share_parts_of_kernel_rows() -> None:
    """And models are the same to the bit for any number of threads."""
    X, y = load_digits(return_X_y=True)
    values = []
    models = []
    for threads in (1, 2, 3):
        with recorded_matrices() as matrices:
            models.append(SVC(C=10.0, gamma=0.002, n_jobs=threads).fit(X, y))
        values.append(matrices[0].core.computed_values)
    for other in models[1:]:
        np.testing.assert_array_equal(other.dual_coef_, models[0].dual_coef_)
        np.testing.assert_array_equal(other.intercept_, models[0].intercept_)
    assert len(set(values)) == 1
    core = matrices[0].core
    assert core.computed_rows == core.different_rows
    assert values[0] < core.computed_rows * len(X)


def test_a_machine_on_two_of_ten_classes_computes_their_columns_alone() -> None:
    X, y = load_digits(return_X_y=True)
    order = np.argsort(y, kind="stable")
    matrix = KernelMatrix(X[order], Kernel("rbf", gamma=0.002))
    computed = 0
    for pair, parts in (((2, 5), 2), ((2, 7), 2), ((5, 7), 2), ((2, 5), 0)):
        rows = np.flatnonzero(np.isin(y[order], pair))
        problem = DualProblem.classification(np.where(y[order][rows] == pair[0], 1, -1), 10.0)
        alone = solve(problem, KernelMatrix(X[order], Kernel("rbf", gamma=0.002)), rows=rows)
        assert np.array_equal(solve(problem, matrix, rows=rows).alpha, alone.alpha)
        # Of a row, no more than two classes of 180 columns, and what lies beside them in their parts.
        values = matrix.core.computed_values - computed
        assert (values > 0) == (parts > 0)
        assert values <= len(rows) * (parts * 180 + 256)
        computed = matrix.core.computed_values


@pytest.mark.nightly
@pytest.mark.parametrize("working_set", [2, 64])
def test_a_run_may_change_its_threads(working_set: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6))
    labels = np.where(X[:, 0] * X[:, 1] > 0.1, 1, -1)
    problem, counts = DualProblem.classification(labels, 10.0), itertools.cycle([1, 3, 2])
    asked: list[int] = []

    def threads() -> int:
        asked.append(next(counts))
        return asked[-1]

    runs = [
        solve(problem, KernelMatrix(X, Kernel("rbf", gamma=0.5)), working_set=working_set, max_iter=12_000, n_threads=n)
        for n in (1, threads)
    ]
    assert set(asked) == {1, 2, 3}
    assert np.array_equal(runs[0].alpha, runs[1].alpha)
    assert np.array_equal(runs[0].gradient, runs[1].gradient)


def test_the_last_machines_have_the_threads_of_those_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    train = machines._Run.train

    def noting(self: machines._Run, *args: Any, **settings: Any) -> SMOResult:
        asked.append(self.threads_each())
        result = train(self, *args, **settings)
        asked.append(self.threads_each())
        return result

    monkeypatch.setattr(machines._Run, "train", noting)
    X, y = load_digits(return_X_y=True)
    SVC(n_jobs=1, stopping="gap").fit(X[:300], y[:300])
    assert set(asked) == {1}
    asked.clear()
    SVC(n_jobs=6, stopping="gap").fit(X[:300], y[:300] % 3)
    assert asked[0] == 2
    assert asked[-1] == 6


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
def test_predictions_are_sums_over_groups_of_any_size(kernel: str, sparse: bool) -> None:
    """Groups begin and end within panels and pieces; one is empty."""
    rng = np.random.default_rng(0)
    vectors, X = rng.normal(size=(6000, 3)), rng.normal(size=(70, 3))
    if sparse:
        vectors, X = sp.csr_array(vectors * (vectors > 0.9)), sp.csr_array(X * (X > 0.9))
    of, ends, coef = Kernel(kernel, gamma=0.3), [7, 7, 5700, 6000], rng.normal(size=(6000, 5))
    right = of.examples(vectors)
    found = of.products(X, right, coef, ends, n_threads=1)
    K = of.block(X, vectors).astype(np.float64)
    parts = [slice(begin, end) for begin, end in itertools.pairwise([0, *ends])]
    expected = np.stack([K[:, part] @ coef[part] for part in parts], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-8)
    for threads in (2, 3):
        assert np.array_equal(of.products(X, right, coef, ends, n_threads=threads), found)

"""Threads of kernel machines: who has how many, and results that do not depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import ThreadpoolController, threadpool_limits

from cutplane import SVC, SVR
from cutplane.estimators.kernel import kernel_machine
from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve


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

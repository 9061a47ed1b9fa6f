"""Threads of kernel machines: who has how many, and results that do not depend on it."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_digits
from threadpoolctl import ThreadpoolController, threadpool_limits

from cutplane import SVC, SVR


@pytest.mark.parametrize("kind", [SVC, SVR])
def test_the_blas_has_one_thread_while_machines_train(kind: Any) -> None:
    """Its threads spin for a while after every sum over many variables, on cores that the machines need."""
    X, y = load_digits(return_X_y=True)
    seen: list[int] = []

    def look(step: object) -> None:
        seen.extend(each["num_threads"] for each in ThreadpoolController().select(user_api="blas").info())

    with threadpool_limits(2, user_api="blas"):
        kind(n_jobs=2, on_step=look).fit(X[:300], y[:300])
        assert {each["num_threads"] for each in ThreadpoolController().select(user_api="blas").info()} == {2}
    assert set(seen) == {1}

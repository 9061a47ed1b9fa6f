"""Dual ascent in batches: the same bits for any number of threads, the same optimum as one example after the other."""

from __future__ import annotations

import os
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import LinearSVC, LinearSVR
from cutplane.objectives.factory import make_objective
from cutplane.risks.registry import BINARY, REGRESSION
from cutplane.shards import batches
from cutplane.shards.batches import BatchTuning, batches_pay
from cutplane.shards.example_ascent import ExampleAscent
from cutplane.sources import as_source

PATIENCE = 300  # seconds: for a hang, not for a slow machine
# Three for each example.
C = 2100.0
LOSSES = ("hinge", "squared_hinge", "logistic", "epsilon_insensitive", "huber")


def text(n: int = 700, d: int = 1500, seed: int = 0) -> tuple[Any, Any]:
    """Rows of many features, some of which nearly all share, and targets that weights of them explain in part."""
    rng = np.random.default_rng(seed)
    own = sp.random_array((n, d), density=25 / d, rng=rng, format="csr")
    X = sp.csr_array(sp.hstack([own, sp.csr_array(rng.random((n, 6)))]))
    X = sp.csr_array(sp.diags_array(1.0 / sp.linalg.norm(X, axis=1)) @ X)
    return X, 4.0 * (X @ rng.normal(size=d + 6)) + 0.3 * rng.normal(size=n)


def ascent_over(X: Any, targets: Any, loss: str, intercept: bool = False) -> ExampleAscent:
    y = np.where(targets > np.median(targets), 1.0, -1.0) if loss in BINARY else targets
    risk = {**BINARY, **REGRESSION}[loss](y)
    ascent = make_objective(as_source(X), risk, intercept=intercept).dual_ascent(C, seed=0)
    assert isinstance(ascent, ExampleAscent)
    ascent._ascent.sweeps = 1
    return ascent


def in_batches(X: Any, targets: Any, loss: str, threads: int, intercept: bool = False) -> ExampleAscent:
    ascent = ascent_over(X, targets, loss, intercept)
    assert ascent._ascent.go_in_batches(ascent._scale, threads)
    return ascent


def reached(ascent: ExampleAscent) -> list[Any]:
    core = ascent._ascent
    told = [core.gain, core.open_gap, core.travelled, core.roundings, core.active, core.intercept, core.dual_value]
    return [core.v, core.coefficients(1.0, False), *told]


def shuffled(X: Any) -> Any:
    """The same rows, the entries of each in another order."""
    rng = np.random.default_rng(1)
    order = np.concatenate([rng.permutation(np.arange(*span)) for span in zip(X.indptr, X.indptr[1:], strict=False)])
    return sp.csr_array((X.data[order], X.indices[order], X.indptr), X.shape)


STORES = {
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X,
    "int64": lambda X: sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape),
    "unsorted": shuffled,
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("store", STORES)
def test_bits_do_not_depend_on_threads(loss: str, intercept: bool, store: str) -> None:
    X, targets = text()
    X = STORES[store](X)
    ends = []
    for threads in (1, 2, 5, 19):
        ascent = in_batches(X, targets, loss, threads, intercept)
        for epoch in range(6):
            ascent.epoch()
            if epoch == 3:
                ascent.extrapolate()
        ends.append(reached(ascent))
    for end in ends[1:]:
        for one, other in zip(ends[0], end, strict=True):
            np.testing.assert_array_equal(one, other)


def test_batches_are_another_way_than_one_by_one() -> None:
    """Otherwise the other tests would look at nothing."""
    X, targets = text()
    one, other = ascent_over(X, targets, "hinge"), in_batches(X, targets, "hinge", 2)
    for ascent in (one, other):
        ascent.epoch()
    assert not np.array_equal(one._ascent.v, other._ascent.v)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_batches_reach_the_optimum_of_one_by_one(loss: str, intercept: bool) -> None:
    X, targets = text()
    one, other = (
        ascent_over(X, targets, loss, intercept),
        in_batches(X, targets, loss, 3, intercept),
    )
    for ascent in (one, other):
        for _ in range(400):
            ascent.epoch()
    assert other.estimate == pytest.approx(one.estimate, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_gains_are_those_of_the_dual_value(loss: str) -> None:
    X, targets = text()
    ascent = in_batches(X, targets, loss, 2)
    before = ascent.estimate
    for _ in range(8):
        ascent.epoch()
        assert ascent.last_gain == pytest.approx(ascent.estimate - before, rel=1e-6, abs=1e-9 * ascent.estimate)
        before = ascent.estimate


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "huber"])
def test_misleading_batches_are_given_up(loss: str) -> None:
    """Groups of examples that are all but the same, at right angles: their mean tells little, batches overshoot."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 600)
    X = sp.csr_array((np.ones(600), groups, np.arange(601)), (600, 40))
    X = sp.csr_array(X + 0.02 * sp.random_array((600, 40), density=0.2, rng=rng))
    targets = np.where(rng.random(600) < 0.3, 1.0, -1.0) + 0.1 * rng.normal(size=600)
    ascent, other = in_batches(X, targets, loss, 2), ascent_over(X, targets, loss)
    before = ascent.estimate
    for _ in range(300):
        ascent.epoch()
        other.epoch()
        assert ascent.estimate >= before - 1e-9 * abs(before)
        before = ascent.estimate
    assert ascent.estimate == pytest.approx(other.estimate, rel=1e-3)


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="there is no fork")
def test_children_of_fork_go_in_batches() -> None:
    X, targets = text()

    def end() -> Any:
        ascent = in_batches(X, targets, "hinge", 3)
        ascent.epoch()
        return ascent._ascent.v

    here = end()
    child = get_context("fork").Process(target=lambda: os._exit(0 if np.array_equal(end(), here) else 1))
    child.start()
    child.join(PATIENCE)
    if child.is_alive():
        child.kill()
    child.join()
    assert child.exitcode == 0


def test_only_sparse_rows_without_a_floor_go_in_batches() -> None:
    X, targets = text(60, 80)
    dense = ascent_over(X.toarray(), targets, "hinge")
    assert not dense._ascent.go_in_batches(dense._scale, 2)
    floored = ascent_over(X, targets, "hinge")
    floored._ascent.keep_above(np.zeros(X.shape[1]))
    assert not floored._ascent.go_in_batches(floored._scale, 2)


@pytest.mark.parametrize(
    ("threads", "cores", "rows", "entries", "pay"),
    [
        (8, 8, 20_000, 5_000_000, True),
        (7, 8, 20_000, 5_000_000, False),
        (8, 7, 20_000, 5_000_000, False),
        (8, 8, 60_000, 5_000_000, False),
        (8, 8, 10_000, 1_400_000, False),
        (8, 8, 20_000, 2**28 + 1, False),
    ],
)
def test_batches_are_for_many_threads_and_long_rows(
    threads: int, cores: int, rows: int, entries: int, pay: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("joblib.cpu_count", lambda: cores)
    matrix: Any = SimpleNamespace(shape=(rows, 100_000), entries=entries)
    assert batches_pay(matrix, threads) == pay


def optimum(X: Any, y: Any, loss: str, intercept: bool) -> float:
    """By Clarabel, at C = 2."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    scores = X @ w + (b if intercept else 0.0)
    margins = cp.multiply(y, scores)
    losses = {
        "hinge": lambda: cp.sum(cp.pos(1 - margins)),
        "squared_hinge": lambda: cp.sum_squares(cp.pos(1 - margins)),
        "logistic": lambda: cp.sum(cp.logistic(-margins)),
        "epsilon_insensitive": lambda: cp.sum(cp.pos(cp.abs(y - scores) - 0.1)),
    }
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 2.0 * losses[loss]()))
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [False, True])
def test_certificates_hold(loss: str, intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "TUNING", BatchTuning(threads=3, row_entries=1, entries=1))
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    ways: list[bool] = []

    def ask(matrix: Any, threads: int) -> bool:
        ways.append(batches_pay(matrix, threads))
        return ways[-1]

    monkeypatch.setattr("cutplane.shards.example_ascent.batches_pay", ask)
    X, targets = text(400, 900)
    y = np.where(targets > 0, 1.0, -1.0) if loss in BINARY else targets
    kind = LinearSVC if loss in BINARY else partial(LinearSVR, epsilon=0.1)
    model = kind(loss=loss, C=2.0, tol=1e-5, fit_intercept=intercept, n_jobs=3).fit(X, y)
    assert True in ways
    best = optimum(X, y, loss, intercept)
    assert model.lower_bound_ <= best * (1 + 1e-7)
    assert model.objective_ >= best * (1 - 1e-7)
    assert model.objective_ - model.lower_bound_ <= 1e-5 * model.objective_ * (1 + 1e-9)

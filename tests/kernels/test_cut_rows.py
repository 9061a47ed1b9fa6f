"""Rows shared by cuts, and the mean of minimisers: the same as cut by cut and minimiser by minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.kernels.constant_time_cuts import ConstantTimeCuts
from cutplane.kernels.cut_rows import CutRows
from cutplane.kernels.expansions import Expansion, HostKernelRows
from cutplane.kernels.functions import Kernel
from cutplane.kernels.mean_minimiser import MeanMinimiser
from cutplane.kernels.sampled_cuts import minimise
from cutplane.structured.factored import BinaryHinge

KERNEL = Kernel("rbf", gamma=0.7)
X = np.random.default_rng(0).normal(size=(30, 3))
K = KERNEL.block(X, X).astype(np.float64)


def cut(rng: np.random.Generator, rows: HostKernelRows, columns: int) -> Expansion:
    """A cut of a few sampled rows, some of them twice."""
    where = np.sort(rng.integers(len(X), size=rng.integers(0, 9)))
    return rows.expansion(where, rng.normal(size=(len(where), columns)), np.zeros(0))


def spread(expansion: Expansion, columns: int) -> np.ndarray:
    coef = np.zeros((len(X), columns))
    np.add.at(coef, expansion.rows, expansion.coef)
    return coef


@given(seed=st.integers(0, 10**6), columns=st.sampled_from([1, 3]), kernel=st.sampled_from(["rbf", "precomputed"]))
def test_rows_shared_by_cuts_give_what_each_cut_gives(seed, columns, kernel):
    rng = np.random.default_rng(seed)
    rows = HostKernelRows(X, KERNEL) if kernel == "rbf" else HostKernelRows(K, Kernel("precomputed"))
    shared, cuts = CutRows(rows, columns), []
    for _ in range(12):
        cuts.append(cut(rng, rows, columns))
        shared.add(cuts[-1])
        if len(cuts) > 4:
            gone = np.sort(rng.choice(len(cuts), size=2, replace=False))
            shared.drop(gone)
            cuts = [each for position, each in enumerate(cuts) if position not in gone]
        new = cut(rng, rows, columns)
        expected = [np.vdot(spread(each, columns), K @ spread(new, columns)) for each in cuts]
        np.testing.assert_allclose(shared.products(new), expected, atol=1e-4)
        weights = np.where(rng.random(len(cuts)) < 0.3, 0.0, rng.normal(size=len(cuts)))
        mixed = sum((w * spread(each, columns) for w, each in zip(weights, cuts, strict=True)), np.zeros(columns))
        mixed = mixed + np.zeros((len(X), columns))
        np.testing.assert_allclose(shared.mixture(weights), mixed[shared.rows])
        np.testing.assert_allclose(shared.scores(np.arange(5), weights), K[:5] @ mixed, atol=1e-4)
        used = np.unique(np.concatenate([each.rows for each in cuts]))
        assert set(used) <= set(shared.rows.tolist())
        assert len(shared) == len(set(shared.rows.tolist())) <= len(used) / 0.9 + 1


@pytest.mark.parametrize("length", [1, 2, 3, 4, 10, 57])
def test_the_mean_is_over_the_last_third_to_half(length):
    rng = np.random.default_rng(length)
    rows = HostKernelRows(X, KERNEL)
    mean, points, squares, violations = MeanMinimiser(), [], [], []
    for _ in range(length):
        cuts, scales = [cut(rng, rows, 1) for _ in range(3)], np.array([1.5, 0.0, -2.0])
        squares.append(rng.random())
        violations.append(rng.random())
        mean.add(np.array([mean.number(each) for each in cuts]), scales, squares[-1], violations[-1])
        points.append(sum(s * spread(c, 1) for c, s in zip(cuts, scales, strict=True)))
    assert len(mean) == length or length / 3 <= len(mean) <= 0.6 * length + 1
    found = sum(scale * spread(each, 1) for each, scale in mean.parts)
    np.testing.assert_allclose(found, np.mean(points[-len(mean) :], axis=0), atol=1e-12)
    assert mean.square == pytest.approx(np.mean(squares[-len(mean) :]))
    assert mean.violation == pytest.approx(np.mean(violations[-len(mean) :]))


def test_the_mean_of_minimisers_has_a_smaller_objective_than_the_last():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 2))
    y = np.where(points[:, 0] * points[:, 1] + 0.3 * rng.normal(size=2000) > 0, 1, -1).astype(np.int8)
    C, block = 2000.0, KERNEL.block(points, points).astype(np.float64)
    found = {}
    for stabilised in (False, True):
        finder = ConstantTimeCuts(BinaryHinge(y), HostKernelRows(points, KERNEL), 200, 0, stabilised=stabilised)
        outcome = minimise(finder, C)
        scores = block[:, outcome.rows] @ outcome.coef[:, 0]
        square = outcome.coef[:, 0] @ scores[outcome.rows]
        found[stabilised] = 0.5 * square + C * np.maximum(0.0, 1.0 - y * scores).mean()
        # Estimated from 200 or 800 examples.
        assert outcome.objective == pytest.approx(found[stabilised], rel=0.2)
        assert outcome.bound > C * outcome.violation
    assert found[True] < found[False]

"""Dual ascent over the blocks of several classes: where epochs lead, and the gap that they meet."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import _core
from cutplane.shards.multiclass_ascent import gram_pays
from cutplane.sources import as_source
from cutplane.sources.matrix import DenseSource

C = 2.0


def made(n=400, d=12, classes=4):
    """Examples that share their features, so that each visit leaves much to the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 2.0
    y = np.argmax(X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes)), axis=1)
    return X, y.astype(np.int32), classes


def ascent_on(X, y, classes, *, intercept=False, threads=1):
    cost = 1.0 - np.eye(classes)
    return _core.BlockAscent(DenseSource(X).core, y, cost, None, C, intercept, 0, threads)


@pytest.mark.parametrize("intercept", [False, True])
def test_going_on_stays_within_the_blocks_and_never_falls(intercept):
    X, y, classes = made()
    ascent = ascent_on(X, y, classes, intercept=intercept)
    rises = []
    for _ in range(12):
        ascent.epoch(np.inf)
        before = ascent.dual_value
        ascent.extrapolate()
        rises.append(ascent.dual_value - before)
        coef, _ = ascent.coefficients(1.0)
        assert ascent.v == pytest.approx(-X.T @ coef, abs=1e-9)
        others = coef.copy()
        others[np.arange(len(y)), y] = 0.0
        assert others.min() >= 0.0
        assert others.sum(axis=1).max() <= C * (1.0 + 1e-12)
        assert coef.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert rises[0] == 0.0  # there is nothing yet to go on from
    if not intercept:  # intercepts move what is maximised
        assert min(rises) >= -1e-9
        assert max(rises) > 0.0


def test_going_on_saves_epochs():
    X, y, classes = made()

    def epochs(*, going_on):
        ascent = ascent_on(X, y, classes)
        count = 0
        while ascent.dual_value < 0.99 * best:
            if going_on:
                ascent.extrapolate()
            ascent.epoch(np.inf)
            count += 1
        return count

    far = ascent_on(X, y, classes)
    for _ in range(2000):
        far.epoch(np.inf)
    best = far.dual_value
    assert 2 * epochs(going_on=True) < epochs(going_on=False)


def test_threads_do_not_change_a_bit_of_where_epochs_lead():
    X, y, classes = made(n=20_000, d=40, classes=10)
    found = []
    for threads in (1, 2, 5):
        ascent = ascent_on(X, y, classes, intercept=True, threads=threads)
        for _ in range(4):
            ascent.epoch(np.inf)
            ascent.extrapolate()
        found.append(np.concatenate([ascent.v.ravel(), ascent.coefficients(1.0)[0].ravel(), [ascent.open_gap]]))
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_the_gap_met_is_the_gap_where_examples_have_nothing_in_common():
    """At zero every example's loss is 1 and the dual value is 0; each visit then closes its own part for good."""
    n = 30
    ascent = ascent_on(np.eye(n), (np.arange(n) % 3).astype(np.int32), 3)
    ascent.epoch(np.inf)
    assert ascent.open_gap == pytest.approx(C * n)
    ascent.epoch(np.inf)
    assert ascent.open_gap == pytest.approx(0.0, abs=1e-12)


def test_the_gap_that_a_sweep_by_the_gram_matrix_leaves():
    """The objective at the weights reached, less the dual value."""
    X, y, classes = made(n=60, d=80)
    ascent = ascent_on(X, y, classes)
    ascent.use_gram((X @ X.T).astype(np.float32))
    ascent.epoch(np.inf)
    scores = X @ ascent.v
    margins = scores + 1.0 - scores[np.arange(len(y)), y][:, None]
    margins[np.arange(len(y)), y] = 0.0
    objective = 0.5 * np.sum(ascent.v**2) + C * margins.max(axis=1).sum()
    assert ascent.open_gap == pytest.approx(objective - ascent.dual_value, rel=1e-2)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("classes", [5, 30, 70])
def test_a_first_step_changes_all_classes_and_their_weights(kind, classes):
    """Lines at zero are the same for all wrong classes: an example moves to all of them at once."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(3, 20)), np.arange(3, dtype=np.int32)
    source = DenseSource(X) if kind == "dense" else as_source(sp.csr_array(X))
    cost = 1.0 - np.eye(classes)
    first = _core.BlockAscent(DenseSource(X[:1]).core, y[:1], cost, None, 0.1, False, 0, 1)
    first.epoch(np.inf)
    assert first.classes_changed == classes
    ascent = _core.BlockAscent(source.core, y, cost, None, 0.1, False, 0, 1)
    for _ in range(5):
        ascent.epoch(np.inf)
        np.testing.assert_allclose(ascent.v, -X.T @ ascent.coefficients(1.0)[0], atol=1e-12)


def test_the_gram_matrix_pays_where_steps_change_few_classes():
    source = DenseSource(np.ones((5000, 400)))
    assert gram_pays(source, 50)
    assert gram_pays(source, 50, changed=4.0)
    assert not gram_pays(source, 50, changed=5.0)

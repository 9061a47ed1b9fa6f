"""The compiled chains against brute force, and their independence of threads."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane import _core
from cutplane.structured.chain import ChainModel, ChainSample
from cutplane.structured.tokens import Tokens


def random_tokens(rng, n, longest, d, *, binary):
    lengths = rng.integers(1, longest + 1, size=n)
    counts = rng.integers(0, 4, size=lengths.sum())
    indices = rng.integers(0, d, size=counts.sum()).astype(np.int32)  # a feature may come twice
    values = None if binary else rng.normal(size=len(indices))
    starts, indptr = (np.concatenate([[0], np.cumsum(c)]).astype(np.int64) for c in (lengths, counts))
    return Tokens(starts, indptr, indices, values, d)


def token_scores(tokens, w, k):
    """The score of every token and label, the plain way."""
    table = w.reshape(-1, k)
    scores = np.zeros((len(tokens.indptr) - 1, k))
    for t in range(len(scores)):
        for f in range(tokens.indptr[t], tokens.indptr[t + 1]):
            scores[t] += table[tokens.indices[f]] * (1.0 if tokens.values is None else tokens.values[f])
    return scores, table[tokens.n_features :]


def best_by_trying(scores, moves):
    def total(y):
        return sum(scores[t, label] for t, label in enumerate(y)) + sum(moves[a, b] for a, b in pairwise(y))

    return max(total(y) for y in product(range(scores.shape[1]), repeat=len(scores))), total


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_searches_find_the_best_labelling(seed, k, binary):
    rng = np.random.default_rng(seed)
    tokens = random_tokens(rng, 4, 4, 5, binary=binary)
    chains = tokens.chains(k)
    w = rng.normal(size=(5 + k) * k)
    truth = rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32)
    cost = rng.uniform(size=(k, k)) * (1.0 - np.eye(k))
    scores, moves = token_scores(tokens, w, k)
    plain = chains.label(w, None, None, 1)
    labels, heights, losses = chains.search(w, truth, cost.ravel(), 1)
    assert np.array_equal(labels, chains.label(w, truth, cost.ravel(), 1))
    for i, (begin, end) in enumerate(zip(tokens.starts[:-1], tokens.starts[1:], strict=True)):
        part = slice(begin, end)
        best, total = best_by_trying(scores[part], moves)
        assert total(plain[part]) == pytest.approx(best, abs=1e-12)
        best, augmented = best_by_trying(scores[part] + cost[truth[part]], moves)
        assert augmented(labels[part]) == pytest.approx(best, abs=1e-12)
        assert heights[i] == pytest.approx(best - total(truth[part]), abs=1e-12)
        assert losses[i] == pytest.approx(cost[truth[part], labels[part]].sum(), abs=1e-12)


def test_differences_and_features_are_those_of_the_score():
    rng = np.random.default_rng(0)
    tokens, k = random_tokens(rng, 6, 5, 7, binary=False), 3
    chains = tokens.chains(k)
    a, b = (rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32) for _ in range(2))
    difference = chains.difference(a, b, np.full(6, 0.5))
    assert difference == pytest.approx(0.5 * (chains.features(a) - chains.features(b)), abs=1e-12)
    w = rng.normal(size=len(difference))
    scores, moves = token_scores(tokens, w, k)
    total = sum(
        best_by_trying(scores[s:e], moves)[1](a[s:e])
        for s, e in zip(tokens.starts[:-1], tokens.starts[1:], strict=True)
    )
    assert chains.features(a) @ w == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 40])
def test_any_number_of_labels_and_threads(k):
    """Enough tokens for several blocks; more or fewer labels than fit a vector."""
    rng = np.random.default_rng(k)
    tokens = random_tokens(rng, 900, 12, 50, binary=True)
    chains = tokens.chains(k)
    w = rng.normal(size=(50 + k) * k)
    truth = rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32)
    cost = (1.0 - np.eye(k)).ravel()
    one = chains.search(w, truth, cost, 1)
    for threads in (2, 3):
        for a, b in zip(one, chains.search(w, truth, cost, threads), strict=True):
            assert np.array_equal(a, b)
    # No single change of a label makes a labelling better: a fact that dynamic programming must ensure.
    scores, moves = token_scores(tokens, w, k)
    scores += cost.reshape(k, k)[truth]
    labels = one[0]
    inner = np.setdiff1d(np.arange(1, len(labels) - 1), np.concatenate([tokens.starts, tokens.starts - 1]))
    here = (
        scores[inner, labels[inner]] + moves[labels[inner - 1], labels[inner]] + moves[labels[inner], labels[inner + 1]]
    )
    for other in range(k):
        there = scores[inner, other] + moves[labels[inner - 1], other] + moves[other, labels[inner + 1]]
        assert np.all(there <= here + 1e-9)


@pytest.mark.parametrize(("n", "longest"), [(60, 6), (8, 600)])
def test_the_ascents_plane_is_its_weights_and_holds(n, longest):
    """Many short sequences, and fewer than a batch that are long."""
    rng = np.random.default_rng(1)
    tokens, k, C = random_tokens(rng, n, longest, 10, binary=False), 4, 0.3
    truth = rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32)
    sample = ChainSample(ChainModel(k, 10), tokens, truth)
    ascent = sample.ascent(C, seed=3)
    last = -np.inf
    for _ in range(6):
        ascent.epoch()
        assert ascent.estimate >= last - 1e-9  # every step ascends
        last = ascent.estimate
    w = ascent.weights
    slope, offset = ascent.plane()
    assert -C * sample.examples * slope == pytest.approx(w, abs=1e-9)
    assert C * sample.examples * offset - 0.5 * w @ w == pytest.approx(ascent.estimate, rel=1e-10)
    ascent.renew(sample.sweep(w))
    gap = 0.5 * w @ w + C * sample.examples * sample.sweep(w).value - ascent.estimate
    assert ascent.gap_estimate == pytest.approx(gap, rel=1e-9)
    for v in rng.normal(size=(20, len(w))):
        assert slope @ v + offset <= sample.sweep(v).value + 1e-10


def test_threads_do_not_change_a_bit_of_the_ascent():
    """Enough sequences and weights for several threads in every part of it."""
    rng = np.random.default_rng(5)
    tokens, k = random_tokens(rng, 3000, 40, 10_000, binary=False), 8
    truth = rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32)
    found = []
    for threads in (1, 2, 5, 16):
        sample = ChainSample(ChainModel(k, 10_000), tokens, truth, n_threads=threads)
        ascent, mean = sample.ascent(0.1, seed=0), np.zeros(sample.dimension)
        for _ in range(3):
            ascent.epoch()
            ascent.blend(mean, 0.5)
        ascent.renew(sample.sweep(ascent.weights))
        ascent.epoch()
        slope, offset = ascent.plane()
        found.append(np.concatenate([ascent.weights, mean, slope, [offset, ascent.estimate, ascent.gap_estimate]]))
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_a_mean_moves_towards_the_weights():
    rng = np.random.default_rng(6)
    tokens, k = random_tokens(rng, 30, 5, 10, binary=True), 3
    truth = rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32)
    ascent = ChainSample(ChainModel(k, 10), tokens, truth).ascent(1.0, 0)
    ascent.epoch()
    before = rng.normal(size=len(ascent.weights))
    mean = before.copy()
    ascent.blend(mean, 0.25)
    assert mean == pytest.approx(0.75 * before + 0.25 * ascent.weights, rel=1e-12)
    with pytest.raises(ValueError, match="as many entries as there are weights"):
        ascent.blend(mean[1:], 0.25)


def test_the_ascent_is_seeded():
    rng = np.random.default_rng(2)
    tokens, k = random_tokens(rng, 30, 5, 10, binary=True), 3
    truth = rng.integers(0, k, size=tokens.starts[-1]).astype(np.int32)
    weights = []
    for seed in (0, 0, 1):
        ascent = ChainSample(ChainModel(k, 10), tokens, truth).ascent(1.0, seed)
        ascent.epoch()
        ascent.epoch()
        weights.append(ascent.weights)
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


@pytest.mark.parametrize(
    "change",
    [
        {"starts": np.array([0, 3], dtype=np.int64)},
        {"indptr": np.array([0, 2, 1], dtype=np.int64)},
        {"indices": np.array([0, 5], dtype=np.int32)},
        {"values": np.ones(1)},
        {"labels": 0},
    ],
)
def test_the_core_refuses_what_does_not_fit(change):
    parts = {
        "starts": np.array([0, 2], dtype=np.int64),
        "indptr": np.array([0, 1, 2], dtype=np.int64),
        "indices": np.array([0, 1], dtype=np.int32),
        "values": None,
        "features": 2,
        "labels": 2,
    }
    _core.Chains(**parts)
    with pytest.raises(ValueError, match=r"must|needed|range"):
        _core.Chains(**{**parts, **change})

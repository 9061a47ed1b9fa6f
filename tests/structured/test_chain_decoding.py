"""Best labellings and margins of chains, against all labellings there are."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.structured.chain_decoding import best_labellings, max_marginals, token_margins


def everything(scores: np.ndarray, transitions: np.ndarray) -> dict[tuple[int, ...], float]:
    """The score of every labelling."""
    return {
        way: sum(scores[t, label] for t, label in enumerate(way)) + sum(transitions[a, b] for a, b in pairwise(way))
        for way in product(range(scores.shape[1]), repeat=len(scores))
    }


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_the_best_labellings_are_the_best_of_all(length: int, labels: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, transitions = rng.normal(size=(length, labels)), rng.normal(size=(labels, labels))
    known = everything(scores, transitions)
    found = best_labellings(scores, transitions, count)
    assert len(found) == min(count, labels**length)
    wanted = sorted(known.values(), reverse=True)[: len(found)]
    np.testing.assert_allclose([score for score, _ in found], wanted, atol=1e-12)
    np.testing.assert_allclose([known[tuple(way.tolist())] for _, way in found], wanted, atol=1e-12)
    assert len({tuple(way.tolist()) for _, way in found}) == len(found)


@given(st.integers(1, 5), st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_margins_are_what_another_label_costs(length: int, labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, transitions = rng.normal(size=(length, labels)), rng.normal(size=(labels, labels))
    known = everything(scores, transitions)
    best = max(known, key=known.__getitem__)
    for t in range(length):
        others = [score for way, score in known.items() if way[t] != best[t]]
        assert token_margins(scores, transitions)[t] == pytest.approx(known[best] - max(others), abs=1e-12)
        for label in range(labels):
            there = max(score for way, score in known.items() if way[t] == label)
            assert max_marginals(scores, transitions)[t, label] == pytest.approx(there)
    (first, _), (second, _) = best_labellings(scores, transitions, 2)
    assert token_margins(scores, transitions).min() == pytest.approx(first - second, abs=1e-12)


def test_with_one_label_nothing_else_is_possible() -> None:
    assert token_margins(np.zeros((3, 1)), np.zeros((1, 1))).tolist() == [np.inf] * 3

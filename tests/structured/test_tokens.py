"""Named features get the same numbers, whichever way they are counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane import _core
from cutplane.structured.tokens import Vocabulary

NAMES = st.sampled_from(["", "a", "b", "w=ü", "語", "a\0b", "a\0c", "long " * 9])
SEQUENCES = st.lists(st.lists(st.one_of(st.lists(NAMES), st.tuples(NAMES, NAMES)), max_size=4), max_size=5)


def encoded_one_by_one(X):
    """By a dictionary, the plain way."""
    numbers: dict[str, int] = {}
    return [[[numbers.setdefault(name, len(numbers)) for name in token] for token in x] for x in X], list(numbers)


@given(SEQUENCES, st.integers(1, 3))
def test_names_are_numbered_in_the_order_they_are_met(X, threads):
    vocabulary = Vocabulary()
    tokens = vocabulary.encode(X, grow=True, n_threads=threads)
    wanted, names = encoded_one_by_one(X)
    assert vocabulary.names == names
    assert np.array_equal(np.diff(tokens.starts), [len(x) for x in X])
    found = [tokens.indices[a:b].tolist() for a, b in zip(tokens.indptr[:-1], tokens.indptr[1:], strict=True)]
    assert found == [token for x in wanted for token in x]
    assert tokens.values is None
    again = Vocabulary(names).encode(X, grow=False)
    assert np.array_equal(again.indices, tokens.indices)
    assert np.array_equal(again.indptr, tokens.indptr)


def test_threads_do_not_change_the_numbers():
    rng = np.random.default_rng(0)
    X = [[[f"f{number}" for number in rng.zipf(1.3, 20) % 5000] for _ in range(10)] for _ in range(300)]
    one, *others = (_core.number_tokens(X, threads) for threads in (1, 2, 3, 16))
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(one[:2], other[:2], strict=True))
        assert one[2] == other[2]
    wanted, names = encoded_one_by_one(X)
    assert one[2] == names
    assert one[1].tolist() == [number for x in wanted for token in x for number in token]


@pytest.mark.parametrize("token", [{"a"}, {"a": 1.0}, ["a", 1], ["a", None], "ab", None, ["\ud800"]])
def test_what_is_no_list_of_names_is_left_to_the_plain_way(token):
    assert _core.number_tokens([[["a"], token]], 1) is None


@pytest.mark.parametrize("name", [1, None, b"a", ["a"]])
def test_names_that_are_none_are_refused_where_they_are(name):
    with pytest.raises(ValueError, match="Token 1 of sequence 0 has the feature"):
        Vocabulary().encode([[["a"], ["a", name]]], grow=True)

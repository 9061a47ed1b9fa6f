"""Vectors with many zeros in files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.io.sparse_vector import vector_from_arrays, vector_to_arrays


@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0]), max_size=60))
def test_a_vector_comes_back_and_takes_no_more_room(entries: list[float]) -> None:
    vector = np.array(entries)
    arrays = vector_to_arrays("w", vector)
    np.testing.assert_array_equal(vector_from_arrays("w", arrays, len(vector)), vector)
    assert sum(array.nbytes for array in arrays.values()) <= vector.nbytes


def test_zeros_take_no_room() -> None:
    vector = np.zeros(10_000)
    vector[[3, 500]] = 1.0
    assert sum(array.nbytes for array in vector_to_arrays("w", vector).values()) == 24


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ([1.0, 2.0], [1]),
        ([1.0, 2.0], [2, 1]),
        ([1.0, 2.0], [1, 1]),
        ([1.0], [-1]),
        ([1.0], [5]),
        ([np.nan], [1]),
        ([1.0], [1.0]),
        ([[1.0]], [[1]]),
    ],
)
def test_damage_is_found(values: list[float], places: list[int]) -> None:
    with pytest.raises(ValueError, match="w "):
        vector_from_arrays("w", {"w.values": np.array(values), "w.places": np.array(places)}, 5)
    with pytest.raises(ValueError, match="w should have 5"):
        vector_from_arrays("w", {"w": np.zeros(4)}, 5)

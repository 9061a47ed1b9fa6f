"""Python values as strict JSON and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutplane.io.plain_json import decode, encode

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(scalars | st.just("$float"), inner),
    max_leaves=10,
)


@given(values)
def test_every_value_survives_strict_json(value: Any) -> None:
    assert decode(json.loads(json.dumps(encode(value), allow_nan=False))) == value


def test_nan_survives() -> None:
    assert np.isnan(decode(encode(float("nan"))))


@pytest.mark.parametrize(
    ("value", "plain"),
    [(np.int64(3), 3), (np.float32(0.5), 0.5), (np.bool_(True), True), (np.str_("a"), "a"), ((1, 2), [1, 2])],
)
def test_numpy_scalars_become_plain(value: Any, plain: Any) -> None:
    assert encode(value) == plain
    assert type(encode(value)) is type(plain)


@pytest.mark.parametrize("value", [print, object(), {1: [lambda: 0]}, 1j, {1, 2}])
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        encode(value)


@pytest.mark.parametrize("value", [{"$pairs": 3}, {"$pairs": [[1]]}, {"$pairs": [[[], 1]]}, {"$pairs": [[{}, 1]]}])
def test_damaged_pairs_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="pairs"):
        decode(value)

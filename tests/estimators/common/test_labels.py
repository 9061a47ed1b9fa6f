"""Labels are told apart by a table where they can be: as `np.unique` does, in every type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane.estimators.common.validation import check_many_labels
from cutplane.risks.labels import class_sums, coded, coded_by_table, signs

TYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [2, 40, 128, 200, 40_000])
def test_codes_are_those_of_unique(dtype: str, count: int) -> None:
    most = {"bool": 2, "int8": 128, "uint8": 256, "int16": 2**15, "float16": 2048}.get(dtype, count)
    rng = np.random.default_rng(0)
    y = rng.permutation(np.resize(np.arange(min(count, most)), 100_003)).astype(dtype)[::-1]
    coded = coded_by_table(y)
    assert coded is not None
    classes, codes = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(coded[0], classes)
    np.testing.assert_array_equal(coded[1], codes)
    assert coded[0].dtype == y.dtype
    assert coded[1].dtype.itemsize <= 4


@pytest.mark.parametrize("y", [[0.5, 1.0], [np.nan, 1.0], [np.inf, 0.0], [0, 2**60], [0, 70_000], [-(2**53), 2**53]])
def test_other_numbers_are_sorted(y: list[float]) -> None:
    assert coded_by_table(np.array(y)) is None


def test_negative_labels_and_signs() -> None:
    classes, codes = check_many_labels(np.array([-3, 5, -3, 0]))
    assert classes.tolist() == [-3, 0, 5]
    assert codes.tolist() == [0, 2, 0, 1]
    assert signs(codes, 2).tolist() == [-1, 1, -1, -1]
    assert signs(codes[::2], 0).tolist() == [1, 1]


@pytest.mark.parametrize("y", [["b", "a", "b"], [3, -2, 3, 7], [0.5, 0.25], [True, False], [10**12, -7]], ids=str)
def test_labels_of_any_kind_are_coded(y: list[Any]) -> None:
    classes, codes = coded(np.array(y))
    assert classes.tolist() == sorted(set(y))
    assert classes[codes].tolist() == y
    assert codes.dtype == np.int8


@pytest.mark.parametrize("weighted", [True, False])
def test_classes_are_summed_over_blocks(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 200_000).astype(np.int8)
    weights = rng.random(len(codes)) if weighted else None
    expected = np.bincount(codes.astype(np.intp), weights, 6)
    np.testing.assert_allclose(class_sums(codes, weights, 6), expected, rtol=1e-12)

"""Values of one or two bytes, read where they lie: the same numbers as in float32, to the bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.sources.test_matrix import LAYOUTS

from cutplane import _core
from cutplane.sources import DenseSource, MappedSource, open_rows
from cutplane.testing import check_source

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float16), BFLOAT16, np.dtype(np.int8), np.dtype(np.uint8), np.dtype(bool)]
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
DENSE = {name: layout for name, layout in LAYOUTS.items() if "csr" not in name}
layouts = pytest.mark.parametrize("layout", DENSE.values(), ids=DENSE.keys())
# Fewer columns than a vector, whole vectors and some more, one tile and some more, several tiles.
WIDTHS = [1, 3, 8, 9, 54, 255, 264, 265, 600]


def data(n: int, d: int, dtype: np.dtype[Any], seed: int = 0) -> np.ndarray:
    """Values of every size that the type has, some zeros among them."""
    rng = np.random.default_rng(seed)
    if dtype.kind in "biu":
        low, high = (0, 2) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
        return rng.integers(low, high, size=(n, d)).astype(dtype)
    X = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-24, 10, size=(n, d)) * (rng.random((n, d)) < 0.7)
    return X.astype(dtype)


def every_value(dtype: np.dtype[Any]) -> np.ndarray:
    bits = np.arange(2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}")
    return (bits % 2 if dtype.kind == "b" else bits).view(dtype)


@dtypes
@pytest.mark.parametrize("width", [1, 7, 8, 13, 256])
def test_every_value_is_that_float(dtype: np.dtype[Any], width: int) -> None:
    values = every_value(dtype)
    X = np.resize(values, (-(-len(values) // width), width))
    with np.errstate(invalid="ignore"):
        expected = X.astype(np.float32)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        given = layout(X)
        found = _core.widened(given.view(f"u{dtype.itemsize}"), _narrow_type(dtype))
        same = found.view(np.uint32) == expected.view(np.uint32)
        assert (same | (np.isnan(found) & np.isnan(expected))).all()


def _narrow_type(dtype: np.dtype[Any]) -> _core.NarrowType:
    return getattr(_core.NarrowType, "uint8" if dtype.kind == "b" else dtype.name)


@layouts
@dtypes
@pytest.mark.parametrize(("n", "d"), [(300, 7), (90, 40), (1, 1), (1, 5), (5, 1), (2, 300)])
def test_a_source_is_the_matrix(layout: Callable[..., Any], dtype: np.dtype[Any], n: int, d: int) -> None:
    X = layout(data(n, d, dtype))
    check_source(DenseSource(X), X.astype(np.float64), twins=[DenseSource(X, n_threads=t) for t in (1, 2, 5)])


def _passes(source: DenseSource, n: int, d: int) -> list[Any]:
    """All that is asked of a source."""
    rng = np.random.default_rng(1)
    w, coef = rng.normal(size=(d, 5)), rng.normal(size=(n, 5)) * (rng.random((n, 1)) < 0.6)
    rows, weights = np.flatnonzero(rng.random(n) < 0.5), rng.random(n)
    weight = weights[: len(rows)]
    rough = source.rough()
    found: list[Any] = [source.scores(each) for each in (w, w[:, 0])]
    found += [source.combine(each) for each in (coef, coef[:, 0])]
    found += [source.core.single_scores(w[:, 0])[0], source.curvature(rows, weight, w[:, 0])]
    found += [np.tril(source.gram(rows, weight)), source.dense_rows(rows, weight), source.products()]
    found += [rough.scores(w), rough.combine(rough.scores(w))]
    found += [source.extent.reach, source.extent.row_depth, source.extent.sum_depth, source.extent.columns]
    return found


@dtypes
@pytest.mark.parametrize("d", WIDTHS)
def test_bits_are_those_of_float32(dtype: np.dtype[Any], d: int) -> None:
    n = 301
    X = data(n, d, dtype)
    rows = np.random.default_rng(2).permutation(n)[:203].astype(np.int64)
    narrow, wide = DenseSource(X), DenseSource(X.astype(np.float32))
    for one, other in ((narrow, wide), (narrow.take(rows), wide.take(rows)), (narrow.gathered(rows), wide.take(rows))):
        size = one.shape[0]
        gathered = DenseSource(X[rows].astype(np.float32)) if one.shape != narrow.shape and one._rows is None else other
        for found, expected in zip(_passes(one, size, d), _passes(gathered, size, d), strict=True):
            np.testing.assert_array_equal(found, expected)


@dtypes
@pytest.mark.parametrize("d", [3, 54, 265])
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_bits_are_those_of_float32_for_vectors_of_any_size(dtype: np.dtype[Any], d: int, lanes: int) -> None:
    X = data(100, d, dtype)
    w, coef = np.random.default_rng(0).normal(size=d), np.random.default_rng(1).normal(size=100)
    narrow = _core.Matrix.narrow(X.view(f"u{dtype.itemsize}"), _narrow_type(dtype), most_lanes=lanes)
    wide = _core.Matrix.dense(X.astype(np.float32), most_lanes=lanes)
    np.testing.assert_array_equal(narrow.scores(w), wide.scores(w))
    np.testing.assert_array_equal(narrow.combine(coef), wide.combine(coef))


@dtypes
@pytest.mark.parametrize("n", [1, 500, 5000])
def test_passes_by_columns_are_those_of_float32(dtype: np.dtype[Any], n: int) -> None:
    X = np.asfortranarray(data(n, 6, dtype))
    narrow, wide = DenseSource(X), DenseSource(np.asfortranarray(X, np.float32))
    w, coef = np.random.default_rng(0).normal(size=6), np.random.default_rng(1).normal(size=n)
    np.testing.assert_array_equal(narrow.scores(w), wide.scores(w))
    np.testing.assert_array_equal(narrow.combine(coef), wide.combine(coef))
    assert narrow.extent.reach == wide.extent.reach
    np.testing.assert_array_equal(narrow.extent.columns, wide.extent.columns)


@layouts
@dtypes
def test_nothing_is_copied(layout: Callable[..., Any], dtype: np.dtype[Any]) -> None:
    X = layout(np.zeros((50, 4), dtype))
    source = DenseSource(X)
    assert not source.scores(np.ones(4)).any()
    X[:] = 1
    np.testing.assert_array_equal(source.scores(np.ones(4)), np.full(50, 4.0))
    np.testing.assert_array_equal(source.take(np.arange(50)).combine(np.ones(50)), np.full(4, 50.0))


@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_not_finite_is_found(dtype: np.dtype[Any], value: float, order: Any) -> None:
    X = np.asarray(data(40, 30, dtype), order=order)
    assert DenseSource(X).core.first_unusable_row() == -1
    X[17, 29] = value
    assert DenseSource(X).core.first_unusable_row() == 17


@dtypes
def test_a_source_is_pickled_as_its_rows(dtype: np.dtype[Any]) -> None:
    X = data(20, 3, dtype)
    rows = np.array([3, 1, 19])
    again = pickle.loads(pickle.dumps(DenseSource(X).take(rows)))
    np.testing.assert_array_equal(again.scores(np.eye(3)), X[rows].astype(np.float64))


@pytest.mark.parametrize("dtype", [each for each in DTYPES if each != BFLOAT16], ids=str)
def test_files_are_read_in_their_type(tmp_path: Path, dtype: np.dtype[Any]) -> None:
    X = data(60, 4, dtype)
    np.save(tmp_path / "X.npy", X)
    check_source(MappedSource(open_rows(tmp_path / "X.npy")), X.astype(np.float64))
    check_source(DenseSource(np.load(tmp_path / "X.npy", mmap_mode="r")), X.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.int16, np.float128, np.dtype(">f2"), "U3"], ids=str)
def test_other_types_are_refused(dtype: Any) -> None:
    with pytest.raises(TypeError, match="float16, bfloat16, int8, uint8 or booleans, not"):
        DenseSource(np.zeros((3, 2)).astype(dtype))


def test_a_size_that_is_not_that_of_the_type_is_refused() -> None:
    with pytest.raises(ValueError, match="another size"):
        _core.Matrix.narrow(np.zeros((2, 2), np.uint16), _core.NarrowType.int8)
    with pytest.raises(ValueError, match="another size"):
        _core.widened(np.zeros((2, 2), np.uint8), _core.NarrowType.float16)

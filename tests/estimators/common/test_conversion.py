"""X of other types and layouts, converted on all threads: the same numbers as SciPy and NumPy give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import LinearSVC
from cutplane.estimators.common.validation import conversion
from cutplane.estimators.common.validation.conversion import converted


@pytest.fixture
def entries() -> sp.coo_array:
    """Entries in no order, many enough for several threads; some rows and columns are empty."""
    generator = np.random.default_rng(0)
    shape = (700, 300)
    places = generator.choice(shape[0] * shape[1], 60_000, replace=False)
    rows, columns = np.divmod(places, shape[1])
    keep = (rows % 7 != 3) & (columns != 11)
    return sp.coo_array((generator.normal(size=keep.sum()), (rows[keep], columns[keep])), shape=shape)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, bool, np.int32])
@pytest.mark.parametrize("layout", ["csc", "coo", "csr"])
def test_sparse(entries: sp.coo_array, layout: str, dtype: Any, index: Any, threads: int) -> None:
    given = entries.astype(dtype) if dtype not in (np.int8, np.int32) else (100 * entries).astype(dtype)
    X = given.asformat(layout)
    if layout == "coo":
        X.coords = tuple(axis.astype(index) for axis in X.coords)
    else:
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    found = converted(X, threads)
    assert found.format == "csr"
    expected = {np.int8: np.float32, bool: np.float32, np.int32: np.float64}.get(dtype, dtype)
    assert found.dtype == expected
    assert found.has_canonical_format or layout == "coo"
    assert (found.toarray() == X.toarray()).all()
    assert found is X if layout == "csr" and found.dtype == dtype else found is not X


def test_entries_stay_in_the_order_given() -> None:
    X = sp.coo_array(([1.0, 2.0, 4.0, 8.0], ([1, 0, 1, 1], [2, 0, 0, 2])), shape=(2, 3))
    found = converted(X, 2)
    assert found.indices.tolist() == [0, 2, 0, 2]  # twice (1, 2): added up by whoever looks for duplicates
    assert found.data.tolist() == [2.0, 1.0, 4.0, 8.0]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (4, 2)])
@pytest.mark.parametrize("layout", ["csc", "coo"])
def test_nothing_stored(shape: tuple[int, int], layout: str) -> None:
    found = converted(sp.coo_array(shape).asformat(layout), 2)
    assert found.shape == shape
    assert found.nnz == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [bool, np.int16, np.uint64])
def test_dense(dtype: Any, order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_MANY", 10)
    X = np.asarray(np.random.default_rng(0).integers(0, 2, (301, 7)), dtype, order=order)
    found = converted(X, 3)
    assert found.dtype == np.float64
    assert found.flags.c_contiguous == X.flags.c_contiguous
    assert (found == X).all()
    some = converted(X[::2, ::3], 3)
    assert (some == X[::2, ::3]).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "wanted"), [(np.float16, np.float32), (np.longdouble, np.float64)])
def test_precision(dtype: Any, wanted: Any, order: Any) -> None:
    X = np.asarray(np.random.default_rng(0).normal(size=(5, 3)), dtype, order=order)
    found = converted(X, 2)
    assert found.dtype == wanted
    assert found.flags.c_contiguous == X.flags.c_contiguous
    assert (found == X.astype(wanted)).all()


def test_what_is_none_of_these_is_left_alone() -> None:
    for X in (
        [[1, 2]],
        np.ones(3, bool),
        sp.lil_array((2, 2)),
        sp.csc_array((2, 2), dtype=complex),
    ):
        assert converted(X, 2) is X


def test_positions_of_entries_need_wide_indices_where_they_are_many() -> None:
    narrow, wide = np.dtype(np.int32), np.dtype(np.int64)
    assert conversion.index_type(2**31 - 1, narrow, narrow) is np.int32
    assert conversion.index_type(2**31, narrow, narrow) is np.int64
    assert conversion.index_type(1, narrow, wide) is np.int64


def test_models_are_those_of_csr(entries: sp.coo_array) -> None:
    y = np.arange(entries.shape[0]) % 2
    rows, columns, anyhow = (LinearSVC().fit(entries.asformat(each), y) for each in ("csr", "csc", "coo"))
    assert (rows.coef_ == columns.coef_).all()
    # The entries of a row come in another order: sums differ in their last digits.
    assert anyhow.gap_ <= 1e-3
    assert rows.lower_bound_ <= anyhow.objective_
    assert anyhow.lower_bound_ <= rows.objective_

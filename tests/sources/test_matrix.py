"""Dense and CSR sources: the linear map X, whatever X is stored as, where it lies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from cutplane import _core
from cutplane.sources import CsrSource, DenseSource, as_source
from cutplane.testing import check_source, reference

Layout = Callable[[np.ndarray], Any]


def row_strided(X: np.ndarray) -> np.ndarray:
    """Every second row and the first columns of a larger array."""
    larger = np.zeros((2 * X.shape[0], X.shape[1] + 3), X.dtype)
    larger[::2, : X.shape[1]] = X
    return larger[::2, : X.shape[1]]


def column_strided(X: np.ndarray) -> np.ndarray:
    """The transpose of some rows of a larger array: columns are contiguous, with gaps between them."""
    larger = np.zeros((X.shape[1] + 2, X.shape[0] + 5), X.dtype)
    larger[: X.shape[1], : X.shape[0]] = X.T
    return larger[: X.shape[1], : X.shape[0]].T


def backwards(X: np.ndarray) -> np.ndarray:
    """Rows that lie in memory in the opposite order."""
    return np.ascontiguousarray(X[::-1])[::-1]


def csr(X: np.ndarray, index: type = np.int32) -> sp.csr_array:
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


LAYOUTS: dict[str, Layout] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "row strided": row_strided,
    "column strided": column_strided,
    "backwards": backwards,
    "csr int32": csr,
    "csr int64": lambda X: csr(X, np.int64),
    "csr matrix": sp.csr_matrix,
}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def data(n: int, d: int, dtype: type = np.float64, seed: int = 0) -> np.ndarray:
    """Two thirds zeros, and some rows with nothing else."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 1 / 3)
    X[rng.random(n) < 0.1] = 0.0
    return X.astype(dtype)


@layouts
@dtypes
@pytest.mark.parametrize(("n", "d"), [(300, 7), (90, 40), (1, 1), (1, 5), (5, 1), (2, 300)])
def test_a_source_is_the_matrix(layout: Layout, dtype: type, n: int, d: int) -> None:
    X = data(n, d, dtype)
    check_source(as_source(layout(X)), X)


@layouts
@dtypes
def test_threads_change_no_bit(layout: Layout, dtype: type) -> None:
    rng = np.random.default_rng(0)
    n, d = 50_000, 6
    X = layout(data(n, d, dtype))
    rows, weights = np.flatnonzero(rng.random(n) < 0.7), rng.random(n)
    w, coef = rng.normal(size=(d, 2)), rng.normal(size=(n, 2))

    def products(threads: int) -> list[np.ndarray]:
        whole = as_source(X, n_threads=threads)
        part = whole.take(rows)
        weight = weights[: len(rows)]
        curvatures = [whole.curvature(rows, weight, w[:, 0]), np.tril(whole.gram(rows, weight))]
        scores = [source.scores(v) for source in (whole, part) for v in (w, w[:, 0])]
        sums = [source.combine(c[: source.shape[0]]) for source in (whole, part) for c in (coef, coef[:, 0])]
        return curvatures + scores + sums

    alone = products(1)
    for threads in (2, 5):
        for one, several in zip(alone, products(threads), strict=True):
            np.testing.assert_array_equal(several, one)


@given(
    X=st.tuples(st.integers(1, 40), st.integers(1, 12)).flatmap(
        lambda shape: st.lists(
            st.floats(-1e6, 1e6, width=32), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]
        ).map(lambda values: np.array(values).reshape(shape))
    ),
    name=st.sampled_from(sorted(LAYOUTS)),
    seed=st.integers(0, 1000),
)
def test_any_values_in_any_layout(X: np.ndarray, name: str, seed: int) -> None:
    check_source(as_source(LAYOUTS[name](X)), X, seed=seed)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8])
@pytest.mark.parametrize("k", [2, 3, 6, 7])
def test_several_columns_of_coefficients_are_each_a_sum(order: str, dtype: Any, k: int) -> None:
    """Many rows of them, few of them, and some of the examples."""
    rng = np.random.default_rng(k)
    X = np.asarray(rng.integers(0, 9, size=(5000, 11)), dtype, order=order)
    coef = rng.normal(size=(5000, k))
    rare = np.where(rng.random((5000, k)) < 0.1, coef, 0.0)
    chosen = np.sort(rng.permutation(5000)[:2000])
    for n_threads in (1, 2):
        source = DenseSource(X, n_threads=n_threads)
        for each in (coef, rare):
            np.testing.assert_allclose(source.combine(each), X.T.astype(float) @ each, rtol=0, atol=1e-9)
            part = source.take(chosen).combine(each[chosen])
            np.testing.assert_allclose(part, X[chosen].T.astype(float) @ each[chosen], rtol=0, atol=1e-9)
    one, two = (DenseSource(X, n_threads=threads).combine(coef) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_sums_are_in_double_precision() -> None:
    # 2^24 + 1 is no float32: a sum in single precision would stay at 2^24.
    X = np.ones((1 << 12, 1), np.float32)
    X[0] = 2.0**24
    total = DenseSource(X).combine(np.ones(len(X)))
    assert total[0] == 2.0**24 + len(X) - 1
    np.testing.assert_array_equal(DenseSource(np.ascontiguousarray(X.T)).scores(np.ones(len(X))), total)


@pytest.mark.parametrize("d", [20, 64, 200])
def test_gram_of_many_features(d: int) -> None:
    X = data(500, d)
    rows, weights = np.arange(0, 500, 3), np.random.default_rng(0).random(167)
    expected = np.tril(reference.gram(X, rows, weights))
    for source in (DenseSource(X), CsrSource(csr(X))):
        np.testing.assert_allclose(np.tril(source.gram(rows, weights)), expected, atol=1e-5 * np.abs(expected).max())


def test_gram_of_many_sparse_features_is_the_same_for_any_number_of_threads() -> None:
    # So many that it is summed by parts of its triangle.
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 500), density=0.2, rng=rng, format="csr")
    rows, weights = np.arange(0, 300, 2), rng.random(150)
    grams = [np.tril(as_source(X, n_threads=threads).gram(rows, weights)) for threads in (1, 2, 3)]
    np.testing.assert_allclose(grams[0], np.tril(reference.gram(X.toarray(), rows, weights)), rtol=0, atol=1e-12)
    assert all((gram == grams[0]).all() for gram in grams)


@layouts
def test_products_of_all_pairs_of_rows(layout: Layout) -> None:
    X = data(1100, 9)  # several blocks
    expected = X @ X.T
    found = as_source(layout(X), n_threads=2).products()
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    assert np.array_equal(found, as_source(layout(X), n_threads=1).products())


@layouts
@dtypes
def test_nothing_is_copied(layout: Layout, dtype: type) -> None:
    # What a source says changes with the array it was made from: it looks at that memory.
    X = layout(data(50, 4, dtype))
    source = as_source(X)
    values = X.data if sp.issparse(X) else X
    before = source.scores(np.ones(4))
    values *= 2.0
    np.testing.assert_array_equal(source.scores(np.ones(4)), 2.0 * before)
    np.testing.assert_array_equal(source.take(np.arange(50)).scores(np.ones(4)), 2.0 * before)


@dtypes
def test_a_memory_map_is_read_where_it_lies(tmp_path: Path, dtype: type) -> None:
    X = data(200, 5, dtype)
    writable = np.memmap(tmp_path / "X", dtype=dtype, mode="w+", shape=X.shape)
    writable[:] = X
    writable.flush()
    mapped = np.memmap(tmp_path / "X", dtype=dtype, mode="r", shape=X.shape)
    source = DenseSource(mapped)
    check_source(source, X)
    writable[3] = 1.0
    assert source.scores(np.ones(5))[3] == 5.0


def test_arrays_live_as_long_as_their_source() -> None:
    def make(X: np.ndarray) -> list[Any]:
        rows = np.arange(100)[::-1].copy()
        return [as_source(layout(X.copy())).take(rows) for layout in LAYOUTS.values()]

    X = data(100, 8)
    for source in make(X):
        np.testing.assert_allclose(source.scores(np.ones(8)), X[::-1].sum(axis=1), atol=1e-12)


def test_an_array_of_another_stride_is_copied_once() -> None:
    X = data(60, 10)
    view = X[:, ::2]
    check_source(DenseSource(view), view)


def test_rows_that_do_not_exist_are_refused() -> None:
    for source in (DenseSource(data(10, 3)), CsrSource(csr(data(10, 3)))):
        for wrong in (10, -1, 2**40):
            with pytest.raises(IndexError, match=str(wrong)):
                source.take(np.array([0, wrong]))


@pytest.mark.parametrize("dtype", [np.int64, np.complex128, bool])
def test_other_types_are_refused(dtype: type) -> None:
    X = np.ones((3, 2)).astype(dtype)
    with pytest.raises(TypeError, match=str(X.dtype)):
        as_source(sp.csr_array(X))
    if dtype is not bool:
        with pytest.raises(TypeError, match=str(X.dtype)):
            as_source(X)


def test_a_source_is_a_source_already() -> None:
    source = DenseSource(data(10, 2))
    assert as_source(source) is source


@pytest.mark.parametrize("make", [DenseSource, lambda X: CsrSource(csr(X))], ids=["dense", "csr"])
def test_vectors_of_the_wrong_length_are_refused(make: Callable[[np.ndarray], Any]) -> None:
    source = make(data(10, 3))
    for call in (source.scores, source.combine):
        with pytest.raises(ValueError, match=r"one row per (feature|example)"):
            call(np.ones(4))
    with pytest.raises(ValueError, match="out of range"):
        source.curvature(np.array([0, 10]), np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="one weight per row"):
        source.gram(np.array([0, 1]), np.ones(3))


@dtypes
@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 9, 15, 54, 64, 65, 1023, 1030])
def test_dense_passes_whatever_vectors_the_machine_has(lanes: int, d: int, dtype: type) -> None:
    rng = np.random.default_rng(d)
    for n in (1, 7, 8, 9, 100, 2500):
        X = data(n, d, dtype, seed=n)
        w, coef = rng.standard_normal(d), rng.standard_normal(n) * (rng.random(n) < 0.6)
        chosen = rng.integers(0, n, size=n)
        for rows, wide in ((None, X.astype(float)), (chosen, X[chosen].astype(float))):
            matrix = _core.Matrix.dense(X, rows, lanes)
            np.testing.assert_allclose(matrix.scores(w), wide @ w, rtol=0, atol=1e-12 * d)
            np.testing.assert_allclose(matrix.combine(coef), coef @ wide, rtol=0, atol=1e-12 * n)


@layouts
@dtypes
@pytest.mark.parametrize("d", [5, 2000])
def test_scores_and_sums_in_one_pass_are_those_of_two(layout: Layout, dtype: type, d: int) -> None:
    """Of long rows, few are looked at together."""
    rng = np.random.default_rng(0)
    n, h = 3000 if d == 5 else 400, 0.7
    X, w = layout(data(n, d, dtype)), rng.normal(size=d) / np.sqrt(d)
    hinge, base = _core.Hinge(np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8), None, 1.0 / n), rng.normal(size=n)
    scores, slope, sums = hinge.scored_plane(as_source(X).core, w, base, h, 1)
    np.testing.assert_allclose(scores, base + as_source(X).scores(w), atol=1e-12)
    slope_apart, apart = hinge.smoothed_plane(as_source(X).core, scores, h, 1)
    np.testing.assert_allclose(slope, slope_apart, atol=1e-12)
    for name in ("value", "offset", "error", "kinks"):
        assert getattr(sums, name) == pytest.approx(getattr(apart, name), rel=1e-12)
    again = hinge.scored_plane(as_source(X).core, w, base, h, 3)
    np.testing.assert_array_equal(again[0], scores)
    np.testing.assert_array_equal(again[1], slope)
    assert again[2].value == sums.value
    with pytest.raises(ValueError, match="one score per label"):
        hinge.scored_plane(as_source(X).core, w, base[1:], h)
    with pytest.raises(ValueError, match="one weight per feature"):
        hinge.single_scored_plane(as_source(X).core, w[1:], None, h)


@layouts
@dtypes
def test_copied_rows_are_the_rows(layout: Layout, dtype: type) -> None:
    X = data(300, 7, dtype)
    rows = np.random.default_rng(0).integers(0, 300, size=5000)
    source = as_source(layout(X))
    copied = source.gathered(rows)
    assert copied.shape == (5000, 7)
    np.testing.assert_array_equal(copied.scores(np.eye(7)), X[rows])
    again = source.take(rows).gathered(np.arange(40, 50))
    np.testing.assert_array_equal(again.scores(np.eye(7)), X[rows[40:50]])


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (8, 8), (37, 2), (100, 1), (1003, 7), (9, 300), (64, 54)])
def test_a_survey_of_dense_rows(n: int, d: int, dtype: type, lanes: int) -> None:
    """Eight rows at a time and those left over, whole vectors and the ends of rows: the same as NumPy."""
    rng = np.random.default_rng(n * d)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.integers(n), rng.integers(d)] = -50.0
    exact = X.astype(np.float64)
    for threads in (1, 3):
        longest, entries, columns, squares = _core.Matrix.dense(X, most_lanes=lanes).extent(True, threads)
        np.testing.assert_allclose(squares, np.square(exact).sum(axis=1), rtol=1e-13)
        np.testing.assert_array_equal(columns, np.abs(exact).max(axis=0))
        assert (longest, entries) == (squares.max(), d)
        without = _core.Matrix.dense(X, most_lanes=lanes).extent(False, threads)
        assert without[:2] == (longest, entries)
        np.testing.assert_array_equal(without[2], columns)
        assert not len(without[3])


def test_lengths_of_many_examples_are_found_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(50, 4))
    few = DenseSource(X).squares
    monkeypatch.setattr("cutplane.sources.matrix._MANY_ROWS", 10)
    source = DenseSource(X)
    assert source.extent.reach == pytest.approx(np.linalg.norm(X, axis=1).max())
    np.testing.assert_array_equal(source.squares, few)

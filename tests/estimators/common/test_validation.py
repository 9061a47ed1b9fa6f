"""Bad input: one clear sentence that names the value and the place, before any work is done."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cutplane import SVC, LinearSVC, _core
from cutplane.estimators.common.validation import check_labels, check_many_labels, sparse_structure
from cutplane.solvers.ledger import Ledger


def data(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1, -1)


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a solver starts."""

    def start(*args: Any) -> None:
        raise AssertionError("work began before the input was checked")

    monkeypatch.setattr(Ledger, "__init__", start)


def refused(words: str, X: Any, y: Any, weights: Any = None, **parameters: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=words) as caught:
            LinearSVC(**parameters).fit(X, y, sample_weight=weights)
    assert "\n" not in str(caught.value)
    assert "np." not in str(caught.value), "values are named as users write them"


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("store", [np.array, np.asfortranarray, sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_are_not_finite(bad: float, store: Any, dtype: type) -> None:
    X, y = data()
    X = X.astype(dtype)
    X[7, 1] = bad
    X[30, 0] = np.nan
    name = "NaN" if np.isnan(bad) else str(bad)
    refused(f"^Row 7 of X has the value {name} in column 1; every value must be finite.$", store(X), y)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0}, "^C=0 must be a finite number greater than 0.$"),
        ({"C": -2.5}, "^C=-2.5 must"),
        ({"C": float("nan")}, "^C=nan must"),
        ({"C": float("inf")}, "^C=inf must"),
        ({"C": "1"}, "^C='1' must"),
        ({"C": None}, "^C=None must"),
        ({"C": True}, "^C=True must"),
        ({"tol": 0}, "^tol=0 must be a finite number greater than 0.$"),
        ({"tol": -1e-3}, "^tol=-0.001 must"),
        ({"tol": float("nan")}, "^tol=nan must"),
        ({"absolute_tol": -1.0}, "^absolute_tol=-1.0 must be a finite number, 0 or greater.$"),
        ({"risk_tol": float("nan")}, "^risk_tol=nan must"),
        ({"method": "sgd"}, "^method='sgd' must be one of 'auto', 'newton', 'oca', 'cpa'.$"),
        ({"method": None}, "^method=None must be one of"),
        ({"line_search": "armijo"}, "^line_search='armijo' must be one of 'adaptive', 'exact', 'three-point'.$"),
        ({"loss": "squared_hinges"}, "^loss='squared_hinges' must be one of 'hinge'"),
        ({"n_jobs": 0}, "^n_jobs=0 must be None or an integer other than 0"),
        ({"n_jobs": 1.5}, "^n_jobs=1.5 must"),
        ({"max_iter": 0}, "^max_iter=0 must"),
        ({"max_iter": -3}, "^max_iter=-3 must"),
        ({"time_limit": 0.0}, "^time_limit=0.0 must"),
        ({"intercept_scaling": 0.0}, "^intercept_scaling=0.0 must"),
        ({"class_weight": {1: -1.0}}, "^class_weight={1: -1.0} must give each class a finite weight"),
        ({"class_weight": {1: float("nan")}}, "^class_weight={1: nan} must"),
        ({"class_weight": "even"}, "class_weight='even' must be None, 'balanced' or a dict"),
        ({"random_state": "x"}, "^random_state='x' must be None, an integer from 0 to"),
    ],
    ids=str,
)
def test_parameters(parameters: dict[str, Any], words: str) -> None:
    refused(words, *data(), **parameters)


@pytest.mark.usefixtures("no_work")
def test_a_class_of_which_the_weights_leave_nothing() -> None:
    X, y = data()
    refused("^All examples of the classes other than 1 have weight zero", X, y, (y > 0) * 1.0)
    refused("have weight zero", X, y, class_weight={1: 0.0})
    refused("have weight zero", X, np.where(y > 0, "p", "n"), (y < 0) * 1.0)


@pytest.mark.usefixtures("no_work")
def test_labels() -> None:
    X, y = data()
    for same in (np.ones(40), ["a"] * 40, np.zeros(40, bool), np.full(40, "a", object)):
        refused(f"^y has only one class, {same[0]!s}|'a'; a classifier needs at least two.$", X, same)
    refused(r"inconsistent numbers of samples: \[40, 39\]", X, y[:-1])
    refused("y contains NaN", X, np.where(y > 0, np.nan, 1.0))
    refused("y contains infinity", X, np.where(y > 0, np.inf, 1.0))
    refused("continuous", X, X[:, 0])
    refused("y should be a 1d array", X, np.column_stack([y, y]))
    refused("requires y to be passed", X, None)
    refused("Unknown label type", X, np.array([1, "a"] * 20, dtype=object))
    refused("Unknown label type", X, np.array([None, "a"] * 20, dtype=object))


@pytest.mark.usefixtures("no_work")
def test_weights() -> None:
    X, y = data()
    ones = np.ones(40)
    negative = ones.copy()
    negative[[5, 9]] = -0.25, -1.0
    refused(r"^sample_weight\[5\]=-0.25 is negative; weights must be 0 or greater.$", X, y, negative)
    refused("weight.*at least one", X, y, np.zeros(40))
    refused(r"sample_weight.shape == \(39,\), expected \(40,\)", X, y, ones[:-1])
    refused("sample_weight contains NaN", X, y, ones * np.nan)
    refused("sample_weight contains infinity", X, y, ones * np.inf)
    refused("1D array", X, y, ones[:, None])


@pytest.mark.usefixtures("no_work")
def test_shapes() -> None:
    X, y = data()
    refused(r"0 sample\(s\)", X[:0], y[:0])
    refused(r"0 feature\(s\)", X[:, :0], y)
    refused(r"0 sample\(s\)", sp.csr_array((0, 3)), y[:0])
    refused("dim 3", X[:, :, None], y)
    for wrong, words in (
        (X[:, 0], "Expected 2D array"),
        (X.astype(complex), "Complex data not supported"),
        (np.array([["a", "b"]] * 40), "Row 0 of X has the value 'a' in column 0; features must be numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            LinearSVC().fit(wrong, y)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_csr_that_points_out_of_the_matrix(kind: Any) -> None:
    X, y = data()
    for wrong in (3, 1000, -1):
        matrix = kind(X)
        matrix.indices[13] = wrong
        refused(f"^Row 4 of X has column index {wrong}; indices must lie between 0 and 2.$", matrix, y)
    for place, wrong, words in (
        (3, 1000, "^Row 2 of X runs from entry 6 to entry 1000; X.indptr must rise from 0 to at most the 120"),
        (0, -5, "^Row 0 of X runs from entry -5 to entry 3;"),
        (40, 121, "^Row 39 of X runs from entry 117 to entry 121;"),
        (2, 0, "^Row 1 of X runs from entry 3 to entry 0;"),
    ):
        matrix = kind(X)
        matrix.indptr[place] = wrong
        refused(words, matrix, y)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_unsorted_indices_are_used_as_they_lie_and_duplicates_added_up(index: type) -> None:
    X, y = data()
    good = LinearSVC().fit(sp.csr_array(X), y)
    unsorted = sp.csr_array(X)
    unsorted.has_canonical_format  # noqa: B018  the flag is known, and stale below
    unsorted.indices = unsorted.indices.reshape(-1, 3)[:, ::-1].ravel().astype(index)
    unsorted.data = unsorted.data.reshape(-1, 3)[:, ::-1].ravel().copy()
    halves = sp.csr_array(
        (
            np.repeat(X.ravel() / 2, 2),
            np.tile(np.repeat(np.arange(3, dtype=index), 2), 40),
            6 * np.arange(41, dtype=index),
        ),
        shape=X.shape,
    )
    for matrix, words in ((unsorted, []), (halves, ["X has duplicate column indices; a copy"])):
        stored = matrix.data.copy()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = LinearSVC().fit(matrix, y)
        assert [str(each.message)[: len(word)] for each, word in zip(caught, words, strict=True)] == words
        np.testing.assert_allclose(model.coef_, good.coef_, rtol=1e-9)
        np.testing.assert_array_equal(matrix.data, stored)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("n_cols", [30, 5_000_000])  # beyond two millions rows are sorted, not marked
def test_repeated_columns_are_found_in_any_order(index: type, n_cols: int) -> None:
    generator = np.random.default_rng(0)
    rows = [generator.choice(n_cols, generator.integers(0, 12), replace=False) for _ in range(200)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(index)
    indices = np.concatenate(rows).astype(index)
    assert _core.csr_order(indices, indptr, n_cols, 2) == 1
    ordered = np.concatenate([np.sort(row) for row in rows]).astype(index)
    assert _core.csr_order(ordered, indptr, n_cols, 2) == 0
    longest = int(np.argmax(np.diff(indptr)))
    indices[indptr[longest]] = indices[indptr[longest + 1] - 1]
    assert _core.csr_order(indices, indptr, n_cols, 2) == 2


@pytest.mark.parametrize("method", ["auto", "newton", "oca"])
def test_unsorted_indices_give_the_same_model(method: str) -> None:
    """Also where Newton's systems are sums of outer products."""
    generator = np.random.default_rng(1)
    X = sp.random_array((300, 20), density=0.4, rng=generator, format="csr")
    y = np.where(X @ generator.normal(size=20) > 0, 1, -1)
    shuffled = X.copy()
    for i in range(300):
        part = slice(X.indptr[i], X.indptr[i + 1])
        order = generator.permutation(X.indptr[i + 1] - X.indptr[i])
        shuffled.indices[part], shuffled.data[part] = X.indices[part][order], X.data[part][order]
    one, other = (LinearSVC(method=method, tol=1e-9).fit(each, y) for each in (X, shuffled))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-3, atol=1e-4)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-8)


def test_a_large_sorted_copy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    unsorted = sp.csr_array(X)
    unsorted.indices = unsorted.indices.reshape(-1, 3)[:, ::-1].ravel()
    unsorted.data = unsorted.data.reshape(-1, 3)[:, ::-1].ravel().copy()
    monkeypatch.setattr(sparse_structure, "_LARGE_COPY", 100)
    with pytest.warns(UserWarning, match="unsorted column indices; a sorted copy of 120 entries"):
        SVC().fit(unsorted, y)


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("store", [np.array, sp.csr_array])
def test_rows_of_zeros_are_examples(method: str, fit_intercept: bool, store: Any) -> None:
    """With nothing to tell examples apart, the smaller class is lost, or all without an intercept."""
    X, y = data()
    y[:] = np.where(np.arange(40) < 13, 1, -1)
    model = LinearSVC(method=method, fit_intercept=fit_intercept).fit(store(0.0 * X), y)
    np.testing.assert_array_equal(model.coef_, np.zeros((1, 3)))
    assert model.objective_ == pytest.approx(26.0 if fit_intercept else 40.0)
    assert model.gap_ <= 1e-3


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
def test_two_examples(method: str) -> None:
    # The widest margin between -1 and 3 is in the middle.
    model = LinearSVC(C=1e3, method=method, tol=1e-6).fit([[-1.0], [3.0]], ["left", "right"])
    assert model.coef_[0, 0] == pytest.approx(0.5, abs=1e-3)
    assert model.intercept_[0] == pytest.approx(-0.5, abs=1e-3)
    assert model.objective_ == pytest.approx(0.125, rel=1e-5)


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-30, 1e30, 1e60])
def test_values_of_any_size_give_true_bounds(method: str, scale: float) -> None:
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(method=method, max_iter=200).fit(scale * X, y)
    best_of_none = 2.0 * min((y > 0).sum(), (y < 0).sum())
    assert np.isfinite(model.coef_).all()
    assert 0.0 <= model.lower_bound_ <= model.objective_ <= best_of_none * (1 + 1e-12)
    if scale < 1e-30:  # weights would have to be enormous: the best model is none
        assert model.objective_ == pytest.approx(best_of_none)
        assert model.gap_ <= 1e-3


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("scale", [1e160, 1e300])
def test_values_whose_squares_overflow_are_refused(method: str, scale: float) -> None:
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"^[^\n]*\de\+\d[^\n]*$"):
            LinearSVC(method=method).fit(scale * X, y)


@pytest.mark.parametrize(
    "labels",
    [
        [3, -1, 3, 7],
        [True, False],
        np.array([200, 3, 200], np.uint8),
        np.array([2**63 + 5, 2**63], np.uint64),
        [-1.0, 1.0, 1.0],
        [1e15, 1.0],
        [0, 10**9],
        ["b", "a", "b"],
        np.arange(300) * 2,
        np.r_[np.zeros(1 << 20, np.int8), 1],
    ],
    ids=str,
)
def test_labels_are_coded_as_by_sorting(labels):
    y = np.asarray(labels)
    classes, codes = check_many_labels(y)
    expected, places = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(codes, places)
    assert codes.dtype == np.min_scalar_type(-len(expected))
    assert check_labels(y)[1].dtype == np.intp


def test_numbers_between_whole_ones_are_labels_only_where_targets_are_not_refused():
    y = np.array([0.5, 1.0, 0.5])
    with pytest.raises(ValueError, match="continuous"):
        check_many_labels(y)
    assert check_labels(y)[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize("method", ["auto", "newton", "oca", "cpa"])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
@pytest.mark.parametrize("scale", [1e-70, 1e69])
@pytest.mark.parametrize("C", [1e-35, 1e35])
def test_all_that_is_accepted_gives_true_bounds_or_says_what_to_scale(
    method: str, loss: str, scale: float, C: float
) -> None:
    X, y = data()
    model, refused = LinearSVC(C, method=method, loss=loss, max_iter=20), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(scale * X, y)
        except ValueError as error:
            refused = str(error)
    if refused:
        assert loss == "squared_hinge"  # its slope is not bounded
        assert refused.endswith("scale the features, or lower C.")
    else:
        assert np.isfinite([model.objective_, model.lower_bound_]).all()
        assert model.lower_bound_ <= model.objective_

"""LinearSVC as scikit-learn users meet it: data in, model out, in pipelines and searches."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as SklearnLinearSVC
from threadpoolctl import threadpool_limits

import cutplane.estimators.linear.linear_model as module
from cutplane import LinearSVC


def data(n: int = 200, d: int = 4, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    return np.round(rng.normal(size=(n, d)) + 1.5 * np.eye(classes, d)[y], 3), y


def same(model: LinearSVC, other: LinearSVC) -> None:
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.intercept_, other.intercept_)
    np.testing.assert_array_equal(model.classes_, other.classes_)


# --- what X may be ---

CONTAINERS = {
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "object": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(">f8"),
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "csc_array": sp.csc_array,
    "coo_matrix": sp.coo_matrix,
    "coo_array": sp.coo_array,
    "lil_array": sp.lil_array,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_examples_in_any_container(container: Any) -> None:
    X, y = data()
    X[np.abs(X) < 0.4] = 0.0
    plain = LinearSVC(tol=1e-6).fit(X, y)
    held = container(X)
    model = LinearSVC(tol=1e-6).fit(held, y)
    # Half precision rounds the values; the problem is nearly the same.
    assert model.objective_ == pytest.approx(
        plain.objective_, rel=1e-2 if getattr(held, "dtype", 0) == np.float16 else 1e-5
    )
    assert model.coef_.dtype == np.float64
    assert np.mean(model.predict(held) == plain.predict(X)) >= 0.99


@pytest.mark.parametrize("labels", [list, tuple, np.array, pd.Series, pl.Series])
def test_labels_in_any_container(labels: Any) -> None:
    X, y = data()
    same(LinearSVC().fit(X, labels(y.tolist())), LinearSVC().fit(X, y))


@pytest.mark.parametrize(
    "names",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1], dtype=np.int8),
        np.array([3, 2**62]),
        np.array([0.5, 2.0]) * 2,
        np.array([1, 2], dtype=np.uint8),
        np.array([-1.0, 1.0], dtype=np.float32),
    ],
    ids=lambda names: str(names.dtype),
)
def test_labels_of_any_type(names: np.ndarray) -> None:
    X, y = data()
    model = LinearSVC().fit(X, names[y])
    np.testing.assert_array_equal(model.classes_, names)
    predicted = model.predict(X)
    assert predicted.dtype == names.dtype
    np.testing.assert_array_equal(predicted, names[LinearSVC().fit(X, y).predict(X)])


def test_the_second_class_is_the_positive_one() -> None:
    X, y = data()
    model = LinearSVC().fit(X, np.where(y == 1, "b", "a"))
    np.testing.assert_array_equal(model.predict(X) == "b", model.decision_function(X) > 0)


# --- nothing is copied ---


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What sources were made from."""
    seen: list[Any] = []
    original = module.as_source

    def watched(X: Any, **options: Any) -> Any:
        seen.append(X)
        return original(X, **options)

    monkeypatch.setattr(module, "as_source", watched)
    return seen


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays_are_used_where_they_lie(held: list[Any], dtype: type, order: str) -> None:
    X, y = data()
    X = np.asarray(X, dtype=dtype, order=order)
    LinearSVC().fit(X, y)
    assert held[0].dtype == dtype
    assert np.shares_memory(held[0], X)


def test_strided_rows_are_used_where_they_lie(held: list[Any]) -> None:
    X, y = data()
    larger = np.zeros((2 * len(X), 10))
    larger[::2, :4] = X
    LinearSVC().fit(larger[::2, :4], y)
    assert np.shares_memory(held[0], larger)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_arrays_are_used_where_they_lie(held: list[Any], kind: Any, index: type, dtype: type) -> None:
    X, y = data()
    matrix = kind(X.astype(dtype))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    LinearSVC().fit(matrix, y)
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(held[0], part), getattr(matrix, part))


def test_a_memory_map_is_used_where_it_lies(held: list[Any], tmp_path: Path) -> None:
    X, y = data()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same(LinearSVC().fit(mapped, y), LinearSVC().fit(X, y))
    assert np.shares_memory(held[0], mapped)


def test_fit_changes_nothing_it_is_given() -> None:
    X, y = data()
    weights = np.random.default_rng(0).random(len(y))
    matrix = sp.csr_array(X)
    matrix.indices = matrix.indices.reshape(-1, 4)[:, ::-1].ravel().copy()
    before = [array.copy() for array in (X, y, weights, matrix.data, matrix.indices)]
    LinearSVC().fit(matrix, y, sample_weight=weights)
    LinearSVC().fit(X, y, sample_weight=weights)
    for array, copied in zip((X, y, weights, matrix.data, matrix.indices), before, strict=True):
        np.testing.assert_array_equal(array, copied)


# --- what a model is ---


def test_shapes_of_two_classes() -> None:
    X, y = data()
    model = LinearSVC().fit(X, y)
    assert model.coef_.shape == (1, 4)
    assert model.intercept_.shape == (1,)
    assert model.decision_function(X).shape == (200,)
    for number in (model.gap_, model.objective_, model.lower_bound_):
        assert isinstance(number, float)
    assert isinstance(model.stop_reason_, str)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")


def test_shapes_of_three_classes() -> None:
    X, y = data(classes=3)
    model = LinearSVC(tol=1e-4).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (200, 3)
    assert model.gap_ <= 1e-4
    assert model.stop_reason_ == "gap"
    assert model.n_iter_ == max(len(each.history) for each in model.certificates_)
    # Each class against the rest is the binary problem.
    for k in range(3):
        one = LinearSVC(tol=1e-4).fit(X, y == k)
        np.testing.assert_array_equal(model.coef_[k], one.coef_[0])
        assert model.certificates_[k].objective == one.objective_


def test_the_penalised_intercept_is_liblinears() -> None:
    X, y = data()
    ours = LinearSVC(tol=1e-8, intercept_scaling=2.0).fit(X, y)
    theirs = SklearnLinearSVC(
        loss="hinge", dual=True, intercept_scaling=2.0, tol=1e-8, max_iter=10**6, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


def test_without_an_intercept() -> None:
    X, y = data()
    for scaling in (None, 3.0):
        model = LinearSVC(fit_intercept=False, intercept_scaling=scaling).fit(X, y)
        np.testing.assert_array_equal(model.intercept_, [0.0])


def test_balanced_classes_are_weighted_as_scikit_learn_does() -> None:
    X, y = data(classes=3)
    y = np.where(y == 2, 1, y)
    counts = np.bincount(y)
    by_hand = {k: len(y) / (2 * counts[k]) for k in (0, 1)}
    one, other = (LinearSVC(class_weight=weights).fit(X, y) for weights in ("balanced", by_hand))
    np.testing.assert_allclose(one.coef_, other.coef_)


def test_weights_of_one_are_no_weights() -> None:
    X, y = data()
    same(LinearSVC().fit(X, y, sample_weight=np.ones(len(y))), LinearSVC().fit(X, y))
    same(LinearSVC().fit(X, y, sample_weight=np.ones(len(y), dtype=int)), LinearSVC().fit(X, y))


def test_examples_without_weight_do_not_count() -> None:
    X, y = data()
    weights = np.ones(len(y))
    weights[50:] = 0.0
    part = LinearSVC(tol=1e-7).fit(X[:50], y[:50])
    X[50:] = 1e6
    whole = LinearSVC(tol=1e-7).fit(X, y, sample_weight=weights)
    assert whole.objective_ == pytest.approx(part.objective_, rel=1e-6)
    np.testing.assert_allclose(whole.coef_, part.coef_, atol=1e-2)


# --- in the company of scikit-learn ---


def test_feature_names() -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = LinearSVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c", "d"]])
    assert LinearSVC().fit(pl.DataFrame(X, schema=["a", "b", "c", "d"]), y).feature_names_in_.tolist() == [
        "a", "b", "c", "d",
    ]  # fmt: skip


def test_predictions_need_the_features_of_the_fit() -> None:
    X, y = data()
    with pytest.raises(ValueError, match="3 features, but LinearSVC is expecting 4"):
        LinearSVC().fit(X, y).predict(X[:, :3])


@pytest.mark.parametrize("warm_start", [False, True])
def test_pickle_copy_joblib_clone(tmp_path: Path, warm_start: bool) -> None:
    X, y = data()
    model = LinearSVC(C=0.3, warm_start=warm_start).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(tmp_path / "model")):
        same(twin, model)
        assert twin.gap_ == model.gap_
        assert twin.history_ == model.history_
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        twin.set_params(C=0.4).fit(X, y)
        assert twin.gap_ <= twin.tol
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "coef_")


def test_pipeline_and_search() -> None:
    X, y = data()
    pipeline = make_pipeline(StandardScaler(), LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [1e-3, 1.0]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[-1].gap_ <= 1e-3
    assert cross_val_score(LinearSVC(), sp.csr_array(X), y, cv=3).mean() > 0.7


def test_coefficients_may_be_made_sparse() -> None:
    X, y = data()
    model = LinearSVC().fit(X, y)
    before = model.decision_function(X)
    np.testing.assert_allclose(model.sparsify().decision_function(X), before)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, -2, 64])
def test_n_jobs_changes_no_bit(n_jobs: int | None) -> None:
    X, y = data()
    same(LinearSVC(n_jobs=n_jobs).fit(X, y), LinearSVC(n_jobs=1).fit(X, y))


def test_thread_limits_of_others_change_no_bit() -> None:
    X, y = data(20_000)
    with threadpool_limits(1):
        alone = LinearSVC(C=1e-3).fit(X, y)
    same(LinearSVC(C=1e-3).fit(X, y), alone)


def test_a_second_fit_forgets_the_first() -> None:
    X, y = data(classes=3)
    model = LinearSVC().fit(X, y)
    model.fit(X[:, :2], y == 0)
    assert model.coef_.shape == (1, 2)
    assert isinstance(model.gap_, float)
    same(model, LinearSVC().fit(X[:, :2], y == 0))

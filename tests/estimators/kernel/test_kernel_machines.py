"""Kernel estimators as scikit-learn users meet them: the facts that hold for `sklearn.svm` hold for ours."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as peers
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cutplane import SVC, SVR, NuSVC, NuSVR, OneClassSVM

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import ALL, LABELS, TOY, fitted, iris


def decisions(model: Any, X: Any) -> Any:
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


# --- the same numbers ---

DATA = {
    "iris": (iris, 1.0),
    "digits": (lambda: tuple(part[:500] for part in load_digits(return_X_y=True)), 1 / 16),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), None),
}


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("data", DATA)
def test_classifiers_decide_as_scikit_learns_do(data: str, kernel: str, shape: str) -> None:
    load, scale = DATA[data]
    X, y = load()
    X = StandardScaler().fit_transform(X) if scale is None else X * scale
    params: dict[str, Any] = {"kernel": kernel, "tol": 1e-6, "decision_function_shape": shape}
    peer, model = peers.SVC(**params).fit(X, y), SVC(**params).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_array_equal(model.support_, peer.support_)
    np.testing.assert_array_equal(model.n_support_, peer.n_support_)
    np.testing.assert_array_equal(model.support_vectors_, peer.support_vectors_)
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-2)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-3)
    assert model.n_iter_.shape == peer.n_iter_.shape
    assert model._gamma == pytest.approx(peer._gamma)
    assert model.gap_ < 1e-4


@pytest.mark.parametrize("classes", [2, 3])
def test_nu_classifier_decides_as_scikit_learns_does(classes: int) -> None:
    X, y = iris()
    X, y = X[y < classes], y[y < classes]
    X = X + np.random.default_rng(0).normal(size=X.shape)
    peer, model = (kind(nu=0.37, tol=1e-7, decision_function_shape="ovo").fit(X, y) for kind in (peers.NuSVC, NuSVC))
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), rtol=1e-3, atol=2e-3)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "sigmoid"])
@pytest.mark.parametrize(
    ("kind", "params"),
    [(SVR, {"C": 50.0, "epsilon": 5.0}), (NuSVR, {"C": 50.0, "nu": 0.3}), (OneClassSVM, {"nu": 0.2})],
)
def test_one_machine_decides_as_scikit_learns_does(kind: Any, params: Any, kernel: str, sparse: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = sp.csr_array(np.where(np.abs(X) < 0.02, 0.0, X)) if sparse else X
    gamma = 1.0 if kernel == "sigmoid" else "scale"
    peer = fitted(getattr(peers, kind.__name__), X, y, kernel=kernel, gamma=gamma, tol=1e-6, **params)
    model = fitted(kind, X, y, kernel=kernel, gamma=gamma, tol=1e-6, **params)
    np.testing.assert_allclose(decisions(model, X), decisions(peer, X), rtol=1e-3, atol=1e-3)
    assert model.n_support_.tolist() == [len(model.support_)]
    assert isinstance(model.n_iter_, int)
    assert sp.issparse(model.dual_coef_) == sparse


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("kernel", "function"), [("laplacian", laplacian_kernel), ("chi2", chi2_kernel)])
def test_kernels_that_scikit_learn_has_as_functions(kernel: str, function: Any, sparse: bool) -> None:
    X, y = iris()
    K = function(X, X, gamma=0.3)
    given = sp.csr_array(X) if sparse else X
    model = SVC(kernel=kernel, gamma=0.3, tol=1e-5).fit(given, y)
    by_matrix = SVC(kernel="precomputed", tol=1e-5).fit(K, y)
    np.testing.assert_allclose(model.decision_function(given), by_matrix.decision_function(K), atol=1e-3)


def test_weights_of_examples_and_classes() -> None:
    X, y = iris()
    weights = np.random.default_rng(1).uniform(0.1, 3, len(y))
    params: dict[str, Any] = {"class_weight": {0: 0.3, 1: 2.0}, "tol": 1e-6, "decision_function_shape": "ovo"}
    peer, model = peers.SVC(**params).fit(X, y, weights), SVC(**params).fit(X, y, weights)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(model.class_weight_, peer.class_weight_)
    balanced = {**params, "class_weight": "balanced"}
    kept = y + np.arange(len(y)) % 2 > 0
    peer, model = (kind(**balanced).fit(X[kept], y[kept]) for kind in (peers.SVC, SVC))
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kind", ALL)
def test_examples_without_weight_are_left_out(kind: Any) -> None:
    X, y = iris()
    weights = np.where(np.arange(len(y)) % 3 == 0, np.where(np.arange(len(y)) % 2 == 0, 0.0, -1.0), 1.0)
    kept = weights > 0
    params = {"gamma": 0.2, "tol": 1e-6}
    some = kind(**params).fit(X, y, sample_weight=weights)
    alone = fitted(kind, X[kept], y[kept], **params)
    np.testing.assert_allclose(decisions(some, X), decisions(alone, X), atol=1e-3)
    assert set(some.support_) <= set(np.flatnonzero(kept))


def test_a_weight_is_a_factor_on_C() -> None:
    X, y = iris()
    one = SVC(C=1.0).fit(X, y)
    same = SVC(C=100.0).fit(X, y, sample_weight=np.full(len(y), 0.01))
    np.testing.assert_allclose(one.dual_coef_, same.dual_coef_)


@pytest.mark.parametrize("kind", [SVC, SVR])
def test_infinite_C_is_a_hard_margin(kind: Any) -> None:
    X, y = TOY, LABELS.astype(float)
    np.testing.assert_allclose(kind(C=np.inf).fit(X, y).predict(X), kind(C=1e10).fit(X, y).predict(X))


# --- what is fitted, by hand ---


def test_the_toy_machine() -> None:
    model = SVC(kernel="linear").fit(TOY, LABELS)
    np.testing.assert_allclose(model.dual_coef_, [[-0.25, 0.25]])
    assert model.support_.tolist() == [1, 3]
    np.testing.assert_array_equal(model.support_vectors_, TOY[[1, 3]])
    assert model.intercept_.tolist() == [0.0]
    assert model.fit_status_ == 0
    assert model.shape_fit_ == (6, 2)
    assert model.objective_ == pytest.approx(0.25)
    assert model.lower_bound_ == pytest.approx(0.25)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("sparse", [False, True])
def test_linear_weights(kind: Any, sparse: bool) -> None:
    X, y = iris()
    given = sp.csr_array(X) if sparse else X
    model = fitted(kind, given, y, kernel="linear")
    if hasattr(model, "classes_"):
        model.set_params(decision_function_shape="ovo")
    by_hand = X @ (model.coef_.toarray() if sparse else model.coef_).T + model.intercept_
    np.testing.assert_allclose(decisions(model, given), by_hand.reshape(decisions(model, given).shape), atol=1e-9)
    with pytest.raises(AttributeError):
        model.coef_ = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        (model.coef_.data if sparse else model.coef_)[...] = 0.0
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = fitted(kind, X, y, kernel="rbf").coef_


def test_decisions_are_kernel_values_times_coefficients() -> None:
    X, y = iris()
    model = SVR(gamma=1.0).fit(X, y)
    by_hand = rbf_kernel(X, model.support_vectors_, gamma=1.0) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.predict(X), by_hand[:, 0], atol=1e-6)


def test_offset_of_one_class() -> None:
    X, _ = iris()
    model = OneClassSVM(nu=0.1).fit(X)
    np.testing.assert_allclose(model.score_samples(X), model.decision_function(X) + model.offset_)
    np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    assert 0.05 < np.mean(model.predict(X) == -1) < 0.15
    assert model.predict(X).dtype == np.intp


def test_constant_targets_need_no_support_vectors() -> None:
    X, _ = load_diabetes(return_X_y=True)
    model = SVR().fit(sp.csr_array(X), np.ones(len(X)))
    assert model.support_vectors_.shape[0] == 0
    np.testing.assert_allclose(model.predict(X[:3]), 1.0)


# --- kernels of one's own ---


def test_precomputed_and_callable_equal_the_kernel_by_name() -> None:
    X, y = iris()
    K = rbf_kernel(X, X, gamma=0.5)
    named = SVC(gamma=0.5, tol=1e-6).fit(X, y)
    matrix = SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    called = SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5), tol=1e-6).fit(X, y)
    for model, given in ((matrix, K), (called, X)):
        np.testing.assert_allclose(model.decision_function(given), named.decision_function(X), atol=1e-4)
        np.testing.assert_array_equal(model.support_, named.support_)
    only_support = np.zeros_like(K)
    only_support[:, matrix.support_] = K[:, matrix.support_]
    np.testing.assert_array_equal(matrix.predict(only_support), matrix.predict(K))
    assert matrix.support_vectors_.size == 0


def test_a_callable_that_does_not_fit_into_the_cache_is_asked_for_rows() -> None:
    X, y = iris()
    calls: list[tuple[int, int]] = []

    def kernel(A: Any, B: Any) -> Any:
        calls.append((len(A), len(B)))
        return A @ B.T

    whole = SVC(kernel=kernel, tol=1e-6).fit(X, y)
    assert calls == [(150, 150)]
    with pytest.warns(UserWarning, match=r"holds \d+ of the 150 rows of the kernel matrix"):
        by_rows = SVC(kernel=kernel, tol=1e-6, cache_size=0.01).fit(X, y)
    np.testing.assert_allclose(by_rows.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_a_kernel_of_text() -> None:
    texts = np.array(["A A", "A", "B", "B B", "A B"])
    counts = np.array([[text.count("A"), text.count("B")] for text in texts], dtype=float)

    def kernel(A: Any, B: Any) -> Any:
        return np.array([[a.count("A") * b.count("A") + a.count("B") * b.count("B") for b in B] for a in A])

    y = [1, 1, 2, 2, 1]
    model = SVC(kernel=kernel).fit(texts.tolist(), y)
    np.testing.assert_allclose(
        model.decision_function(texts.tolist()), SVC(kernel="linear").fit(counts, y).decision_function(counts)
    )


def test_a_callable_may_return_a_sparse_matrix() -> None:
    given = sp.csr_array(TOY)
    model = SVC(kernel=lambda A, B: A @ B.T).fit(given, LABELS)
    np.testing.assert_array_equal(model.predict(given), LABELS)


# --- several classes ---


def test_shapes_of_decisions() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    model = SVC().fit(X, y)
    assert model.decision_function(X).shape == (300, 10)
    assert model.dual_coef_.shape == (9, len(model.support_))
    assert model.set_params(decision_function_shape="ovo").decision_function(X).shape == (300, 45)
    rest = SVC(multi_class="ovr").fit(X, y)
    assert rest.decision_function(X).shape == (300, 10)
    assert rest.dual_coef_.shape == (10, len(rest.support_))
    np.testing.assert_array_equal(rest.predict(X), rest.classes_[np.argmax(rest.decision_function(X), axis=1)])
    for number, label in enumerate(rest.classes_):
        alone = SVC().fit(X, y == label)
        np.testing.assert_allclose(rest.decision_function(X)[:, number], alone.decision_function(X), atol=1e-3)


def test_ties_are_broken_by_decision_values_if_wanted() -> None:
    rng = np.random.default_rng(0)
    model = SVC(gamma=1.0, C=10.0).fit(rng.normal(size=(60, 2)), np.arange(60) % 3)
    grid = rng.normal(size=(2000, 2))
    votes = model.predict(grid)
    by_value = model.set_params(break_ties=True).predict(grid)
    np.testing.assert_array_equal(by_value, np.argmax(model.decision_function(grid), axis=1))
    assert not np.array_equal(votes, by_value)
    with pytest.raises(ValueError, match="break_ties must be False"):
        model.set_params(decision_function_shape="ovo").predict(grid)


@pytest.mark.parametrize("params", [{}, {"multi_class": "ovr"}, {"probability": True}, {"kernel": "linear"}])
def test_results_do_not_depend_on_threads(params: Any) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    one, many = (SVC(n_jobs=n, **params).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one.dual_coef_, many.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, many.intercept_)
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))
    assert one.n_iter_.tolist() == many.n_iter_.tolist()
    if params.get("probability"):
        np.testing.assert_array_equal(one.predict_proba(X), many.predict_proba(X))


@pytest.mark.parametrize("names", [["no", "yes", "maybe"], [3.0, 1.0, 2.0], [True, False, True]])
def test_labels_of_any_type(names: Any) -> None:
    X, y = iris()
    labels = np.array(names)[y]
    model = SVC().fit(X, labels)
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels) > 0.9


# --- as part of scikit-learn ---


def test_pipeline_search_clone_pickle_joblib(tmp_path: Any) -> None:
    X, y = iris()
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10.0], "svc__gamma": [0.1, 1.0]})
    assert search.fit(X, y).best_score_ > 0.9
    model = SVC(probability=True).fit(X, y)
    for copy in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    joblib.dump(model, tmp_path / "m")
    np.testing.assert_array_equal(joblib.load(tmp_path / "m").predict(X), model.predict(X))
    K = rbf_kernel(X, X)
    assert cross_val_score(SVC(kernel="precomputed"), K, y).mean() > 0.9
    assert cross_val_score(make_pipeline(MinMaxScaler(clip=True), SVC(kernel="chi2")), X, y).mean() > 0.9


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ALL)
def test_sparse_examples_with_either_index_type(kind: Any, index: Any) -> None:
    X, y = iris()
    given = sp.csr_array(X)
    given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    model = fitted(kind, given, y, tol=1e-5)
    assert given.indices.dtype == index
    dense = fitted(kind, X, y, tol=1e-5)
    np.testing.assert_allclose(decisions(model, given), decisions(dense, X), atol=1e-3)
    # Either way round: what is sparse does not matter to the prediction.
    np.testing.assert_allclose(decisions(model, X), decisions(dense, given), atol=1e-3)


def test_single_precision_examples_are_kept() -> None:
    X, y = iris()
    model = SVC().fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    assert model.score(X, y) > 0.9

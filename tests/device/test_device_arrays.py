"""What a user does with arrays on a GPU: fit, predict, score; answers lie where the question did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from cutplane import (
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    SampledCutSVC,
)
from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.device.twin import TwinKernels
from cutplane.estimators.linear import linear_model
from cutplane.sources.matrix import as_source

Put = Callable[[Any], Any]


def examples(n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)).astype(np.float32)
    return X, X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n)


def is_there(answer: Any) -> bool:
    return type(answer) is not np.ndarray


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.bool_, np.int32])
def test_a_classifier(put: Put, kernels: Kernels, dtype: Any) -> None:
    X, z = examples()
    X = (X > 0.3 if dtype == np.bool_ else 4.0 * X).astype(dtype)
    y = np.where(z > 0, 3, 7)
    there, here = LinearSVC(tol=1e-6).fit(put(X), put(y)), LinearSVC(tol=1e-6).fit(X, y)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-5)
    assert there.classes_.tolist() == [3, 7]
    assert type(there.coef_) is np.ndarray
    labels, scores = there.predict(put(X)), there.decision_function(put(X))
    assert is_there(labels)
    assert is_there(scores)
    np.testing.assert_array_equal(kernels.to_host(labels), there.predict(X))
    np.testing.assert_allclose(kernels.to_host(scores), there.decision_function(X), rtol=1e-9, atol=1e-9)
    assert there.score(put(X), put(y)) == there.score(X, y)


def test_words_stay_on_the_host(put: Put) -> None:
    X, z = examples()
    y = np.where(z > 0, "yes", "no")
    model = LinearSVC().fit(put(X), y)
    assert set(model.predict(put(X))) == {"no", "yes"}


def test_weights_and_classes(put: Put) -> None:
    X, z = examples()
    y, weights = np.digitize(z, [-0.5, 0.5]), np.abs(z) + 0.1
    given = {"class_weight": "balanced", "tol": 1e-6}
    there = LinearSVC(**given).fit(put(X), put(y), sample_weight=put(weights))
    here = LinearSVC(**given).fit(X, y, sample_weight=weights)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-5)
    assert there.decision_function(put(X)).shape == (len(X), 3)


def test_a_regression(put: Put, kernels: Kernels) -> None:
    X, z = examples()
    model = LinearSVR(epsilon=0.1, tol=1e-6).fit(put(X), put(z))
    answer = model.predict(put(X))
    assert is_there(answer)
    np.testing.assert_allclose(kernels.to_host(answer), model.predict(X), rtol=1e-6, atol=1e-6)
    assert model.score(put(X), put(z)) == pytest.approx(model.score(X, z))


def test_probabilities(put: Put, kernels: Kernels) -> None:
    X, z = examples()
    model = LogisticRegression().fit(put(X), put(np.digitize(z, [-0.5, 0.5])))
    answer = model.predict_proba(put(X))
    assert is_there(answer)
    np.testing.assert_allclose(kernels.to_host(answer), model.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_sparse_rows(put: Put, kernels: Kernels, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    X, z = examples()
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32)
    rows: Any = sp.csr_matrix(X).asformat(layout)
    if isinstance(kernels, TwinKernels):  # the twin's sparse matrices are SciPy's: say that they lie there
        plain = arrays.is_on_device
        monkeypatch.setattr(arrays, "is_on_device", lambda values: sp.issparse(values) or plain(values))
    else:
        import cupyx.scipy.sparse

        rows = getattr(cupyx.scipy.sparse, f"{layout}_matrix")(rows)
    model = LinearSVC(tol=1e-6).fit(rows, put(np.sign(z)))
    here = LinearSVC(tol=1e-6).fit(X, np.sign(z))
    assert model.objective_ == pytest.approx(here.objective_, rel=1e-5)
    answer = model.predict(rows)
    assert is_there(answer)
    np.testing.assert_array_equal(kernels.to_host(answer), model.predict(X))


@pytest.mark.parametrize("estimator", [LinearSVCCV(Cs=[0.1, 1.0], cv=2), LinearSVRCV(Cs=[0.1, 1.0], cv=2)])
def test_cross_validation_and_paths(put: Put, estimator: Any) -> None:
    X, z = examples()
    y = np.sign(z) if isinstance(estimator, LinearSVCCV) else z
    there, here = clone(estimator).fit(put(X), put(y)), clone(estimator).fit(X, y)
    assert there.C_ == here.C_
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-2)
    assert there.score(put(X), put(y)) == pytest.approx(here.score(X, y), abs=0.02)
    for model in (LinearSVC() if isinstance(estimator, LinearSVCCV) else LinearSVR()).path(put(X), put(y), [0.1, 1.0]):
        assert model.gap_ <= 1e-3


def test_bad_input_is_one_sentence(put: Put) -> None:
    X, z = examples()
    y = np.sign(z)
    wrong = X.copy()
    wrong[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"Column 2 of X has a value that is not finite"):
        LinearSVC().fit(put(wrong), y)
    wrong = X.astype(np.float64)
    wrong[3, 4] = -1e71
    with pytest.raises(ValueError, match=r"Column 4 of X has a value that is not finite, or beyond 1e\+70"):
        LinearSVC().fit(put(wrong), y)
    with pytest.raises(ValueError, match=r"X has 1 dimensions"):
        LinearSVC().fit(put(X[:, 0]), y)
    with pytest.raises(ValueError, match=r"one label for each of 400 examples"):
        LinearSVC().fit(put(X), y[:5])
    with pytest.raises(ValueError, match=r"X has 3 features, but the model was trained with 5\."):
        LinearSVC().fit(put(X), y).predict(put(np.ascontiguousarray(X[:, :3])))
    with pytest.raises(ValueError, match=r"X is a source; SampledCutSVC is trained on arrays and matrices\."):
        SampledCutSVC().fit(as_source(X), y)


@pytest.mark.parametrize("kind", ["float32", "float64", "bool", "bfloat16", "fortran", "sparse"])
def test_examples_of_the_host_are_copied_where_that_is_asked(put: Put, kernels: Kernels, kind: str) -> None:
    X, z = examples()
    given: Any = X.astype(kind) if kind in ("float64", "bool") else X
    if kind == "bfloat16":
        given = X.astype(ml_dtypes.bfloat16)
    if kind == "fortran":
        given = np.asfortranarray(X)
    if kind == "sparse":
        given = sp.csr_array(np.where(X > 0.0, X, 0.0))
    y = np.where(z > 0, "up", "down")
    there, here = (LinearSVC(tol=1e-6, device=device).fit(given, y) for device in ("cuda", None))
    assert there.gap_ <= 1e-6
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-5)
    assert type(there.predict(given)) is np.ndarray


@pytest.mark.parametrize(
    "model",
    [LinearSVR(), LogisticRegression(), LinearSVCCV([0.1]), LinearSVRCV([0.1]), LogisticRegressionCV(Cs=[0.1])],
)
def test_every_linear_model_has_a_device(
    put: Put, kernels: Kernels, monkeypatch: pytest.MonkeyPatch, model: Any
) -> None:
    X, z = examples()
    y = z if "SVR" in type(model).__name__ else np.where(z > 0, 1, 0)
    copied = []
    there = linear_model.copied_to_device
    monkeypatch.setattr(linear_model, "copied_to_device", lambda rows: (copied.append(1), there(rows))[1])
    found = clone(model).set_params(device="cuda").fit(X, y)
    assert copied
    assert found.objective_ == pytest.approx(clone(model).fit(X, y).objective_, rel=2e-3)


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    X, z = examples()
    with pytest.raises(ValueError, match="device='gpu' must be 'cuda'"):
        LinearSVC(device="gpu").fit(X, z > 0)

    class Without(TwinKernels):
        devices = 0

    monkeypatch.setattr(arrays, "cuda_kernels", Without)
    with pytest.raises(ValueError, match="needs a GPU of NVIDIA's"):
        LinearSVC(device="cuda").fit(X, z > 0)


@pytest.mark.parametrize("kind", ["dense", "columns", "strided", "narrow", "sparse", "unsorted"])
def test_copies_know_their_extent(put: Put, kernels: Kernels, kind: str) -> None:
    X, _ = examples()
    if kind == "columns":
        X = np.asfortranarray(X)
    elif kind == "strided":
        X = np.repeat(X, 2, axis=1)[:, ::2]
    elif kind == "narrow":
        X = X.astype(np.float16)
    elif kind in ("sparse", "unsorted"):
        X = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
        if kind == "unsorted":
            X = X[:, ::-1][:, ::-1]
            X.indices, X.data = X.indices.copy(), X.data.copy()
            row = slice(*X.indptr[:2])
            X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
            X.has_sorted_indices = X.has_canonical_format = False
    copied = arrays.copied_to_device(X).rows
    again = type(copied)(kernels, copied._rows)  # which has to look
    assert copied.extent.reach == again.extent.reach
    assert_array_equal(copied.extent.columns, again.extent.columns)
    dense = X.toarray() if sp.issparse(X) else X.astype(np.float64)
    assert_array_equal(copied.extent.columns, np.abs(dense).max(axis=0))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_values_of_the_host_are_refused_by_name(put: Put, value: float, sparse: bool) -> None:
    X, z = examples()
    X[3, 2] = value
    with pytest.raises(ValueError, match=r"Row 3 of X has the value \S+ in column 2"):
        LinearSVC(device="cuda").fit(sp.csr_array(X) if sparse else X, z > 0)

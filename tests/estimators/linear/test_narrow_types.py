"""Models of float16, bfloat16, int8, uint8 and boolean examples: those of the same examples in float32, uncopied."""

from __future__ import annotations

import ctypes
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.sparse as sp

import cutplane
from cutplane import LinearOneClassSVM, LinearSVC, LinearSVR, LogisticRegression, OrdinalSVC, RankSVM
from cutplane.estimators.common.validation import check_examples, check_new_rows, foreign_arrays
from cutplane.estimators.common.validation.foreign_arrays import as_numpy

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float16), BFLOAT16, np.dtype(np.int8), np.dtype(np.uint8), np.dtype(bool)]
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)
BINARY = [LinearSVC(loss=loss, C=0.1) for loss in ("hinge", "squared_hinge", "logistic", "roc_area", "f1")]
SETTINGS = [
    LinearSVC(C=1e-3, method="newton"),
    LinearSVC(C=1e-3, method="oca"),
    LinearSVC(C=1e-3, method="cpa"),
    LinearSVC(C=1e-3, fit_intercept=False),
    LinearSVC(C=1e-3, intercept_scaling=1.0),
    LinearSVC(C=1e-3, nonnegative=True),
    LinearSVC(C=1e-3, class_weight="balanced"),
]
REGRESSION = [
    LinearSVR(C=1e-3, loss=loss) for loss in ("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile")
]
SEVERAL = [
    LinearSVC(C=1e-2),
    LinearSVC(C=1e-2, multi_class="crammer_singer"),
    LinearSVC(C=1e-2, multi_class="crammer_singer", fit_intercept=False),
    LogisticRegression(C=1e-2),
]


def examples(dtype: np.dtype[Any], n: int = 240, d: int = 17) -> tuple[np.ndarray, np.ndarray]:
    """Examples and numbers that depend on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    numbers = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    values = {"bool": X > 0, "uint8": np.clip(128 + 40 * X, 0, 255), "int8": np.clip(40 * X, -128, 127)}
    return values.get(dtype.name, X).astype(dtype), numbers


def same_model(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Fitted on X and on X in float32, it is the same to the bit."""
    wide = X.astype(np.float32)
    coef = model.fit(wide, y).coef_.copy()
    scores = model.decision_function if hasattr(model, "decision_function") else model.predict
    objective, lower, expected = model.objective_, model.lower_bound_, scores(wide)
    model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, coef)
    assert (model.objective_, model.lower_bound_) == (objective, lower)
    # Of float32, scikit-learn's product with the weights is taken, whose additions are in another order.
    np.testing.assert_allclose(scores(X), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert model.predict(X).shape == (len(X),)


@dtypes
@pytest.mark.parametrize("model", [*BINARY, *SETTINGS], ids=str)
def test_two_classes(model: Any, dtype: np.dtype[Any]) -> None:
    X, numbers = examples(dtype)
    same_model(model, X, np.where(numbers > 0.3, 1, -1))


@dtypes
@pytest.mark.parametrize("model", REGRESSION, ids=str)
def test_regression(model: Any, dtype: np.dtype[Any]) -> None:
    same_model(model, *examples(dtype))


@dtypes
@pytest.mark.parametrize("model", SEVERAL, ids=str)
def test_several_classes(model: Any, dtype: np.dtype[Any]) -> None:
    X, numbers = examples(dtype)
    same_model(model, X, np.digitize(numbers, [-2.0, 2.0]))


@dtypes
def test_no_classes_and_orders(dtype: np.dtype[Any]) -> None:
    X, numbers = examples(dtype)
    same_model(LinearOneClassSVM(), X, np.zeros(len(X)))
    ranks = np.digitize(numbers, [-2.0, 2.0])
    same_model(OrdinalSVC(C=1e-3), X, ranks)
    same_model(RankSVM(C=1e-3), X, ranks)


@dtypes
def test_wide_examples_take_dual_ascent(dtype: np.dtype[Any]) -> None:
    X, numbers = examples(dtype, 60, 300)
    for model in (LinearSVC(C=1e-3), LinearSVC(C=1e-3, loss="squared_hinge"), LinearSVC(C=1e-3, nonnegative=[0, 5])):
        same_model(model, X, np.where(numbers > 0, 1, -1))
    same_model(LinearSVC(C=1e-3, multi_class="crammer_singer"), X, np.digitize(numbers, [-9.0, 9.0]))


@dtypes
@pytest.mark.parametrize("order", ["C", "F"])
def test_examples_are_checked_where_they_lie(dtype: np.dtype[Any], order: Any) -> None:
    X = np.asarray(examples(dtype)[0], order=order)
    model = LinearSVC()
    rows, _ = check_examples(model, X, np.arange(len(X)) % 2)
    assert np.shares_memory(rows, X)
    assert np.shares_memory(check_new_rows(model, X), X)


@dtypes
def test_neither_training_nor_predictions_copy(dtype: np.dtype[Any]) -> None:
    X, numbers = examples(dtype, 12_000, 128)
    y = (numbers > 0).astype(np.int8)
    model = LinearSVC(C=1e-4, method="oca", tol=0.1, n_jobs=1).fit(X, y)
    tracemalloc.start()
    try:
        model.fit(X, y)
        model.predict(X)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < X.size  # bytes: less than half of the smallest copy that a computation could make


def test_a_memory_map_of_half_precision(tmp_path: Path) -> None:
    X, numbers = examples(np.dtype(np.float16))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    same_model(LinearSVC(), mapped, numbers > 0)


@dtypes
def test_a_proof_is_that_of_the_numbers(dtype: np.dtype[Any]) -> None:
    X, numbers = examples(dtype)
    y = np.where(numbers > 0, 1, -1)
    model = LinearSVC(C=1e-3, keep_proof=True).fit(X, y)
    for given in (X, X.astype(np.float64)):
        (bounds,) = cutplane.verify(model, given, y)
        assert bounds.gap <= 1.01e-3


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_entries_of_one_byte(dtype: Any, layout: str) -> None:
    X, numbers = examples(np.dtype(dtype))
    keep = np.random.default_rng(1).random(X.shape) < 0.3
    given = sp.coo_array(np.where(keep, X, np.zeros(1, dtype))).asformat(layout)
    wide = sp.csr_array(given.astype(np.float32))
    y = np.where(numbers > 0, 1, -1)
    narrow, single = LinearSVC(C=1e-2).fit(given, y), LinearSVC(C=1e-2).fit(wide, y)
    np.testing.assert_array_equal(narrow.coef_, single.coef_)
    np.testing.assert_allclose(narrow.decision_function(given), single.decision_function(wide), rtol=1e-12)


class Brain:
    """A tensor of bfloat16 of another library: bits that its DLPack says to be that type."""

    def __init__(self, X: np.ndarray) -> None:
        self.bits = X.view(np.uint16)
        self.shape = X.shape

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.bits.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # After the data's address, the device (two numbers) and the number of axes: the code of the type.
        ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 8 + 8 + 4).value = 4
        return capsule


def test_tensors_of_bfloat16_are_read_where_they_lie() -> None:
    X, numbers = examples(BFLOAT16)
    y = np.where(numbers > 0, 1, -1)
    found = as_numpy("X", Brain(X))
    assert np.shares_memory(found.view(np.uint16), X.view(np.uint16))
    model, plain = LinearSVC().fit(Brain(X), y), LinearSVC().fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(Brain(X)), plain.predict(X))


class Tensor:
    """An array of another library, which makes its own of any memory."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.shape = values, values.shape
        self.__dlpack__, self.__dlpack_device__ = values.__dlpack__, values.__dlpack_device__

    def __array_namespace__(self) -> Any:
        return SimpleNamespace(from_dlpack=lambda other: Tensor(np.from_dlpack(other)))


def test_answers_are_arrays_of_the_same_library_where_scikit_learn_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X, numbers = examples(np.dtype(np.float16))
    y = np.digitize(numbers, [-2.0, 2.0])
    model, words = LinearSVC().fit(X, y), LinearSVC().fit(X, np.array(["low", "middle", "high"])[y])
    regression = LinearSVR().fit(X, numbers)
    assert isinstance(model.predict(Tensor(X)), np.ndarray)
    monkeypatch.setattr(foreign_arrays, "get_config", lambda: {"array_api_dispatch": True})
    for answer, plain in (
        (model.predict(Tensor(X)), model.predict(X)),
        (model.decision_function(Tensor(X)), model.decision_function(X)),
        (regression.predict(Tensor(X)), regression.predict(X)),
    ):
        assert isinstance(answer, Tensor)
        np.testing.assert_array_equal(answer.values, plain)
    np.testing.assert_array_equal(words.predict(Tensor(X)), words.predict(X))
    assert isinstance(model.predict(X), np.ndarray)


def test_tensors_of_bfloat16_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = examples(BFLOAT16)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    found = as_numpy("X", Brain(X))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, X.astype(np.float32))

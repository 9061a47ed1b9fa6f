"""ONNX models say what their estimators say, in onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from tests.plain.plain_cases import FITS, NEW, OWN_KERNELS, TWO, X, assert_close, fitted

from cutplane import SVC, LinearSVC
from cutplane.kernels import FORMULAS

# Rows that single precision has, so that both sides see the same.
ROWS = NEW.astype(np.float32)


def run(model: Any, rows: Any) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


def wanted(model: Any, rows: Any) -> dict[str, Any]:
    """What the outputs of those names should be."""
    classes = hasattr(model, "classes_") or hasattr(model, "offset_")
    found = {"label" if classes else "value": model.predict(rows)}
    if hasattr(model, "decision_function"):
        found["scores"] = model.decision_function(rows)
    elif hasattr(model, "score_samples"):
        found["scores"] = model.score_samples(rows)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(rows)
    return found


def assert_same(model: Any, rows: Any, *, double: bool = False) -> None:
    found, expected = run(model.to_onnx(double=double), rows), wanted(model, rows)
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert_close(found[name], values)
        assert found[name].shape == np.asarray(values).shape


@pytest.mark.parametrize("name", FITS)
def test_a_runtime_says_what_the_estimator_says(name: str) -> None:
    assert_same(fitted(name), ROWS)


@pytest.mark.parametrize("name", ["LinearSVC of names", "SVC, isotonic of four"])
def test_rows_in_double_precision(name: str) -> None:
    assert_same(fitted(name), NEW, double=True)


def test_precomputed_kernels() -> None:
    kernel = X.astype(np.float32) @ X.T.astype(np.float32)
    model = SVC(kernel="precomputed").fit(kernel, TWO)
    assert_same(model, ROWS @ X.T.astype(np.float32))


def test_probabilities_agree_with_labels() -> None:
    """Also where curves alone would say otherwise: rows on all sides of the boundaries."""
    model = fitted("SVC, probabilities of four")
    rows = np.random.default_rng(1).normal(scale=2.0, size=(500, 4)).astype(np.float32)
    found = run(model.to_onnx(), rows)
    np.testing.assert_array_equal(model.classes_[found["probabilities"].argmax(axis=1)], found["label"])
    assert_close(found["probabilities"], model.predict_proba(rows))


def test_the_certificate_is_in_the_metadata(tmp_path: Path) -> None:
    model = fitted("LinearSVC")
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    told = session.get_modelmeta().custom_metadata_map
    assert told["cutplane.kind"] == "LinearSVC"
    assert told["cutplane.objective"] == "hinge"
    assert json.loads(told["cutplane.certificate"])["gap"] == model.gap_


@pytest.mark.parametrize("name", OWN_KERNELS)
def test_kernels_that_onnx_lacks_are_one_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=r"has no operators in ONNX .* linear, rbf, poly, sigmoid and precomputed"):
        fitted(name).to_onnx()


def test_every_kernel_is_exported_or_refused() -> None:
    exported = {fitted(name).kernel for name in FITS if hasattr(fitted(name), "kernel")}
    assert exported | {fitted(name).kernel for name in OWN_KERNELS} == set(FORMULAS)


def test_labels_of_several_types_are_one_sentence() -> None:
    model = LinearSVC().fit(X, TWO)
    model.classes_ = np.array([1, "one"], dtype=object)
    with pytest.raises(ValueError, match="no labels of several types"):
        model.to_onnx()

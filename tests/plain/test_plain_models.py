"""Plain models say what their estimators say, from model files and from JSON, and without scikit-learn."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.plain.plain_cases import FITS, NEW, OWN_KERNELS, SPARSE, TWO, X, answers, assert_close, fitted

import cutplane
from cutplane import SVC, LinearSVC, StructuralSVM, load
from cutplane.io.model_file import ModelFileError, read_model
from cutplane.plain.document import from_json, to_json
from cutplane.plain.model import PlainModel
from cutplane.structured.classes import MulticlassModel


def assert_same(plain: PlainModel, model: Any, rows: Any) -> None:
    found, wanted = answers(plain, rows), answers(model, rows)
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        assert_close(found[name], values)
        assert np.asarray(found[name]).shape == np.asarray(values).shape


@pytest.mark.parametrize("name", [*FITS, *OWN_KERNELS])
def test_a_plain_model_says_what_the_estimator_says(name: str, tmp_path: Path) -> None:
    model, rows = fitted(name), np.abs(NEW) if name == "SVC, chi2" else NEW
    model.save(tmp_path / "model.safetensors")
    model.to_json(tmp_path / "model.json")
    for file in ("model.safetensors", "model.json"):
        plain = load(tmp_path / file, plain=True)
        assert_same(plain, model, rows)
        if hasattr(model, "gap_"):
            assert plain.certificate["gap"] == pytest.approx(model.gap_)
        else:
            assert plain.certificate == {}


@pytest.mark.parametrize("name", ["LinearSVC of names", "SVC of four", "SVC, linear", "SVC, sparse"])
def test_sparse_rows_are_taken(name: str) -> None:
    model = fitted(name)
    rows = sparse.csr_array(np.where(np.abs(NEW) > 0.6, NEW, 0.0))
    assert_same(PlainModel(model.plain_form()), model, rows)


def test_precomputed_kernels() -> None:
    model = SVC(kernel="precomputed").fit(X @ X.T, TWO)
    assert_same(PlainModel(from_json(model.to_json())), model, NEW @ X.T)


def test_arrays_are_not_stored_twice(tmp_path: Path) -> None:
    fitted("SVC, sparse").save(tmp_path / "model.safetensors")
    assert [name for name in read_model(tmp_path / "model.safetensors").arrays if name.startswith("plain.")] == []


def test_json_is_what_it_was() -> None:
    text = fitted("SVC, isotonic of four").to_json()
    assert to_json(from_json(text)) == text
    assert json.loads(text)["model"]["$part"] == "PlainForm"


def test_plain_models_can_be_pickled() -> None:
    plain = PlainModel(fitted("SVC of names").plain_form())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(plain)).predict(NEW), plain.predict(NEW))


def test_names_of_features_are_kept(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = LinearSVC().fit(frame, TWO)
    plain = PlainModel(from_json(model.to_json()))
    assert plain.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(plain.predict(frame), model.predict(frame))


def test_neither_scikit_learn_nor_scipy_is_imported(tmp_path: Path) -> None:
    fitted("SVC of names").save(tmp_path / "model.safetensors")
    program = (
        "import sys, cutplane\n"
        f"model = cutplane.load({str(tmp_path / 'model.safetensors')!r}, plain=True)\n"
        "model.predict([[0.0, 1.0, 2.0, 3.0]])\n"
        "print({'sklearn', 'scipy', 'cutplane._core'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "none"


@pytest.mark.parametrize(
    ("rows", "says"),
    [([[1.0, 2.0]], r"shape \(1, 2\); a row of 4"), ([1.0], "a row of 4"), ([[np.nan] * 4], "not finite")],
)
def test_bad_rows_are_one_sentence(rows: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PlainModel(fitted("LinearSVC").plain_form()).predict(rows)


def test_what_has_no_plain_form_says_so(tmp_path: Path) -> None:
    model = StructuralSVM(MulticlassModel([-1, 1])).fit(X[:20], TWO[:20])
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match="without a plain form"):
        load(tmp_path / "model.safetensors", plain=True)
    with pytest.raises(ValueError, match="StructuralSVM has no plain form"):
        model.to_json()
    own = SVC(kernel=lambda a, b: a @ b.T).fit(X, TWO)
    with pytest.raises(ValueError, match="is a function, which is code"):
        own.to_json()


@pytest.mark.parametrize("name", ["missing.json", "nothing.safetensors"])
def test_files_that_are_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no model file"):
        load(tmp_path / name, plain=True)


def test_damaged_json_is_one_sentence(tmp_path: Path) -> None:
    text = fitted("SVC of four").to_json()
    damaged = {
        "cut short": text[:100],
        "of another kind": '{"format": "something"}',
        "of a later format": text.replace('"format_version": 1', '"format_version": 9'),
        "with a part of no name": text.replace('"Votes"', '"os.system"'),
        "with too few intercepts": json.dumps(_without_an_intercept(json.loads(text))),
    }
    for text in damaged.values():
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(ModelFileError, match="damaged or no model"):
            load(tmp_path / "model.json", plain=True)


def _leaves(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a document can be damaged: every value but those inside arrays."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    below = [found for key, value in inner if key != "values" for found in _leaves(value, (*path, key))]
    return [*below, path] if path else below


@pytest.mark.parametrize("name", ["LinearSVC, logistic of three", "SVC, isotonic of four", "SVC, sparse", "OrdinalSVC"])
@pytest.mark.parametrize("wrong", [None, -1, 7, "x", [], {}, [1.0], {"$part": "Curve"}])
def test_wrong_values_anywhere_are_refused_or_do_no_harm(name: str, wrong: Any, tmp_path: Path) -> None:
    text = fitted(name).to_json()
    for path in _leaves(json.loads(text)):
        document = json.loads(text)
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = wrong
        (tmp_path / "model.json").write_text(json.dumps(document))
        try:
            plain = load(tmp_path / "model.json", plain=True)
        except ModelFileError:
            continue
        assert len(plain.predict(np.zeros((3, plain.n_features_in_)))) == 3, path


def _without_an_intercept(document: Any) -> Any:
    intercept = document["model"]["scores"]["intercept"]["$array"]
    intercept["values"].pop()
    intercept["shape"] = [len(intercept["values"])]
    return document


def test_methods_that_there_are_not() -> None:
    plain = PlainModel(fitted("LinearSVR").plain_form())
    assert not hasattr(plain, "predict_proba")
    assert not hasattr(plain, "decision_function")
    assert repr(plain) == "PlainModel(LinearSVR, 4 features)"


def test_sparse_support_vectors_stay_sparse() -> None:
    form = from_json(cutplane.SVC().fit(SPARSE, TWO).to_json())
    assert sparse.issparse(form.scores.vectors)

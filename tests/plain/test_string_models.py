"""`StringSVC` as a plain model and as an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.plain.plain_cases import assert_close
from tests.plain.test_onnx import run

from cutplane import StringSVC, load
from cutplane.plain.model import PlainModel

_rng = np.random.default_rng(0)
STRINGS = ["".join(letters) for letters in np.array(list("ACGT"))[_rng.integers(4, size=(120, 20))]]
NEW = [*("".join(letters) for letters in np.array(list("ACGTN"))[_rng.integers(5, size=(40, 20))]), "N" * 20, "a" * 20]
COUNTS = np.array([s.count("AC") + s.startswith("G") for s in STRINGS])

FITS = {
    "positions": lambda: StringSVC(order=3).fit(STRINGS, COUNTS > 1),
    "windows": lambda: StringSVC(order=0, spectra=[(0, 20), (3, 9)], spectrum_order=3).fit(STRINGS, COUNTS > 1),
    "both, three classes": lambda: StringSVC(order=4, spectra=[(2, 18)], spectrum_order=2, depth=10).fit(
        STRINGS, np.minimum(COUNTS, 2)
    ),
    "not normalised": lambda: StringSVC(order=2, spectra=[(0, 10)], spectrum_order=2, normalize=False).fit(
        STRINGS, COUNTS > 1
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_predictions_are_those_of_the_estimator(name: str, tmp_path: Path) -> None:
    model = FITS[name]()
    model.save(tmp_path / "model.safetensors")
    model.to_json(tmp_path / "model.json")
    for file in ("model.safetensors", "model.json"):
        plain = load(tmp_path / file, plain=True)
        assert_close(plain.decision_function(NEW), model.decision_function(NEW))
        assert_close(plain.predict(NEW), model.predict(NEW))
    letters = plain.form.scores.rows(NEW)
    found = run(model.to_onnx(), letters)
    assert_close(found["scores"], model.decision_function(NEW))
    assert_close(found["label"], model.predict(NEW))


def test_weights_are_not_stored_twice(tmp_path: Path) -> None:
    from cutplane.io.model_file import read_model

    FITS["positions"]().save(tmp_path / "model.safetensors")
    arrays = read_model(tmp_path / "model.safetensors").arrays
    assert sum(a.nbytes for name, a in arrays.items() if name.startswith("plain.")) < 500


@pytest.mark.parametrize(
    ("strings", "says"),
    [
        ("ACGT" * 5, "is one string; a list of strings"),
        (["ACGT"], "String 0 has 4 letters; the model is of 20"),
        (["A" * 20, "A" * 19 + "!"], "String 1 has '!' as letter 19"),
    ],
)
def test_bad_strings_are_one_sentence(strings: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PlainModel(FITS["positions"]().plain_form()).predict(strings)

"""No damaged model file loads: not one flipped bit, not one byte less. Each is refused in one sentence."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.selection import first_cases

import cutplane
from cutplane.estimators import restoring
from cutplane.estimators.common import persistence
from cutplane.io.model_file import ModelFileError, read_model, write_model
from cutplane.structured.classes import HierarchyModel

X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
Y = [0, 0, 1, 1]
LETTERS = ["AA", "AC", "GT", "GG"]
TREE = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "fish": "animal"}
ANIMALS = ([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], ["cat", "dog", "fish"])
FITS: dict[str, Any] = {
    "LinearSVC": lambda: cutplane.LinearSVC().fit(X, Y),
    "LinearSVCCV": lambda: cutplane.LinearSVCCV([1.0], cv=2).fit(X, Y),
    "LinearSVRCV": lambda: cutplane.LinearSVRCV([1.0], cv=2).fit(X, [0.0, 1.0, 2.0, 3.0]),
    "LinearSVR": lambda: cutplane.LinearSVR().fit(X, [0.0, 1.0, 2.0, 3.0]),
    "LinearOneClassSVM": lambda: cutplane.LinearOneClassSVM().fit(X + 3.0),
    "LogisticRegression": lambda: cutplane.LogisticRegression().fit(X, [0, 1, 2, 2]),
    "LogisticRegressionCV": lambda: cutplane.LogisticRegressionCV(Cs=[1.0], cv=2).fit(X, Y),
    "OrdinalSVC": lambda: cutplane.OrdinalSVC().fit(X, Y),
    "RankSVM": lambda: cutplane.RankSVM().fit(X, Y),
    "StringSVC": lambda: cutplane.StringSVC(order=1).fit(LETTERS, Y),
    "SequenceSVM": lambda: cutplane.SequenceSVM().fit([[["the"], ["dog"]]], [["D", "N"]]),
    "StructuralSVM": lambda: cutplane.StructuralSVM(HierarchyModel(TREE)).fit(*ANIMALS),
    "KernelStructuralSVM": lambda: cutplane.KernelStructuralSVM(HierarchyModel(TREE), max_iter=2).fit(*ANIMALS),
    "NuSVC": lambda: cutplane.NuSVC().fit(X, Y),
    "NuSVR": lambda: cutplane.NuSVR().fit(X, [0.0, 1.0, 2.0, 3.0]),
    "OneClassSVM": lambda: cutplane.OneClassSVM().fit(X),
    "SVC": lambda: cutplane.SVC().fit(X, Y),
    "SampledCutSVC": lambda: cutplane.SampledCutSVC(max_iter=2).fit(X, Y),
    "SVR": lambda: cutplane.SVR().fit(X, [0.0, 1.0, 2.0, 3.0]),
}


def saved(kind: str, path: Path) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FITS[kind]().save(path)
    return path.read_bytes()


def refused(path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        cutplane.load(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_every_kind_of_model_is_damaged_below() -> None:
    assert set(FITS) == set(restoring._KINDS)


@pytest.mark.parametrize("kind", first_cases(FITS, 5))
def test_no_flipped_bit_and_no_truncation_loads(tmp_path: Path, kind: str) -> None:
    """At every place of one kind's file; the others', whose checksum is the same, at a fifth of the places."""
    step = 1 if kind == "LinearSVC" else 5
    begin = list(FITS).index(kind) % step
    path = tmp_path / "m.safetensors"
    contents = saved(kind, path)
    assert type(cutplane.load(path)).__name__ == kind
    with path.open("r+b", buffering=0) as file:  # in place: a new file for each is most of the time
        for place in range(begin, len(contents), step):
            byte = contents[place]
            os.pwrite(file.fileno(), bytes([byte ^ 1 << place % 8]), place)
            refused(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
        os.pwrite(file.fileno(), b"\0", len(contents))
        refused(path)
        for length in range(len(contents) - 1, -1, -step):
            file.truncate(length)
            refused(path)


def test_a_file_without_a_checksum_is_refused(tmp_path: Path) -> None:
    contents = saved("LinearSVC", tmp_path / "m")
    old = contents.replace(b'\\"sha256\\"', b'\\"sha999\\"', 1)
    assert old != contents
    (tmp_path / "old").write_bytes(old)
    with pytest.raises(ModelFileError, match=r"old has no checksum: .* train and save the model again\.$"):
        cutplane.load(tmp_path / "old")


def test_a_digest_among_the_notes_is_no_checksum(tmp_path: Path) -> None:
    model = FITS["LinearSVC"]()
    persistence.save(model, tmp_path / "m", notes={"sha256": "0" * 64, "cutplane": '{"sha256": "' + "1" * 64})
    assert cutplane.load(tmp_path / "m").predict(X).tolist() == Y


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"lower_bound": 2.0, "objective": 1.0}, "a lower bound above the objective"),
    ({"objective": float("nan")}, "something other than bounds"),
    ({"objective": float("-inf")}, "something other than bounds"),
    ({"lower_bound": float("inf")}, "something other than bounds"),
    ({"n_iter": -1}, "iterations is below zero"),
    ({"seconds": -1.0}, "seconds is below zero"),
    ({"stop_reason": "luck"}, "no reason to stop"),
]


@pytest.mark.parametrize(("change", "words"), CONTRADICTIONS, ids=[str(change) for change, _ in CONTRADICTIONS])
def test_certificates_that_contradict_themselves_are_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """The checksum is right: somebody wrote these on purpose."""
    saved("LinearSVC", tmp_path / "good")
    file = read_model(tmp_path / "good")
    columns = {name: [value] for name, value in change.items()}
    metadata = {**file.metadata, "certificates": {**file.metadata["certificates"], **columns}}
    write_model(tmp_path / "bad", kind="LinearSVC", arrays=file.arrays, metadata=metadata)
    with pytest.raises(ModelFileError, match=words):
        cutplane.load(tmp_path / "bad")


def test_a_model_without_a_certificate_says_so_and_loads(tmp_path: Path) -> None:
    """Searches that are not exact certify nothing: objective and gap are infinite, which is no contradiction."""
    saved("LinearSVC", tmp_path / "good")
    file = read_model(tmp_path / "good")
    unknown = {**file.metadata["certificates"], "objective": [float("inf")]}
    metadata = {**file.metadata, "certificates": unknown}
    write_model(tmp_path / "m", kind="LinearSVC", arrays=file.arrays, metadata=metadata)
    assert cutplane.load(tmp_path / "m").gap_ == float("inf")


def test_a_file_replaced_while_it_is_read_is_not_half_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    saved("LinearSVC", path)
    from cutplane.io import model_file

    check = model_file._check_intact

    def replaced_meanwhile(*args: Any) -> None:
        check(*args)
        saved("LinearSVR", path)

    monkeypatch.setattr(model_file, "_check_intact", replaced_meanwhile)
    with pytest.raises(ModelFileError, match="was replaced while it was read; load it again"):
        cutplane.load(path)

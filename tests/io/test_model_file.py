"""Model files: what goes in comes out, and nothing else is taken for one."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save_file

from cutplane.io.model_file import FORMAT_VERSION, ModelFileError, is_model_file, read_model, write_model

dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@given(array=hnp.arrays(dtypes, shapes), transposed=st.booleans())
def test_arrays_come_back_to_the_bit(tmp_path_factory: Any, array: Any, transposed: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "m.safetensors"
    array = array.T if transposed else array
    write_model(path, kind="Toy", arrays={"a": array}, metadata={})
    read = read_model(path).arrays["a"]
    assert read.dtype == array.dtype.newbyteorder("<")
    assert read.shape == array.shape
    assert read.tobytes() == np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()


def test_metadata_comes_back(tmp_path: Path) -> None:
    metadata = {"C": float("inf"), "weights": {-1: 2.0, 1: 1.0}, "names": ["a", "ü\ud800"], "none": None}
    write_model(tmp_path / "m", kind="Toy", arrays={}, metadata=metadata)
    model = read_model(tmp_path / "m")
    assert (model.kind, model.metadata, model.format_version) == ("Toy", metadata, FORMAT_VERSION)


def test_a_file_that_cannot_be_described_is_not_begun(tmp_path: Path) -> None:
    for arrays, metadata in (
        ({"a": np.array(["text"])}, {}),
        ({"a": np.array([1.0], dtype=np.longdouble)}, {}),
        ({}, {"on_step": print}),
    ):
        with pytest.raises(TypeError, match="cannot"):
            write_model(tmp_path / "m", kind="Toy", arrays=arrays, metadata=metadata)
    assert os.listdir(tmp_path) == []


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no model file .*m\.safetensors"):
        read_model(tmp_path / "m.safetensors")


def model_bytes(tmp_path: Path) -> bytes:
    write_model(tmp_path / "good", kind="Toy", arrays={"a": np.arange(5.0)}, metadata={"C": 1.0})
    return (tmp_path / "good").read_bytes()


def with_document(document: Any) -> bytes:
    """A safetensors file with `document` where a model's description is."""
    text = document if isinstance(document, str) else json.dumps(document)
    header = json.dumps({"__metadata__": {"cutplane": text}}).encode()
    return struct.pack("<Q", len(header)) + header


GOOD_DOCUMENT = {"format_version": 1, "library_version": "0.1.0", "kind": "Toy", "metadata": {}}
HUGE_ARRAY = b'{"a":{"dtype":"F64","shape":[100000000000],"data_offsets":[0,800000000000]}}'


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "is empty; a Cutplane model file"),
        (b"-1 3:1 11:1\n" * 100, "is not a Cutplane model file"),
        (b"\x80\x04\x95" + b"cos\nsystem\n(S'touch owned'\ntR.", "is not a Cutplane model file"),
        (struct.pack("<Q", 2**63) + b"{}", "is not a Cutplane model file"),
        (struct.pack("<Q", len(HUGE_ARRAY)) + HUGE_ARRAY, "is not a Cutplane model file, or was cut short"),
        (with_document({**GOOD_DOCUMENT, "format_version": 99}), "in format 99; this is Cutplane"),
        (with_document({**GOOD_DOCUMENT, "format_version": 0}), "there is no format 0"),
        (with_document({**GOOD_DOCUMENT, "format_version": "1"}), "damaged"),
        (with_document({**GOOD_DOCUMENT, "kind": 3}), "damaged .*kind is not a str"),
        (with_document({**GOOD_DOCUMENT, "metadata": [1]}), "damaged .*metadata is not a dict"),
        (with_document({"format_version": 1}), "damaged"),
        (with_document([1, 2]), "damaged"),
        (with_document("{"), "damaged"),
        (with_document('{"format_version": NaN}'), "damaged .*NaN is not JSON"),
        (with_document("[" * 100_000), "damaged"),
        (with_document('{"format_version": ' + "9" * 10_000 + "}"), "damaged"),
    ],
)
def test_what_is_no_model_is_one_sentence(tmp_path: Path, contents: bytes, reason: str) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(contents)
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_model(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message


def test_someone_elses_safetensors_file(tmp_path: Path) -> None:
    save_file({"weight": np.ones(3)}, tmp_path / "m", {"format": "np"})
    with pytest.raises(ModelFileError, match="is a safetensors file, but not one written by Cutplane"):
        read_model(tmp_path / "m")
    assert not is_model_file(tmp_path / "m")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a file"):
        read_model(tmp_path)
    assert not is_model_file(tmp_path)


def test_every_truncation_is_found(tmp_path: Path) -> None:
    contents = model_bytes(tmp_path)
    assert is_model_file(tmp_path / "good")
    for length in range(len(contents)):
        (tmp_path / "cut").write_bytes(contents[:length])
        with pytest.raises(ModelFileError):
            read_model(tmp_path / "cut")


@given(st.data())
def test_no_changed_byte_passes(tmp_path_factory: Any, data: Any) -> None:
    folder = tmp_path_factory.getbasetemp()
    contents = bytearray(model_bytes(folder))
    place = data.draw(st.integers(0, len(contents) - 1))
    contents[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != contents[place]))
    (folder / "flipped").write_bytes(contents)
    with pytest.raises(ModelFileError):
        read_model(folder / "flipped")

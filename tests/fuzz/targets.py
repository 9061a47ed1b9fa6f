"""What is fed to the readers of files, and what may come of it: a value, or a ValueError of one sentence."""

from __future__ import annotations

import io
import json
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import proofs

import cutplane
from cutplane.io import conll, fasta, svmlight
from cutplane.io.compression import read_blocks
from cutplane.io.conll import read_tokens
from cutplane.io.feature_template import FeatureTemplate
from cutplane.io.model_file import read_model
from cutplane.io.plain_json import decode, encode
from cutplane.io.strings import read_strings
from cutplane.io.svmlight import load_svmlight
from cutplane.sources.string_file import HEADER, MAGIC

# Blocks so small that inputs have many, whose ends fall anywhere.
_SMALL = 64
_BLOCKS = ((fasta, "_BLOCK"), (conll, "_BLOCK_BYTES"), (svmlight, "_BLOCK_BYTES"), (svmlight, "_BYTES_PER_THREAD"))
_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
_SENTENCE = [["He", "PRP"], ["reckons", "VBZ"], [".", "."]]
_MOST_CONTENT = 1 << 24  # a small file may hold a large one


def _file(data: bytes, name: str = "input") -> Path:
    path = Path(_FOLDER.name) / name
    path.write_bytes(data)
    return path


def _compression(data: bytes) -> None:
    size = 0
    for block in read_blocks(io.BufferedReader(io.BytesIO(data)), "input", 1 << 12, 1 << 12):
        size += len(block)
        if size > _MOST_CONTENT:
            break


def _template(data: bytes) -> None:
    template = FeatureTemplate.read(_file(data))
    assert [len(names) for names in template.apply(_SENTENCE)] == [len(template.apply(_SENTENCE)[0])] * 3


def _plain_json(data: bytes) -> None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return  # the standard library's matter
    try:
        decoded = decode(value)
    except ValueError:
        return  # what it says becomes part of a sentence of `read_model`
    assert repr(decode(encode(decoded))) == repr(decoded)


def _tensors_with(document: bytes) -> bytes:
    """A safetensors file of one array with this document."""
    arrays = {"coef": np.ones(2), "intercept": np.zeros(1), "classes": np.array([0, 1])}
    names = {np.dtype(np.float64): "F64", np.dtype(np.int64): "I64"}
    header: dict[str, object] = {"__metadata__": {"cutplane": document.decode(errors="replace")}}
    place = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [place, place + array.nbytes],
        }
        place += array.nbytes
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values())


def _packed_strings(data: bytes) -> None:
    """The text up to a zero byte is the header, the rest what follows it."""
    header, _, rest = data.partition(b"\0")
    strings, labels = read_strings(_file((MAGIC + header + b"\n").ljust(HEADER)[:HEADER] + rest))
    assert labels is None or len(labels) == len(strings)
    for _, chunk in strings.chunks():
        for k in range(min(len(chunk), 100)):
            chunk.core.letters(k)


def _plain_model(data: bytes) -> None:
    model = cutplane.load(_file(data), plain=True)
    if model.n_features_in_ <= 1000 and not hasattr(model.form.scores, "length"):
        assert len(model.predict(np.zeros((2, model.n_features_in_)))) == 2


TARGETS: dict[str, Callable[[bytes], object]] = {
    "compression": _compression,
    "conll": lambda data: read_tokens(_file(data)),
    "conllu": lambda data: read_tokens(_file(data, "input.conllu")),
    "fasta": lambda data: read_strings(_file(b">" + data), n_threads=1),
    "model": lambda data: read_model(_file(data)),
    "model_document": lambda data: cutplane.load(_file(_tensors_with(data))),
    "packed_strings": _packed_strings,
    "plain_json": _plain_json,
    "plain_model": _plain_model,
    "proof": proofs.feed,
    "svmlight_file": lambda data: load_svmlight(_file(data), n_jobs=1),
    "template": _template,
}


@contextmanager
def small_blocks() -> Iterator[None]:
    """Readers look at few bytes at a time; other tests in the process must not."""
    before = [getattr(module, name) for module, name in _BLOCKS]
    try:
        for module, name in _BLOCKS:
            setattr(module, name, _SMALL)
        yield
    finally:
        for (module, name), size in zip(_BLOCKS, before, strict=True):
            setattr(module, name, size)


def attempt(name: str, data: bytes) -> str:
    """Feed a reader; whatever it cannot read it refuses with a ValueError of one sentence, which is returned."""
    said = "."
    try:
        with small_blocks():
            TARGETS[name](data)
    except ValueError as error:
        said = f"{type(error).__name__}: {error}"
    assert said.endswith("."), said
    assert "\n" not in said, said
    return said

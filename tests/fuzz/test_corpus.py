"""The inputs kept from fuzzing, fed again: those that have once found an error, and a few of every kind."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import targets

from cutplane import _core

CORPUS = Path(__file__).parent / "corpus"
INPUTS = [(path.parent.name, path.name) for path in sorted(CORPUS.glob("*/*"))]
pytestmark = pytest.mark.nightly
OF_THE_CORE = {"svmlight", "strings"}  # fed to C++ by the fuzzer, and through the bindings here


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, file in INPUTS if name not in OF_THE_CORE])
def test_what_cannot_be_read_is_refused_in_one_sentence(name: str, file: str) -> None:
    targets.attempt(name, (CORPUS / name / file).read_bytes())


def test_every_target_has_inputs() -> None:
    assert {name for name, _ in INPUTS} == targets.TARGETS.keys() | OF_THE_CORE


@pytest.mark.parametrize("file", [file for name, file in INPUTS if name == "svmlight"])
def test_svmlight_text_reads_the_same_however_it_is_cut(file: str) -> None:
    data = (CORPUS / "svmlight" / file).read_bytes()
    options, text = data[:5], np.frombuffer(data[5:], np.uint8)
    kind = _core.SvmlightReader32 if options[4] & 64 else _core.SvmlightReader64
    found = []
    for chunk, block in ((options[3] & 15, (options[4] & 63) + 1), (1 << 18, len(text) + 1)):
        limit = {"narrow_limit": options[2] >> 1} if options[2] & 1 else {}
        features = options[1] >> 1 if options[1] & 1 else None
        reader = kind(["auto", "zero", "one"][options[0] % 3], features, 2, chunk_bytes=chunk, **limit)
        faults = (reader.feed(text[start : start + block]) for start in range(0, len(text), block))
        fault = next((fault for fault in faults if fault is not None), None) or reader.finish()
        found.append(fault if fault is not None else [np.asarray(part).tolist() for part in reader.take()])
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("file", [file for name, file in INPUTS if name == "strings"])
def test_packed_letters_are_those_of_the_text(file: str) -> None:
    data = (CORPUS / "strings" / file).read_bytes()
    alphabet, length = 2 + data[0] % 24, 1 + data[1] % 40
    count = (len(data) - 3) // length
    text = np.frombuffer(data, np.uint8, count * length, 3).reshape(count, length)
    codes = np.arange(256, dtype=np.uint8) % alphabet
    codes[62::64], codes[63::64] = 254, 255
    packed, wrong, unknown = _core.pack_strings(text, codes, alphabet <= 4, 2)
    invalid = np.argwhere(codes[text] == 255)
    assert wrong == (tuple(invalid[0]) if len(invalid) else (-1, -1))
    if not len(invalid):
        strings = _core.PackedStrings(packed, count, length, alphabet, alphabet <= 4, *unknown)
        for k in range(count):
            assert (strings.letters(k) == codes[text[k]]).all()

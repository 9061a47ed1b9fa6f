"""Disks that are full, files that are cut short, streams that are slow, files made to fill the memory."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from tests.selection import first_cases

from cutplane.io import compression
from cutplane.io.atomic import OutputError, remove_unfinished, replace_file, replace_folder
from cutplane.io.conll import read_tokens
from cutplane.io.convert import convert_svmlight
from cutplane.io.fasta import read_fasta
from cutplane.io.model_file import read_model, write_model
from cutplane.io.svmlight import load_svmlight

COMPRESS: dict[str, Any] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}
TEXT = b"".join(b"%d 1:%d 7:0.25\n" % (1 - 2 * (row % 2), row) for row in range(300))
READERS: dict[str, Any] = {
    "svmlight": load_svmlight,
    "tokens": read_tokens,
    "fasta": lambda path: list(read_fasta(path)),
}


class OneByteAtATime(io.RawIOBase):
    """A pipe whose writer is slow."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._content.readinto(memoryview(buffer)[:1])


@pytest.mark.parametrize("kind", [None, *COMPRESS])
def test_short_reads_change_nothing(kind: str | None) -> None:
    """What a file is shows in its first bytes, even where the first read gives but one of them."""
    content = TEXT if kind is None else COMPRESS[kind](TEXT)
    X, y, _ = load_svmlight(OneByteAtATime(content))
    expected = load_svmlight(TEXT)
    np.testing.assert_array_equal(X.toarray(), expected.X.toarray())
    np.testing.assert_array_equal(y, expected.y)


@pytest.mark.parametrize("kind", first_cases(COMPRESS, 1))
def test_every_truncation_of_a_compressed_file_is_found(kind: str) -> None:
    content = COMPRESS[kind](TEXT)
    for length in range(1, len(content)):
        with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
            load_svmlight(content[:length])


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", COMPRESS)
def test_truncated_and_damaged_files_are_named(tmp_path: Path, kind: str, reader: str) -> None:
    path = tmp_path / "data"
    content = COMPRESS[kind](TEXT)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=rf"^{path} is truncated: its {kind} stream stops before its end; fetch"):
        READERS[reader](path)
    path.write_bytes(content[:20] + bytes(40) + content[60:])
    with pytest.raises(ValueError, match=rf"^{path} is (damaged: its {kind} stream cannot|truncated)"):
        READERS[reader](path)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_file_made_to_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, reader: str
) -> None:
    monkeypatch.setattr(compression, "_HARMLESS_BYTES", 1 << 16)
    path = tmp_path / "bomb"
    path.write_bytes(COMPRESS[kind](b"\n" * (1 << 19)))
    words = rf"^{path} holds more than \d+ times its size of {kind} content, .* set CUTPLANE_MAX_EXPANSION above 200\.$"
    with pytest.raises(ValueError, match=words):
        READERS[reader](path)
    monkeypatch.setenv("CUTPLANE_MAX_EXPANSION", "inf")
    with pytest.raises(ValueError, match=r"no example|no tokens|is empty"):
        READERS[reader](path)
    monkeypatch.setenv("CUTPLANE_MAX_EXPANSION", "lots")
    with pytest.raises(ValueError, match=r"^CUTPLANE_MAX_EXPANSION='lots' must be a number of 1 or greater"):
        READERS[reader](path)


def test_small_files_may_shrink_by_any_factor() -> None:
    assert load_svmlight(lzma.compress(b"1 1:1\n" + b"-1 1:0.5\n" * 200_000)).X.shape == (200_001, 1)


@pytest.mark.parametrize("reader", READERS)
def test_what_may_not_be_read_is_named(tmp_path: Path, reader: str) -> None:
    with pytest.raises(OSError, match=str(tmp_path)):
        READERS[reader](tmp_path)


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_model_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """File systems say that they are full when written to, when synchronised, or when a name is given."""
    path = tmp_path / "m"
    write_model(path, kind="Toy", arrays={"a": np.arange(3.0)}, metadata={})

    def full(*args: Any, **kwargs: Any) -> Any:
        raise FULL

    with monkeypatch.context() as patched:
        if call == "write":
            patched.setattr(os, "fdopen", lambda descriptor, mode: _FullFile(descriptor))
        else:
            patched.setattr(os if call == "fsync" else Path, call, full)
        with pytest.raises(OutputError, match=r"could not be written: the disk is full; what was there before is"):
            write_model(path, kind="Toy", arrays={"a": np.arange(9.0)}, metadata={})
    np.testing.assert_array_equal(read_model(path).arrays["a"], np.arange(3.0))
    assert os.listdir(tmp_path) == ["m"]


class _FullFile(io.FileIO):
    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb")

    def write(self, data: Any) -> int:
        raise FULL


def test_a_full_disk_leaves_no_half_folder(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_bytes(TEXT)
    code = (
        "import resource, signal, sys; from cutplane.io.convert import convert_svmlight\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: convert_svmlight(sys.argv[1], sys.argv[2])\n"
        "except OSError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "d.svm", tmp_path / "out"], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"{tmp_path / 'out'} could not be written: File too large; what was there before is untouched.\n"
    )
    assert os.listdir(tmp_path) == ["d.svm"]


def test_bad_data_leave_no_half_folder(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_bytes(TEXT + b"1 1:x\n")
    with pytest.raises(ValueError, match="line 301: found '1:x'"):
        convert_svmlight(tmp_path / "d.svm", tmp_path / "out", block_bytes=100)
    assert os.listdir(tmp_path) == ["d.svm"]


def test_values_beyond_single_precision_are_not_converted_to_infinity(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_bytes(b"1 1:1\n-1 1:1e300\n")
    with pytest.raises(ValueError, match=r"d\.svm, example 2: the value 1e\+300 is beyond single precision"):
        convert_svmlight(tmp_path / "d.svm", tmp_path / "out")


def test_what_cannot_be_read_is_named_and_not_what_is_written(tmp_path: Path) -> None:
    missing = tmp_path / "missing.svm"
    with pytest.raises(FileNotFoundError) as caught:
        convert_svmlight(missing, tmp_path / "out")
    assert Path(caught.value.filename) == missing
    with pytest.raises(FileNotFoundError) as caught, replace_file(tmp_path / "out"):
        missing.read_bytes()
    assert Path(caught.value.filename) == missing
    assert os.listdir(tmp_path) == []


def test_whoever_leaves_at_once_can_clear_up(tmp_path: Path) -> None:
    left = []

    def leave(output: Any) -> None:
        with output as place:
            (place / "part").write_bytes(b"half") if isinstance(place, Path) else place.write(b"half")
            remove_unfinished()
            left.extend(os.listdir(tmp_path))

    for output in (replace_file(tmp_path / "file"), replace_folder(tmp_path / "folder")):
        with pytest.raises(OutputError, match="could not be written: No such file"):
            leave(output)
    assert left == os.listdir(tmp_path) == []

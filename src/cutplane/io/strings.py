"""FASTA files, and files of packed strings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.io.atomic import replace_file
from cutplane.io.compression import read_blocks
from cutplane.sources.alphabet import DNA, Alphabet, as_alphabet
from cutplane.sources.packed import PackedStrings, StringCollection, UnknownLetters
from cutplane.sources.string_file import MAGIC, MappedStrings, string_header

_BLOCK = 1 << 22
_LABEL = re.compile(rb"(?:^|[\s,;|])label\s*[=:]\s*([^\s,;|]+)")


class Record(NamedTuple):
    """An entry of a FASTA file: its first line without ">", its letters, and the number of its first line."""

    header: bytes
    letters: bytes
    line: int


def read_fasta(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The entries of a FASTA file, plain or compressed, one after the other."""
    name = os.fspath(path)
    with open(path, "rb") as stream:
        header: bytes | None = None
        lines: list[bytes] = []
        begun = 0
        for number, line in enumerate(_lines(read_blocks(stream, name, _BLOCK, _BLOCK)), 1):
            if line.startswith(b">"):
                if header is not None:
                    yield _record(header, lines, begun, name)
                header, lines, begun = line[1:].strip(), [], number
            elif header is None and line.strip():
                raise ValueError(f"{name}, line {number}: a FASTA file begins with a line that starts with '>'.")
            elif not line.startswith(b";"):
                lines.append(line.strip())
        if header is None:
            raise ValueError(f"{name} is empty; a FASTA file was expected.")
        yield _record(header, lines, begun, name)


def _lines(blocks: Iterator[Any]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        parts = (rest + bytes(block)).split(b"\n")
        rest = parts.pop()
        yield from parts
    if rest:
        yield rest


def _record(header: bytes, lines: list[bytes], line: int, name: str) -> Record:
    letters = b"".join(lines)
    if not letters:
        raise ValueError(f"{name}, line {line}: the entry {header.decode('latin-1')!r} has no letters.")
    return Record(header, letters, line)


def read_strings(
    path: str | os.PathLike[str], alphabet: str | Alphabet = DNA, *, n_threads: int = 0
) -> tuple[StringCollection, NDArray[Any] | None]:
    """The strings of a file and their labels: of a file of packed strings, where they are; of a FASTA file, in memory.

    The label of a FASTA entry stands in its first line as ``label=...``; either all have one or none.
    """
    if is_string_file(path):
        strings = MappedStrings(path)
        if strings.alphabet != as_alphabet(alphabet):
            wanted = as_alphabet(alphabet).letters
            raise ValueError(f"{os.fspath(path)} has strings of {strings.alphabet.letters}, not of {wanted}.")
        return strings, strings.labels
    records = list(read_fasta(path))
    _check_lengths(records, os.fspath(path))
    text = np.frombuffer(b"".join(record.letters for record in records), np.uint8).reshape(len(records), -1)
    try:
        packed = PackedStrings.pack(text, alphabet, n_threads=n_threads)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    return packed, _labels(records, os.fspath(path))


def _check_lengths(records: list[Record], name: str) -> None:
    first = len(records[0].letters)
    wrong = next((number for number, record in enumerate(records) if len(record.letters) != first), None)
    if wrong is not None:
        raise ValueError(
            f"{name}, line {records[wrong].line}: entry {wrong} has {len(records[wrong].letters)} letters and those "
            f"before it {first}; all must be of one length."
        )


def _labels(records: list[Record], name: str) -> NDArray[Any] | None:
    found = [_LABEL.search(record.header) for record in records]
    if not any(found):
        return None
    missing = next((number for number, match in enumerate(found) if match is None), None)
    if missing is not None:
        raise ValueError(
            f"{name}, line {records[missing].line}: entry {missing} has no label; give one to all or to none."
        )
    texts = [match.group(1).decode("latin-1") for match in found if match]
    try:
        return np.array([int(text) for text in texts])
    except ValueError:
        return np.array(texts)


def is_string_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds packed strings."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def write_strings(path: str | os.PathLike[str], strings: StringCollection, labels: Any = None) -> None:
    """Write strings packed, with their labels if they have any: a file that is read a chunk at a time.

    Parameters
    ----------
    path : path-like
    strings : StringCollection
    labels : array of shape (n,), optional
        Whole numbers or text.
    """
    classes: list[Any] | None = None
    codes: NDArray[Any] | None = None
    if labels is not None:
        if len(labels) != len(strings):
            raise ValueError(f"{len(labels)} labels were given for {len(strings)} strings; each needs one.")
        unique, codes = np.unique(np.asarray(labels), return_inverse=True)
        classes = unique.tolist()
    unknown = UnknownLetters.joined([(start, chunk.unknown) for start, chunk in strings.chunks()])
    with replace_file(Path(path)) as file:
        file.write(string_header(strings, unknown, classes))
        for _, chunk in strings.chunks():
            file.write(memoryview(chunk.data))
        if codes is not None:
            file.write(codes.astype(np.int32).tobytes())
        for array, kind in zip(unknown, (np.int64, np.int64, np.int32), strict=True):
            file.write(np.ascontiguousarray(array, kind).tobytes())

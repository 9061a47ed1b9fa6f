"""FASTA files, read an entry or a block of entries at a time."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Labels
from cutplane.io.compression import read_blocks
from cutplane.sources.alphabet import Alphabet
from cutplane.sources.packed import PIECE, PackedStrings

_BLOCK = 1 << 22
# Strings packed at a time: whole pieces of the packed layout, so that blocks can stand one after the other.
_STRINGS = 4 * PIECE
# What lines of letters have none of: first lines, remarks, blanks.
_NOT_LETTERS = (b">", b";", b" ", b"\t", b"\r", b"\v", b"\f")
_LABEL = re.compile(rb"(?:^|[\s,;|])label\s*[=:]\s*([^\s,;|]+)")


class Record(NamedTuple):
    """An entry of a FASTA file: its first line without ">", its letters, and the number of its first line."""

    header: bytes
    letters: bytes
    line: int


def is_fasta(path: str | os.PathLike[str]) -> bool:
    """Whether a file, plain or compressed, begins as FASTA files do."""
    with open(path, "rb") as stream:
        first = next(iter(read_blocks(stream, os.fspath(path), 1 << 16, 1 << 16)), b"")
        return bytes(first).lstrip()[:1] == b">"


def read_fasta(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The entries of a FASTA file, plain or compressed, one after the other."""
    name = os.fspath(path)
    with open(path, "rb") as stream:
        header: bytes | None = None
        lines: list[bytes] = []
        begun = number = 0
        for block in _whole_lines(read_blocks(stream, name, _BLOCK, _BLOCK)):
            if header is not None and not any(other in block for other in _NOT_LETTERS):
                lines.append(block.replace(b"\n", b""))  # nearly all blocks of a chromosome: no look at its lines
                number += len(block) - len(lines[-1])
                continue
            for line in block.removesuffix(b"\n").split(b"\n"):
                number += 1
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


def _whole_lines(blocks: Iterator[bytes | memoryview]) -> Iterator[bytes]:
    """Blocks that end where a line does; the last may lack the end of its line."""
    rest: list[bytes] = []
    for block in map(bytes, blocks):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        rest.append(block[end:])
    last = b"".join(rest)
    if last:
        yield last


def _record(header: bytes, lines: list[bytes], line: int, name: str) -> Record:
    letters = b"".join(lines)
    if not letters:
        raise ValueError(f"{name}, line {line}: the entry {header.decode('latin-1')!r} has no letters.")
    return Record(header, letters, line)


def packed_blocks(
    path: str | os.PathLike[str],
    alphabet: Alphabet,
    labels: FastaLabels,
    *,
    block_strings: int = _STRINGS,
    n_threads: int = 0,
) -> Iterator[PackedStrings]:
    """The strings of a FASTA file, packed some at a time; their labels are added to `labels`.

    `block_strings` is a multiple of `PIECE`: then the data of the blocks, one after the other, are those of all.
    """
    name = os.fspath(path)
    length = None
    first = 0
    block: list[bytes] = []
    for number, record in enumerate(read_fasta(path)):
        length = len(record.letters) if length is None else length
        if len(record.letters) != length:
            raise ValueError(
                f"{name}, line {record.line}: entry {number} has {len(record.letters)} letters and those before it "
                f"{length}; all must be of one length."
            )
        labels.add(record, number)
        block.append(record.letters)
        if len(block) == block_strings:
            yield _packed(block, first, alphabet, name, n_threads)
            first, block = first + len(block), []
    if block:
        yield _packed(block, first, alphabet, name, n_threads)


def _packed(block: list[bytes], first: int, alphabet: Alphabet, name: str, n_threads: int) -> PackedStrings:
    text = np.frombuffer(b"".join(block), np.uint8).reshape(len(block), -1)
    try:
        return PackedStrings.pack(text, alphabet, first=first, n_threads=n_threads)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class FastaLabels:
    """The labels that stand in the first lines of entries as ``label=...``: all have one, or none."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: dict[bytes, int] = {}
        self._codes = array("i")
        self._bare: tuple[int, int] | None = None  # the first entry without, and its line

    def add(self, record: Record, number: int) -> None:
        """Note the label of the next entry."""
        match = _LABEL.search(record.header)
        if match is None:
            self._bare = self._bare or (number, record.line)
        else:
            self._codes.append(self._numbers.setdefault(match.group(1), len(self._numbers)))
        if self._bare is not None and self._codes:
            number, line = self._bare
            raise ValueError(f"{self._name}, line {line}: entry {number} has no label; give one to all or to none.")

    def sorted(self) -> tuple[Labels, NDArray[np.int32]] | None:
        """The classes, sorted (numbers where all are whole ones), and the class of each entry."""
        if not self._codes:
            return None
        texts = [text.decode("latin-1") for text in self._numbers]
        try:
            found = np.array([int(text) for text in texts], np.int64)
        except (ValueError, OverflowError):  # OverflowError: of numbers this large, NumPy would make floats
            found = np.array(texts)
        classes, places = np.unique(found, return_inverse=True)  # 1 and 01 are one class
        return classes, places.astype(np.int32)[np.frombuffer(self._codes, np.intc)]

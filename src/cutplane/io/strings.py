"""Files of strings: FASTA files and packed ones, read and written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Label, Labels
from cutplane.io.atomic import replace_file
from cutplane.io.fasta import FastaLabels, packed_blocks
from cutplane.sources.alphabet import DNA, Alphabet, as_alphabet
from cutplane.sources.packed import PackedStrings, StringCollection, UnknownLetters
from cutplane.sources.string_file import HEADER, MAGIC, MappedStrings, string_header


def read_strings(
    path: str | os.PathLike[str], alphabet: str | Alphabet = DNA, *, n_threads: int = 0
) -> tuple[StringCollection, Labels | None]:
    """The strings of a file and their labels: of a file of packed strings, where they are; of a FASTA file, in memory.

    The label of a FASTA entry stands in its first line as ``label=...``; either all have one or none.
    """
    if is_string_file(path):
        strings = MappedStrings(path)
        if strings.alphabet != as_alphabet(alphabet):
            wanted = as_alphabet(alphabet).letters
            raise ValueError(f"{os.fspath(path)} has strings of {strings.alphabet.letters}, not of {wanted}.")
        return strings, strings.labels
    letters, found = as_alphabet(alphabet), FastaLabels(os.fspath(path))
    blocks = list(packed_blocks(path, letters, found, n_threads=n_threads))
    starts = np.cumsum([0, *map(len, blocks)]).tolist()
    packed = PackedStrings(
        np.concatenate([block.data for block in blocks]),
        starts[-1],
        blocks[0].length,
        letters,
        UnknownLetters.joined([(start, block.unknown) for start, block in zip(starts[:-1], blocks, strict=True)]),
    )
    classes, codes = found.sorted() or (None, None)
    return packed, None if classes is None else classes[codes]


def is_string_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds packed strings."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def write_strings(path: str | os.PathLike[str], strings: StringCollection, labels: ArrayLike | None = None) -> None:
    """Write strings packed, with their labels if they have any: a file that is read a chunk at a time.

    Parameters
    ----------
    path : path-like
    strings : StringCollection
    labels : array of shape (n,), optional
        Whole numbers or text.
    """
    classes: list[Label] | None = None
    codes: NDArray[np.intp] | None = None
    if labels is not None:
        given = np.asarray(labels)
        if len(given) != len(strings):
            raise ValueError(f"{len(given)} labels were given for {len(strings)} strings; each needs one.")
        unique, codes = np.unique(given, return_inverse=True)
        classes = unique.tolist()
    unknown = UnknownLetters.joined([(start, chunk.unknown) for start, chunk in _packed(strings)])
    with replace_file(Path(path)) as file:
        file.write(string_header(len(strings), strings.length, strings.alphabet, unknown, classes))
        for _, chunk in _packed(strings):
            file.write(chunk.data.data)
        _write_end(file, codes, unknown)


def _packed(strings: StringCollection) -> Iterator[tuple[int, PackedStrings]]:
    """Chunks that can be written: the windows of a text are none."""
    for start, chunk in strings.chunks():
        if not isinstance(chunk, PackedStrings):
            raise TypeError(f"{type(strings).__name__} cannot be written; packed strings can.")
        yield start, chunk


def convert_fasta(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    alphabet: str | Alphabet = DNA,
    *,
    n_threads: int = 0,
    **block: int,
) -> tuple[int, int]:
    """Convert a FASTA file into one of packed strings, a block at a time: only labels and unknown letters add up.

    Parameters
    ----------
    path : path-like
        The FASTA file, plain or compressed.
    output : path-like
    alphabet : str or Alphabet
    n_threads : int
    **block
        `block_strings`: the strings in memory at a time.

    Returns
    -------
    count, length : int
    """
    letters = as_alphabet(alphabet)
    labels = FastaLabels(os.fspath(path))
    count = length = 0
    parts: list[tuple[int, UnknownLetters]] = []
    with replace_file(Path(output)) as file:
        file.write(bytes(HEADER))  # what stands here is known at the end
        for packed in packed_blocks(path, letters, labels, n_threads=n_threads, **block):
            file.write(packed.data.data)
            parts.append((count, packed.unknown))
            count, length = count + len(packed), packed.length
        classes, codes = labels.sorted() or (None, None)
        unknown = UnknownLetters.joined(parts)
        _write_end(file, codes, unknown)
        file.seek(0)
        file.write(string_header(count, length, letters, unknown, None if classes is None else classes.tolist()))
    return count, length


def _write_end(file: BinaryIO, codes: NDArray[np.integer] | None, unknown: UnknownLetters) -> None:
    """What follows the strings: the classes of labelled ones, and where letters are unknown."""
    if codes is not None:
        file.write(codes.astype(np.int32).tobytes())
    for values, kind in zip(unknown, (np.int64, np.int64, np.int32), strict=True):
        file.write(np.ascontiguousarray(values, kind).tobytes())

"""Packed strings in a file larger than memory, read a chunk at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial

import numpy as np

from cutplane._types import Document, Label, Labels
from cutplane.sources.alphabet import Alphabet
from cutplane.sources.base import Rows
from cutplane.sources.packed import PIECE, PackedStrings, StringCollection, UnknownLetters
from cutplane.sources.read_ahead import BinaryFile, read_ahead

MAGIC = b"cutplane strings 1\n"
HEADER = 4096
# Strings read at a time, in pieces, and strings that are gathered before they are worked on.
_CHUNK = 4 * PIECE
_GATHERED = 1 << 20


def string_header(
    count: int, length: int, alphabet: Alphabet, unknown: UnknownLetters, classes: list[Label] | None
) -> bytes:
    """The first bytes of a file of packed strings. After them come the strings, labels and unknown letters."""
    fields = {
        "count": count,
        "length": length,
        "letters": alphabet.letters,
        "unknown": alphabet.unknown,
        "ignore_case": alphabet.ignore_case,
        "classes": classes,
        "unknown_strings": len(unknown.strings),
        "unknown_letters": len(unknown.positions),
    }
    header = MAGIC + json.dumps(fields).encode() + b"\n"
    if len(header) > HEADER:
        raise ValueError(f"The labels are too many or too long: they take {len(header)} bytes of {HEADER}.")
    return header.ljust(HEADER, b" ")


class MappedStrings(StringCollection):
    """The strings of a file that `cutplane convert` has written. Only the unknown letters and labels are in memory.

    Parameters
    ----------
    path : path-like

    Attributes
    ----------
    labels : array of shape (n,) or None
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = BinaryFile(path)
        fields = _fields(self._file)
        try:
            self.alphabet = Alphabet(fields["letters"], fields["unknown"], fields["ignore_case"])
            self._count, self.length = int(fields["count"]), int(fields["length"])
            odd, letters = int(fields["unknown_strings"]), int(fields["unknown_letters"])
            classes = fields["classes"]
            _check_header(self._count, self.length, odd, letters, classes)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)} has a damaged header ({error}); convert it again.") from None
        self._columns = -(-self.length // 4) if self.alphabet.quarters else self.length
        place = HEADER + self._count * self._columns
        labelled = 0 if classes is None else 4 * self._count
        expected = place + labelled + 8 * odd + 8 * (odd + 1) + 4 * letters
        if self._file.size != expected:
            raise ValueError(
                f"{os.fspath(path)} has {self._file.size} bytes, but its header speaks of {expected}: it is truncated "
                f"or damaged; convert it again."
            )
        self.labels = None if classes is None else self._labels(place, classes)
        place += labelled
        self._unknown = UnknownLetters(
            self._file.read(place, odd, np.int64),
            self._file.read(place + 8 * odd, odd + 1, np.int64),
            self._file.read(place + 16 * odd + 8, letters, np.int32),
        )
        _check_unknown(self._unknown, self._count, self.length, path)
        self.has_unknown = odd > 0

    def _labels(self, place: int, classes: list[Label]) -> Labels:
        codes = self._file.read(place, self._count, np.int32)
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(classes)):
            raise ValueError(
                f"{os.fspath(self._file.path)} is damaged: a label is none of its {len(classes)} classes; convert it "
                f"again."
            )
        return np.asarray(np.array(classes)[codes])

    def __len__(self) -> int:
        return self._count

    def chunks(self) -> Iterator[tuple[int, PackedStrings]]:
        """The strings, the next chunk being read while one is worked on."""
        starts = range(0, self._count, _CHUNK)
        yield from zip(starts, read_ahead(partial(self._load, start) for start in starts), strict=True)

    def gathered(self, rows: Rows, *, n_threads: int = 0) -> Iterator[tuple[Rows, PackedStrings]]:
        """Some strings (ascending), gathered from as many chunks as fill a part."""
        starts = np.unique(rows // _CHUNK) * _CHUNK
        parts: list[PackedStrings] = []
        begin = end = 0
        loads = read_ahead(partial(self._load, int(start)) for start in starts)
        for start, chunk in zip(starts.tolist(), loads, strict=True):
            stop = int(np.searchsorted(rows, start + len(chunk)))
            parts.append(chunk.take(rows[end:stop] - start, n_threads=n_threads))
            end = stop
            if end - begin >= _GATHERED:
                yield rows[begin:end], _joined(parts, n_threads)
                parts, begin = [], end
        if parts:
            yield rows[begin:end], _joined(parts, n_threads)

    def take(self, rows: Rows, *, n_threads: int = 0) -> PackedStrings:
        """Some strings in the order given, in memory."""
        wrong = rows[(rows < 0) | (rows >= self._count)]
        if len(wrong):
            raise IndexError(f"There is no string {wrong[0]}; strings are numbered from 0 to {self._count - 1}.")
        if not len(rows):
            return PackedStrings(np.zeros(0, np.uint8), 0, self.length, self.alphabet, UnknownLetters.none())
        ascending, places = np.unique(rows, return_inverse=True)
        parts = [part for _, part in self.gathered(ascending, n_threads=n_threads)]
        return _joined(parts, n_threads).take(places, n_threads=n_threads)

    def _load(self, start: int) -> PackedStrings:
        count = min(_CHUNK, self._count - start)
        data = self._file.read(HEADER + start * self._columns, count * self._columns, np.uint8)
        first, last = np.searchsorted(self._unknown.strings, [start, start + count])
        begin = self._unknown.begin[first : last + 1]
        unknown = UnknownLetters(
            self._unknown.strings[first:last] - start,
            begin - begin[0],
            self._unknown.positions[begin[0] : begin[-1]],
        )
        try:
            return PackedStrings(data, count, self.length, self.alphabet, unknown)
        except ValueError as error:
            raise ValueError(f"{os.fspath(self._file.path)} is damaged: {error}; convert it again.") from None


def _joined(parts: list[PackedStrings], n_threads: int) -> PackedStrings:
    """Strings one after the other. Columns of different pieces are not neighbours, so they are packed anew."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    total = sum(map(len, parts))
    data = np.empty(total * first.columns, np.uint8)
    place = 0
    for piece in range(0, total, PIECE):
        size = min(PIECE, total - piece)
        block = data[piece * first.columns : (piece + size) * first.columns].reshape(first.columns, size)
        filled = 0
        while filled < size:
            part, offset = _locate(parts, place)
            rows = np.arange(offset, min(len(part), offset + size - filled))
            some = part.take(rows, n_threads=n_threads)
            block[:, filled : filled + len(rows)] = some.data.reshape(first.columns, len(rows))
            filled += len(rows)
            place += len(rows)
    starts = np.cumsum([0, *map(len, parts)])[:-1].tolist()
    unknown = UnknownLetters.joined([(start, part.unknown) for start, part in zip(starts, parts, strict=True)])
    return PackedStrings(data, total, first.length, first.alphabet, unknown)


def _locate(parts: list[PackedStrings], place: int) -> tuple[PackedStrings, int]:
    for part in parts:
        if place < len(part):
            return part, place
        place -= len(part)
    raise IndexError(place)


def _check_header(count: int, length: int, odd: int, letters: int, classes: object) -> None:
    if min(count, odd, letters) < 0 or length < 1:
        raise ValueError(f"{count} strings of {length} letters, {odd} of them with {letters} unknown ones")
    if not (classes is None or (isinstance(classes, list) and all(isinstance(c, (int, float, str)) for c in classes))):
        raise ValueError(f"classes are {type(classes).__name__}")


def _check_unknown(unknown: UnknownLetters, count: int, length: int, path: str | os.PathLike[str]) -> None:
    """A sentence where the lists of unknown letters do not fit together."""
    strings, begin, positions = unknown
    fit = begin[0] == 0 and begin[-1] == len(positions) and bool((np.diff(begin) >= 0).all())
    ascending = bool((np.diff(strings) > 0).all())
    within = not len(strings) or (strings[0] >= 0 and strings[-1] < count)
    placed = not len(positions) or (positions.min() >= 0 and positions.max() < length)
    if not (fit and ascending and within and placed):
        raise ValueError(
            f"{os.fspath(path)} is damaged: its lists of unknown letters do not fit together; convert it again."
        )


def _fields(file: BinaryFile) -> Document:
    head = file.read(0, min(HEADER, file.size), np.uint8)
    text = head.tobytes()
    if not text.startswith(MAGIC):
        raise ValueError(f"{os.fspath(file.path)} is no file of packed strings; 'cutplane convert' writes them.")
    try:
        fields = json.loads(text[len(MAGIC) :])
    except (ValueError, RecursionError):
        raise ValueError(f"{os.fspath(file.path)} has a damaged header; convert it again.") from None
    if not isinstance(fields, dict):
        raise ValueError(f"{os.fspath(file.path)} has a damaged header; convert it again.")
    return fields

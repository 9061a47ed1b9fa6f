"""Strings of one length in memory, packed: four letters of DNA a byte."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.sources.alphabet import DNA, Alphabet, as_alphabet
from cutplane.sources.base import Rows

Bytes = NDArray[np.uint8]
# Strings of a piece of the packed layout: see core/strings/packed.hpp.
PIECE = 1 << 16


class UnknownLetters(NamedTuple):
    """Where unknown letters are: those of strings[i] at positions[begin[i] : begin[i + 1]]."""

    strings: NDArray[np.int64]
    begin: NDArray[np.int64]
    positions: NDArray[np.int32]

    @classmethod
    def none(cls) -> UnknownLetters:
        """No unknown letter."""
        return cls(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32))

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, UnknownLetters]]) -> UnknownLetters:
        """Of pieces one after the other, each with the number of its first string."""
        if not any(len(part.strings) for _, part in parts):
            return cls.none()
        starts = np.cumsum([0, *(len(part.positions) for _, part in parts)])
        return cls(
            np.concatenate([first + part.strings for first, part in parts]),
            np.concatenate([*(s + p.begin[:-1] for s, (_, p) in zip(starts, parts, strict=False)), starts[-1:]]),
            np.concatenate([part.positions for _, part in parts]),
        )


class StringChunk(Protocol):
    """Strings in memory, as the compiled passes take them."""

    @property
    def core(self) -> _core.PackedStrings | _core.StringWindows: ...  # noqa: D102

    def __len__(self) -> int: ...


class StringCollection(ABC):
    """Strings of one length, wherever they are: what a string source asks of them."""

    alphabet: Alphabet
    length: int
    has_unknown: bool

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def chunks(self) -> Iterator[tuple[int, StringChunk]]:
        """All strings, a chunk in memory at a time, each with the number of its first string.

        A chunk has a length and, as `core`, the strings as the compiled passes take them.
        """

    @abstractmethod
    def gathered(self, rows: Rows, *, n_threads: int = 0) -> Iterator[tuple[Rows, StringChunk]]:
        """Some strings (ascending) in chunks, each with the numbers of its strings."""

    @abstractmethod
    def take(self, rows: Rows, *, n_threads: int = 0) -> PackedStrings:
        """Some strings in the order given, in memory."""


#: Strings as users hand them over: a collection, a list of str or bytes, an array of either or of bytes.
StringsLike: TypeAlias = StringCollection | Iterable[object]


class PackedStrings(StringCollection):
    """Strings of one length, packed.

    Parameters
    ----------
    data : array of uint8
        As `pack` lays it out.
    count, length : int
        Strings, and letters of each.
    alphabet : Alphabet
    unknown : UnknownLetters

    Examples
    --------
    >>> from cutplane.sources.packed import PackedStrings
    >>> strings = PackedStrings.pack(["ACGTN", "acgta"])
    >>> len(strings), strings.length, strings.text(0)
    (2, 5, 'ACGTN')
    """

    def __init__(self, data: Bytes, count: int, length: int, alphabet: Alphabet, unknown: UnknownLetters) -> None:
        self.data = data
        self.count = count
        self.length = length
        self.alphabet = alphabet
        self.unknown = unknown
        self.has_unknown = len(unknown.strings) > 0
        self.core = _core.PackedStrings(data, count, length, alphabet.size, alphabet.quarters, *unknown)

    @classmethod
    def pack(
        cls, strings: Iterable[object], alphabet: str | Alphabet = DNA, *, first: int = 0, n_threads: int = 0
    ) -> PackedStrings:
        """Pack a list of str or bytes, an array of them, or an array of bytes of shape (count, length).

        `first` is what messages take for the number of the first string.
        """
        letters = as_alphabet(alphabet)
        text = as_text(strings)
        codes = letters.codes
        data, (string, position), unknown = _core.pack_strings(text, codes, letters.quarters, n_threads)
        if string >= 0:
            raise ValueError(
                f"String {first + string} has the letter {chr(text[string, position])!r} at position {position}; "
                f"letters are {_listed(letters)}."
            )
        return cls(data, len(text), text.shape[1], letters, UnknownLetters(*unknown))

    def __len__(self) -> int:
        return self.count

    @property
    def columns(self) -> int:
        """Bytes of one string."""
        return -(-self.length // 4) if self.alphabet.quarters else self.length

    def take(self, rows: Rows, *, n_threads: int = 0) -> PackedStrings:
        """Some of the strings, in the order given."""
        rows = np.ascontiguousarray(rows, np.int64)
        wrong = rows[(rows < 0) | (rows >= self.count)]
        if len(wrong):
            raise IndexError(f"There is no string {wrong[0]}; strings are numbered from 0 to {self.count - 1}.")
        data, unknown = self.core.gather(rows, n_threads)
        return PackedStrings(data, len(rows), self.length, self.alphabet, UnknownLetters(*unknown))

    def chunks(self) -> Iterator[tuple[int, PackedStrings]]:
        """The strings in pieces, each with the number of its first: here, all at once."""
        yield 0, self

    def gathered(self, rows: Rows, *, n_threads: int = 0) -> Iterator[tuple[Rows, PackedStrings]]:
        """Some of the strings (ascending), in as many parts as it takes to hold them in memory: here, one."""
        yield rows, self if len(rows) == self.count else self.take(rows, n_threads=n_threads)

    def text(self, string: int) -> str:
        """One of the strings; every unknown letter is shown as the first of the alphabet's."""
        shown = np.full(256, ord(self.alphabet.unknown[:1] or "?"), np.uint8)
        shown[: self.alphabet.size] = list(map(ord, self.alphabet.letters))
        return bytes(shown[self.core.letters(string)]).decode("latin-1")


def as_strings(strings: StringsLike, alphabet: str | Alphabet = DNA, *, n_threads: int = 0) -> StringCollection:
    """Strings as a source takes them: packed unless they are already."""
    if isinstance(strings, StringCollection):
        return strings
    return PackedStrings.pack(strings, alphabet, n_threads=n_threads)


def as_text(strings: Iterable[object]) -> Bytes:
    """The letters of strings as bytes of shape (count, length); one sentence if they are not of one length."""
    if isinstance(strings, np.ndarray) and strings.dtype == np.uint8 and strings.ndim == 2:
        text = strings
    elif isinstance(strings, np.ndarray) and strings.dtype.kind == "S" and strings.ndim == 1:
        _check_lengths(np.char.str_len(strings.astype(np.bytes_, copy=False)), strings.dtype.itemsize)
        text = np.ascontiguousarray(strings).view(np.uint8).reshape(len(strings), -1)
    else:
        text = _joined(strings)
    if not text.size:
        raise ValueError(f"There are {len(text)} strings of {text.shape[1]} letters; at least one of each is needed.")
    return np.ascontiguousarray(text)


def _joined(strings: Iterable[object]) -> Bytes:
    given: list[object] = strings.tolist() if isinstance(strings, np.ndarray) else list(strings)
    items = [item for item in given if isinstance(item, (str, bytes))]
    if len(items) < len(given):
        number, other = next((k, item) for k, item in enumerate(given) if not isinstance(item, (str, bytes)))
        raise TypeError(f"String {number} is {other!r}; strings must be str or bytes.")
    if not items:
        return np.zeros((0, 0), np.uint8)
    _check_lengths(np.fromiter(map(len, items), np.int64, len(items)), len(items[0]))
    try:
        whole = b"".join(item if isinstance(item, bytes) else item.encode("latin-1") for item in items)
    except UnicodeEncodeError as error:
        number = next(k for k, item in enumerate(items) if isinstance(item, str) and error.object == item)
        letter = error.object[error.start]
        raise ValueError(f"String {number} has the letter {letter!r}; letters are characters of one byte.") from None
    return np.frombuffer(whole, np.uint8).reshape(len(items), -1)


def _check_lengths(lengths: NDArray[np.integer], expected: int) -> None:
    wrong = np.flatnonzero(lengths != expected)
    if len(wrong):
        raise ValueError(
            f"String {wrong[0]} has {lengths[wrong[0]]} letters and the others before it {expected}; all must be of "
            f"one length."
        )


def _listed(alphabet: Alphabet) -> str:
    known = f"{alphabet.letters}{' in either case' if alphabet.ignore_case else ''}"
    return known if not alphabet.unknown else f"{known}, and {alphabet.unknown} for unknown ones"

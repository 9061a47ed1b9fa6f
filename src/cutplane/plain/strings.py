"""Scores of strings of one length, by weights of their k-mers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutplane.plain.checks import require, require_numbers

if TYPE_CHECKING:
    from cutplane._types import Array, Integers

# As in core/strings/packed.hpp.
_UNKNOWN, _INVALID = 254, 255
# As in cutplane.sources.strings.
_LARGEST_TABLE, _LONGEST = 1 << 24, 65535


@dataclass(frozen=True, eq=False)
class Kmers:
    """All k-mers in a window, at their positions or anywhere; one of order k counts values[k - 1]."""

    positional: bool
    begin: int
    end: int
    values: Array

    def places(self, letters: int) -> tuple[list[Integers], int]:
        """For each order the weight at which the k-mers of each start begin, and how many weights there are.

        Weights lie by start, then by order, then in alphabetical order; anywhere, there is but one start.
        """
        starts = range(self.begin, self.end)
        found: list[list[int]] = [[] for _ in self.values]
        place = 0
        for start in starts if self.positional else [self.begin]:
            for k in range(1, min(len(self.values), self.end - start) + 1):
                found[k - 1].append(place)
                place += letters**k
        counts = [self.end - self.begin - k + 1 for k in range(1, len(self.values) + 1)]
        return [np.resize(np.array(each), count) for each, count in zip(found, counts, strict=True)], place


@dataclass(frozen=True, eq=False)
class StringScores:
    """The weights of a string's k-mers, added up.

    `codes` has the number of the letter for each byte, 254 for letters that say nothing, 255 for bytes that are none.
    `normalize`: the vector of a string's features is scaled to length 1. k-mers with an unknown letter do not count.
    """

    codes: NDArray[np.uint8]
    letters: int
    length: int
    parts: Sequence[Kmers]
    normalize: bool
    coef: Array
    intercept: Array

    def __post_init__(self) -> None:
        require(0 < self.length <= _LONGEST and 2 <= self.letters <= _UNKNOWN, "there are no such strings")
        require(self.codes.shape == (256,) and self.codes.dtype == np.uint8, "there is not one code a byte")
        known = self.codes[self.codes < _UNKNOWN]
        require(bool((known < self.letters).all()), "a code is of no letter")
        for part in self.parts:
            require_numbers("values", part.values, (None,))
            require(0 <= part.begin < part.end <= self.length, "a window is not within the strings")
            require(0 < len(part.values) <= part.end - part.begin, "an order does not fit into its window")
            require(self.letters ** len(part.values) <= _LARGEST_TABLE, "there are too many k-mers")
        features = sum(part.places(self.letters)[1] for part in self.parts)
        require_numbers("coef", self.coef, (None, features))
        require_numbers("intercept", self.intercept, (len(self.coef),))

    @property
    def n_features(self) -> int:
        """One for each weight."""
        return int(self.coef.shape[1])

    @property
    def machines(self) -> int:
        """One for each row of weights."""
        return len(self.coef)

    def rows(self, X: Any) -> Integers:
        """The numbers of the letters of each string, -1 for unknown ones."""
        if isinstance(X, (str, bytes)):
            raise ValueError(f"X={X[:40]!r} is one string; a list of strings, one for each example, is needed.")
        strings = [text.encode("latin-1", "replace") if isinstance(text, str) else bytes(text) for text in X]
        for number, text in enumerate(strings):
            if len(text) != self.length:
                raise ValueError(f"String {number} has {len(text)} letters; the model is of {self.length}.")
        found = self.codes[np.frombuffer(b"".join(strings), np.uint8)].reshape(len(strings), self.length)
        if (found == _INVALID).any():
            number, place = np.argwhere(found == _INVALID)[0].tolist()
            letter = strings[number][place : place + 1].decode("latin-1")
            raise ValueError(f"String {number} has {letter!r} as letter {place}, which is not of the model's alphabet.")
        return np.where(found == _UNKNOWN, -1, found.astype(np.int64))

    def __call__(self, X: Integers) -> Array:
        """Scores of shape (n, machines)."""
        scores, squares = np.zeros((len(X), self.machines)), np.zeros(len(X))
        first = 0
        for part in self.parts:
            places, count = part.places(self.letters)
            kmers = np.zeros((len(X), part.end - part.begin + 1), np.int64)
            known = np.ones(kmers.shape, bool)
            for k, (value, place) in enumerate(zip(part.values, places, strict=True), 1):
                last = X[:, part.begin + k - 1 : part.end]
                kmers, known = kmers[:, :-1] * self.letters + last, known[:, :-1] & (last >= 0)
                weights = self.coef.T[np.where(known, first + place + kmers, 0)] * known[:, :, None]
                scores += value * weights.sum(axis=1)
                squares += value**2 * (known.sum(axis=1) if part.positional else _equal_pairs(kmers, known))
            first += count
        if self.normalize:
            scores /= np.sqrt(np.where(squares > 0.0, squares, 1.0))[:, None]
        return scores + self.intercept


def _equal_pairs(kmers: Integers, known: NDArray[np.bool_]) -> Integers:
    """The sum over k-mers of the square of how often each is in a row: the pairs of places that have the same."""
    pairs = np.zeros(len(kmers), np.int64)
    for row, (numbers, counted) in enumerate(zip(kmers, known, strict=True)):
        pairs[row] = (np.unique(numbers[counted], return_counts=True)[1] ** 2).sum()
    return pairs

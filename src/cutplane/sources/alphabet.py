"""Letters of strings, and which bytes stand for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# As in core/strings/packed.hpp.
_UNKNOWN, _INVALID = 254, 255
_MOST_LETTERS = 254


@dataclass(frozen=True)
class Alphabet:
    """The letters that strings are made of.

    Parameters
    ----------
    letters : str
        2 to 254 different characters below U+0100.
    unknown : str
        Characters that may occur and say nothing: k-mers with one of them are features of no string.
    ignore_case : bool
        Whether "a" is "A".

    Examples
    --------
    >>> from cutplane.sources.alphabet import DNA, Alphabet
    >>> DNA.letters, "N" in DNA.unknown
    ('ACGT', True)
    >>> Alphabet("01").size
    2
    """

    letters: str
    unknown: str = ""
    ignore_case: bool = False

    def __post_init__(self) -> None:
        known = self._folded(self.letters)
        if not 2 <= len(self.letters) <= _MOST_LETTERS or len(set(known)) < len(known):
            raise ValueError(
                f"An alphabet has 2 to {_MOST_LETTERS} different letters; {self.letters!r} has {len(set(known))} of "
                f"{len(known)}."
            )
        both = sorted(set(known) & set(self._folded(self.unknown)))
        if both:
            raise ValueError(f"{both[0]!r} is both a letter and unknown; it must be one of the two.")
        beyond = [letter for letter in self.letters + self.unknown if ord(letter) > 255]
        if beyond:
            raise ValueError(f"The letter {beyond[0]!r} is beyond U+00FF; letters must be characters of one byte.")

    def _folded(self, text: str) -> str:
        return text.upper() if self.ignore_case else text

    @property
    def size(self) -> int:
        """How many letters there are."""
        return len(self.letters)

    @property
    def quarters(self) -> bool:
        """Whether four letters go into a byte."""
        return self.size <= 4

    @property
    def codes(self) -> NDArray[np.uint8]:
        """The code of every byte: 0, 1, ... for the letters, 254 for unknown ones, 255 for the others."""
        codes = np.full(256, _INVALID, np.uint8)
        for code, letter in [*((_UNKNOWN, u) for u in self.unknown), *enumerate(self.letters)]:
            for form in {letter.lower(), letter.upper()} if self.ignore_case else {letter}:
                if len(form) == 1 and ord(form) < 256:
                    codes[ord(form)] = code
        return codes

    @property
    def complement(self) -> NDArray[np.uint8]:
        """The code of the letter opposite to each code, unknown ones being opposite to themselves."""
        pairs = {"A": "T", "C": "G", "G": "C", "T": "A"}
        if sorted(self.letters) != sorted(pairs):
            raise ValueError(f"Only DNA has two strands; the alphabet {self.letters!r} is not ACGT.")
        opposite = np.arange(256, dtype=np.uint8)
        opposite[: self.size] = [self.letters.index(pairs[letter]) for letter in self.letters]
        return opposite


DNA = Alphabet("ACGT", unknown="NRYSWKMBDHV", ignore_case=True)
RNA = Alphabet("ACGU", unknown="NRYSWKMBDHV", ignore_case=True)
PROTEIN = Alphabet("ACDEFGHIKLMNPQRSTVWY", unknown="XBZJUO", ignore_case=True)
ALPHABETS = {"dna": DNA, "rna": RNA, "protein": PROTEIN}


def as_alphabet(alphabet: str | Alphabet) -> Alphabet:
    """An alphabet: one already, the name of one ("dna", "rna", "protein"), or its letters."""
    if isinstance(alphabet, Alphabet):
        return alphabet
    if not isinstance(alphabet, str):
        raise TypeError(f"alphabet={alphabet!r} must be a string of letters, a name or an Alphabet.")
    return ALPHABETS.get(alphabet.lower()) or Alphabet(alphabet)

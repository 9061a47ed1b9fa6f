"""Which k-mer is which weight: how the features of strings lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cutplane.sources.alphabet import Alphabet
from cutplane.sources.strings import StringPart


def blocks(part: StringPart, letters: int) -> Iterator[tuple[int, int, slice]]:
    """(position, order, where) for the k-mers of each order at each position, in the order of the weights.

    Within a block k-mers are in alphabetical order. Those of a spectrum have no position; theirs is the window's begin.
    """
    place = 0
    for start in range(part.begin, part.end) if part.positional else [part.begin]:
        for k in range(1, min(len(part.weights), part.end - start) + 1):
            yield start, k, slice(place, place + letters**k)
            place += letters**k


def feature_name(parts: Sequence[StringPart], alphabet: Alphabet, index: int) -> str:
    """A feature in words: a k-mer with its position, or with the window it is counted in."""
    rest = index
    for part in parts:
        if rest < part.dimension(alphabet.size):
            position, order, where = next(block for block in blocks(part, alphabet.size) if rest < block[2].stop)
            name = kmer(rest - where.start, order, alphabet)
            return f"{name} at {position}" if part.positional else f"{name} in {part.begin}:{part.end}"
        rest -= part.dimension(alphabet.size)
    raise IndexError(index)


def kmer(number: int, order: int, alphabet: Alphabet) -> str:
    """The letters of a k-mer, from its place in alphabetical order."""
    letters = []
    for _ in range(order):
        number, letter = divmod(number, alphabet.size)
        letters.append(alphabet.letters[letter])
    return "".join(reversed(letters))

"""Which k-mer is which weight, and those that occur in a few strings as a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from cutplane.sources.alphabet import Alphabet
from cutplane.sources.base import Array, Extent
from cutplane.sources.matrix import CsrSource
from cutplane.sources.strings import StringPart, StringSource

# Entries at most, of 12 bytes: planes of long weights take 4 GB, too. benchmarks/splice.py --part few: 100,000 strings
# of 141 bases have 108 million at order 8. Of more strings than weights, tables of these are as fast and smaller.
_MOST_ENTRIES, _FEW_STRINGS = 1 << 28, 1 << 17


class OccurringKmers(CsrSource):
    """The features of a few strings as a sparse matrix: a column for each k-mer that occurs.

    The k-mers that only one string has share a column, whose values are the length of theirs. So the products of any
    two strings are what they are, and the optimum's weights are those of all features, rotated: `expanded` turns them
    back. What is proven of the one problem is proven of the other.

    Parameters
    ----------
    source : StringSource
        Of features that are scaled alike.
    """

    def __init__(self, source: StringSource) -> None:
        strings, (scale,) = source.strings, source.scales
        packed = strings.take(np.arange(len(strings)))
        begin, columns, values, features, homes, factors = source.features.occurring(packed.core)
        if scale is not None and np.all(scale == scale[0]):
            values, scale = values * scale[0], None
        data = values[columns]
        if scale is not None:
            data *= np.repeat(scale, np.diff(begin))
        X = sp.csr_array((data, columns, begin.astype(np.int32)), shape=(len(strings), len(values)), copy=False)
        if not all(part.positional for part in source.parts):
            X.sum_duplicates()
        X.has_sorted_indices = True
        super().__init__(X, n_threads=source.n_threads)
        self._strings, self._expansion = source, (features, homes, factors)

    @classmethod
    def pay(cls, source: StringSource) -> bool:
        """Whether passes over these strings take longer than their columns, which fit into memory."""
        n, d = source.shape
        spans = [np.arange(1, part.end - part.begin + 1).clip(max=len(part.weights)) for part in source.parts]
        entries = n * (1 + sum(int(span.sum()) for span in spans))
        return entries <= _MOST_ENTRIES and n <= max(d, _FEW_STRINGS) and len(source.scales) == 1

    @property
    def extent(self) -> Extent:
        """What rounding is charged by: that of the features themselves is more than that of their columns."""
        return super().extent._replace(row_depth=self._strings.extent.row_depth)

    def expanded(self, w: Array) -> Array:
        """Weights of all features, from those of the columns; w of shape (k, columns)."""
        features, homes, factors = self._expansion
        found = np.zeros((len(w), self._strings.shape[1]))
        for row, weights in zip(found, w, strict=True):
            row[features] = weights[homes] * factors
        return found


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

"""Where the features of strings lie, and the tables and counts that passes over strings on a device go by.

All orders of a k-mer that starts at a position are prefixes of its longest one. So weights are collapsed into one table
per position, indexed by the longest k-mer, and a string's score is a lookup per position; the k-mers that start in the
last positions are suffixes of the last full one, whose table holds their weights, too. The adjoint counts longest
k-mers, one count per table, and follows from these for all orders. See core/strings/features.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cutplane.sources.strings import StringPart

Positions = NDArray[np.int32]


@dataclass(frozen=True)
class StringLayout:
    """The features of some parts.

    Attributes
    ----------
    alphabet : int
        Letters.
    length : int
        Letters of a string.
    parts : tuple of StringPart
        None scaled by itself.
    """

    alphabet: int
    length: int
    parts: tuple[StringPart, ...]

    @cached_property
    def order(self) -> int:
        """The longest k-mers."""
        return max(len(part.weights) for part in self.parts)

    @cached_property
    def begin(self) -> int:
        """The first letter that matters."""
        return min(part.begin for part in self.parts)

    @cached_property
    def end(self) -> int:
        """The letter behind the last that matters."""
        return max(part.end for part in self.parts)

    @cached_property
    def powers(self) -> NDArray[np.int64]:
        """How many k-mers there are of each order, from 0 on."""
        return self.alphabet ** np.arange(self.order + 1, dtype=np.int64)

    @cached_property
    def below(self) -> NDArray[np.int64]:
        """K-mers of orders 1 to k - 1 together, for k from 0 on; the last is how many there are of all orders."""
        return np.concatenate([[0, 0], np.cumsum(self.powers[1:])])

    @property
    def table_size(self) -> int:
        """Entries of a table: the k-mers of the longest order."""
        return int(self.powers[-1])

    @property
    def kmers(self) -> int:
        """K-mers of all orders."""
        return int(self.below[-1])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Of a feature, by part and order from 1 on; 0 beyond a part's own."""
        values = np.zeros((len(self.parts), self.order))
        for row, part in zip(values, self.parts, strict=True):
            row[: len(part.weights)] = part.values
        return values

    def depth(self, part: StringPart, position: int) -> int:
        """The longest k-mer of a part that starts at a position."""
        inside = part.begin <= position < part.end
        return min(len(part.weights), part.end - position) if inside else 0

    @cached_property
    def depths(self) -> Positions:
        """The same by part and position."""
        found = [[self.depth(part, p) for p in range(self.length)] for part in self.parts]
        return np.array(found, np.int32)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the weights of a part's k-mers at a position begin, by part and position; -1 where it has none."""
        found, place = np.full((len(self.parts), self.length), -1, np.int64), 0
        for row, depths, part in zip(found, self.depths, self.parts, strict=True):
            if not part.positional:
                row[part.begin : part.end] = place
                place += int(self.below[len(part.weights) + 1])
                continue
            for p in range(part.begin, part.end):
                row[p] = place
                place += int(self.below[depths[p] + 1])
        return found

    @cached_property
    def dimension(self) -> int:
        """Features."""
        return sum(part.dimension(self.alphabet) for part in self.parts)

    @cached_property
    def last(self) -> int:
        """The last position of a k-mer of the longest order."""
        return self.end - self.order

    @cached_property
    def slots(self) -> list[tuple[int, int]]:
        """Positions that are looked up, and the table of each: where only spectra are, alike ones share theirs."""
        found: list[tuple[int, int]] = []
        shared: dict[tuple[int, ...], int] = {}
        tables = 0
        positional = np.array([part.positional for part in self.parts])
        for p in range(self.begin, self.last + 1):
            depths = self.depths[:, p]
            if not depths.any() and p < self.last:
                continue
            own = p == self.last or bool(depths[positional].any())
            table = tables if own else shared.setdefault(tuple(depths.tolist()), tables)
            tables = max(tables, table + 1)
            found.append((p, table))
        return found

    @cached_property
    def owners(self) -> Positions:
        """The position that each table is made for; behind them those of k-mers that end early, from the last on."""
        tables = 1 + max(table for _, table in self.slots)
        owners = np.zeros(tables, np.int32)
        for p, table in reversed(self.slots):
            owners[table] = p
        return np.concatenate([owners, np.arange(self.last + 1, self.end, dtype=np.int32)])

    @property
    def tables(self) -> int:
        """Tables: those of k-mers of the longest order."""
        return len(self.owners) - (self.order - 1)

    @cached_property
    def most_often(self) -> int:
        """How often a feature can occur in a string."""
        return max(1 if part.positional else part.end - part.begin for part in self.parts)

    def lookups(self, width: int) -> Lookups:
        """The lookups of a string, each for so many neighbouring positions at once where these are there."""
        if width == 1 or self.last < width - 1:
            joined = np.array([[table] for _, table in self.slots], np.int32)
            return Lookups(1, np.array([p for p, _ in self.slots], np.int32), np.arange(len(joined)), joined)
        places: list[int] = []
        known: dict[tuple[int, ...], int] = {}
        number: list[int] = []
        left = dict(self.slots)
        while left:
            # What does not fill a lookup at the end of the string starts further ahead.
            first = min(min(left), self.last - width + 1)
            tables = tuple(left.pop(p, -1) for p in range(first, first + width))
            places.append(first)
            number.append(known.setdefault(tables, len(known)))
        return Lookups(width, np.array(places, np.int32), np.array(number), np.array(list(known), np.int32))


@dataclass(frozen=True)
class Lookups:
    """What a string's score is summed up of.

    Attributes
    ----------
    width : int
        Positions that a lookup serves.
    places : array of int32
        Where each begins, ascending.
    number : array
        Which joined table each goes to.
    joined : array of int32 of shape (joined tables, width)
        The tables of its positions; -1: none.
    """

    width: int
    places: Positions
    number: NDArray[np.int64]
    joined: Positions

    def chunks(self, most: int) -> list[slice]:
        """The lookups in runs that go to no more than so many joined tables."""
        found, begin, seen = [], 0, set[int]()
        for k, number in enumerate(self.number.tolist()):
            if number not in seen and len(seen) >= most:
                found.append(slice(begin, k))
                begin, seen = k, set()
            seen.add(number)
        return [*found, slice(begin, len(self.number))]


def string_layout(alphabet: int, length: int, parts: Sequence[StringPart]) -> StringLayout:
    """The layout of parts that are scaled together or not at all."""
    if any(part.normalize for part in parts):
        raise ValueError("Parts that are scaled by themselves are for the processor; scale the whole.")
    return StringLayout(alphabet, length, tuple(parts))

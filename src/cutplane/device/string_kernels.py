"""What strings are asked for on a device: lookups, counts, lengths; and who does it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.device.string_layout import StringLayout
from cutplane.sources.alphabet import Alphabet

#: An array that lies on the device.
DeviceArray = Any
#: Letters of strings whose lengths are measured on a device: of longer ones, letters do not fit into shared memory.
LONGEST_MEASURED = 512


@dataclass(frozen=True)
class DeviceStrings:
    """Strings of one length on a device, packed as on the host; or windows of one long text.

    Attributes
    ----------
    kind : str
        "quarters": four letters a byte; "bytes": one; "windows": one, and strings begin where `begins` says.
    data : device array of uint8
    count, length, columns : int
        Strings, letters of each, and bytes of each.
    alphabet : Alphabet
    odd : device array of int64 or None
        The strings that have unknown letters, ascending.
    odd_letters : device array of uint8 of shape (odd, length) or None
        Their letters, 254 for unknown ones; None: those of the text.
    begins : device array of int64 or None
        Where in the text each window begins.
    """

    kind: str
    data: DeviceArray
    count: int
    length: int
    columns: int
    alphabet: Alphabet
    odd: DeviceArray | None = None
    odd_letters: DeviceArray | None = None
    begins: DeviceArray | None = None


class LayoutThere(NamedTuple):
    """A layout, and its arrays on the device."""

    plan: StringLayout
    depths: DeviceArray
    starts: DeviceArray
    values: DeviceArray
    below: DeviceArray
    powers: DeviceArray
    owners: DeviceArray
    windows: DeviceArray

    @classmethod
    def on(cls, plan: StringLayout, to_device: Any) -> LayoutThere:
        """The layout on a device."""
        windows = [(part.positional, part.begin, part.end, len(part.weights)) for part in plan.parts]
        arrays: list[NDArray[Any]] = [plan.depths, plan.starts, plan.values, plan.below, plan.powers, plan.owners]
        return cls(plan, *map(to_device, [*arrays, np.array(windows, np.int32)]))


class Places(NamedTuple):
    """Some lookups of a string: where they begin, how many letters each has, and the table of each."""

    places: DeviceArray
    span: int
    number: DeviceArray


class StringKernels(ABC):
    """Passes over strings, step by step."""

    @abstractmethod
    def collapse(self, layout: LayoutThere, w: DeviceArray) -> DeviceArray:
        """Weights by table and longest k-mer."""

    @abstractmethod
    def join(self, layout: LayoutThere, tables: DeviceArray, joined: DeviceArray) -> DeviceArray:
        """Tables of neighbouring positions as one, indexed by the letters of all of them."""

    @abstractmethod
    def look_up(self, strings: DeviceStrings, layout: LayoutThere, at: Places, tables: DeviceArray, sums: Any) -> None:
        """Add what strings look up to their sums."""

    @abstractmethod
    def odd_scores(self, strings: DeviceStrings, layout: LayoutThere, w: DeviceArray, sums: DeviceArray) -> None:
        """Write the sums of strings that have unknown letters."""

    @abstractmethod
    def fixed(self, coef: DeviceArray, scale: DeviceArray | None, places: int) -> DeviceArray:
        """Coefficients times scales as whole numbers, with so many binary places."""

    @abstractmethod
    def count(self, strings: DeviceStrings, layout: LayoutThere, at: Places, fixed: Any, counts: DeviceArray) -> None:
        """Add whole numbers to the counts (table, k-mer of any order) of the longest k-mers of their strings."""

    @abstractmethod
    def odd_count(self, strings: DeviceStrings, layout: LayoutThere, fixed: DeviceArray, counts: DeviceArray) -> None:
        """The same for every k-mer of strings that have unknown letters, where its feature is."""

    @abstractmethod
    def fold(self, layout: LayoutThere, counts: DeviceArray) -> None:
        """Fill in the counts of all other orders, and of k-mers that end early."""

    @abstractmethod
    def spread(
        self, layout: LayoutThere, counts: DeviceArray, more: DeviceArray | None, places: int, squared: float | None
    ) -> DeviceArray:
        """What counts, and more of them by feature, are as sums of features.

        `squared`: about the sums of squares of features, whose weights add up to that.
        """

    @abstractmethod
    def squared_lengths(self, strings: DeviceStrings, layout: LayoutThere) -> DeviceArray:
        """Of the features of each string."""

    @abstractmethod
    def take(self, strings: DeviceStrings, rows: DeviceArray) -> DeviceArray:
        """Some strings, packed as all are."""

    @abstractmethod
    def letters(self, strings: DeviceStrings, rows: DeviceArray) -> DeviceArray:
        """Those of some packed strings, one a byte; 0 for unknown ones."""

    @abstractmethod
    def dense(self, layout: LayoutThere, letters: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[i] times the features of strings of these letters."""

"""Features of strings on a device, computed as they are needed: scores by lookups, sums by counts.

Sums over examples are exact but for coefficients, which are rounded to fixed point: whole numbers of 64 bits, as fine
as the sum of their sizes leaves room for. So they have the same bits in whatever order they are added up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from cutplane import _core
from cutplane.device.kernels import Array, DeviceArray, Kernels, sum_depth_of
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.source import DeviceRows
from cutplane.device.string_kernels import LONGEST_MEASURED, DeviceStrings, LayoutThere, Places
from cutplane.device.string_layout import Lookups, string_layout
from cutplane.sources.base import Extent
from cutplane.sources.packed import PackedStrings, StringCollection, UnknownLetters
from cutplane.sources.strings import StringPart, StringSource, string_extent

# Bytes of the tables that a pass looks into, or counts into: they should stay in the second-level cache.
_TABLES_AT_ONCE = 24 << 20
# Positions that a lookup serves at most, entries of a table for several, and strings for each of these that pay for it.
_WIDEST, _MOST_ENTRIES, _PAYS = 3, 1 << 20, 4
# Binary places of whole numbers that sums fill, and those of double precision: what is rounded off is charged by.
_FILLED, _DOUBLE = 62, 53
# Up to so many features are strings turned dense to be multiplied.
_MOST_DENSE = 1 << 14
_UNKNOWN = 254


class _Chunk(NamedTuple):
    """Lookups whose tables lie in the cache together, and the tables that are joined for them."""

    at: Places
    joined: DeviceArray


class StringRows(DeviceRows):
    """Strings on a device and what their features are.

    Parameters
    ----------
    kernels : Kernels
    strings : DeviceStrings
    layout : LayoutThere
    scales : device array or None
        What the feature vector of each string is multiplied by; None: nothing.
    spread : float
        How many times as long the longest feature vector is, before it is scaled, as the shortest that is not zero.
    """

    def __init__(
        self,
        kernels: Kernels,
        strings: DeviceStrings,
        layout: LayoutThere,
        scales: DeviceArray | None,
        spread: float = 1.0,
    ) -> None:
        super().__init__(kernels, strings)
        self.strings, self.layout = strings, layout
        self._scales, self._spread = scales, spread
        self._passes = kernels.strings()
        self._found: dict[int, list[_Chunk]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of strings and features."""
        return self.strings.count, self.layout.plan.dimension

    @property
    def arrays(self) -> list[DeviceArray]:
        """What the strings are made of."""
        return [self.strings.data]

    @property
    def row_bytes(self) -> float:
        """What a string takes."""
        return float(self.strings.columns)

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature`: with many features, more than it is worth."""
        d = self.shape[1]
        return super().gram_cost if d <= _MOST_DENSE else float(d)

    @cached_property
    def extent(self) -> Extent:
        """What rounding in passes is charged by.

        A coefficient is rounded by half a unit at most, and units are 2^-61 of the sum of all, times how often a
        feature can occur: as a share of that sum, in units of double precision, that is what a sum over examples is
        charged for.
        """
        plan, n = self.layout.plan, self.strings.count
        own = string_extent(plan.parts, normalize=self._scales is not None)
        rounded_off = 0.5 * n * plan.most_often * self._spread * 2.0 ** (_DOUBLE - _FILLED + 1)
        return Extent(own.reach, own.row_depth, max(sum_depth_of(n), math.ceil(rounded_off)) + 8)

    def scores_there(self, w: DeviceArray) -> DeviceArray:
        """X @ w, both on the device: weights collapsed into tables, and looked up."""
        sums = self.kernels.xp.zeros(self.strings.count)
        tables = self._passes.collapse(self.layout, w)
        for at, joined in self._lookups(self._width):
            here = tables if joined.shape[1] == 1 else self._passes.join(self.layout, tables, joined)
            self._passes.look_up(self.strings, self.layout, at, here, sums)
        if self.strings.odd is not None:
            self._passes.odd_scores(self.strings, self.layout, w, sums)
        if self._scales is not None:
            sums *= self._scales
        return sums

    def combine_there(self, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, which stays on the device: k-mers are counted, and counts spread to all orders."""
        return self._combined(coef, self._scales, None)

    def squares_there(self, weights: DeviceArray) -> DeviceArray:
        """Sums over strings of weights times the squares of the features; about these, for features of spectra."""
        scales = None if self._scales is None else self._scales * self._scales
        scaled = weights if scales is None else weights * scales
        return self._combined(weights, scales, self.kernels.sides(scaled)[0])

    def _combined(self, coef: DeviceArray, scales: DeviceArray | None, squared: float | None) -> DeviceArray:
        xp, plan, strings = self.kernels.xp, self.layout.plan, self.strings
        _, above, below = self.kernels.sides(coef if scales is None else coef * scales)
        size = (above - below) * plan.most_often * (1.0 + 1e-6)
        if not size > 0.0:
            return xp.zeros(plan.dimension)
        places = _FILLED - math.frexp(size)[1]
        fixed, more = self._passes.fixed(coef, scales, places), None
        if strings.odd is not None:
            more = xp.zeros(plan.dimension, np.int64)
            self._passes.odd_count(strings, self.layout, fixed, more)
            fixed[strings.odd] = 0
        counts = xp.zeros((len(plan.owners), plan.kmers), np.int64)
        for at, _ in self._lookups(1):
            self._passes.count(strings, self.layout, at, fixed, counts)
        self._passes.fold(self.layout, counts)
        return self._passes.spread(self.layout, counts, more, places, squared)

    @cached_property
    def _width(self) -> int:
        """How many positions a lookup serves: tables for several pay where strings are many."""
        plan, n = self.layout.plan, self.strings.count

        def pays(width: int) -> bool:
            entries = plan.table_size * plan.alphabet ** (width - 1)
            return bool(entries <= _MOST_ENTRIES and _PAYS * entries <= n)

        return max(width for width in range(1, _WIDEST + 1) if width == 1 or pays(width))

    def _lookups(self, width: int) -> list[_Chunk]:
        plan = self.layout.plan
        if width not in self._found:
            found: Lookups = plan.lookups(width)
            entries = plan.table_size * plan.alphabet ** (found.width - 1)
            self._found[width] = [
                self._chunk(found, part, plan.order + found.width - 1)
                for part in found.chunks(max(1, _TABLES_AT_ONCE // (8 * entries)))
            ]
        return self._found[width]

    def _chunk(self, found: Lookups, part: slice, span: int) -> _Chunk:
        on = self.kernels.to_device
        numbers, own = np.unique(found.number[part], return_inverse=True)
        # Without joining, tables are where they are.
        number = found.joined[found.number[part], 0] if found.width == 1 else own
        places = np.ascontiguousarray(found.places[part])
        return _Chunk(Places(on(places), span, on(number.astype(np.int32))), on(found.joined[numbers]))

    def _taken(self, positions: DeviceArray) -> Self:
        strings, data = self.strings, self._passes.take(self.strings, positions)
        odd, letters = self._odd_of(positions)
        part = replace(strings, data=data, count=len(positions), odd=odd, odd_letters=letters)
        scales = None if self._scales is None else self._scales[positions]
        return type(self)(self.kernels, part, self.layout, scales, self._spread)

    def _odd_of(self, positions: DeviceArray) -> tuple[DeviceArray | None, DeviceArray | None]:
        """Which of some strings have unknown letters, and what letters these have."""
        xp, odd, letters = self.kernels.xp, self.strings.odd, self.strings.odd_letters
        if odd is None or letters is None:
            return None, None
        place = xp.searchsorted(odd, positions)
        place[place == len(odd)] = 0
        found = xp.flatnonzero(odd[place] == positions)
        return (found, letters[place[found]]) if len(found) else (None, None)

    def _gather(self, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        letters = self._passes.letters(self.strings, rows)
        odd, odd_letters = self._odd_of(rows)
        if odd is not None:
            letters[odd] = odd_letters
        scaled = scale if self._scales is None else scale * self._scales[rows]
        return self._passes.dense(self.layout, letters, self.kernels.xp.ascontiguousarray(scaled))

    def on_host(self) -> StringSource:
        """The same on the host."""
        strings, parts = self.strings, self.layout.plan.parts
        unknown = UnknownLetters.none()
        if strings.odd is not None:
            where, positions = np.nonzero(self.kernels.to_host(strings.odd_letters) == _UNKNOWN)
            begin = np.searchsorted(where, np.arange(len(strings.odd) + 1))
            unknown = UnknownLetters(self.kernels.to_host(strings.odd), begin, positions.astype(np.int32))
        data = self.kernels.to_host(strings.data)
        packed = PackedStrings(data, strings.count, strings.length, strings.alphabet, unknown)
        return StringSource(packed, parts, normalize=self._scales is not None)


class StringMatrix(DeviceMatrix):
    """Strings on a device whose weights are to stay there, too."""


def rows_of_strings(
    kernels: Kernels, strings: StringCollection, parts: Sequence[StringPart], *, normalize: bool, n_threads: int = 0
) -> StringRows:
    """Strings of the host, copied to a device."""
    plan = string_layout(strings.alphabet.size, strings.length, parts)
    layout, there = LayoutThere.on(plan, kernels.to_device), _copied(kernels, strings, n_threads)
    if not normalize:
        return StringRows(kernels, there, layout, None)
    if strings.length <= LONGEST_MEASURED:
        squares = kernels.strings().squared_lengths(there, layout)
    else:
        squares = kernels.to_device(_squared_lengths(strings, parts, n_threads))
    return StringRows(kernels, there, layout, *scales_of(kernels, squares))


def scales_of(kernels: Kernels, squares: DeviceArray) -> tuple[DeviceArray, float]:
    """What makes vectors of these squared lengths 1 long, 0 where there are none; and how much lengths differ."""
    xp, filled = kernels.xp, squares > 0.0
    scales = xp.where(filled, 1.0 / xp.sqrt(xp.where(filled, squares, 1.0)), 0.0)
    most = float(squares.max()) if len(squares) else 0.0
    least = float(xp.where(filled, squares, most).min()) if len(squares) else 0.0
    return scales, math.sqrt(most / least) * (1.0 + 1e-9) if least > 0.0 else 1.0


def _copied(kernels: Kernels, strings: StringCollection, n_threads: int) -> DeviceStrings:
    """The packed bytes, chunk by chunk: each but the last is a whole number of pieces."""
    alphabet, count, length = strings.alphabet, len(strings), strings.length
    columns = -(-length // 4) if alphabet.quarters else length
    data, unknown = kernels.xp.empty(count * columns, np.uint8), []
    for start, chunk in strings.chunks():
        packed = chunk if isinstance(chunk, PackedStrings) else strings.take(np.arange(start, start + len(chunk)))
        data[start * columns : (start + len(chunk)) * columns] = kernels.to_device(np.ascontiguousarray(packed.data))
        unknown.append((start, packed))
    odd = [start + packed.unknown.strings for start, packed in unknown if packed.has_unknown]
    kind = "quarters" if alphabet.quarters else "bytes"
    there = DeviceStrings(kind, data, count, length, columns, alphabet)
    if not odd:
        return there
    letters = [packed.core.letters(string) for _, packed in unknown for string in packed.unknown.strings.tolist()]
    on = kernels.to_device
    return replace(there, odd=on(np.concatenate(odd)), odd_letters=on(np.stack(letters)))


def _squared_lengths(strings: StringCollection, parts: Sequence[StringPart], n_threads: int) -> Array:
    """Of the features, measured on the host."""
    described = [(part.positional, part.begin, part.end, part.values, 0) for part in parts]
    features = _core.StringFeatures(strings.alphabet.size, strings.length, described)
    return np.concatenate([features.squared_lengths(chunk.core, 0, n_threads) for _, chunk in strings.chunks()])

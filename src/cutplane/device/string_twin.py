"""Passes over strings in NumPy: what the kernels do, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.device.string_kernels import DeviceArray, DeviceStrings, LayoutThere, Places, StringKernels
from cutplane.device.string_layout import StringLayout
from cutplane.device.twin_arrays import on_twin
from cutplane.sources.packed import PIECE

_UNKNOWN = 254
Codes = NDArray[np.uint8]


def _columns(strings: DeviceStrings, data: Codes) -> Codes:
    """The bytes of the strings, a row for each."""
    n, width = strings.count, strings.columns
    pieces = [data[begin * width : (begin + PIECE) * width] for begin in range(0, n, PIECE)]
    return np.concatenate([np.zeros((0, width), np.uint8), *(each.reshape(width, -1).T for each in pieces)])


def _packed(rows: Codes) -> Codes:
    """The other way round."""
    pieces = [rows[begin : begin + PIECE].T.ravel() for begin in range(0, len(rows), PIECE)]
    return np.concatenate([np.zeros(0, np.uint8), *pieces])


def _letters(strings: DeviceStrings) -> Codes:
    """The letters of all strings; of packed ones, 0 for those that are unknown."""
    data = np.asarray(strings.data)
    if strings.begins is not None:
        windows = np.lib.stride_tricks.sliding_window_view(data, strings.length)
        return np.asarray(windows[np.asarray(strings.begins)], np.uint8)
    rows = _columns(strings, data)
    if strings.kind == "quarters":
        four = rows[:, :, None] >> np.array([6, 4, 2, 0], np.uint8) & np.uint8(3)
        rows = np.asarray(four.reshape(len(rows), -1), np.uint8)
    return rows[:, : strings.length]


def _kmers(letters: Codes, place: int, span: int, alphabet: int) -> NDArray[np.int64]:
    found = np.zeros(len(letters), np.int64)
    for p in range(place, place + span):
        found = found * alphabet + np.where(letters[:, p] < alphabet, letters[:, p], 0)
    return found


def _visits(plan: StringLayout, letters: Codes) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], float]]:
    """Strings, the feature of each, and its value, for every part, position and order."""
    for j, part in enumerate(plan.parts):
        for p in range(part.begin, part.end):
            known, kmer = np.arange(len(letters)), np.zeros(len(letters), np.int64)
            for k in range(1, plan.depths[j, p] + 1):
                kept = letters[known, p + k - 1] != _UNKNOWN
                known, kmer = known[kept], kmer[kept] * plan.alphabet
                kmer = kmer + letters[known, p + k - 1]
                yield known, plan.starts[j, p] + plan.below[k] + kmer, plan.values[j, k - 1]


def _odd(strings: DeviceStrings) -> tuple[NDArray[np.int64], Codes]:
    odd = np.asarray(strings.odd)
    return odd, _letters(strings)[odd] if strings.odd_letters is None else np.asarray(strings.odd_letters)


class TwinStrings(StringKernels):
    """On arrays of NumPy's."""

    def collapse(self, layout: LayoutThere, w: DeviceArray) -> DeviceArray:
        """Weights by table and longest k-mer."""
        plan, here = layout.plan, np.asarray(w)
        kmers = np.arange(plan.table_size)
        out = np.zeros((plan.tables, plan.table_size))
        for row, owner in zip(out, plan.owners.tolist(), strict=False):
            for q in range(owner, plan.end if owner == plan.last else owner + 1):
                letters = min(plan.order, plan.end - q)
                for j in range(len(plan.parts)):
                    for k in range(1, plan.depths[j, q] + 1):
                        prefix = kmers % plan.powers[letters] // plan.powers[letters - k]
                        row += plan.values[j, k - 1] * here[plan.starts[j, q] + plan.below[k] + prefix]
        return on_twin(out)

    def join(self, layout: LayoutThere, tables: DeviceArray, joined: DeviceArray) -> DeviceArray:
        """Tables of neighbouring positions as one, indexed by the letters of all of them."""
        plan, here, of = layout.plan, np.asarray(tables), np.asarray(joined)
        numbers, width = of.shape
        letters = np.arange(plan.table_size * plan.alphabet ** (width - 1))
        out = np.zeros((numbers, len(letters)))
        for row, tables_of in zip(out, of.tolist(), strict=True):
            for i, table in enumerate(tables_of):
                if table >= 0:
                    row += here[table, letters // plan.alphabet ** (width - 1 - i) % plan.table_size]
        return on_twin(out)

    def look_up(self, strings: DeviceStrings, layout: LayoutThere, at: Places, tables: DeviceArray, sums: Any) -> None:
        """Add what strings look up to their sums."""
        letters, here = _letters(strings), np.asarray(sums)
        for place, number in zip(np.asarray(at.places).tolist(), np.asarray(at.number).tolist(), strict=True):
            here += np.asarray(tables)[number][_kmers(letters, place, at.span, layout.plan.alphabet)]

    def odd_scores(self, strings: DeviceStrings, layout: LayoutThere, w: DeviceArray, sums: DeviceArray) -> None:
        """Write the sums of strings that have unknown letters."""
        odd, letters = _odd(strings)
        found = np.zeros(len(odd))
        for rows, features, value in _visits(layout.plan, letters):
            found[rows] += value * np.asarray(w)[features]
        np.asarray(sums)[odd] = found

    def fixed(self, coef: DeviceArray, scale: DeviceArray | None, places: int) -> DeviceArray:
        """Coefficients times scales as whole numbers, with so many binary places."""
        scaled = np.asarray(coef) if scale is None else np.asarray(coef) * np.asarray(scale)
        return on_twin(np.rint(np.ldexp(scaled, places)).astype(np.int64))

    def count(self, strings: DeviceStrings, layout: LayoutThere, at: Places, fixed: Any, counts: DeviceArray) -> None:
        """Add whole numbers to the counts (table, k-mer of any order) of the longest k-mers of their strings."""
        plan, letters = layout.plan, _letters(strings)
        longest = np.asarray(counts)[:, int(plan.below[plan.order]) :]
        for place, number in zip(np.asarray(at.places).tolist(), np.asarray(at.number).tolist(), strict=True):
            np.add.at(longest[number], _kmers(letters, place, at.span, plan.alphabet), np.asarray(fixed))

    def odd_count(self, strings: DeviceStrings, layout: LayoutThere, fixed: DeviceArray, counts: DeviceArray) -> None:
        """The same for every k-mer of strings that have unknown letters, where its feature is."""
        odd, letters = _odd(strings)
        for rows, features, _ in _visits(layout.plan, letters):
            np.add.at(np.asarray(counts), features, np.asarray(fixed)[odd[rows]])

    def fold(self, layout: LayoutThere, counts: DeviceArray) -> None:
        """Fill in the counts of all other orders, and of k-mers that end early."""
        plan, here = layout.plan, np.asarray(counts)

        def of(k: int) -> slice:
            return slice(int(plan.below[k]), int(plan.below[k + 1]))

        for shorter in range(1, plan.order):
            table, k = plan.tables + shorter - 1, plan.order - shorter
            here[table, of(k)] = here[table - 1, of(k + 1)].reshape(plan.alphabet, -1).sum(axis=0)
        for k in range(plan.order - 1, 0, -1):
            tables = plan.tables + plan.order - k - 1
            here[:tables, of(k)] = here[:tables, of(k + 1)].reshape(tables, -1, plan.alphabet).sum(axis=2)

    def spread(
        self, layout: LayoutThere, counts: DeviceArray, more: DeviceArray | None, places: int, squared: float | None
    ) -> DeviceArray:
        """What counts, and more of them by feature, are as sums of features."""
        plan, here = layout.plan, np.asarray(counts)
        whole = np.zeros(plan.dimension, np.int64) if more is None else np.asarray(more).copy()
        value, spectral = np.zeros(plan.dimension), np.zeros(plan.dimension, bool)
        for j, part in enumerate(plan.parts):
            for row, owner in zip(here, plan.owners.tolist(), strict=True):
                size, start = int(plan.below[plan.depths[j, owner] + 1]), plan.starts[j, owner]
                whole[start : start + size] += row[:size]
                value[start : start + size] = np.repeat(plan.values[j], plan.powers[1:])[:size]
                spectral[start : start + size] = not part.positional
        sums = np.ldexp(whole.astype(np.float64), -places)
        if squared is None:
            return on_twin(value * sums)
        chance = sums * sums / squared if squared > 0.0 else 0.0 * sums
        return on_twin(value * value * np.where(spectral, sums + chance, sums))

    def squared_lengths(self, strings: DeviceStrings, layout: LayoutThere) -> DeviceArray:
        """Of the features of each string."""
        letters, plan = _letters(strings).copy(), layout.plan
        if strings.odd is not None:
            odd, odd_letters = _odd(strings)
            letters[odd] = odd_letters
        return on_twin([_squared_length(plan, row) for row in letters])

    def take(self, strings: DeviceStrings, rows: DeviceArray) -> DeviceArray:
        """Some strings, packed as all are."""
        return on_twin(_packed(_columns(strings, np.asarray(strings.data))[np.asarray(rows)]))

    def letters(self, strings: DeviceStrings, rows: DeviceArray) -> DeviceArray:
        """Those of some packed strings, one a byte; 0 for unknown ones."""
        return on_twin(_letters(strings)[np.asarray(rows)])

    def dense(self, layout: LayoutThere, letters: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[i] times the features of strings of these letters."""
        here = np.asarray(letters)
        out = np.zeros((len(here), layout.plan.dimension))
        for rows, features, value in _visits(layout.plan, here):
            np.add.at(out, (rows, features), value * np.asarray(scale)[rows])
        return on_twin(out)


def _squared_length(plan: StringLayout, letters: Codes) -> float:
    """By pairs of places with the same k-mer: runs of equal letters are followed, for every distance of two places."""
    total = 0.0
    for j, part in enumerate(plan.parts):
        window = letters[part.begin : part.end]
        deepest = len(part.weights)
        pairs = np.zeros(deepest + 1, np.int64)
        for apart in range(1 if part.positional else len(window)):
            run = 0
            for a, b in zip(window.tolist(), window[apart:].tolist(), strict=False):
                run = min(run + 1, deepest) if a == b != _UNKNOWN else 0
                pairs[run] += 2 if apart else 1
        squares = pairs[:0:-1].cumsum()[::-1]
        total += float(np.sum(plan.values[j, :deepest] ** 2 * squares))
    return total

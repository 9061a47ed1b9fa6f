"""Passes over strings on a GPU, through CuPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cutplane.device import text
from cutplane.device.kernels import THREADS
from cutplane.device.programs import Kernel, kernel
from cutplane.device.string_kernels import DeviceArray, DeviceStrings, LayoutThere, Places, StringKernels

# Blocks of a pass: enough to fill any device.
_MOST_BLOCKS = 8192
# Threads of a block that measures lengths: kLengthThreads of the kernels.
_MEASURING = 64


@cache
def _function(name: str, kind: str | None = None) -> Kernel:
    if kind is None:
        return kernel(text.string_text, name)
    return kernel(text.string_text, f"{name}<{text.STRINGS[kind]}>", tuple(text.string_kernels(kind)))


def _blocks(count: int, threads: int = THREADS) -> tuple[int]:
    return (min(_MOST_BLOCKS, max(1, -(-count // threads))),)


def _strings(strings: DeviceStrings, layout: LayoutThere) -> tuple[Any, ...]:
    return strings.data, np.int64(strings.count), np.int32(strings.columns), np.uint32(layout.plan.alphabet)


def _parts(layout: LayoutThere) -> tuple[Any, ...]:
    plan = layout.plan
    numbers = (np.int32(len(plan.parts)), np.int32(plan.length), np.int32(plan.order), np.uint32(plan.alphabet))
    return *numbers, layout.depths, layout.starts, layout.values, layout.below, layout.powers


def _or_null(array: DeviceArray | None) -> Any:
    return np.uintp(0) if array is None else array


class CudaStrings(StringKernels):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy

        self._xp = cupy

    def collapse(self, layout: LayoutThere, w: DeviceArray) -> DeviceArray:
        """Weights by table and longest k-mer."""
        plan = layout.plan
        out = self._xp.empty((plan.tables, plan.table_size))
        arguments = (*_parts(layout), w, layout.owners, np.int32(plan.tables), np.int32(plan.end), out)
        _function("string_collapse")(_blocks(out.size), (THREADS,), arguments)
        return out

    def join(self, layout: LayoutThere, tables: DeviceArray, joined: DeviceArray) -> DeviceArray:
        """Tables of neighbouring positions as one, indexed by the letters of all of them."""
        plan, (numbers, width) = layout.plan, joined.shape
        out = self._xp.empty((numbers, plan.table_size * plan.alphabet ** (width - 1)))
        sizes = (np.uint32(plan.table_size), np.uint32(plan.alphabet))
        arguments = (tables, *sizes, joined, np.int32(numbers), np.int32(width), np.int64(out.shape[1]), out)
        _function("string_join")(_blocks(out.size), (THREADS,), arguments)
        return out

    def look_up(self, strings: DeviceStrings, layout: LayoutThere, at: Places, tables: DeviceArray, sums: Any) -> None:
        """Add what strings look up to their sums."""
        lookups = (np.int32(at.span), at.places, at.number, np.int32(len(at.places)))
        given = (*_strings(strings, layout), _or_null(strings.begins))
        arguments = (*given, tables, np.uint32(tables.shape[1]), *lookups, sums)
        _function("string_look_up", strings.kind)(_blocks(strings.count), (THREADS,), arguments)

    def odd_scores(self, strings: DeviceStrings, layout: LayoutThere, w: DeviceArray, sums: DeviceArray) -> None:
        """Write the sums of strings that have unknown letters."""
        assert strings.odd is not None
        count = len(strings.odd)
        if strings.begins is not None:
            letters, begins = strings.data, strings.begins[strings.odd]
        else:
            letters, begins = strings.odd_letters, strings.length * self._xp.arange(count)
        arguments = (*_parts(layout), w, letters, begins, strings.odd, np.int64(count), sums)
        _function("string_odd_scores")(_blocks(count), (THREADS,), arguments)

    def fixed(self, coef: DeviceArray, scale: DeviceArray | None, places: int) -> DeviceArray:
        """Coefficients times scales as whole numbers, with so many binary places."""
        out = self._xp.empty(coef.size, np.int64)
        arguments = (coef, _or_null(scale), np.int64(coef.size), np.int32(places), out)
        _function("string_fixed")(_blocks(coef.size), (THREADS,), arguments)
        return out

    def count(self, strings: DeviceStrings, layout: LayoutThere, at: Places, fixed: Any, counts: DeviceArray) -> None:
        """Add whole numbers to the counts (table, k-mer of any order) of the longest k-mers of their strings."""
        plan = layout.plan
        lookups = (np.int32(at.span), at.places, at.number, np.int32(len(at.places)))
        longest = counts.ravel()[int(plan.below[plan.order]) :]
        arguments = (*_strings(strings, layout), fixed, np.uint32(plan.table_size), *lookups, np.int64(plan.kmers))
        _function("string_count", strings.kind)(_blocks(strings.count), (THREADS,), (*arguments, longest))

    def odd_count(self, strings: DeviceStrings, layout: LayoutThere, fixed: DeviceArray, counts: DeviceArray) -> None:
        """The same for every k-mer of strings that have unknown letters, where its feature is."""
        assert strings.odd is not None
        count = len(strings.odd)
        arguments = (*_parts(layout), fixed, strings.odd_letters, strings.odd, np.int64(count), counts)
        _function("string_odd_count")(_blocks(count), (THREADS,), arguments)

    def fold(self, layout: LayoutThere, counts: DeviceArray) -> None:
        """Fill in the counts of all other orders, and of k-mers that end early."""
        plan = layout.plan
        K, below, stride, letters = plan.order, plan.below, plan.kmers, np.uint32(plan.alphabet)
        for shorter in range(1, K):
            table, size = plan.tables + shorter - 1, int(plan.powers[K - shorter])
            places = ((table - 1) * stride + below[K - shorter + 1], table * stride + below[K - shorter])
            arguments = (counts, *map(np.int64, places), letters, np.uint32(size))
            _function("string_suffix")((-(-size // THREADS),), (THREADS,), arguments)
        for k in range(K - 1, 0, -1):
            tables, size = plan.tables + K - k - 1, int(plan.powers[k])
            places = (np.int64(below[k + 1]), np.int64(below[k]))
            arguments = (counts, np.int64(stride), *places, letters, np.uint32(size), np.int32(tables))
            _function("string_fold")(_blocks(tables * size), (THREADS,), arguments)

    def spread(
        self, layout: LayoutThere, counts: DeviceArray, more: DeviceArray | None, places: int, squared: float | None
    ) -> DeviceArray:
        """What counts, and more of them by feature, are as sums of features."""
        plan = layout.plan
        out = self._xp.empty(plan.dimension)
        tables = (counts, np.int64(plan.kmers), layout.owners, np.int32(len(plan.owners)))
        last = (_or_null(more), np.int32(places), np.int32(squared is not None))
        for j, part in enumerate(plan.parts):
            given, by_order = (*tables, layout.depths[j]), (layout.values[j], layout.below)
            if part.positional:
                features = (*given, layout.starts[j], *by_order, *last, out)
                _function("string_spread")(_blocks(counts.size), (THREADS,), features)
                continue
            size = int(plan.below[len(part.weights) + 1])
            window = (np.int64(plan.starts[j, part.begin]), np.int64(size))
            sums = (*given, *window, *by_order, *last, np.float64(squared or 0.0), out)
            _function("string_gather")((-(-size // THREADS),), (THREADS,), sums)
        return out

    def squared_lengths(self, strings: DeviceStrings, layout: LayoutThere) -> DeviceArray:
        """Of the features of each string."""
        plan = layout.plan
        out = self._xp.empty(strings.count)
        numbers = (np.int32(len(plan.parts)), np.int32(plan.length), np.int32(plan.order))
        given = (*_strings(strings, layout), *numbers, layout.windows, layout.values)
        memory = _MEASURING * (plan.length + 4 * (plan.order + 1))
        kernel = _function("string_lengths", strings.kind)
        every = (*given, np.uintp(0), _or_null(strings.begins), np.int64(strings.count), out)
        kernel(_blocks(strings.count, _MEASURING), (_MEASURING,), every, shared_mem=memory)
        if strings.odd is not None and strings.odd_letters is not None:
            odd = (*given, strings.odd_letters, strings.odd, np.int64(len(strings.odd)), out)
            kernel(_blocks(len(strings.odd), _MEASURING), (_MEASURING,), odd, shared_mem=memory)
        return out

    def take(self, strings: DeviceStrings, rows: DeviceArray) -> DeviceArray:
        """Some strings, packed as all are."""
        out = self._xp.empty(len(rows) * strings.columns, np.uint8)
        arguments = (strings.data, np.int64(strings.count), np.int32(strings.columns), rows, np.int64(len(rows)), out)
        _function("string_take")(_blocks(len(rows)), (THREADS,), arguments)
        return out

    def letters(self, strings: DeviceStrings, rows: DeviceArray) -> DeviceArray:
        """Those of some packed strings, one a byte; 0 for unknown ones."""
        out = self._xp.empty((len(rows), strings.length), np.uint8)
        sizes = (np.int64(strings.count), np.int32(strings.columns), np.int32(strings.length))
        arguments = (strings.data, *sizes, rows, np.int64(len(rows)), out)
        _function("string_letters", strings.kind)(_blocks(len(rows)), (THREADS,), arguments)
        return out

    def dense(self, layout: LayoutThere, letters: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[i] times the features of strings of these letters."""
        out = self._xp.zeros((len(letters), layout.plan.dimension))
        arguments = (*_parts(layout), letters, scale, np.int64(len(letters)), np.int64(layout.plan.dimension), out)
        _function("string_dense")(_blocks(len(letters)), (THREADS,), arguments)
        return out

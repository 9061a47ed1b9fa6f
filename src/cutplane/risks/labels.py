"""Labels as numbers of classes, without sorting them where they are whole numbers close to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._types import Array, Codes, Labels

# Labels that are whole numbers in a range of this size are told apart by a table.
_TABLE = 1 << 16
_KNOWN = tuple(map(np.dtype, ("int8", "uint8", "int32", "int64", "float32", "float64")))
# Codes that are counted at a time: NumPy counts integers of its own size, and these should stay in the cache.
_COUNTED = 1 << 16


def coded(y: Labels, n_threads: int = 0) -> tuple[Labels, Codes]:
    """The labels there are, sorted, and which of them each is, in the smallest type that holds it."""
    classes, codes = coded_by_table(y, n_threads) or np.unique(y, return_inverse=True)
    return classes, codes.astype(np.min_scalar_type(-len(classes)), copy=False)


def coded_by_table(y: Labels, n_threads: int = 0) -> tuple[Labels, Codes] | None:
    """What `np.unique` gives for whole numbers close to each other, without sorting them; None for other labels."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    numbers = _known_to_core(y)
    marked = _core.marked_labels(numbers, _TABLE, n_threads)
    if marked is None:
        return None
    low, seen = marked
    found = np.flatnonzero(seen)
    table: Codes = np.zeros(len(seen), np.dtype(np.min_scalar_type(-len(found)).str))
    table[found] = np.arange(len(found))
    codes = np.empty(len(y), table.dtype)
    _core.code_labels(numbers, low, table, codes, n_threads)
    return (found + low).astype(y.dtype), codes


def _known_to_core(y: Labels) -> NDArray[Any]:
    """Numbers in a type that the core has sweeps for."""
    if y.dtype.kind == "b":
        return np.ascontiguousarray(y).view(np.uint8)
    if y.dtype in _KNOWN:
        return np.ascontiguousarray(y)
    return np.ascontiguousarray(y, np.float64)  # where that is not exact, the numbers are too large for a table


def signs(codes: Codes, positive: int, n_threads: int = 0) -> NDArray[np.int8]:
    """+1 where a code is that of the positive class, else -1."""
    return _core.signs(np.ascontiguousarray(codes), positive, n_threads)


def class_sums(codes: Codes, weights: Array | None, n_classes: int) -> Array:
    """What the examples of each class weigh (None: 1 each), added up in order."""
    found = np.zeros(n_classes)
    for begin in range(0, len(codes), _COUNTED):
        part = slice(begin, begin + _COUNTED)
        found += np.bincount(codes[part].astype(np.intp), None if weights is None else weights[part], n_classes)
    return found

"""The examples of one part of a sum, in the process where they lie."""

from __future__ import annotations

import copy
import zlib
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane.shards.base import Array
from cutplane.shards.mapped import MappedArrays
from cutplane.shards.registry import make_shard
from cutplane.shards.scattered import Recipe, Survey
from cutplane.sources.augmented import AugmentedSource
from cutplane.sources.base import Extent, Rows
from cutplane.sources.matrix import as_source

# Odd, and unlike each other: no change of a single word, nor an exchange of two, leaves the sum of a block as it was.
_FACTORS = np.arange(1, 2049, 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


class PartExamples:
    """The examples of one part, where they lie.

    Parameters
    ----------
    X : array or CSR matrix
    y : array
        Labels or targets.
    weights : array or None
        1 each.
    rows : array, optional
        Which of the examples it is: all.
    """

    _mapped: MappedArrays | None = None

    def __init__(self, X: Any, y: NDArray[Any], weights: Array | None, rows: Rows | None = None) -> None:
        self._X = X
        self._source = as_source(X) if rows is None else as_source(X).take(rows)
        self._y = y if rows is None else y[rows]
        self._weights = weights if rows is None or weights is None else weights[rows]

    def __getstate__(self) -> dict[str, Any]:
        """Sent as arrays, whether they lie on disk or not."""
        return {name: value for name, value in vars(self).items() if name != "_mapped"}

    @property
    def nbytes(self) -> int:
        """What the rows take."""
        return sum(each.nbytes for each in self._arrays)

    @property
    def _arrays(self) -> list[NDArray[Any]]:
        X = self._X
        return [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]

    def on_disk(self, folder: str) -> PartExamples:
        """The same, its rows in a file of that folder."""
        mapped = MappedArrays(self._arrays, folder)
        X = self._X
        rows: Any = mapped.arrays[0]
        if sp.issparse(X):
            rows = sp.csr_array(tuple(mapped.arrays), shape=X.shape, copy=False)
            rows.has_sorted_indices = X.has_sorted_indices
        part = copy.copy(self)
        part._X, part._source, part._mapped = rows, as_source(rows), mapped
        return part

    def release(self) -> None:
        """Give back what memory a pass has taken for rows on disk."""
        if self._mapped is not None:
            self._mapped.release()

    def fold(self, number: int, folds: int, turn: int, *, inside: bool, labels: bool) -> PartExamples:
        """The examples of one of several folds, or all but these: of each class its share, in stretches.

        Parameters
        ----------
        number, folds : int
            Which of how many.
        turn : int
            Other parts begin with other folds, so that all have equally many where parts are small.
        inside : bool
            The others, which are trained on.
        labels : bool
            Whether targets are classes.
        """
        n = len(self._y)
        codes = np.unique(self._y, return_inverse=True)[1] if labels else np.zeros(n, np.intp)
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes)
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
        fold = (rank * folds // counts[codes] + turn) % folds
        return PartExamples(self._X, self._y, self._weights, np.flatnonzero((fold == number) != inside))

    def targets(self) -> NDArray[Any]:
        """Labels or targets: they come here."""
        return self._y

    def survey(self, *, labels: bool) -> Survey:
        """What must be known before the problem can be posed."""
        n = len(self._y)
        weights = np.ones(n) if self._weights is None else self._weights
        found, codes = np.unique(self._y, return_inverse=True) if labels else (self._y[:0], np.zeros(0, np.intp))
        each = np.asarray(np.bincount(codes, weights[: len(codes)], len(found)), np.float64)
        return Survey(self._source.shape, float(weights.sum()), found, each)

    def mark(self) -> int:
        """A checksum: what is read again after a loss must be what was there."""
        return self._marked_with()

    def _marked_with(self, *beside: NDArray[Any]) -> int:
        """A checksum of the examples and what goes with them."""
        weights = [] if self._weights is None else [self._weights]
        arrays = [*self._arrays, *map(_as_numbers, (self._y, *beside)), *weights]
        return reduce(_marked, arrays, len(self._y))

    def extent(self) -> Extent:
        """What rounding in passes is charged by."""
        return self._source.extent

    def scores(self, w: Array) -> Array:
        """X @ w."""
        return self._source.scores(w)

    def combine(self, begin: int, coef: Array) -> Array:
        """X.T @ coef, of the part of it that begins there."""
        return self._source.combine(np.ascontiguousarray(coef[begin : begin + len(self._y)]))

    def shard(self, recipe: Recipe, constant: float, *, intercept: bool) -> Any:
        """The sum over these examples, as a part of the whole; `constant`: the value of another feature, or 0."""
        y, weights = self._labelled(recipe)
        source = self._source if constant == 0.0 else AugmentedSource(self._source, constant)
        total = float(len(y)) if weights is None else float(weights.sum())
        if total == 0.0:  # none counts; a risk is made for one at least
            none = np.zeros(0, np.int64)
            return make_shard(source.take(none), recipe.loss(np.ones(1), None).summand(none), intercept=intercept)
        risk = recipe.loss(y, weights).summand(np.arange(len(y)), total / recipe.total_weight)
        return make_shard(source, risk, intercept=intercept)

    def _labelled(self, recipe: Recipe) -> tuple[NDArray[Any], Array | None]:
        """Targets, or -1 and +1, and weights with those of the classes in them."""
        if recipe.classes is None:
            return self._y, self._weights
        codes = np.searchsorted(recipe.classes, self._y)
        y = np.where(codes == recipe.positive, np.int8(1), np.int8(-1))
        if recipe.factors is None:
            return y, self._weights
        each = recipe.factors[codes]
        return y, each if self._weights is None else each * self._weights


def _marked(mark: int, array: NDArray[Any]) -> int:
    """With the bytes of an array in it: those of a block as one word, and a checksum of these, at a memory's rate."""
    plain: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = len(plain) // (8 * len(_FACTORS)) * (8 * len(_FACTORS))
    blocks = plain[:whole].view(np.uint64).reshape(-1, len(_FACTORS)) @ _FACTORS
    return zlib.crc32(plain[whole:], zlib.crc32(blocks.view(np.uint8), mark))


def _as_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Bytes of labels, which may be words."""
    if labels.dtype.kind != "O":
        return labels
    return np.frombuffer("\0".join(map(repr, labels.tolist())).encode(), np.uint8)

"""The examples of one part of a sum, in the process where they lie."""

from __future__ import annotations

import zlib
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane.shards.base import Array
from cutplane.shards.registry import make_shard
from cutplane.shards.scattered import Recipe, Survey
from cutplane.sources.augmented import AugmentedSource
from cutplane.sources.base import Extent
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
    """

    def __init__(self, X: Any, y: NDArray[Any], weights: Array | None) -> None:
        self._X, self._y, self._weights = X, y, weights
        self._source = as_source(X)

    def survey(self, *, labels: bool) -> Survey:
        """What must be known before the problem can be posed."""
        n = len(self._y)
        weights = np.ones(n) if self._weights is None else self._weights
        found, codes = np.unique(self._y, return_inverse=True) if labels else (self._y[:0], np.zeros(0, np.intp))
        each = np.asarray(np.bincount(codes, weights[: len(codes)], len(found)), np.float64)
        entries = self._X.nnz if sp.issparse(self._X) else self._X.size
        counts = np.bincount(codes, minlength=len(found)).astype(np.int64)
        weighted = self._weights is not None
        return Survey(self._source.shape, entries, float(weights.sum()), found, counts, each, weighted)

    def mark(self) -> int:
        """A checksum: what is read again after a loss must be what was there."""
        X = self._X
        arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        arrays += [_as_numbers(self._y)] + ([] if self._weights is None else [self._weights])
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
        heavy = np.flatnonzero(weights > 0.0) if weights is not None else np.arange(len(y))
        if not len(heavy):  # none counts; a risk is made for one at least
            none = np.zeros(0, np.int64)
            return make_shard(source.take(none), recipe.loss(np.ones(1), None).summand(none), intercept=intercept)
        share = (float(len(y)) if weights is None else float(weights.sum())) / recipe.total_weight
        risk = recipe.loss(y, weights).summand(np.arange(len(y)), share)
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

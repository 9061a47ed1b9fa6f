"""The examples of one part of a sum, in the process where they lie."""

from __future__ import annotations

import copy
from functools import cached_property, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane._types import Codes
from cutplane.risks.labels import class_sums, coded, signs
from cutplane.shards.base import Array
from cutplane.shards.part_rows import marked, part_rows
from cutplane.shards.registry import make_part
from cutplane.shards.scattered import Recipe, Survey
from cutplane.sources.augmented import AugmentedSource
from cutplane.sources.base import Extent, Source
from cutplane.sources.matrix import as_source


class PartExamples:
    """The examples of one part, where they lie.

    Parameters
    ----------
    X : array, CSR matrix or DeviceMatrix
        In memory, or on a GPU.
    y : array
        Labels or targets.
    weights : array or None
        1 each.
    """

    def __init__(self, X: Any, y: NDArray[Any], weights: Array | None) -> None:
        self._rows = part_rows(X)
        self._source, self._y, self._weights = self._rows.source, y, weights

    def __getstate__(self) -> dict[str, Any]:
        """Rows once, and nothing that is found again."""
        left_out = {"_coded", "_source"} if self._source is self._rows.source else {"_coded"}
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """As sent."""
        vars(self).update(state)
        self._source = state.get("_source", self._rows.source)

    @property
    def nbytes(self) -> int:
        """What the rows take of the host's memory."""
        return self._rows.nbytes

    def on_disk(self, folder: str) -> PartExamples:
        """The same, its rows in a file of that folder."""
        part = copy.copy(self)
        part._rows = self._rows.on_disk(folder)
        part._source = part._rows.source
        return part

    def release(self) -> None:
        """Give back what memory a pass has taken for rows on disk."""
        self._rows.release()

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
        codes = self._coded[1] if labels else np.zeros(n, np.intp)
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes)
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
        fold = (rank * folds // counts[codes] + turn) % folds
        chosen = np.flatnonzero((fold == number) != inside)
        part = copy.copy(self)
        vars(part).pop("_coded", None)
        part._source, part._y = self._source.take(chosen), self._y[chosen]
        part._weights = None if self._weights is None else self._weights[chosen]
        return part

    @cached_property
    def _coded(self) -> tuple[NDArray[Any], Codes]:
        """The labels there are, and which of them each is."""
        return coded(self._y)

    def targets(self) -> NDArray[Any]:
        """Labels or targets: they come here."""
        return self._y

    def weights(self) -> Array:
        """What each example weighs: it comes here."""
        return np.ones(len(self._y)) if self._weights is None else self._weights

    def survey(self, *, labels: bool) -> Survey:
        """What must be known before the problem can be posed."""
        weights = self._weights
        total = float(len(self._y)) if weights is None else float(weights.sum())
        if not labels:
            return Survey(self._source.shape, total, self._y[:0], np.zeros(0))
        found, codes = self._coded
        return Survey(self._source.shape, total, found, class_sums(codes, weights, len(found)))

    def mark(self) -> int:
        """A checksum: what is read again after a loss must be what was there."""
        return self._marked_with()

    def _marked_with(self, *beside: NDArray[Any]) -> int:
        """A checksum of the examples and what goes with them."""
        weights = [] if self._weights is None else [self._weights]
        arrays = [*map(_as_numbers, (self._y, *beside)), *weights]
        return reduce(marked, arrays, self._rows.marked(len(self._y)))

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
        total = float(len(y)) if weights is None else float(weights.sum())
        if total == 0.0:  # none counts; a risk is made for one at least
            none = np.zeros(0, np.int64)
            source: Source = as_source(sp.csr_array((0, self._source.shape[1])))
            risk = recipe.loss(np.ones(1), None).summand(none)
        else:
            source = self._source
            risk = recipe.loss(y, weights).summand(np.arange(len(y)), total / recipe.total_weight)
        return make_part(source if constant == 0.0 else AugmentedSource(source, constant), risk, intercept=intercept)

    def _labelled(self, recipe: Recipe) -> tuple[NDArray[Any], Array | None]:
        """Targets, or -1 and +1, and weights with those of the classes in them."""
        if recipe.classes is None:
            return self._y, self._weights
        found, codes = self._coded
        places = np.searchsorted(recipe.classes, found)
        here = np.flatnonzero(places == recipe.positive)
        y = signs(codes, int(here[0]) if len(here) else -1)
        if recipe.factors is None:
            return y, self._weights
        each = recipe.factors[places][codes]
        return y, each if self._weights is None else each * self._weights


def _as_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Bytes of labels, which may be words."""
    if labels.dtype.kind != "O":
        return labels
    return np.frombuffer("\0".join(map(repr, labels.tolist())).encode(), np.uint8)

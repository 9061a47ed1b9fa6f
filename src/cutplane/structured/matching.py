"""Weighted bipartite matching: each item of one side goes to an item of the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Array, Document
from cutplane.structured.base import StructuredModel
from cutplane.structured.factored_matching import MatchingFactors, assign

Matching = NDArray[np.int64]


class MatchingModel(StructuredModel[ArrayLike, ArrayLike]):
    """Matchings of m items to m or more places; the loss is the number of items in wrong places.

    x is an array of shape (m, places, n_features): the features of putting an item in a place. y[i] is the place of
    item i, no place used twice. The score of a matching is the sum over its pairs, and the best one is found by SciPy's
    solver for the assignment problem.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import StructuralSVM
    >>> from cutplane.structured.matching import MatchingModel
    >>> x = -np.abs(np.subtract.outer([0.0, 1.0, 2.0], [2.1, 0.2, 0.9]))[:, :, None]
    >>> StructuralSVM(MatchingModel(), C=10.0).fit([x], [[1, 2, 0]]).predict([x])
    [array([1, 2, 0])]
    """

    axes = 3

    def features(self, w: Array | None) -> int | None:
        """One for each weight."""
        return None if w is None else len(w)

    def params(self) -> Document:
        """What the constructor needs: nothing."""
        return {}

    def factors(self) -> MatchingFactors:
        """Scores of pairs may be sums of kernel functions."""
        return MatchingFactors()

    def joint_feature(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The sum of the features of the pairs."""
        pairs = np.asarray(x, dtype=np.float64)
        return np.asarray(pairs[np.arange(len(pairs)), np.asarray(y)].sum(axis=0))

    def loss(self, y: ArrayLike, y_hat: ArrayLike) -> float:
        """The number of items in wrong places."""
        return float(np.count_nonzero(np.asarray(y) != np.asarray(y_hat)))

    def argmax(self, x: ArrayLike, w: Array) -> Matching:
        """The matching with the highest score."""
        return assign(np.asarray(x, dtype=np.float64) @ w)

    def loss_augmented_argmax(self, x: ArrayLike, y: ArrayLike, w: Array) -> Matching:
        """The matching with the highest score plus loss."""
        scores = np.asarray(x, dtype=np.float64) @ w + 1.0
        scores[np.arange(len(scores)), np.asarray(y)] -= 1.0
        return assign(scores)

    def check(self, x: ArrayLike, y: ArrayLike) -> None:
        """A place for each item, none used twice."""
        shape, places = np.shape(x), np.asarray(y)
        if len(shape) != 3 or shape[0] > shape[1] or not shape[0]:
            raise ValueError(f"x has the shape {shape}; (items, places, features) with as many places are needed")
        if places.shape != shape[:1] or len(set(places.tolist())) != shape[0]:
            raise ValueError(f"y is {places.tolist()!r}; {shape[0]} different places are needed")
        if places.min() < 0 or places.max() >= shape[1]:
            raise ValueError(f"y is {places.tolist()!r}; places are 0, ..., {shape[1] - 1}")

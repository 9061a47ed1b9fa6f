"""Weights of examples that are objects, in fits and in scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cutplane._types import Array
from cutplane.estimators.common import validation
from cutplane.structured.base import StructuredModel

Examples = TypeVar("Examples")


def check_example_weights(sample_weight: ArrayLike | None, n_examples: int) -> Array | None:
    """Weights of the examples; None where all are 1."""
    return validation.check_sample_weight(sample_weight, np.zeros((n_examples, 1)))


def with_weight(values: Examples, weights: Array) -> Examples:
    """Those of a list, or of the rows of a matrix, whose weight is greater than 0."""
    kept = np.flatnonzero(weights > 0.0)
    if len(kept) == len(weights):
        return values
    if hasattr(values, "shape"):
        return values[kept]  # type: ignore[index, no-any-return]
    return [values[index] for index in kept.tolist()]  # type: ignore[index, return-value]


def minus_mean_loss(
    model: StructuredModel, y: Sequence[object], predicted: Sequence[object], sample_weight: ArrayLike | None
) -> float:
    """A score of predictions: the greater the better, 0 at best."""
    losses = [model.loss(true, found) for true, found in zip(y, predicted, strict=True)]
    return -float(np.average(losses, weights=check_example_weights(sample_weight, len(losses))))

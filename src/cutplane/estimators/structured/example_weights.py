"""Weights of examples that are objects."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cutplane._types import Array
from cutplane.estimators.common import validation

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

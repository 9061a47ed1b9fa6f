"""Weights of a linear model as an array, also after `sparsify`."""

from __future__ import annotations

import numpy as np

from cutplane._types import Array, Weights


def dense(weights: Weights) -> Array:
    """The weights, in the shape that they have."""
    return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, np.float64)

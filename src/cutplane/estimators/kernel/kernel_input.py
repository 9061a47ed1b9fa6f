"""Checks of examples and weights for kernels, which may be matrices or take anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, _num_samples

from cutplane.estimators.common import validation


def kernel_examples(machine: Any, X: Any, y: Any = None, *, labelled: bool = True) -> tuple[Any, Any]:
    """X and y, checked; what a callable kernel takes is its own affair."""
    if callable(machine.kernel):
        return _for_callable(machine, X, y, labelled=labelled)
    if machine.kernel == "precomputed" and sp.issparse(X):
        raise TypeError("Sparse precomputed kernels are not supported; K.toarray() is a dense one.")
    if labelled:
        X, y = validation.check_examples(machine, X, y)
    else:
        X = validation.check_rows(machine, X, reset=True)
    if machine.kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed kernel matrix must be square; X has shape {X.shape}.")
    return X, y


def _for_callable(machine: Any, X: Any, y: Any, *, labelled: bool) -> tuple[Any, Any]:
    if labelled and y is None:
        raise ValueError(f"{type(machine).__name__} requires y to be passed, but the target y is None.")
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if not _num_samples(X):
        raise ValueError("Found array with 0 sample(s), while a minimum of 1 is required.")
    if labelled:
        y = np.asarray(y)
        if y.shape != (X.shape[0],):
            raise ValueError(f"X has {X.shape[0]} samples, but y has shape {y.shape}; they must agree.")
    return X, y


def kernel_weights(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """A weight for each example; as in scikit-learn, those of zero or less leave the example out."""
    n = X.shape[0]
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf" or np.any(weights):  # of nothing but zeros we say so ourselves
        weights = np.asarray(_check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64))
    if not np.any(weights > 0):
        raise ValueError("Invalid input - all samples have zero or negative weights; at least one must be above 0.")
    return np.asarray(np.maximum(weights, 0.0))

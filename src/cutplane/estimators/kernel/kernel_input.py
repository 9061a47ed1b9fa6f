"""Checks of examples and weights. X may be a kernel matrix, or anything that a callable kernel takes."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight, _num_samples

from cutplane._types import Labels, Matrix, MatrixLike, is_sparse
from cutplane.device.arrays import on_host
from cutplane.estimators.common import validation
from cutplane.kernels.functions import KernelFunction


class KernelUser(Protocol):
    """An estimator with a kernel."""

    kernel: str | KernelFunction


def kernel_examples(machine: KernelUser, X: MatrixLike, y: ArrayLike | None) -> tuple[Matrix, Labels]:
    """X and y, checked; what a callable kernel takes is its own affair."""
    if callable(machine.kernel):
        if y is None:
            raise ValueError(f"{type(machine).__name__} requires y to be passed, but the target y is None.")
        examples, labels = _for_callable(X), np.asarray(y)
        if labels.shape != (examples.shape[0],):
            raise ValueError(f"X has {examples.shape[0]} samples, but y has shape {labels.shape}; they must agree.")
        return examples, labels
    _refuse_sparse_kernel(machine, X)
    examples, labels = validation.check_examples(machine, X, y, for_kernel=True)
    return _square_if_precomputed(machine, examples), labels


def kernel_rows(machine: KernelUser, X: MatrixLike) -> Matrix:
    """X without labels, checked."""
    if callable(machine.kernel):
        return _for_callable(X)
    _refuse_sparse_kernel(machine, X)
    return _square_if_precomputed(machine, validation.check_rows(machine, X, reset=True, for_kernel=True))


def _refuse_sparse_kernel(machine: KernelUser, X: MatrixLike) -> None:
    if machine.kernel == "precomputed" and is_sparse(X):
        raise TypeError("Sparse precomputed kernels are not supported; K.toarray() is a dense one.")


def _square_if_precomputed(machine: KernelUser, X: Matrix) -> Matrix:
    if machine.kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"A precomputed kernel matrix must be square; X has shape {X.shape}.")
    return X


def _for_callable(X: MatrixLike) -> Matrix:
    examples: Matrix = X.tocsr() if is_sparse(X) else np.asarray(X)
    if not _num_samples(examples):
        raise ValueError("Found array with 0 sample(s), while a minimum of 1 is required.")
    return examples


def kernel_weights(sample_weight: ArrayLike | None, X: Matrix) -> NDArray[np.float64]:
    """A weight for each example; as in scikit-learn, those of zero or less leave the example out."""
    n = X.shape[0]
    if sample_weight is None:
        return np.ones(n)
    sample_weight = on_host(sample_weight)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind not in "biuf" or np.any(weights):  # of nothing but zeros we say so ourselves
        weights = np.asarray(_check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64))
    if not np.any(weights > 0):
        raise ValueError("Invalid input - all samples have zero or negative weights; at least one must be above 0.")
    return np.asarray(np.maximum(weights, 0.0))

"""Checks of what users hand over: one clear sentence each, before any work is done."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

Array = NDArray[np.float64]


def check_positive(name: str, value: Any, *, finite: bool = True) -> float:
    """A number above zero, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value > 0 or (finite and not np.isfinite(value)):
        raise ValueError(f"{name}={value!r} must be a {'finite ' if finite else ''}number greater than 0.")
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    """A number of zero or more, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value >= 0 or not np.isfinite(value):
        raise ValueError(f"{name}={value!r} must be a finite number, 0 or greater.")
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the strings that are accepted."""
    if value not in choices:
        accepted = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} must be one of {accepted}.")
    return str(value)


def check_threads(n_jobs: Any) -> int:
    """n_jobs as the core takes it: 0 leaves it to OpenMP."""
    if n_jobs is None:
        return 0
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be None or an integer other than 0 (-1: all processors).")
    if n_jobs > 0:
        return int(n_jobs)
    from joblib import cpu_count

    return max(1, int(cpu_count()) + 1 + int(n_jobs))


def check_examples(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """X as a dense array or canonical CSR matrix of float32 or float64, uncopied where possible, and y."""
    X, y = validate_data(
        estimator, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=True
    )
    if sp.issparse(X):
        X = _canonical(X)
    return X, y


def _canonical(X: Any) -> Any:
    """X with indices in range, sorted within rows and without duplicates."""
    if X.nnz and (X.indices.min() < 0 or X.indices.max() >= X.shape[1]):
        wrong = int(np.flatnonzero((X.indices < 0) | (X.indices >= X.shape[1]))[0])
        row = int(np.searchsorted(X.indptr, wrong, side="right")) - 1
        raise ValueError(
            f"Row {row} of X has column index {X.indices[wrong]}; indices must lie between 0 and {X.shape[1] - 1}."
        )
    # The flags are recomputed: those of a matrix whose arrays were edited by hand may be stale.
    fresh = type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
    if not fresh.has_canonical_format:
        warnings.warn(
            "X has unsorted or duplicate column indices; a sorted copy with duplicates added up is used. "
            "Call X.sum_duplicates() to save the copy.",
            UserWarning,
            stacklevel=4,
        )
        fresh = fresh.copy()
        fresh.sum_duplicates()
    return fresh


def check_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes, sorted, and the class of each example."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {classes[0]!r}; a classifier needs at least two.")
    return classes, codes


def check_weights(sample_weight: Any, X: Any, class_weight: Any, classes: Any, y: Any) -> Array | None:
    """Weights of the examples from their own and their classes'; None where all are 1."""
    weights: Array | None = None
    if sample_weight is not None:
        checked = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
        negative = np.flatnonzero(checked < 0)
        if len(negative):
            raise ValueError(
                f"sample_weight[{negative[0]}]={checked[negative[0]]} is negative; weights must be 0 or greater."
            )
        if not checked.any():
            raise ValueError("sample_weight is zero for every example; at least one must be greater than 0.")
        weights = checked
    if class_weight is not None:
        from sklearn.utils.class_weight import compute_class_weight

        by_class = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=sample_weight)
        if not np.all(by_class >= 0) or not np.all(np.isfinite(by_class)):
            raise ValueError(f"class_weight={class_weight!r} must give each class a finite weight, 0 or greater.")
        each = by_class[np.searchsorted(classes, y)]
        weights = each if weights is None else weights * each
    if weights is not None and np.all(weights == 1.0):
        return None
    return weights

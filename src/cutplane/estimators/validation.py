"""Checks of what users hand over: one clear sentence each, before any work is done."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight, validate_data

from cutplane.sources import CsrSource, DenseSource

Array = NDArray[np.float64]


def check_positive(name: str, value: Any, *, finite: bool = True) -> float:
    """A number above zero, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value > 0 or (finite and not np.isfinite(value)):
        raise ValueError(f"{name}={value!r} must be a {'finite ' if finite else ''}number greater than 0.")
    return float(value)


def check_count(name: str, value: Any) -> int:
    """An integer above zero."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < 1:
        raise ValueError(f"{name}={value!r} must be an integer greater than 0, or None.")
    return int(value)


def check_not_negative(name: str, value: Any) -> float:
    """A number of zero or more, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value >= 0 or not np.isfinite(value):
        raise ValueError(f"{name}={value!r} must be a finite number, 0 or greater.")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """A number above zero and at most one, as a float."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not 0 < value <= 1:
        raise ValueError(f"{name}={value!r} must be a number greater than 0 and at most 1.")
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
    threads = int(n_jobs)
    if threads > 0:
        return threads
    from joblib import cpu_count

    return max(1, int(cpu_count()) + 1 + threads)


def check_examples(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """X as a dense array or canonical CSR matrix of float32 or float64, uncopied where possible, and y."""
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        accept_large_sparse=True,
        ensure_all_finite=False,
    )
    if sp.issparse(X):
        X = _canonical(X)
    _check_finite(X, check_threads(getattr(estimator, "n_jobs", None)))
    return X, y


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as `check_examples` has it, where there is no y; unless `reset`, X must have the features of the fit."""
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        accept_large_sparse=True,
        ensure_all_finite=False,
    )
    if sp.issparse(X):
        X = _canonical(X)
    _check_finite(X, check_threads(getattr(estimator, "n_jobs", None)))
    return X


def _check_finite(X: Any, n_threads: int) -> None:
    source = CsrSource(X) if sp.issparse(X) else DenseSource(X)
    row = source.core.first_nonfinite_row(n_threads)
    if row < 0:
        return
    if sp.issparse(X):
        part = slice(X.indptr[row], X.indptr[row + 1])
        values, columns = X.data[part], X.indices[part]
    else:
        values, columns = X[row], np.arange(X.shape[1])
    first = int(np.flatnonzero(~np.isfinite(values))[0])
    value = "NaN" if np.isnan(values[first]) else str(values[first])
    raise ValueError(f"Row {row} of X has the value {value} in column {columns[first]}; every value must be finite.")


def _canonical(X: Any) -> Any:
    """X with indices in range, sorted within rows and without duplicates."""
    _check_row_ends(X)
    used = X.indices[: X.nnz]
    if X.nnz and (used.min() < 0 or used.max() >= X.shape[1]):
        wrong = int(np.flatnonzero((used < 0) | (used >= X.shape[1]))[0])
        row = int(np.searchsorted(X.indptr, wrong, side="right")) - 1
        raise ValueError(
            f"Row {row} of X has column index {used[wrong]}; indices must lie between 0 and {X.shape[1] - 1}."
        )
    # Fresh, for the flags of one whose arrays were edited by hand may be stale; an array and not a matrix,
    # for a matrix turns 64-bit indices into 32-bit ones where it can.
    fresh = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
    if fresh.has_canonical_format:
        return X
    warnings.warn(
        "X has unsorted or duplicate column indices; a sorted copy with duplicates added up is used. "
        "Call X.sum_duplicates() to save the copy.",
        UserWarning,
        stacklevel=4,
    )
    fresh = fresh.copy()
    fresh.sum_duplicates()
    return fresh


def _check_row_ends(X: Any) -> None:
    """Positions within the arrays: all that follows relies on them."""
    stored = min(len(X.indices), len(X.data))
    starts, ends = X.indptr[:-1], X.indptr[1:]
    wrong = np.flatnonzero((starts < 0) | (ends < starts) | (ends > stored))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"Row {row} of X runs from entry {starts[row]} to entry {ends[row]}; "
            f"X.indptr must rise from 0 to at most the {stored} entries stored."
        )


def check_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes, sorted, and the class of each example."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        only = classes[:1].tolist()[0]  # a plain value: np.float64(1.0) is no way to name a label
        raise ValueError(f"y has only one class, {only!r}; a classifier needs at least two.")
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

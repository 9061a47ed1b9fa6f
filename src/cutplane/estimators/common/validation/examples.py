"""Checks of X: its type, its structure, its values."""

from __future__ import annotations

import os
from typing import Any, TypeGuard, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from cutplane._runtime.ranges import MOST
from cutplane._types import Labels, Matrix, MatrixLike
from cutplane.device.arrays import device_matrix, labels_on_host
from cutplane.estimators.common.validation.conversion import converted
from cutplane.estimators.common.validation.foreign_arrays import as_numpy
from cutplane.estimators.common.validation.input_kinds import check_kind, plain_labels
from cutplane.estimators.common.validation.parameters import check_flags, check_threads
from cutplane.estimators.common.validation.sparse_structure import (
    check_structure,
    sorted_rows,
    without_duplicates,
)
from cutplane.estimators.common.validation.words import check_words
from cutplane.sources import CsrSource, DenseSource, Source, given_source
from cutplane.sources.narrow import is_narrow

# Vectors as long as an example is wide that training holds at least.
_VECTORS = 4


def check_examples(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: ArrayLike | None,
    *,
    for_kernel: bool = False,
    unread: bool = False,
) -> tuple[Matrix | Source, Labels]:
    """X as a dense array that `DenseSource` reads or a CSR matrix, no entry twice, uncopied where possible, and y.

    A source is taken as it is: whatever it reads its examples from; so are arrays on a GPU. `for_kernel`: as float32 or
    float64, indices sorted within rows. `unread`: values are checked by `check_copied`, when they are elsewhere.
    """
    check_flags(estimator)
    y = as_numpy("y", labels_on_host(y))
    check_kind("y", y)
    source, labels = source_of(X), plain_labels(y)
    if source is not None:
        if for_kernel:
            raise ValueError(f"X is a source; {type(estimator).__name__} is trained on arrays and matrices.")
        return _check_source(estimator, source, labels)
    X, dtypes = _check_given(estimator, X, for_kernel=for_kernel)
    if _serves_as_it_is(X, dtypes) and _are_labels_of(labels, X):
        keep_names(estimator, X.shape[1], None)
        return _checked_values(estimator, X, in_order=for_kernel, unread=unread), labels
    rows, labels = validate_data(
        estimator,
        X,
        labels,
        accept_sparse="csr",
        dtype=dtypes,
        accept_large_sparse=True,
        ensure_all_finite=False,
    )
    return _checked_values(estimator, rows, in_order=for_kernel, unread=unread), np.asarray(labels)


def _serves_as_it_is(X: MatrixLike, dtypes: list[Any]) -> TypeGuard[NDArray[Any]]:
    """Whether scikit-learn's checks, which take as long as a small fit, would leave X as it is."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in dtypes


def _are_labels_of(y: ArrayLike, X: NDArray[Any]) -> TypeGuard[Labels]:
    """Whether they would leave y as it is, too."""
    if type(y) is not np.ndarray or y.shape != X.shape[:1]:
        return False
    return y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool(np.isfinite(y).all()))


def keep_names(estimator: BaseEstimator, features: int, names: list[str] | None) -> None:
    """What scikit-learn's checks would note of the features."""
    estimator.n_features_in_ = features
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def source_of(X: object) -> Source | None:
    """What reads X where it lies: itself, where it is a source, or one of arrays on a GPU; None for arrays here."""
    return given_source(X) or device_matrix(X)


def check_rows(estimator: BaseEstimator, X: MatrixLike, *, reset: bool, for_kernel: bool = False) -> Matrix:
    """X as `check_examples` has it, where there is no y; unless `reset`, X must have the features of the fit."""
    if reset:
        check_flags(estimator)
    X, dtypes = _check_given(estimator, X, for_kernel=for_kernel, new=not reset)
    rows = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=dtypes,
        accept_large_sparse=True,
        ensure_all_finite=False,
    )
    return _checked_values(estimator, rows, in_order=for_kernel)


def check_new_rows(estimator: BaseEstimator, X: MatrixLike) -> Matrix:
    """X for the predictions of a linear model: as it is where that serves, checked, with the features of the fit."""
    X, dtypes = _check_given(estimator, X, new=True)
    kept = dtypes if _lies_narrow(X) else "numeric"
    rows: Matrix = validate_data(estimator, X, reset=False, accept_sparse="csr", dtype=kept, ensure_all_finite=False)
    if rows.dtype == object:  # of decimal numbers, which scikit-learn leaves as they are in a table
        rows = rows.astype(np.float64)
    if rows.dtype in dtypes:
        _check_finite(rows, check_threads(getattr(estimator, "n_jobs", None)))
    return rows


def check_width(n_features: int) -> None:
    """Refuse more features than the machine has memory for vectors of weights."""
    needed = 8 * _VECTORS * n_features
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise ValueError(
            f"X has {n_features} columns, which take {needed / 1e9:.0f} GB for vectors of weights; this machine has "
            f"{memory / 1e9:.0f} GB, enough for {memory // (8 * _VECTORS)} columns."
        )


def _check_given(
    estimator: BaseEstimator, X: MatrixLike, *, for_kernel: bool = False, new: bool = False
) -> tuple[MatrixLike, list[Any]]:
    """What must be known of X before any library converts it; X, converted where threads help; dtypes that it may keep.

    Dense arrays of values smaller than float32 stay as they lie, but for kernels.
    """
    X = as_numpy("X", X)
    check_kind("X", X, new=new)
    check_words(X)
    check_structure(X)
    usual = [np.float64, np.float32]
    if _lies_narrow(X) and not for_kernel:
        return X, [*usual, X.dtype]
    return cast(MatrixLike, converted(X, check_threads(getattr(estimator, "n_jobs", None)))), usual


def _lies_narrow(X: MatrixLike) -> TypeGuard[NDArray[Any]]:
    """Whether X is an array of values smaller than float32, in memory or in a file."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and is_narrow(X.dtype)


def _check_source(estimator: BaseEstimator, X: Source, y: ArrayLike) -> tuple[Source, Labels]:
    labels = np.asarray(y)
    if labels.shape != (X.shape[0],):
        raise ValueError(f"y of shape {labels.shape} must have one label for each of {X.shape[0]} examples.")
    X.check_finite()
    estimator.n_features_in_ = X.shape[1]
    return X, labels


def check_copied(estimator: BaseEstimator, X: Matrix, there: Source) -> None:
    """Refuse values that are not finite, found where X was copied to: X itself names the first."""
    try:
        there.check_finite()
    except ValueError:
        _check_finite(X, check_threads(getattr(estimator, "n_jobs", None)))
        raise


def _checked_values(estimator: BaseEstimator, X: Matrix, *, in_order: bool, unread: bool = False) -> Matrix:
    """X without duplicates; its values are refused where they are not finite, unless they are left `unread`."""
    n_threads = check_threads(getattr(estimator, "n_jobs", None))
    rows = without_duplicates(X, n_threads) if sp.issparse(X) else X
    if not unread:
        _check_finite(rows, n_threads)
    return sorted_rows(rows) if in_order and sp.issparse(rows) else rows


def _check_finite(X: Matrix, n_threads: int) -> None:
    source = CsrSource(X) if sp.issparse(X) else DenseSource(X)
    row = source.core.first_unusable_row(n_threads)
    if row < 0:
        return
    example = sp.csr_array(X[row : row + 1]) if sp.issparse(X) else None
    values, columns = (X[row], np.arange(X.shape[1])) if example is None else (example.data, example.indices)
    first = int(np.flatnonzero(~(np.abs(values.astype(np.float64)) <= MOST))[0])
    value = "NaN" if np.isnan(values[first]) else str(values[first])
    wanted = f"be below {MOST:g} in size; scale the column" if np.isfinite(values[first]) else "be finite"
    raise ValueError(f"Row {row} of X has the value {value} in column {columns[first]}; every value must {wanted}.")

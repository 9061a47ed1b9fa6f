"""Sparse matrices whose arrays do not fit together: read as they are, they would end the process."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from cutplane import _core
from cutplane._types import MatrixLike

# Bytes from which on a copy that a user could save is told of.
_LARGE_COPY = 1_000_000_000
# As the core says it.
_UNSORTED, _REPEATED = 1, 2


def check_structure(X: MatrixLike) -> None:
    """Refuse a sparse matrix with positions or indices that point out of it, before SciPy follows them."""
    if sp.issparse(X):
        _check_sparse(X)


def _check_sparse(X: sp.sparray) -> None:
    if X.format in ("csr", "csc"):
        _check_ends(X, "Row" if X.format == "csr" else "Column")
        _check_indices(X, X.shape[1] if X.format == "csr" else X.shape[0])
    elif X.format == "coo":
        for axis, (name, indices) in enumerate(zip(("row", "column"), X.coords, strict=False)):
            wrong = np.flatnonzero((indices < 0) | (indices >= X.shape[axis]))
            if len(wrong):
                raise ValueError(
                    f"Entry {wrong[0]} of X has {name} index {indices[wrong[0]]}; "
                    f"indices must lie between 0 and {X.shape[axis] - 1}."
                )


def without_duplicates(X: sp.csr_array, n_threads: int) -> sp.csr_array:
    """X, a CSR matrix that `check_structure` has passed, itself unless a column comes twice in a row."""
    # Fresh, for the flags of one whose arrays were edited by hand may be stale; an array and not a matrix,
    # for a matrix turns 64-bit indices into 32-bit ones where it can.
    fresh = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
    indptr = fresh.indptr.astype(fresh.indices.dtype, copy=False)
    order = _core.csr_order(fresh.indices, indptr, fresh.shape[1], n_threads)
    if order == _REPEATED:
        fresh = fresh.copy()
        fresh.sum_duplicates()
        warnings.warn(
            "X has duplicate column indices; a copy with duplicates added up is used. "
            "Call X.sum_duplicates() to save the copy.",
            UserWarning,
            stacklevel=4,
        )
    fresh.has_sorted_indices = order != _UNSORTED
    return fresh


def sorted_rows(X: sp.csr_array) -> sp.csr_array:
    """X with indices sorted within rows: a copy where they are not."""
    if X.has_sorted_indices:
        return X
    if X.data.nbytes + X.indices.nbytes > _LARGE_COPY:
        # Vectorisers of text leave indices unsorted: nobody's mistake, and a copy is worth a word where it is large.
        warnings.warn(
            f"X has unsorted column indices; a sorted copy of {X.nnz} entries is used. "
            "Call X.sort_indices() to save the copy.",
            UserWarning,
            stacklevel=4,
        )
    return X.sorted_indices()


def _check_ends(X: sp.csr_array | sp.csc_array, what: str) -> None:
    """Positions within the arrays: all that follows relies on them."""
    stored = min(len(X.indices), len(X.data))
    if len(X.indptr) != (X.shape[0] if what == "Row" else X.shape[1]) + 1:
        raise ValueError(
            f"X.indptr has {len(X.indptr)} entries; X of shape {X.shape} needs one for each {what.lower()} and one."
        )
    starts, ends = X.indptr[:-1], X.indptr[1:]
    wrong = np.flatnonzero((starts < 0) | (ends < starts) | (ends > stored))
    if len(wrong):
        first = int(wrong[0])
        raise ValueError(
            f"{what} {first} of X runs from entry {starts[first]} to entry {ends[first]}; "
            f"X.indptr must rise from 0 to at most the {stored} entries stored."
        )


def _check_indices(X: sp.csr_array | sp.csc_array, count: int) -> None:
    used = X.indices[: X.nnz]
    if not len(used) or (used.min() >= 0 and used.max() < count):
        return
    wrong = int(np.flatnonzero((used < 0) | (used >= count))[0])
    line = int(np.searchsorted(X.indptr, wrong, side="right")) - 1
    place, index = (f"Row {line}", "column") if X.format == "csr" else (f"Column {line}", "row")
    raise ValueError(f"{place} of X has {index} index {used[wrong]}; indices must lie between 0 and {count - 1}.")

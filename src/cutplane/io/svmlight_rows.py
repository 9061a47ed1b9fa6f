"""What is written to svmlight files: rows of a matrix in blocks, labels and queries, checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cutplane._types import Floats, Matrix, MatrixLike, is_sparse

# Small enough for the text of a block to stay in the cache, large enough for all threads to have a part.
_ENTRIES_PER_BLOCK = 1 << 19


class RowBlock(NamedTuple):
    """Rows in CSR; offsets count from the first of `values`."""

    values: Floats
    indices: npt.NDArray[np.int32]  # or of int64, as `indptr`
    indptr: npt.NDArray[np.int32]


def as_matrix(X: MatrixLike) -> Matrix:
    """The examples, dense or CSR without duplicates; ValueError unless there is one, of real numbers."""
    rows = _canonical(X) if is_sparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, examples and features; got shape {rows.shape}.")
    if rows.dtype.kind not in "biuf" or rows.dtype.itemsize > 8:
        raise ValueError(f"X must hold real numbers of at most 64 bits; got dtype {rows.dtype}.")
    if rows.shape[0] == 0:
        raise ValueError(f"X must hold at least one example; got shape {rows.shape}.")
    return rows


def _canonical(X: sparse.sparray) -> sparse.csr_array:
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def as_labels(y: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.float64]:
    """The labels, one finite number per row."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y must have shape ({n_rows},), one label per row of X; got {labels.shape}.")
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y must hold real numbers; got dtype {labels.dtype}.")
    labels = np.ascontiguousarray(labels, dtype=np.float64)
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise ValueError(f"y must be finite; row {row} is {labels[row]}.")
    return labels


def as_queries(qid: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.int64]:
    """The queries, one whole number per row."""
    queries = np.asarray(qid)
    if queries.shape != (n_rows,):
        raise ValueError(f"qid must have shape ({n_rows},), one per row of X; got {queries.shape}.")
    if queries.dtype.kind not in "iu" or (queries > np.iinfo(np.int64).max).any():
        raise ValueError(f"qid must hold whole numbers that fit in int64; got dtype {queries.dtype}.")
    return np.ascontiguousarray(queries, dtype=np.int64)


def row_blocks(X: Matrix) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of runs of rows with a bounded number of entries, one row at least."""
    n_rows = X.shape[0]
    start = 0
    while start < n_rows:
        if is_sparse(X):
            full = int(X.indptr[start]) + _ENTRIES_PER_BLOCK
            stop = int(np.searchsorted(X.indptr, full, side="right")) - 1
        else:
            stop = start + _ENTRIES_PER_BLOCK // max(1, X.shape[1])
        # Rows without entries cost as well.
        stop = min(max(stop, start + 1), start + _ENTRIES_PER_BLOCK, n_rows)
        yield start, stop
        start = stop


def as_block(X: Matrix, start: int, stop: int) -> RowBlock:
    """Some rows as the core writes them; ValueError that names the first value that is not finite."""
    if is_sparse(X):
        begin, end = int(X.indptr[start]), int(X.indptr[stop])
        values, indices = X.data[begin:end], X.indices[begin:end]
        indptr = X.indptr[start : stop + 1] - X.indptr[start]
    else:
        rows = X[start:stop]
        rows = sparse.csr_array(rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False))
        values, indices, indptr = rows.data, rows.indices, rows.indptr
    finite = np.isfinite(values)
    if not finite.all():
        entry = int(np.argmin(finite))
        row = start + int(np.searchsorted(indptr, entry, side="right")) - 1
        raise ValueError(f"X must be finite; row {row}, column {indices[entry]} is {values[entry]}.")
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    index_type = np.int32 if indices.dtype == indptr.dtype == np.int32 else np.int64
    return RowBlock(
        np.ascontiguousarray(values),
        np.ascontiguousarray(indices, dtype=index_type),
        np.ascontiguousarray(indptr, dtype=index_type),
    )

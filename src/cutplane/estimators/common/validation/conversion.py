"""X as a dense array or CSR matrix of floating-point numbers, converted on all threads where it is something else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane import _core

# Fewer entries are converted as fast by one thread.
_MANY = 1 << 18


def converted(X: Any, n_threads: int) -> Any:
    """X, or what scikit-learn would make of it in one thread: booleans and integers as float64, CSC and COO as CSR.

    Entries of one byte in a sparse matrix become float32, which holds them: beside their indices there is little to
    save. Half precision, bfloat16 of ml_dtypes too, becomes float32, and what is more than double becomes that. What is
    none of these is left as it is. X must have passed `check_structure`.
    """
    if type(X) is np.ndarray and X.dtype not in (np.float32, np.float64):
        X = _usual_precision(X)
    if sp.issparse(X):
        return _converted_sparse(X, n_threads) if X.format in ("csr", "csc", "coo") and X.ndim == 2 else X
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biu"
    return as_float(X, n_threads) if plain and X.size >= _MANY else X


def _usual_precision(X: NDArray[Any]) -> NDArray[Any]:
    """Floating-point numbers of other sizes in one of the two that the core knows: no digit is lost of smaller ones."""
    if X.dtype == np.float16 or X.dtype.name == "bfloat16":
        return X.astype(np.float32)
    return X.astype(np.float64) if X.dtype == np.longdouble else X


def _converted_sparse(X: Any, n_threads: int) -> Any:
    if X.dtype.kind not in "biu" and X.dtype not in (np.float32, np.float64):
        return X
    dtype = np.float32 if X.dtype.itemsize == 1 else np.float64
    if X.format == "csr":
        if X.dtype.kind == "f":
            return X
        return sp.csr_array((as_float(X.data, n_threads, dtype), X.indices, X.indptr), shape=X.shape, copy=False)
    values = np.ascontiguousarray(as_float(X.data, n_threads, dtype))
    given = (X.indices, X.indptr) if X.format == "csc" else X.coords
    # Positions of entries are of the type of the indices: these must count as far as there are entries.
    index = index_type(len(values), *(indices.dtype for indices in given))
    rows, columns = (np.ascontiguousarray(indices, index) for indices in given)
    convert = _core.csr_from_csc if X.format == "csc" else _core.csr_from_coo
    return sp.csr_array(convert(values, rows, columns, X.shape[0], n_threads), shape=X.shape, copy=False)


def index_type(stored: int, *given: np.dtype[Any]) -> type[np.signedinteger[Any]]:
    """int32 where that counts so many entries and the indices are no wider; else int64."""
    narrow = stored <= np.iinfo(np.int32).max and all(each.itemsize <= 4 for each in given)
    return np.int32 if narrow else np.int64


def as_float(values: NDArray[Any], n_threads: int, dtype: Any = np.float64) -> NDArray[np.floating]:
    """Booleans and integers as float64 or float32, in the same layout; floating-point numbers as they are."""
    if values.dtype.kind == "f":
        return values
    if values.size < _MANY:
        return values.astype(dtype)
    found = np.empty_like(values, dtype)
    # Cut along the axis whose parts are contiguous in memory.
    by_columns = values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous
    source, target = (values.T, found.T) if by_columns else (values, found)
    cuts = np.linspace(0, len(source), 4 * int(_core.thread_count(n_threads)) + 1).astype(int)
    with ThreadPoolExecutor(_core.thread_count(n_threads)) as pool:
        list(pool.map(lambda a, b: np.copyto(target[a:b], source[a:b]), cuts[:-1], cuts[1:]))
    return found

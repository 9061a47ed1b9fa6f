"""A hash of examples that does not depend on how they are stored: labels, weights and the entries that are not zero."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Matrix

_BLOCK = 4096


def hash_data(X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> str:
    """SHA-256 of row, column and float64 value of every entry that is not zero, of labels and of weights.

    Dense or sparse, float32 or float64 of the same values, sorted or not: the same hash.
    """
    digest = hashlib.sha256(json.dumps({"cutplane": "data", "shape": [int(k) for k in X.shape]}).encode())
    for begin in range(0, X.shape[0], _BLOCK):
        rows, columns, values = _entries(X[begin : begin + _BLOCK])
        for array in (rows + begin, columns):
            digest.update(np.ascontiguousarray(array, "<i8").tobytes())
        digest.update(np.ascontiguousarray(values, "<f8").tobytes())
    labels = np.asarray(y)
    if labels.dtype.kind in "biuf":
        digest.update(b"numbers" + np.ascontiguousarray(labels, "<f8").tobytes())
    else:
        digest.update(b"text" + json.dumps([str(label) for label in labels.tolist()]).encode())
    if sample_weight is not None:
        digest.update(b"weights" + np.ascontiguousarray(sample_weight, "<f8").tobytes())
    return digest.hexdigest()


def _entries(part: Matrix) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]:
    """Row, column and value of what is not zero, in order."""
    if not sp.issparse(part):
        rows, columns = np.nonzero(part)
        return rows, columns, np.asarray(part)[rows, columns]
    clean = sp.csr_array(part, copy=True)
    clean.sum_duplicates()
    clean.eliminate_zeros()
    rows = np.repeat(np.arange(clean.shape[0]), np.diff(clean.indptr))
    return rows, clean.indices, clean.data

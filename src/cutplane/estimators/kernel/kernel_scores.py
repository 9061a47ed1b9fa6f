"""Scores of new examples: products of their kernel values with coefficients, over support vectors only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from cutplane._types import Array, Matrix, is_sparse
from cutplane.kernels import Kernel

# Examples are scored this many at a time, so that the copy of them in single precision stays small.
_ROWS_PER_BLOCK = 8192


def kernel_scores(kernel: Kernel, X: Matrix, vectors: Matrix, coef: Array, *, n_threads: int = 0) -> Array:
    """K(X, vectors) @ coef, of shape (len(X), coef.shape[1]).

    A precomputed kernel looks at no vectors: X holds the kernel values themselves, one column for each row of coef.
    """
    n = X.shape[0]
    if not len(coef) or not n:
        return np.zeros((n, coef.shape[1]))
    if kernel.name == "precomputed":
        return np.asarray(X @ coef, np.float64)
    if kernel.computed:
        return grouped_scores(kernel, X, vectors, coef, [len(coef)], n_threads=n_threads)[:, 0]
    parts = [X[start : start + _ROWS_PER_BLOCK] for start in range(0, n, _ROWS_PER_BLOCK)]
    return np.concatenate([kernel.product(part, vectors, coef) for part in parts])


def grouped_scores(
    kernel: Kernel, X: Matrix, vectors: Matrix, coef: Array, ends: Sequence[int], *, n_threads: int = 0
) -> Array:
    """K(X, group) @ coef of each group of the vectors, of shape (len(X), groups, coef.shape[1]).

    For a kernel that the core computes. Groups follow each other, and end at `ends`.
    """
    scores = np.zeros((X.shape[0], len(ends), coef.shape[1]))
    if not len(coef):
        return scores
    right = kernel.examples(vectors, n_threads=n_threads)
    for start in range(0, X.shape[0], _ROWS_PER_BLOCK):
        part = slice(start, start + _ROWS_PER_BLOCK)
        scores[part] = kernel.products(_stored_like(X[part], vectors), right, coef, ends, n_threads=n_threads)
    return scores


def _stored_like(X: Matrix, vectors: Matrix) -> Matrix:
    """X as sparse or dense as the support vectors are."""
    if is_sparse(X) == is_sparse(vectors):
        return X
    return X.toarray() if is_sparse(X) else sp.csr_array(X)

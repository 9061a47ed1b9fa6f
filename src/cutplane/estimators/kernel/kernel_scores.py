"""Scores of new examples: products of their kernel values with coefficients, over support vectors only."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from cutplane._types import Array, Matrix, is_sparse
from cutplane.kernels import Kernel

# Examples are scored this many at a time, so that the copy of them in single precision stays small.
_ROWS_PER_BLOCK = 8192


def kernel_scores(kernel: Kernel, X: Matrix, vectors: Matrix | None, coef: Array, *, n_threads: int = 0) -> Array:
    """K(X, vectors) @ coef, of shape (len(X), coef.shape[1]).

    A precomputed kernel has no vectors: X holds the kernel values themselves, one column for each row of coef.
    """
    n = X.shape[0]
    scores = np.zeros((n, coef.shape[1]))
    if not len(coef) or not n:
        return scores
    if kernel.name == "precomputed":
        return np.asarray(X @ coef, np.float64)
    right = kernel.examples(vectors, n_threads=n_threads) if kernel.computed else vectors
    for start in range(0, n, _ROWS_PER_BLOCK):
        part = slice(start, start + _ROWS_PER_BLOCK)
        scores[part] = kernel.product(_stored_like(X[part], vectors, kernel), right, coef, n_threads=n_threads)
    return scores


def _stored_like(X: Matrix, vectors: Matrix | None, kernel: Kernel) -> Matrix:
    """X as sparse or dense as the support vectors are."""
    if not kernel.computed or is_sparse(X) == is_sparse(vectors):
        return X
    return X.toarray() if is_sparse(X) else sp.csr_array(X)

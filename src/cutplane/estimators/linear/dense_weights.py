"""Weights of a linear model: as an array, also after `sparsify`, and their products with examples."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Matrix, Weights
from cutplane.sources import as_source
from cutplane.sources.narrow import is_narrow


def dense(weights: Weights) -> Array:
    """The weights, in the shape that they have."""
    return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, np.float64)


def products(X: Matrix, weights: Weights, n_threads: int) -> Array:
    """X @ weights.T, for weights of shape (k, d) or (d,); values smaller than float32 are read where they lie."""
    if not sp.issparse(X) and is_narrow(X.dtype):
        return as_source(X, n_threads=n_threads).scores(np.ascontiguousarray(dense(weights).T))
    return np.asarray(safe_sparse_dot(X, weights.T, dense_output=True))


class SparseWeights:
    """`sparsify` and `densify` as scikit-learn's linear models have them; to import its own takes a second."""

    coef_: Weights

    def sparsify(self) -> Self:
        """Keep `coef_` as a compressed matrix: smaller where most weights are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array, which it is after `fit`."""
        check_is_fitted(self)
        self.coef_ = dense(self.coef_)
        return self

"""Weights of a linear model: as an array, also after `sparsify`."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Weights


def dense(weights: Weights) -> Array:
    """The weights, in the shape that they have."""
    return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, np.float64)


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

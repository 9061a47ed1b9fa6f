"""What estimators that compare pairs share: one score per example, and no intercept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane.estimators.common import validation
from cutplane.estimators.common.stored import Arrays, finite
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.solvers.result import Result


class PairModel(LinearModel):
    """A linear model whose scores are only compared with one another."""

    fit_intercept = False
    _no_proof = "its loss is a sum over pairs, and one number for each example does not say which pairs a plane counts"

    def _fitted(self, results: list[Result]) -> dict[str, Any]:
        return {"coef_": np.vstack([r.w for r in results])}

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validation.check_rows(self, X, reset=False)
        weights: Any = self.coef_  # sparse after `sparsify`
        product = X @ weights.T
        return np.asarray(product.toarray() if hasattr(product, "toarray") else product, dtype=np.float64).ravel()

    def _to_file(self) -> tuple[Arrays, dict[str, Any]]:
        weights: Any = self.coef_
        return {"coef": weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights)}, {}

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        self.coef_: Any = finite(arrays, "coef", (1, self.n_features_in_))
        if np.size(self.gap_) != 1:
            raise ValueError("the certificate is not of one problem")

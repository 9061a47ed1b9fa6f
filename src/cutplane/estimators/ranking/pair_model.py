"""What estimators that compare pairs share: one score per example, and no intercept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, MatrixLike, Params, Weights
from cutplane.estimators.common import validation
from cutplane.estimators.common.stored import finite
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.solvers.result import Result


class PairModel(LinearModel):
    """A linear model whose scores are only compared with one another."""

    fit_intercept = False
    _no_proof = "its loss is a sum over pairs, and one number for each example does not say which pairs a plane counts"

    def _fitted(self, results: list[Result]) -> Params:
        return {"coef_": np.vstack([r.w for r in results])}

    def _scores(self, X: MatrixLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        product = validation.check_rows(self, X, reset=False) @ self.coef_.T  # sparse after `sparsify`
        return dense(product).ravel()

    def _to_file(self) -> tuple[Arrays, Document]:
        return {"coef": dense(self.coef_)}, {}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.coef_: Weights = finite(arrays, "coef", (1, self.n_features_in_))
        if np.size(self.gap_) != 1:
            raise ValueError("the certificate is not of one problem")

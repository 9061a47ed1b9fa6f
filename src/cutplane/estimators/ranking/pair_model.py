"""What estimators that compare pairs share: one score per example, and no intercept."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, Integers, MatrixLike, Params, Weights
from cutplane.estimators.common import validation
from cutplane.estimators.common.stored import finite
from cutplane.estimators.linear.certain_linear import LinearCertain, reach
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.ranking.ranking_data import check_compared
from cutplane.plain.scores import LinearScores
from cutplane.proof.ball import interval
from cutplane.proof.rounding import UNIT, length
from cutplane.solvers.result import Result


class PairModel(LinearCertain):
    """A linear model whose scores are only compared with one another."""

    fit_intercept = False
    _no_proof = "its loss is a sum over pairs, and one number for each example does not say which pairs a plane counts"

    def _fitted(self, results: list[Result]) -> Params:
        return {"coef_": np.vstack([r.w for r in results])}

    def _scores(self, X: MatrixLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._products(X, self.coef_).ravel()

    def proven_order(self, X: MatrixLike, pairs: ArrayLike) -> Integers:
        """Which of two examples the exact optimum puts first, where that is proven.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        pairs : array of shape (m, 2)
            Rows of X to compare.

        Returns
        -------
        array of shape (m,)
            1 where the optimum scores the first of a pair higher, -1 where the second, 0 where neither is proven. The
            difference of two rows is shorter than both of them mostly, so that this says more than their intervals do.
        """
        check_is_fitted(self)
        rows = validation.check_rows(self, X, reset=False)
        first, second = check_compared(pairs, rows.shape[0]).T
        between = rows[first].astype(np.float64) - rows[second].astype(np.float64)
        scores, errors, lengths = self._scored(between)
        (radius,) = self._balls().radii
        # Differences of features are rounded too, each relative to itself.
        errors = errors + 2.0 * UNIT * np.outer(lengths, [length(dense(self.coef_)) + radius])
        low, high = interval(scores, errors, reach(lengths, self._balls().radii))
        return np.where(low[:, 0] > 0.0, 1, np.where(high[:, 0] < 0.0, -1, 0))

    def _plain_scores(self) -> LinearScores:
        return LinearScores(dense(self.coef_), np.zeros(1))

    def _to_file(self) -> tuple[Arrays, Document]:
        return {"coef": dense(self.coef_)}, {}

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        self.coef_: Weights = finite(arrays, "coef", (1, self.n_features_in_))

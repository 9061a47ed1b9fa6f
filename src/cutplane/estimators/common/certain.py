"""What a certificate says of predictions: between what the exact optimum's scores lie, and which labels it must give.

A family of estimators feeds in `_intervals` (scores known up to the ball that the optimum lies in); classifiers say in
`_proven_codes` which class follows from them. docs/certain.md has the proofs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Array, Codes, Labels, MatrixLike
from cutplane.estimators.common.score_bounds import label_bounds, pair_bounds, target_bounds


class Intervals(NamedTuple):
    """Between what scores lie, of shape (n, problems), but for free intercepts; and between what each of these lies."""

    low: Array
    high: Array
    ends: Array

    def with_intercepts(self) -> tuple[Array, Array]:
        """Between what the whole scores lie."""
        low, high = self.low + self.ends[:, 0], self.high + self.ends[:, 1]
        return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


class CertainScores:
    """An estimator that knows between what the exact optimum's scores lie."""

    def _intervals(self, X: MatrixLike) -> Intervals:
        """Of the scores of new rows, for every problem."""
        raise NotImplementedError

    def decision_bounds(self, X: MatrixLike) -> tuple[Array, Array]:
        """Between what the scores of the exact optimum lie.

        A model that is proven within a gap of the optimum is also proven to be near it: sqrt(2·gap) at most, in
        absolute terms. The tighter the gap, the narrower the intervals. They hold as inequalities of real numbers,
        and for every optimal intercept. See docs/certain.md.

        Parameters
        ----------
        X : matrix of shape (n, n_features)

        Returns
        -------
        low, high : array of shape (n,) or (n, problems)
            One column for each problem in `certificates_`, or class where these are trained together.
        """
        return self._bounds_here(X)

    def _bounds_here(self, X: MatrixLike) -> tuple[Array, Array]:
        """The same of rows in this process."""
        check_is_fitted(self)
        low, high = self._intervals(X).with_intercepts()
        return (low[:, 0], high[:, 0]) if low.shape[1] == 1 else (low, high)


class CertainTargets(CertainScores):
    """The same of a regression, whose scores are its predictions."""

    def score_bounds(self, X: MatrixLike, y: ArrayLike) -> dict[str, tuple[float, float]]:
        """Between what figures of the exact optimum on these rows lie: ``{"r2": (low, high)}``.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)

        Returns
        -------
        dict
        """
        low, high = self._bounds_here(X)
        return target_bounds(low, high, np.asarray(y, np.float64))


class CertainLabels(CertainScores):
    """The same of a classifier: which labels are proven to be those of the exact optimum."""

    classes_: Labels

    def _proven_codes(self, X: MatrixLike) -> Codes:
        """The number of the class that the optimum must predict, -1 where more than one is possible."""
        raise NotImplementedError

    def _with_certainty(self, X: MatrixLike, labels: Labels) -> tuple[Labels, NDArray[np.bool_]]:
        """Predicted labels, and whether each is proven to be the optimum's."""
        codes = self._proven_codes(X)
        return labels, np.asarray((codes >= 0) & (self.classes_[codes] == labels))

    def score_bounds(self, X: MatrixLike, y: ArrayLike) -> dict[str, tuple[float, float]]:
        """Between what figures of the exact optimum on these rows lie.

        No more training can take them out of these intervals.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)

        Returns
        -------
        dict
            By name ``(low, high)``: "accuracy", "balanced_accuracy" and, of two classes, "roc_auc".
        """
        check_is_fitted(self)
        labels = np.asarray(y)
        bounds = label_bounds(self._proven_codes(X), labels, self.classes_)
        if len(self.classes_) == 2:
            intervals = self._intervals(X)  # without intercepts: pairs of scores are compared
            bounds["roc_auc"] = pair_bounds(intervals.low[:, 0], intervals.high[:, 0], labels == self.classes_[1])
        return bounds

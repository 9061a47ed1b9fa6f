"""The score of a model on examples that lie on a GPU: scikit-learn's own, which knows arrays of the processor."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cutplane._types import MatrixLike
from cutplane.device.arrays import device_matrix, on_host


class ScoredAnywhere:
    """In front of scikit-learn's mixins for classifiers and regressions."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of labels that are predicted right; of a regression R², the share of the variance explained.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        """
        there = device_matrix(X)
        above: Any = super()
        return float(above.score(X if there is None else there, on_host(y), on_host(sample_weight)))

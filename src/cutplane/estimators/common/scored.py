"""The score of a model, wherever examples lie: scikit-learn's own, which knows arrays of the processor."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from cutplane._types import MatrixLike
from cutplane.cluster.collections import is_collection
from cutplane.device.arrays import is_on_device, on_host
from cutplane.estimators.common.scattered_score import scattered_score
from cutplane.estimators.common.validation.input_kinds import check_in_process


class ScoredAnywhere(BaseEstimator):
    """In front of scikit-learn's mixins for classifiers and regressions."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of labels that are predicted right; of a regression R², the share of the variance explained.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
            Here or on a GPU, or a collection of Dask, with y and weights that are cut alike.
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        """
        if is_collection(X):
            return scattered_score(self, X, y, sample_weight)
        check_in_process("y", y, new=True)
        check_in_process("sample_weight", sample_weight, new=True)
        if not is_on_device(X):
            above: Any = super()
            return float(above.score(X, on_host(y), on_host(sample_weight)))
        from sklearn.metrics import accuracy_score, r2_score  # training and prediction do without

        judged = accuracy_score if isinstance(self, ClassifierMixin) else r2_score
        model: Any = self
        return float(judged(on_host(y), on_host(model.predict(X)), sample_weight=on_host(sample_weight)))

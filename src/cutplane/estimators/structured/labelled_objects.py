"""What scikit-learn is told of estimators whose examples are objects."""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.utils import Tags


class LabelledObjects(BaseEstimator):
    """An estimator of labellings: its examples need not be rows of a matrix, and have labels always."""

    def __sklearn_tags__(self) -> Tags:
        """Scikit-learn's description of what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        return tags

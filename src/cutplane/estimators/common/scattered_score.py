"""The score of a model on a collection of Dask: sums over each partition, made where it lies, put together here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from cutplane.cluster.collections import of_partitions
from cutplane.device.arrays import device_matrix, on_host
from cutplane.estimators.common.lazy import for_workers
from cutplane.estimators.common.validation.partitions import partition_weights
from cutplane.proof.rounding import exact_sum


class _Judged(NamedTuple):
    """What the examples of a partition weigh, and sums over them, each with its weight.

    Attributes
    ----------
    weight : float
    right : float
        Of the labels that are predicted; of a regression 0.
    mean, spread, errors : float
        Of targets; of their squared distances to the mean of these, and to the predictions. Of labels 0.
    """

    weight: float
    right: float = 0.0
    mean: float = 0.0
    spread: float = 0.0
    errors: float = 0.0


def scattered_score(model: BaseEstimator, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of labels that are predicted, or R² of a regression, as scikit-learn has them."""
    check_is_fitted(model)
    labels = is_classifier(model)
    judge = partial(_judged, for_workers(model), labels)
    found: list[_Judged] = of_partitions(judge, X, y=y, sample_weight=sample_weight)
    weight = exact_sum(each.weight for each in found)
    if weight <= 0.0:
        raise ValueError("No partition of X has a row of positive weight; a score needs one at least.")
    return exact_sum(each.right for each in found) / weight if labels else _explained(found, weight)


def gathered(model: BaseEstimator, X: Any, **beside: Any) -> list[Any]:
    """The predictions of all partitions and what goes with them, as arrays in this process."""
    check_is_fitted(model)
    found = of_partitions(partial(_answered, for_workers(model)), X, **beside)
    return [None if part[0] is None else np.concatenate(part) for part in zip(*found, strict=True)]


def _answered(model: BaseEstimator, X: Any, *beside: Any) -> list[Any]:
    there = device_matrix(X)
    answers = model.predict(X if there is None else there) if X.shape[0] else np.zeros(0)
    return [answers, *(None if each is None else np.asarray(on_host(each)) for each in beside)]


def _judged(model: BaseEstimator, labels: bool, X: Any, y: Any, sample_weight: Any) -> _Judged:
    """Of one partition; predictions, targets and weights come to the host, if rows lie on a GPU."""
    targets = np.asarray(on_host(y))
    if not len(targets):
        return _Judged(0.0)
    there = device_matrix(X)
    answers = model.predict(X if there is None else there)
    given = None if sample_weight is None else partition_weights(sample_weight, answers)
    weights = np.ones(len(targets)) if given is None else given
    if len(answers) != len(targets):
        raise ValueError(f"A partition of X has {len(answers)} rows, and that of y {len(targets)}.")
    whole = float(weights.sum())
    if whole == 0.0:
        return _Judged(0.0)
    if labels:
        from sklearn.metrics import accuracy_score  # which a fit does without

        right = accuracy_score(targets, answers, normalize=False, sample_weight=weights)
        return _Judged(whole, right=float(right))
    mean = float(weights @ targets) / whole
    spread, errors = (float(weights @ np.square(targets - each)) for each in (mean, answers))
    return _Judged(whole, mean=mean, spread=spread, errors=errors)


def _explained(found: Sequence[_Judged], weight: float) -> float:
    """R²: of targets that are all the same, 1 if they are predicted exactly and 0 if not."""
    mean = exact_sum(each.weight * each.mean for each in found) / weight
    spread = exact_sum(each.spread + each.weight * (each.mean - mean) ** 2 for each in found)
    errors = exact_sum(each.errors for each in found)
    return 1.0 - errors / spread if spread > 0.0 else float(errors == 0.0)

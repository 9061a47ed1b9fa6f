"""Checks of the partitions of a collection of Dask, made where each lies, and of what they say together."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from cutplane._types import Array, ClassWeight, Labels
from cutplane.cluster.examples import ScatteredExamples
from cutplane.device.arrays import check_device, copied_to_device, in_type_of, on_host, several_devices
from cutplane.estimators.common.validation.class_weights import class_factors
from cutplane.estimators.common.validation.examples import check_examples, keep_names
from cutplane.estimators.common.validation.targets import check_many_labels, check_targets
from cutplane.estimators.common.validation.weights import check_sample_weight
from cutplane.shards.part_examples import PartExamples


def collection_examples(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, *, labels: bool
) -> ScatteredExamples:
    """The examples of a collection of Dask, on the workers that hold them."""
    make = partial(_made, labels, device_of_each(estimator))
    examples = ScatteredExamples.of_collections(make, X, y, sample_weight, labels=labels)
    keep_names(estimator, examples.source.features, examples.names)
    return examples


def device_of_each(estimator: BaseEstimator) -> str | None:
    """Where each worker is asked to train on its partitions."""
    device: str | None = getattr(estimator, "device", None)
    if several_devices(device) is not None:
        raise ValueError(f"device={device!r} is for arrays of this process; of a Dask collection, 'cuda' is.")
    return device


def scattered_classes(examples: ScatteredExamples, class_weight: ClassWeight) -> tuple[Labels, Array | None, Array]:
    """The classes of all partitions, what each weighs (None: 1), and what its examples weigh in all."""
    whole = examples.whole
    classes, _ = check_many_labels(whole.labels)
    if class_weight is None:
        return classes, None, whole.weights
    factors = class_factors(class_weight, classes, classes, whole.weights)  # one example of each class, as heavy as all
    return classes, factors, whole.weights * factors


def _made(labels: bool, device: str | None, number: int, X: Any, y: Any, sample_weight: Any) -> PartExamples:
    return PartExamples(*placed_partition(device, number, X, y, sample_weight, labels=labels))


def placed_partition(
    device: str | None, number: int, X: Any, y: Any, sample_weight: Any, *, labels: bool
) -> tuple[Any, Any, Array | None]:
    """The examples of a partition, checked, on a GPU of the worker where that is asked for."""
    rows, targets, weights = checked_partition(number, X, y, sample_weight, labels=labels)
    if device is not None and rows.shape[0]:
        check_device(device)
        rows = copied_to_device(rows)
    return rows, targets, weights


def checked_partition(
    number: int, X: Any, y: Any, sample_weight: Any, *, labels: bool
) -> tuple[Any, Any, Array | None]:
    """The rows of a partition, their targets and weights; bad ones are refused in a sentence that names it."""
    try:
        if not len(y):
            width = X.shape[1] if len(X.shape) > 1 else 0
            return sp.csr_array((0, width)), np.asarray(on_host(y)), None
        rows, found = check_examples(BaseEstimator(), X, y)
        found = in_type_of(y, found)  # as the labels of other partitions, which may lie on the host
        weights = None if sample_weight is None else partition_weights(sample_weight, rows)
        return rows, found if labels else check_targets(found), weights
    except ValueError as error:
        raise ValueError(f"In partition {number}: {error}") from None


def partition_weights(sample_weight: Any, rows: Any) -> Array | None:
    """Weights, checked; None where all are 1. Those of a partition may all be zero."""
    plain = np.asarray(on_host(sample_weight))
    if plain.shape == (rows.shape[0],) and plain.dtype.kind in "iuf" and not plain.any():
        return np.zeros(len(plain))
    return check_sample_weight(plain, rows)

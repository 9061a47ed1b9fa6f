"""Examples in several places: on the workers of a cluster, or on several GPUs."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from cutplane.cluster.collections import is_collection
from cutplane.cluster.examples import ScatteredExamples
from cutplane.device.arrays import several_devices
from cutplane.estimators.common.validation.divided import divided_examples, examples_on_devices, lies_on_devices
from cutplane.estimators.common.validation.examples import keep_names
from cutplane.estimators.common.validation.partitions import collection_examples


def scattered_examples(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, *, labels: bool
) -> ScatteredExamples | None:
    """The examples where they lie, in several places, which may be known already; None: they lie in one."""
    if isinstance(X, ScatteredExamples):
        keep_names(estimator, X.source.features, X.names)
        return X
    places = several_devices(getattr(estimator, "device", None))
    collected, on_devices = is_collection(X), lies_on_devices(X)
    if not collected and not on_devices and places is None:
        return None
    if getattr(estimator, "keep_proof", False):
        raise ValueError(
            "keep_proof=True is for examples in one place; `proof`, called with them, makes one for any model."
        )
    if collected:
        return collection_examples(estimator, X, y, sample_weight, labels=labels)
    if on_devices:
        return examples_on_devices(estimator, X, y, sample_weight, labels=labels)
    return divided_examples(estimator, X, y, sample_weight, places or [], labels=labels)

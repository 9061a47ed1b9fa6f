"""Examples on several GPUs of this process: arrays that lie there, and those of the host, divided among them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane import _core
from cutplane._types import Matrix
from cutplane.cluster.examples import ScatteredExamples, in_threads
from cutplane.device.arrays import copied_to_device, in_type_of, is_on_device, on_host, place_of, use_device
from cutplane.estimators.common.validation.examples import check_examples, keep_names, source_of
from cutplane.estimators.common.validation.parameters import check_threads
from cutplane.estimators.common.validation.partitions import checked_partition
from cutplane.estimators.common.validation.targets import check_targets
from cutplane.estimators.common.validation.weights import check_sample_weight
from cutplane.shards.part_examples import PartExamples


def lies_on_devices(X: object) -> bool:
    """Whether X is a list of arrays or CSR matrices on GPUs."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(map(is_on_device, X))


def examples_on_devices(
    estimator: BaseEstimator, X: Sequence[Any], y: Any, sample_weight: Any, *, labels: bool
) -> ScatteredExamples:
    """Those of a list of arrays on GPUs, each where it lies."""
    sizes = [int(rows.shape[0]) for rows in X]
    targets = _pieces("y", y, sizes)
    weights = [None] * len(X) if sample_weight is None else _pieces("sample_weight", sample_weight, sizes)
    makes = [
        partial(_where_it_lies, number, *part, labels=labels)
        for number, part in enumerate(zip(X, targets, weights, strict=True))
    ]
    examples = ScatteredExamples(*in_threads(makes, _each(estimator, makes), None), labels=labels)
    keep_names(estimator, examples.source.features, None)
    return examples


def divided_examples(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, places: Sequence[int], *, labels: bool
) -> ScatteredExamples:
    """Those of the host: of n rows, a stretch to each of several GPUs."""
    if source_of(X) is not None:
        raise ValueError(
            "A list of devices divides arrays and matrices of the host among them; X lies elsewhere. A list of arrays, "
            "each on a GPU, is trained on where they lie, without `device`."
        )
    checked, found = check_examples(estimator, X, y)
    rows = cast(Matrix, checked)
    targets = in_type_of(y, found) if labels else check_targets(found)
    weights = None if sample_weight is None else check_sample_weight(on_host(sample_weight), rows)
    ends = np.linspace(0, len(targets), len(places) + 1).astype(int)
    makes = [
        partial(_copied, place, rows[begin:end], targets[begin:end], None if weights is None else weights[begin:end])
        for place, begin, end in zip(places, ends[:-1], ends[1:], strict=True)
        if begin < end
    ]
    names = getattr(estimator, "feature_names_in_", None)
    placed = in_threads(makes, _each(estimator, makes), None if names is None else list(names))
    return ScatteredExamples(*placed, labels=labels)


def _each(estimator: BaseEstimator, parts: Sequence[object]) -> int:
    """Of the processor's threads, how many each part has."""
    return max(1, _core.thread_count(check_threads(getattr(estimator, "n_jobs", None))) // len(parts))


def _pieces(name: str, values: Any, sizes: Sequence[int]) -> list[Any]:
    """What goes with the rows of each array: one for each, or an array that is cut."""
    if isinstance(values, (list, tuple)) and len(values) == len(sizes) and all(hasattr(v, "shape") for v in values):
        return list(values)
    whole: NDArray[Any] = np.asarray(on_host(values))
    if len(whole) != sum(sizes):
        raise ValueError(f"X has {sum(sizes)} rows, but {name} has {len(whole)}.")
    return np.split(whole, np.cumsum(sizes)[:-1])


def _where_it_lies(number: int, X: Any, y: Any, sample_weight: Any, *, labels: bool) -> PartExamples:
    use_device(place_of(X))
    return PartExamples(*checked_partition(number, X, y, sample_weight, labels=labels))


def _copied(place: int, X: Any, y: Any, weights: Any) -> PartExamples:
    use_device(place)
    return PartExamples(copied_to_device(X), y, weights)

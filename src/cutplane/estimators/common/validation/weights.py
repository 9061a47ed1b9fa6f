"""Checks of the weights of examples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from cutplane._runtime.ranges import LEAST_WEIGHT, MOST_WEIGHT
from cutplane._types import Array, ClassWeight, Codes, Labels, MatrixLike
from cutplane.device.arrays import on_host
from cutplane.estimators.common.validation.class_weights import class_factors
from cutplane.estimators.common.validation.input_kinds import check_kind
from cutplane.estimators.common.validation.targets import shown_label
from cutplane.sources import given_source


def check_sample_weight(sample_weight: ArrayLike | None, X: MatrixLike) -> Array | None:
    """Weights of the examples; None where all are 1."""
    if sample_weight is None:
        return None
    sample_weight = on_host(sample_weight)
    check_kind("sample_weight", sample_weight)
    checked = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    _check_range("sample_weight", checked)
    negative = np.flatnonzero(checked < 0)
    if len(negative):
        raise ValueError(
            f"sample_weight[{negative[0]}]={checked[negative[0]]} is negative; weights must be 0 or greater."
        )
    if not checked.any():
        raise ValueError("sample_weight is zero for every example; at least one must be greater than 0.")
    return None if np.all(checked == 1.0) else checked


def check_weights(
    sample_weight: ArrayLike | None,
    X: MatrixLike,
    class_weight: ClassWeight,
    classes: Labels | None,
    y: Labels,
) -> Array | None:
    """Weights of the examples from their own and their classes'; None where all are 1."""
    sample_weight = on_host(sample_weight)
    weights = check_sample_weight(sample_weight, X if given_source(X) is None else y)
    if class_weight is not None and classes is not None:
        codes = np.searchsorted(classes, y)
        counted = slice(None) if weights is None or isinstance(class_weight, Mapping) else weights > 0.0
        present = np.bincount(codes[counted], minlength=len(classes)) > 0
        own = None if weights is None else weights[counted]
        each = np.zeros(len(classes))
        each[present] = class_factors(class_weight, classes[present], y[counted], own)
        weights = each[codes] if weights is None else weights * each[codes]
    if weights is not None and np.all(weights == 1.0):
        return None
    return weights


def _check_range(name: str, weights: Array) -> None:
    """Weights that are zero, or not so large or small that sums of them leave double precision."""
    wrong = np.flatnonzero((weights > MOST_WEIGHT) | ((weights > 0.0) & (weights < LEAST_WEIGHT)))
    if len(wrong):
        raise ValueError(
            f"{name}[{wrong[0]}]={weights[wrong[0]]} is out of range; 0 and numbers from {LEAST_WEIGHT:g} to "
            f"{MOST_WEIGHT:g} are accepted."
        )


def check_both_sides(labels: NDArray[np.int8], weights: Array | None, positive: object) -> None:
    """An intercept without penalty needs weight on both sides, and so does a classifier."""
    if weights is None:
        return
    shown = shown_label(positive)
    for sign, name in ((1, f"class {shown!r}"), (-1, f"the classes other than {shown!r}")):
        if not weights[labels == sign].any():
            raise ValueError(f"All examples of {name} have weight zero; each side needs at least one with weight.")


def counted_classes(classes: Labels, codes: Codes, weights: Array | None) -> tuple[Labels, Codes]:
    """The classes that have weight, and the codes among them; of examples of others, which weigh nothing, 0.

    A class without weight cannot be told from the others: it is left out, and never predicted. Where fewer than two
    are left all are returned, and refused elsewhere.
    """
    if weights is None:
        return classes, codes
    left = np.bincount(codes, weights, len(classes)) > 0.0
    if left.all() or left.sum() < 2:
        return classes, codes
    return classes[left], np.where(left, np.cumsum(left) - 1, 0).astype(codes.dtype)[codes]


def check_class_weights(codes: Codes, weights: Array | None, classes: Labels) -> None:
    """Every class needs weight: without, its scores mean nothing."""
    if weights is None:
        return
    totals = np.bincount(codes, weights, len(classes))
    if not totals.all():
        label = shown_label(classes[int(np.argmin(totals))])
        raise ValueError(
            f"All examples of class {label!r} have weight zero; each class needs at least one with weight."
        )

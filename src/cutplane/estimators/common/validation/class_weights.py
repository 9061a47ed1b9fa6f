"""Weights of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.class_weight import compute_class_weight

from cutplane._types import Array, ClassWeight, Label, Labels

# Beyond these, products of weights and of features may leave the range of double precision.
_LEAST, _MOST = 1e-35, 1e35


def class_factors(
    class_weight: ClassWeight, classes: Labels, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Array:
    """The weight of each class: 1 where it is not given, or inverse to how often it occurs."""
    named = class_weight if isinstance(class_weight, Mapping) else None
    if named is not None:
        _check_labels(named, classes.tolist())
    elif class_weight is not None and not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(
            f"class_weight={class_weight!r} must be None, 'balanced' or a dict with the weights of classes."
        )
    try:
        factors = np.asarray(compute_class_weight(class_weight, classes=classes, y=y, sample_weight=sample_weight))
    except (TypeError, ValueError):
        if named is None:
            raise
        raise ValueError(f"class_weight={class_weight!r} must give each class a number.") from None
    if not np.all(factors >= 0) or not np.all(np.isfinite(factors)):
        raise ValueError(f"class_weight={class_weight!r} must give each class a finite weight, 0 or greater.")
    if np.any(factors > _MOST) or np.any((factors > 0.0) & (factors < _LEAST)):
        raise ValueError(
            f"class_weight={class_weight!r} must give each class 0, or a weight from {_LEAST:g} to {_MOST:g}."
        )
    return factors


def _check_labels(weights: Mapping[Label, float], classes: list[Label]) -> None:
    """Refuse weights of what is no class; where every class has one, more may be there."""
    if all(label in weights for label in classes):
        return
    for label in weights:
        if label not in classes:
            raise ValueError(f"class_weight has a weight for {label!r}, which is no class of y: {_shown(classes)} are.")


def _shown(classes: Sequence[object], most: int = 5) -> str:
    more = [f"... ({len(classes)} in all)"] if len(classes) > most else []
    return ", ".join([*map(repr, classes[:most]), *more])

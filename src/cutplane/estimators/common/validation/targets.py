"""Checks of y: classes, told apart, or numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from cutplane._runtime.ranges import MOST
from cutplane._types import Codes, Labels
from cutplane.estimators.common.validation.input_kinds import check_kind
from cutplane.risks.labels import coded_by_table
from cutplane.sources import DenseSource


def check_labels(y: Labels) -> tuple[Labels, Codes]:
    """The classes, sorted, and the class of each example."""
    classes, codes = coded_by_table(y) or _coded_by_sorting(y)
    _check_several(classes)
    return classes, codes.astype(np.intp)


def check_many_labels(y: Labels, n_threads: int = 0) -> tuple[Labels, Codes]:
    """As `check_labels`, the class of each example in the smallest type that holds it; targets are refused."""
    coded = coded_by_table(y, n_threads)
    if coded is None:
        check_classification_targets(y)
        coded = _coded_by_sorting(y)
    classes, codes = coded
    _check_several(classes)
    return classes, codes.astype(np.min_scalar_type(-len(classes)), copy=False)


def _coded_by_sorting(y: Labels) -> tuple[Labels, Codes]:
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        first = {type(label).__name__: label for label in reversed(y.tolist())}
        (one, label), (other, unlike), *_ = sorted(first.items())
        raise ValueError(
            f"y has labels of different types, such as {label!r} ({one}) and {unlike!r} ({other}); all must be of one."
        ) from None


def _check_several(classes: Labels) -> None:
    if len(classes) < 2:
        only = classes[:1].tolist()[0]  # a plain value: np.float64(1.0) is no way to name a label
        raise ValueError(f"y has only one class, {only!r}; a classifier needs at least two.")


def shown_label(label: object) -> object:
    """A label as a user wrote it: np.float64(1.0) is no way to name one."""
    return label.item() if isinstance(label, np.generic) else label


def check_targets(y: ArrayLike, n_threads: int = 0) -> NDArray[np.float64]:
    """Targets, of a regression or to rank by, as finite float64."""
    check_kind("y", y)
    try:
        targets = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y has the dtype {np.asarray(y).dtype}; targets must be numbers.") from None
    wrong = _first_unusable(targets, n_threads)
    if wrong is not None:
        found = targets[wrong]
        value = "NaN" if np.isnan(found) else str(found)
        wanted = f"be below {MOST:g} in size" if np.isfinite(found) else "be a finite number"
        raise ValueError(f"y[{wrong}] is {value}; every target must {wanted}.")
    return targets


def _first_unusable(targets: NDArray[np.float64], n_threads: int) -> int | None:
    """The first number that is not finite or too large."""
    if targets.ndim != 1 or not targets.size:
        return None
    row = DenseSource(targets[:, None]).core.first_unusable_row(n_threads)
    return None if row < 0 else row

"""Checks of y: classes, told apart, or numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from cutplane._types import Codes, Labels
from cutplane.estimators.common.validation.input_kinds import check_kind
from cutplane.estimators.common.validation.ranges import MOST

# Labels that are whole numbers in a range of this size are told apart by a table, some at a time.
_TABLE = 1 << 16
_PART = 1 << 16


def check_labels(y: Labels) -> tuple[Labels, Codes]:
    """The classes, sorted, and the class of each example."""
    classes, codes = _coded_by_table(y) or _coded_by_sorting(y)
    _check_several(classes)
    return classes, codes.astype(np.intp)


def check_many_labels(y: Labels) -> tuple[Labels, Codes]:
    """As `check_labels`, the class of each example in the smallest type that holds it; targets are refused."""
    coded = _coded_by_table(y)
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


def _coded_by_table(y: Labels) -> tuple[Labels, Codes] | None:
    """What `np.unique` gives for whole numbers close to each other, without sorting them; None for other labels."""
    if y.dtype.kind not in "biuf" or not len(y):
        return None
    low, high = y.min().item(), y.max().item()
    if not (abs(low) < 2**53 and abs(high) < 2**53 and high - low < _TABLE):  # not for NaN either
        return None
    low = int(low)
    parts = [slice(begin, begin + _PART) for begin in range(0, len(y), _PART)]
    seen = np.zeros(int(high) - low + 1, dtype=bool)
    for part in parts:
        places = y[part].astype(np.int64)
        if y.dtype.kind == "f" and not np.array_equal(places, y[part]):
            return None
        seen[places - low] = True
    found = np.flatnonzero(seen)
    table: Codes = np.zeros(len(seen), np.dtype(np.min_scalar_type(-len(found)).str))
    table[found] = np.arange(len(found))
    codes = np.empty(len(y), table.dtype)
    for part in parts:
        codes[part] = table[y[part].astype(np.int64) - low]
    return (found + low).astype(y.dtype), codes


def shown_label(label: object) -> object:
    """A label as a user wrote it: np.float64(1.0) is no way to name one."""
    return label.item() if isinstance(label, np.generic) else label


def signs(positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    """+1 where `positive`, else -1."""
    labels = positive.astype(np.int8)
    labels *= 2
    labels -= 1
    return labels


def check_targets(y: ArrayLike) -> NDArray[np.float64]:
    """Targets, of a regression or to rank by, as finite float64."""
    check_kind("y", y)
    try:
        targets = np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y has the dtype {np.asarray(y).dtype}; targets must be numbers.") from None
    wrong = np.flatnonzero(~(np.abs(targets) <= MOST))
    if len(wrong):
        found = targets[wrong[0]]
        value = "NaN" if np.isnan(found) else str(found)
        wanted = f"be below {MOST:g} in size" if np.isfinite(found) else "be a finite number"
        raise ValueError(f"y[{wrong[0]}] is {value}; every target must {wanted}.")
    return targets

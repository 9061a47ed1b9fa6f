"""What NumPy would make numbers of without a word: masked values, dates, complex numbers, nullable columns."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from cutplane.cluster.collections import is_collection
from cutplane.estimators.common.validation.frames import columns_of, is_lazy
from cutplane.estimators.common.validation.words import check_no_file_name

_REFUSED = {
    "M": "holds dates; subtract one and divide by a unit, such as np.timedelta64(1, 'D')",
    "m": "holds spans of time; divide by a unit, such as np.timedelta64(1, 'D')",
    "c": "is complex (Complex data not supported); take real and imaginary parts",
    "L": "holds lists or records; make a column of each part",
}


def check_in_process(name: str, values: object, *, new: bool = False) -> None:
    """Refuse what lies on a cluster: to be trained on, or new rows that something is asked about."""
    if not is_collection(values):
        return
    taken = (
        "predictions, scores and decision_bounds of linear models are had of one, all else of rows in this process"
        if new
        else "LinearSVC, LinearSVR, LogisticRegression and RankSVM train on such X and y, all else in one process"
    )
    raise ValueError(f"{name} is a collection of Dask; {taken}; {name}.compute() brings it here, where it fits.")


def check_kind(name: str, values: object, *, new: bool = False) -> None:
    """Refuse values that are no real numbers (or, of labels, words) but would pass for some."""
    check_no_file_name(name, values)
    check_in_process(name, values, new=new)
    if is_lazy(values):
        raise ValueError(f"{name} is a lazy frame, which has no values yet; {name}.collect() gives it some.")
    if isinstance(values, np.ma.MaskedArray):
        _check_mask(name, values)
    for column, kind in _columns(values):
        if kind in _REFUSED:
            place = name if column is None else f"Column {column!r} of {name}"
            raise ValueError(f"{place} {_REFUSED[kind]}: real numbers are accepted.")


def plain_labels(y: ArrayLike | list[Hashable] | None) -> ArrayLike:
    """Labels in a type of NumPy that keeps them as they are.

    Of whole numbers in a nullable type of pandas scikit-learn would make floats, and of 1 beside "a" NumPy a word.
    """
    if isinstance(y, (list, tuple)) and len({isinstance(label, str) for label in y}) > 1:
        return np.array(y, dtype=object)
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if y is None or kind is None or kind.kind not in "biu" or not hasattr(y, "isna") or not hasattr(y, "to_numpy"):
        return cast(ArrayLike, y)  # None, too: scikit-learn says best what is missing
    missing = np.flatnonzero(np.asarray(y.isna()))
    if len(missing):
        raise ValueError(f"y[{missing[0]}] is missing; every example needs a label.")
    return np.asarray(y.to_numpy(dtype=kind))


def _check_mask(name: str, values: np.ma.MaskedArray) -> None:
    masked = np.argwhere(np.ma.getmaskarray(values))
    if len(masked):
        first = ", ".join(map(str, masked[0].tolist()))
        raise ValueError(f"{name}[{first}] is masked; fill masked values, or leave their examples out.")


def _columns(values: object) -> list[tuple[object, str]]:
    """The names of the columns of a data frame and what each holds; of anything else, one without a name."""
    columns = columns_of(values)
    if columns:
        return [(name, kind) for name, kind in columns]
    if isinstance(values, (list, tuple)):
        values = np.asarray(values) if _is_regular(values) else None
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    return [(None, kind if isinstance(kind, str) else "")]


def _is_regular(values: object) -> bool:
    """Whether NumPy makes an array of a list: scikit-learn says it well where it does not."""
    try:
        np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return False
    return True

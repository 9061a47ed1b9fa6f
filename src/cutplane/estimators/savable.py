"""What an estimator says of itself to be saved, and how its arrays are checked when they come back."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class Savable:
    """An estimator that `cutplane.load` can bring back.

    Parameters, feature names, certificate and history are stored for every estimator; `_to_file` adds the fitted
    attributes that predictions need, and `_from_file` sets them again. A new estimator also needs its line in
    `cutplane.estimators.persistence`.
    """

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file that `cutplane.load` reads without running code."""
        from cutplane.estimators.persistence import save

        save(self, path)

    def _to_file(self) -> tuple[Arrays, dict[str, Any]]:
        """The fitted attributes as arrays, and what JSON can hold."""
        raise NotImplementedError

    def _from_file(self, arrays: Arrays, stored: dict[str, Any]) -> None:
        """Set the fitted attributes; any error if they do not fit together means a damaged file."""
        raise NotImplementedError


def labels_to_file(labels: NDArray[Any]) -> tuple[Arrays, dict[str, Any]]:
    """Numbers as the array "classes", which keeps their dtype; text and Python objects as JSON."""
    kind = labels.dtype.kind
    if kind in "biuf":
        return {"classes": labels}, {"stored": "array"}
    if kind in "UT":
        return {}, {"stored": "text", "values": [str(label) for label in labels.tolist()]}
    values = labels.tolist()
    if kind != "O" or not all(isinstance(label, (str, bool, int, float, np.generic)) for label in values):
        raise TypeError(f"Labels of dtype {labels.dtype} cannot be saved; numbers, booleans and text can.")
    return {}, {"stored": "objects", "values": values}


def labels_from_file(arrays: Arrays, stored: dict[str, Any]) -> NDArray[Any]:
    """The labels that `labels_to_file` stored."""
    if stored["stored"] == "array":
        labels = arrays["classes"]
    elif stored["stored"] == "text":
        labels = np.array([_text(label) for label in stored["values"]])
    elif stored["stored"] == "objects":
        labels = np.array(stored["values"], dtype=object)
    else:
        raise ValueError(f"labels stored as {stored['stored']!r}")
    if labels.ndim != 1 or len(labels) < 2:
        raise ValueError("there are not two classes or more")
    return labels


def finite(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of finite numbers of this shape."""
    array = arrays[name]
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"{name} holds something other than finite numbers")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, not {shape}")
    return array


def _text(label: object) -> str:
    if not isinstance(label, str):
        raise TypeError(f"the label {label!r} is not text")
    return label

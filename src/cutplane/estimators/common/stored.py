"""What model files hold of an estimator: arrays and JSON, checked when they come back."""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np

from cutplane._types import Array, Document, Labels
from cutplane._types import Arrays as Arrays
from cutplane.plain.form import PlainForm
from cutplane.solvers.certificates import ProblemCertificate


class Stored(Protocol):
    """A fitted estimator as files see it."""

    certificates_: list[ProblemCertificate]

    def _to_file(self) -> tuple[Arrays, Document]:
        """The fitted attributes as arrays, and what JSON can hold."""

    def plain_form(self) -> PlainForm:
        """What predictions need; `ValueError` where that is no plain data."""

    def _from_file(self, arrays: Arrays, stored: Document) -> None:
        """Set the fitted attributes; any error if they do not fit together means a damaged file."""


def labels_to_file(labels: Labels) -> tuple[Arrays, Document]:
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


def labels_from_file(arrays: Arrays, stored: Document) -> Labels:
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


def finite(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Array:
    """An array of finite numbers of this shape."""
    array = cast(Array, arrays[name])  # support vectors may be float32
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"{name} holds something other than finite numbers")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, not {shape}")
    return array


def _text(label: object) -> str:
    if not isinstance(label, str):
        raise TypeError(f"the label {label!r} is not text")
    return label

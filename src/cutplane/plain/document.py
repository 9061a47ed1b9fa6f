"""Plain forms as one document of JSON, their arrays inside it or beside it, and back. Reading one runs no code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutplane.io.plain_json import decode, encode
from cutplane.plain.checks import require
from cutplane.plain.decisions import Highest, Inside, Sign, Thresholds, Value, Votes
from cutplane.plain.form import PlainForm
from cutplane.plain.probabilities import Calibrated, Curve, Logistic, Softmax
from cutplane.plain.scores import KernelScores, LinearScores, PrecomputedScores
from cutplane.plain.strings import Kmers, StringScores

if TYPE_CHECKING:
    from cutplane._types import Arrays, Document

FORMAT = "cutplane plain model"
FORMAT_VERSION = 1

# What documents may name: what stands in each of a form's places, and parts of these.
_SCORES = (LinearScores, KernelScores, PrecomputedScores, StringScores)
_DECISIONS = (Value, Sign, Highest, Votes, Thresholds, Inside)
_PROBABILITIES = (Logistic, Softmax, Calibrated, type(None))
PARTS: dict[str, type] = {
    kind.__name__: kind for kind in (PlainForm, *_SCORES, *_DECISIONS, Logistic, Softmax, Calibrated, Kmers, Curve)
}
_DTYPES = frozenset("?bhilqBHILQefd")

# Puts an array away and says what stands for it in the document; and the other way round.
Keep = Callable[[str, NDArray[Any]], object]
Find = Callable[[Any], NDArray[Any]]


class Beside:
    """Arrays of a file beside the document; one that the file has already is not stored twice."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._known = dict(arrays)
        self.added: Arrays = {}

    def __call__(self, name: str, array: NDArray[Any]) -> str:
        """The name under which the file has the array."""
        for known, values in self._known.items():
            if values.dtype == array.dtype and values.shape == array.shape and np.array_equal(values, array):
                return known
        self._known[f"plain.{name}"] = self.added[f"plain.{name}"] = array
        return f"plain.{name}"


def to_document(form: PlainForm, keep: Keep) -> Document:
    """A form as JSON can hold it; `keep` puts arrays away."""
    return {"format": FORMAT, "format_version": FORMAT_VERSION, "model": _written("", form, keep)}


def from_document(document: Any, find: Find) -> PlainForm:
    """The form that `to_document` wrote; `ValueError` if it is none or does not fit together."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("it is no plain model of Cutplane")
    if document.get("format_version") != FORMAT_VERSION:
        raise ValueError(f"its format is {document.get('format_version')!r}, and this version reads {FORMAT_VERSION}")
    try:
        form = _read(document["model"], find)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"its description is not valid ({type(error).__name__}: {error})") from error
    _check_places(form)
    return form  # type: ignore[no-any-return]


def _check_places(form: Any) -> None:
    """Every part of a form where it belongs."""
    require(isinstance(form, PlainForm), "its description is not that of a model")
    right = (
        isinstance(form.scores, _SCORES)
        and isinstance(form.decision, _DECISIONS)
        and isinstance(form.probabilities, _PROBABILITIES)
        and isinstance(form.certificate, dict)
    )
    require(right, "a part of it stands where another belongs")
    require(all(isinstance(name, str) for name in form.feature_names or ()), "a name of a feature is none")


def to_json(form: PlainForm) -> str:
    """The form as one text of JSON, arrays as lists."""
    return json.dumps(to_document(form, _inside), allow_nan=False)


def from_json(text: str) -> PlainForm:
    """The form that `to_json` wrote; `ValueError` if it is none."""
    return from_document(json.loads(text), _from_inside)


def _inside(name: str, array: NDArray[Any]) -> object:
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": encode(array.ravel())}


def _from_inside(stored: Any) -> NDArray[Any]:
    dtype = np.dtype(str(stored["dtype"]))
    if dtype.char not in _DTYPES:
        raise ValueError(f"an array has the dtype {dtype}")
    return np.array(decode(stored["values"]), dtype=dtype).reshape([int(size) for size in stored["shape"]])


def _written(name: str, value: object, keep: Keep) -> object:
    """A part, an array, labels, a list of these, or what JSON has."""
    if type(value).__name__ in PARTS and isinstance(value, PARTS[type(value).__name__]):
        parts = {each.name: getattr(value, each.name) for each in fields(value)}  # type: ignore[arg-type]
        written = {key: _written(f"{name}.{key}" if name else key, part, keep) for key, part in parts.items()}
        return {"$part": type(value).__name__, **written}
    if isinstance(value, np.ndarray):
        return {"$array": keep(name, value)} if value.dtype.char in _DTYPES else _labels(value)
    if hasattr(value, "tocsr"):
        csr = value.tocsr()
        parts = {key: {"$array": keep(f"{name}.{key}", getattr(csr, key))} for key in ("data", "indices", "indptr")}
        return {"$csr": parts, "shape": list(csr.shape)}
    if isinstance(value, (list, tuple)):
        return [_written(f"{name}.{number}", item, keep) for number, item in enumerate(value)]
    return encode(value)


def _labels(labels: NDArray[Any]) -> Document:
    values = labels.tolist()
    if not all(isinstance(label, (str, bool, int, float)) for label in values):
        raise TypeError(f"Labels of dtype {labels.dtype} cannot be exported; numbers, booleans and text can.")
    return {"$labels": encode(values), "text": labels.dtype.kind in "UT"}


def _read(value: Any, find: Find) -> Any:
    if isinstance(value, list):
        return [_read(item, find) for item in value]
    if not isinstance(value, dict):
        return value
    if "$part" in value:
        return PARTS[value["$part"]](**{key: _read(part, find) for key, part in value.items() if key != "$part"})
    if "$array" in value:
        return find(value["$array"])
    if "$csr" in value:
        return _csr({key: _read(part, find) for key, part in value["$csr"].items()}, value["shape"])
    if "$labels" in value:
        return np.array(decode(value["$labels"]), dtype=None if value["text"] else object)
    return decode(value)


def _csr(parts: Mapping[str, NDArray[Any]], shape: list[int]) -> Any:
    import scipy.sparse as sp

    matrix = sp.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(map(int, shape)))
    matrix.check_format(full_check=True)
    return matrix

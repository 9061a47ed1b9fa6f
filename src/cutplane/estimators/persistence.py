"""Fitted estimators as model files, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from cutplane.estimators.history_arrays import history_from_arrays, history_to_arrays
from cutplane.estimators.linear_svc import LinearSVC
from cutplane.io.model_file import ModelFile, ModelFileError, read_model, write_model
from cutplane.io.plain_json import encode
from cutplane.solvers.result import StopReason

_KINDS: dict[str, type[LinearSVC]] = {"LinearSVC": LinearSVC}
_BOUNDS = ("objective", "lower_bound", "gap")


def save(model: LinearSVC, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to a model file, with the certificate of its training.

    Parameters
    ----------
    model : LinearSVC
        A fitted estimator. Parameters that are no data, such as an ``on_step`` function or a random
        generator, are left out: the loaded estimator has their defaults.
    path : path-like
        Where to write; an existing file is replaced once the new one is complete.
    notes : mapping, optional
        Anything JSON can hold to keep with the model, such as where the data came from.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    check_is_fitted(model)
    class_arrays, classes = _classes_to_file(model.classes_)
    history_arrays, history = history_to_arrays(model.history_)
    metadata: dict[str, Any] = {
        "params": _plain_params(model),
        "classes": classes,
        "certificate": {name: getattr(model, f"{name}_") for name in (*_BOUNDS, "n_iter", "stop_reason")},
        "history": history,
        "n_features_in": int(model.n_features_in_),
        "notes": dict(notes or {}),
    }
    if hasattr(model, "feature_names_in_"):
        metadata["feature_names_in"] = [str(name) for name in model.feature_names_in_]
    arrays = {
        "coef": model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_),
        "intercept": np.asarray(model.intercept_),
        **class_arrays,
        **history_arrays,
    }
    write_model(path, kind=type(model).__name__, arrays=arrays, metadata=metadata)


def load(path: str | os.PathLike[str]) -> LinearSVC:
    """Read a fitted estimator from a model file. Runs no code from the file.

    Parameters
    ----------
    path : path-like
        A file written by `save`.

    Returns
    -------
    LinearSVC
        Equal to what was saved: its predictions are the same to the bit.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a Cutplane model or is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> from cutplane import LinearSVC
    >>> from cutplane.estimators.persistence import load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> save(LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    return restore(read_model(path), path)


def restore(file: ModelFile, path: str | os.PathLike[str] = "The model") -> LinearSVC:
    """Return the fitted estimator in `file`; `path` names it in errors."""
    if file.kind not in _KINDS:
        raise ModelFileError(f"{path} holds a model of the kind {file.kind!r}; this version knows {', '.join(_KINDS)}.")
    try:
        return _restore(_KINDS[file.kind], file)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(
            f"{path} is a damaged {file.kind} model file, or one of another version ({reason})."
        ) from error


def _restore(kind: type[LinearSVC], file: ModelFile) -> LinearSVC:
    metadata = file.metadata
    model = kind(**metadata["params"])
    model.classes_ = _classes_from_file(metadata["classes"], file.arrays)
    model.coef_ = _floats(file.arrays, "coef")
    model.intercept_ = _floats(file.arrays, "intercept")
    model.n_features_in_ = metadata["n_features_in"]
    rows = 1 if len(model.classes_) == 2 else len(model.classes_)
    if model.coef_.shape != (rows, model.n_features_in_):
        raise ValueError(f"coef has shape {model.coef_.shape}, not {(rows, model.n_features_in_)}")
    if model.intercept_.shape != (rows,):
        raise ValueError(f"intercept has shape {model.intercept_.shape}, not {(rows,)}")
    if "feature_names_in" in metadata:
        model.feature_names_in_ = np.array(metadata["feature_names_in"], dtype=object)
        if model.feature_names_in_.shape != (model.n_features_in_,):
            raise ValueError("there is not one name per feature")
    for name, value in _certificate(metadata["certificate"], rows).items():
        setattr(model, name, value)
    model.history_ = history_from_arrays(metadata["history"], file.arrays)
    return model


def _plain_params(model: LinearSVC) -> dict[str, Any]:
    return {name: value for name, value in model.get_params(deep=False).items() if _is_plain(value)}


def _is_plain(value: object) -> bool:
    try:
        encode(value)
    except TypeError:
        return False
    return True


def _classes_to_file(classes: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Numbers as an array, which keeps their dtype; text and Python objects as JSON."""
    kind = classes.dtype.kind
    if kind in "biuf":
        return {"classes": classes}, {"stored": "array"}
    if kind in "UT":
        return {}, {"stored": "text", "values": [str(label) for label in classes.tolist()]}
    values = classes.tolist()
    if kind != "O" or not all(isinstance(label, (str, bool, int, float, np.generic)) for label in values):
        raise TypeError(f"Labels of dtype {classes.dtype} cannot be saved; numbers, booleans and text can.")
    return {}, {"stored": "objects", "values": values}


def _classes_from_file(stored: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    if stored["stored"] == "array":
        classes = arrays["classes"]
    elif stored["stored"] == "text":
        classes = np.array([_text(label) for label in stored["values"]])
    elif stored["stored"] == "objects":
        classes = np.array(stored["values"], dtype=object)
    else:
        raise ValueError(f"labels stored as {stored['stored']!r}")
    if classes.ndim != 1 or len(classes) < 2:
        raise ValueError("there are not two classes or more")
    return classes


def _text(label: object) -> str:
    if not isinstance(label, str):
        raise TypeError(f"the label {label!r} is not text")
    return label


def _floats(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype.kind != "f" or not np.isfinite(array).all():
        raise ValueError(f"{name} holds something other than finite numbers")
    return array


def _certificate(stored: dict[str, Any], rows: int) -> dict[str, Any]:
    """The attributes of the certificate: numbers, or one entry per class where there are more than two."""
    attributes: dict[str, Any] = {}
    for name in _BOUNDS:
        values = np.array(stored[name], dtype=np.float64)
        attributes[f"{name}_"] = float(values) if rows == 1 else values
        if values.shape != (() if rows == 1 else (rows,)):
            raise ValueError(f"{name} is not one number per problem")
    reasons = [stored["stop_reason"]] if rows == 1 else list(stored["stop_reason"])
    if len(reasons) != rows or not set(reasons) <= set(get_args(StopReason)):
        raise ValueError(f"{stored['stop_reason']!r} is no reason to stop")
    attributes["stop_reason_"] = reasons[0] if rows == 1 else reasons
    attributes["n_iter_"] = int(stored["n_iter"])
    return attributes

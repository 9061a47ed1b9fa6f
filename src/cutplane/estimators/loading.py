"""Fitted estimators out of model files."""

from __future__ import annotations

import os
from typing import Any, get_args

import numpy as np

from cutplane import estimators
from cutplane.estimators.common.history_arrays import history_from_arrays
from cutplane.estimators.common.left_out import LeftOut
from cutplane.estimators.common.persistence import BOUNDS, PARAM, PLACES
from cutplane.estimators.common.stored import Arrays, check_bounds
from cutplane.io.model_file import ModelFile, ModelFileError, read_model
from cutplane.kernels.sampled_cuts import Reason
from cutplane.kernels.smo_result import SMOStopReason
from cutplane.proof.file import proof_from_file
from cutplane.solvers.result import StopReason

# The estimators that files may hold, imported when a file names one.
_KINDS = (
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVRCV",
    "LinearSVR",
    "LinearOneClassSVM",
    "OrdinalSVC",
    "RankSVM",
    "StringSVC",
    "SequenceSVM",
    "StructuralSVM",
    "KernelStructuralSVM",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "SVC",
    "SampledCutSVC",
    "SVR",
)
_REASONS = {*get_args(StopReason), *get_args(SMOStopReason), *get_args(Reason)}


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted estimator from a model file. Runs no code from the file.

    Parameters
    ----------
    path : path-like
        A file written by `save`.

    Returns
    -------
    estimator
        Equal to what was saved: its predictions are the same to the bit. A parameter that a file cannot hold is a
        marker with its name; a fit asks for it.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is not a Cutplane model or is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> from cutplane import LinearSVC, load
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"]).save(path)
    >>> load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    return restore(read_model(path), path)


def restore(file: ModelFile, path: str | os.PathLike[str] = "The model") -> Any:
    """Return the fitted estimator in `file`; `path` names it in errors."""
    if file.kind not in _KINDS:
        raise ModelFileError(f"{path} holds a model of the kind {file.kind!r}; this version knows {', '.join(_KINDS)}.")
    try:
        return _restore(getattr(estimators, file.kind), file)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(
            f"{path} is a damaged {file.kind} model file, or one of another version ({reason})."
        ) from error


def _restore(kind: Any, file: ModelFile) -> Any:
    metadata = file.metadata
    left_out = {name: LeftOut(name, str(value)) for name, value in metadata["left_out"].items()}
    params = {**metadata["params"], **left_out, **_params_from_file(file.arrays)}
    if any(name in params for name in PLACES):
        raise ValueError("it says where a fit should write, which no model file may")
    model = kind(**params)
    if "n_features_in" in metadata:
        model.n_features_in_ = metadata["n_features_in"]
    if "feature_names_in" in metadata:
        model.feature_names_in_ = np.array(metadata["feature_names_in"], dtype=object)
        if model.feature_names_in_.shape != (model.n_features_in_,):
            raise ValueError("there is not one name per feature")
    if "certificate" in metadata:
        for name, value in _certificate(metadata["certificate"]).items():
            setattr(model, name, value)
    if "history" in metadata:
        model.history_ = history_from_arrays(metadata["history"], file.arrays)
    if "proof" in metadata:
        model.proof_ = proof_from_file(file.arrays, metadata["proof"])
    model._from_file(file.arrays, metadata)
    return model


def _params_from_file(arrays: Arrays) -> Arrays:
    return {name.removeprefix(PARAM): array for name, array in arrays.items() if name.startswith(PARAM)}


def _certificate(stored: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the certificate: numbers, or one entry for each of several problems."""
    bounds = {f"{name}_": np.array(stored[name], dtype=np.float64) for name in BOUNDS}
    shape = bounds["gap_"].shape
    if len(shape) > 1 or any(values.shape != shape for values in bounds.values()):
        raise ValueError("the certificate is not one number per problem")
    check_bounds(bounds["objective_"], bounds["lower_bound_"], bounds["gap_"])
    reasons = list(stored["stop_reason"]) if shape else [stored["stop_reason"]]
    if len(reasons) != (shape[0] if shape else 1) or not set(reasons) <= _REASONS:
        raise ValueError(f"{stored['stop_reason']!r} is no reason to stop")
    return {
        **{name: values if shape else float(values) for name, values in bounds.items()},
        "stop_reason_": reasons if shape else reasons[0],
        "n_iter_": _iterations(stored["n_iter"]),
    }


def _iterations(stored: Any) -> Any:
    """A number, or one for each machine."""
    counts = np.array([int(number) for number in stored] if isinstance(stored, list) else int(stored), dtype=np.int64)
    if (counts < 0).any():
        raise ValueError("a number of iterations is below zero")
    return counts.astype(np.int32) if counts.ndim else int(counts)

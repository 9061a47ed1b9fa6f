"""Fitted estimators as model files, and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cutplane.estimators.common.history_arrays import history_from_arrays, history_to_arrays
from cutplane.estimators.common.left_out import LeftOut, qualified_name
from cutplane.estimators.common.savable import Arrays, Savable, check_bounds
from cutplane.io.model_file import ModelFile, ModelFileError, read_model, write_model
from cutplane.io.plain_json import encode
from cutplane.kernels.sampled_cuts import Reason
from cutplane.kernels.smo import SMOStopReason
from cutplane.proof.file import proof_from_file
from cutplane.solvers.result import StopReason

# The modules of the estimators that files may hold, imported when a file names one.
_KINDS: dict[str, str] = {
    "LinearSVC": "cutplane.estimators.linear.linear_svc",
    "LinearSVCCV": "cutplane.estimators.linear.cross_validation",
    "LinearSVRCV": "cutplane.estimators.linear.cross_validation",
    "LinearSVR": "cutplane.estimators.linear.linear_svr",
    "LinearOneClassSVM": "cutplane.estimators.linear.linear_one_class",
    "OrdinalSVC": "cutplane.estimators.ranking.ordinal_svc",
    "RankSVM": "cutplane.estimators.ranking.rank_svm",
    "StringSVC": "cutplane.estimators.strings.string_svc",
    "SequenceSVM": "cutplane.estimators.structured.sequence_svm",
    "StructuralSVM": "cutplane.estimators.structured.structural_svm",
    "KernelStructuralSVM": "cutplane.estimators.structured.kernel_structural_svm",
    "NuSVC": "cutplane.estimators.kernel.svc",
    "NuSVR": "cutplane.estimators.kernel.svr",
    "OneClassSVM": "cutplane.estimators.kernel.one_class_svm",
    "SVC": "cutplane.estimators.kernel.svc",
    "SampledCutSVC": "cutplane.estimators.kernel.sampled_cut_svc",
    "SVR": "cutplane.estimators.kernel.svr",
}
_BOUNDS = ("objective", "lower_bound", "gap")
_PARAM = "param."
# They do not make the model: whoever watches, and how chance goes on.
_FORGOTTEN = ("on_step", "random_state")
# Where a fit writes is the business of whoever runs it: no file says it.
_PLACES = ("checkpoint",)
_REASONS = {*get_args(StopReason), *get_args(SMOStopReason), *get_args(Reason)}


def save(
    model: Savable, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None, proof: bool | None = None
) -> None:
    """Write a fitted estimator to a model file, with the certificate of its training.

    Parameters
    ----------
    model : estimator
        A fitted estimator. An ``on_step`` function, the name of a checkpoint and a random generator are left out:
        the loaded estimator has their defaults. Of other parameters that are no data, such as a loss of your own, the
        name is kept: the loaded estimator predicts, and says what to set before another fit.
    path : path-like
        Where to write; an existing file is replaced once the new one is complete.
    notes : mapping, optional
        Anything JSON can hold to keep with the model, such as where the data came from.
    proof : bool, optional
        Whether the file holds the model's proof. By default it does if there is one; True asks for one.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    check_is_fitted(model)
    arrays, metadata = model._to_file()
    param_arrays, params, left_out = _params_to_file(model)
    metadata |= {"params": params, "left_out": left_out, "notes": dict(notes or {})}
    if hasattr(model, "n_features_in_"):
        metadata["n_features_in"] = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        metadata["feature_names_in"] = [str(name) for name in model.feature_names_in_]
    if hasattr(model, "gap_"):
        metadata["certificate"] = {name: getattr(model, f"{name}_") for name in (*_BOUNDS, "n_iter", "stop_reason")}
    history_arrays: Arrays = {}
    if hasattr(model, "history_"):
        history_arrays, metadata["history"] = history_to_arrays(model.history_)
    proof_arrays = _proof_to_file(model, proof, metadata)
    everything = {**arrays, **param_arrays, **history_arrays, **proof_arrays}
    write_model(path, kind=type(model).__name__, arrays=everything, metadata=metadata)


def _proof_to_file(model: Any, wanted: bool | None, metadata: dict[str, Any]) -> Arrays:
    """The proof's arrays, its other parts put into the metadata."""
    kept = getattr(model, "proof_", None)
    if wanted and kept is None:
        raise ValueError(
            f"This {type(model).__name__} has no proof to save: train with keep_proof=True, or call model.proof(X, y)."
        )
    if kept is None or wanted is False:
        return {}
    arrays: Arrays
    arrays, metadata["proof"] = kept.to_file()
    return arrays


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
    >>> from cutplane import LinearSVC
    >>> from cutplane.estimators.common.persistence import load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> save(LinearSVC().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    return restore(read_model(path), path)


def restore(file: ModelFile, path: str | os.PathLike[str] = "The model") -> Any:
    """Return the fitted estimator in `file`; `path` names it in errors."""
    if file.kind not in _KINDS:
        raise ModelFileError(f"{path} holds a model of the kind {file.kind!r}; this version knows {', '.join(_KINDS)}.")
    try:
        return _restore(getattr(import_module(_KINDS[file.kind]), file.kind), file)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(
            f"{path} is a damaged {file.kind} model file, or one of another version ({reason})."
        ) from error


def _restore(kind: Any, file: ModelFile) -> Any:
    metadata = file.metadata
    left_out = {name: LeftOut(name, str(value)) for name, value in metadata["left_out"].items()}
    params = {**metadata["params"], **left_out, **_params_from_file(file.arrays)}
    if any(name in params for name in _PLACES):
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


def _params_to_file(model: Any) -> tuple[Arrays, dict[str, Any], dict[str, str]]:
    """The parameters that are data: arrays of numbers as arrays, others as JSON. And the names of what is left out."""
    arrays: Arrays = {}
    plain: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, value in model.get_params(deep=False).items():
        if name in _PLACES:
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            arrays[_PARAM + name] = np.ascontiguousarray(value)
        elif _is_plain(value):
            plain[name] = value
        elif name not in _FORGOTTEN:
            left_out[name] = qualified_name(value)
    return arrays, plain, left_out


def _params_from_file(arrays: Arrays) -> Arrays:
    return {name.removeprefix(_PARAM): array for name, array in arrays.items() if name.startswith(_PARAM)}


def _is_plain(value: object) -> bool:
    try:
        encode(value)
    except TypeError:
        return False
    return True


def _certificate(stored: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the certificate: numbers, or one entry for each of several problems."""
    bounds = {f"{name}_": np.array(stored[name], dtype=np.float64) for name in _BOUNDS}
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

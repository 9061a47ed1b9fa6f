"""Fitted estimators as model files; `cutplane.estimators.loading` brings them back."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, Params
from cutplane.estimators.common.history_arrays import history_to_arrays
from cutplane.estimators.common.left_out import qualified_name
from cutplane.estimators.common.stored import Stored
from cutplane.io.model_file import write_model
from cutplane.io.plain_json import encode

BOUNDS = ("objective", "lower_bound", "gap")
PARAM = "param."
# They do not make the model: whoever watches, and how chance goes on.
_FORGOTTEN = ("on_step", "random_state")
# Where a fit writes is the business of whoever runs it: no file says it.
PLACES = ("checkpoint",)


def save(
    model: Stored, path: str | os.PathLike[str], *, notes: Mapping[str, object] | None = None, proof: bool | None = None
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
        metadata["certificate"] = {name: getattr(model, f"{name}_") for name in (*BOUNDS, "n_iter", "stop_reason")}
    history_arrays: Arrays = {}
    if hasattr(model, "history_"):
        history_arrays, metadata["history"] = history_to_arrays(model.history_)
    proof_arrays = _proof_to_file(model, proof, metadata)
    everything = {**arrays, **param_arrays, **history_arrays, **proof_arrays}
    write_model(path, kind=type(model).__name__, arrays=everything, metadata=metadata)


def _proof_to_file(model: BaseEstimator, wanted: bool | None, metadata: Document) -> Arrays:
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


def _params_to_file(model: BaseEstimator) -> tuple[Arrays, Params, dict[str, str]]:
    """The parameters that are data: arrays of numbers as arrays, others as JSON. And the names of what is left out."""
    arrays: Arrays = {}
    plain: dict[str, object] = {}
    left_out: dict[str, str] = {}
    for name, value in model.get_params(deep=False).items():
        if name in PLACES:
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            arrays[PARAM + name] = np.ascontiguousarray(value)
        elif _is_plain(value):
            plain[name] = value
        elif name not in _FORGOTTEN:
            left_out[name] = qualified_name(value)
    return arrays, plain, left_out


def _is_plain(value: object) -> bool:
    try:
        encode(value)
    except TypeError:
        return False
    return True

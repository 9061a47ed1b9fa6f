"""Fitted estimators as model files; `cutplane.estimators.restoring` brings them back."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cutplane._types import Arrays, Document, Params
from cutplane.estimators.common.certificate_files import certificates_to_file
from cutplane.estimators.common.left_out import qualified_name
from cutplane.estimators.common.stored import Stored
from cutplane.io.model_file import write_model
from cutplane.io.plain_json import encode
from cutplane.plain.document import Beside, to_document

PARAM = "param."
# They do not make the model: whoever watches, how chance goes on, and rows that said when to stop.
_FORGOTTEN = ("on_step", "random_state", "certain_on")
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
    certificate_arrays, metadata["certificates"] = certificates_to_file(model.certificates_)
    proof_arrays = _proof_to_file(model, proof, metadata)
    plain_arrays = _plain_to_file(model, arrays, metadata)
    everything = {**arrays, **param_arrays, **certificate_arrays, **proof_arrays, **plain_arrays}
    write_model(path, kind=type(model).__name__, arrays=everything, metadata=metadata)


def _plain_to_file(model: Stored, arrays: Arrays, metadata: Document) -> Arrays:
    """The arrays that the plain form has besides those of the model, its description put into the metadata."""
    try:
        form = model.plain_form()
    except ValueError:  # there is none: plain=True will say so
        return {}
    beside = Beside(arrays)
    metadata["plain"] = to_document(form, beside)
    return beside.added


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

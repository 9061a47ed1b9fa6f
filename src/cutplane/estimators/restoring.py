"""Fitted estimators out of model files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from cutplane import estimators
from cutplane.estimators.common.certificate_files import certificates_from_file
from cutplane.estimators.common.left_out import LeftOut, qualified_name, same_name
from cutplane.estimators.common.persistence import PARAM, PLACES
from cutplane.estimators.common.stored import Arrays
from cutplane.io.model_file import ModelFile, ModelFileError
from cutplane.proof.file import proof_from_file

# The estimators that files may hold, imported when a file names one.
_KINDS = (
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVRCV",
    "LinearSVR",
    "LinearOneClassSVM",
    "LogisticRegression",
    "LogisticRegressionCV",
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


def restore(
    file: ModelFile, path: str | os.PathLike[str] = "The model", given: Mapping[str, object] | None = None
) -> Any:
    """Return the fitted estimator in `file`, with what is `given` of it; `path` names it in errors."""
    if file.kind not in _KINDS:
        raise ModelFileError(f"{path} holds a model of the kind {file.kind!r}; this version knows {', '.join(_KINDS)}.")
    try:
        model = _restore(getattr(estimators, file.kind), file)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(
            f"{path} is a damaged {file.kind} model file, or one of another version ({reason})."
        ) from error
    if given:
        _check_given(file.metadata["left_out"], given, path)
        model.set_params(**given)
    return model


def _check_given(left_out: Mapping[str, str], given: Mapping[str, object], path: str | os.PathLike[str]) -> None:
    """Refuse what the file holds itself, and what the model was not trained with."""
    for name, value in given.items():
        if name not in left_out:
            known = f"those left out are {', '.join(left_out)}" if left_out else "it leaves none out"
            raise ModelFileError(f"{path} needs no {name} of yours: {known}.")
        if not same_name(left_out[name], value):
            raise ModelFileError(
                f"{path} was trained with {name}={left_out[name]}; {qualified_name(value)} is something else."
            )


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
    if "proof" in metadata:
        model.proof_ = proof_from_file(file.arrays, metadata["proof"])
    model._from_file(file.arrays, metadata)
    described = metadata["certificates"]
    model.certificates_ = certificates_from_file(described, file.arrays, model._problem_labels())
    return model


def _params_from_file(arrays: Arrays) -> Arrays:
    return {name.removeprefix(PARAM): array for name, array in arrays.items() if name.startswith(PARAM)}

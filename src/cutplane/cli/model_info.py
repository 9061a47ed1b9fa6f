"""`cutplane info`: what a model file holds."""

from __future__ import annotations

import numpy as np
import typer
from sklearn.base import BaseEstimator

from cutplane.cli import exit_codes
from cutplane.cli.config import as_toml
from cutplane.cli.data import read_fitted
from cutplane.cli.info import InfoOptions
from cutplane.cli.output import print_facts, print_json
from cutplane.cli.summary import certificate_facts, certificate_json, label_list
from cutplane.io.model_file import ModelFile


def info(options: InfoOptions, context: typer.Context) -> int:
    """Print what the file says."""
    model_path = options.model_path
    model, file = read_fitted(model_path)
    if options.reproduce:
        return _reproduce(file, options)
    kernel = hasattr(model, "support_")
    nonzero = int(np.sum(model.n_support_)) if kernel else np.count_nonzero(model.coef_)
    params = file.metadata["params"]
    if options.as_json:
        print_json(
            {
                "model": model_path,
                "kind": file.kind,
                "library_version": file.library_version,
                "format_version": file.format_version,
                "params": params,
                "n_support_vectors" if kernel else "n_nonzero_weights": nonzero,
                **certificate_json(model),
            }
        )
        return exit_codes.OK
    defaults = type(model)().get_params(deep=False)
    chosen = [f"{name}={value!r}" for name, value in params.items() if name == "C" or value != defaults[name]]
    chosen += [f"{name}={getattr(model, name)!r}" for name in file.metadata["left_out"]]
    print_facts(
        [
            ("model", f"{file.kind}({', '.join(chosen)})"),
            ("written by", f"Cutplane {file.library_version}, file format {file.format_version}"),
            (
                "features",
                f"{_features(model):,} ({nonzero:,} {'support vectors' if kernel else 'weights are not zero'})",
            ),
            *([("classes", label_list(model.classes_))] if hasattr(model, "classes_") else []),
            *certificate_facts(model),
        ]
    )
    return exit_codes.OK


def _reproduce(file: ModelFile, options: InfoOptions) -> int:
    notes = file.metadata.get("notes")
    given = notes.get("options") if isinstance(notes, dict) else None
    if not isinstance(given, dict):
        raise ValueError(f"{options.model_path} does not know how it was trained: 'cutplane train' has not written it.")
    print(f"# cutplane train --config FILE, with Cutplane {file.library_version}\n{as_toml(given)}", end="")
    return exit_codes.OK


def _features(model: BaseEstimator) -> int:
    """Numbers of features, or of weights where a structured model makes its own features."""
    return int(model.n_features_in_ if hasattr(model, "n_features_in_") else np.size(model.coef_))

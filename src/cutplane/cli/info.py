"""`cutplane info`: what a model file holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.cli import exit_codes
from cutplane.cli.data import label_list, read_fitted
from cutplane.cli.options import DebugOption, JsonOption, ModelArgument
from cutplane.cli.output import plain_label, print_facts, print_json
from cutplane.cli.training import explain_stop
from cutplane.estimators.linear_svc import LinearSVC
from cutplane.io.model_file import ModelFile
from cutplane.report.certificate import proven_within


def info(model_path: ModelArgument, as_json: JsonOption = False, _debug: DebugOption = False) -> int:
    """Show a model's kind, parameters and certificate."""
    model, file = read_fitted(model_path)
    if as_json:
        print_json({"model": model_path, **_as_json(model, file)})
        return exit_codes.OK
    params = file.metadata["params"]
    defaults = LinearSVC().get_params(deep=False)
    chosen = [f"{name}={value!r}" for name, value in params.items() if name == "C" or value != defaults[name]]
    print_facts(
        [
            ("model", f"{file.kind}({', '.join(chosen)})"),
            ("written by", f"Cutplane {file.library_version}, file format {file.format_version}"),
            (
                "features",
                f"{model.n_features_in_:,} ({np.count_nonzero(model.coef_):,} weights are not zero)",
            ),
            ("classes", label_list(model.classes_)),
            ("certificate", proven_within(float(model.gap_))),
            ("objective", f"{model.lower_bound_:.8g} ≤ optimum ≤ {model.objective_:.8g}, this model's"),
            ("stopped", explain_stop(model)),
        ]
    )
    return exit_codes.OK


def _as_json(model: LinearSVC, file: ModelFile) -> dict[str, Any]:
    return {
        "kind": file.kind,
        "library_version": file.library_version,
        "format_version": file.format_version,
        "params": file.metadata["params"],
        "n_features": model.n_features_in_,
        "n_nonzero_weights": np.count_nonzero(model.coef_),
        "classes": [plain_label(label) for label in model.classes_],
        "objective": model.objective_,
        "lower_bound": model.lower_bound_,
        "gap": model.gap_,
        "stop_reason": model.stop_reason_,
        "n_iter": model.n_iter_,
    }

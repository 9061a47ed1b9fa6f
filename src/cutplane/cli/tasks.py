"""The tasks by name: the module of each, which is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer

from cutplane.cli.divided import Divided
from cutplane.cli.options import Task

# Each has a function `train` that takes the request, `model_for` that makes the estimator, and `DIVIDED`.
_TASKS = {
    Task.classes: "cutplane.cli.classification",
    Task.ordinal: "cutplane.cli.ordinal",
    Task.rank: "cutplane.cli.ranking",
    Task.strings: "cutplane.cli.strings",
    Task.sequence: "cutplane.cli.sequences",
    Task.regression: "cutplane.cli.regression",
}


def module_for(request: Any) -> Any:
    """The module that trains what was asked for."""
    return import_module(_TASKS[request.task] if request.kernel is None else "cutplane.cli.kernels")


def divided(request: Any) -> Divided:
    """What there is to know of the task for folds."""
    if request.kernel is not None and request.task is Task.sequence:
        raise typer.BadParameter(
            "is not for folds of --task sequence; 'cutplane train --test FILE' judges such a model.",
            param_hint="--kernel",
        )
    found: Divided = import_module(_TASKS[request.task]).DIVIDED
    return found

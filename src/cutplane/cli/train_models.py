"""`cutplane train`: what was asked for is checked, and handed to the task."""

from __future__ import annotations

import shlex
from importlib import import_module
from pathlib import Path

import typer

from cutplane.cli.config import recorded
from cutplane.cli.options import Task
from cutplane.cli.outputs import check_model_output, check_plot_output, check_report_output
from cutplane.cli.request import TrainRequest
from cutplane.cli.scopes import check_scopes
from cutplane.cli.tables import table_kind
from cutplane.cli.tasks import module_for
from cutplane.cli.train import TrainOptions


def train(options: TrainOptions, context: typer.Context) -> int:
    """Check the options, train, and return the exit status."""
    words = shlex.join(["cutplane", *(context.find_root().obj or [])])
    request = TrainRequest(**vars(options), command=words, given_options=recorded(context))
    check_scopes(request, context)
    _check_files(request)
    _check_checkpoint(request)
    status: int
    if request.dask is not None or request.workers is not None:
        status = import_module("cutplane.cli.on_cluster").train(request)
    else:
        status = module_for(request).train(request)
    return status


def _check_files(request: TrainRequest) -> None:
    """Refuse files that cannot be written, or that the command would overwrite."""
    inputs = [request.data, *(each for each in (request.test, request.feature_names) if each is not None)]
    check_model_output(request.model_path, inputs=inputs)
    written = [request.model_path]
    if request.checkpoint is not None and _is_among(request.checkpoint, [*inputs, *written]):
        raise typer.BadParameter("needs a file of its own, beside DATA and MODEL.", param_hint="--checkpoint")
    if request.plot is not None:
        check_plot_output(request.plot, inputs=[*inputs, *written])
        written.append(request.plot)
    if request.report_path is not None:
        check_report_output(request.report_path, inputs=[*inputs, *written])
    elif request.feature_names is not None:
        raise typer.BadParameter("is for reports: give --report too.", param_hint="--feature-names")
    if request.target is None and table_kind(request.files) is not None:
        raise typer.BadParameter("names the column to learn, which tables need.", param_hint="--target")


def _is_among(path: Path, others: list[Path]) -> bool:
    return path.resolve() in [other.resolve() for other in others]


def _check_checkpoint(request: TrainRequest) -> None:
    """Refuse checkpoints of models that have none."""
    if request.checkpoint is not None and request.kernel is not None:
        raise typer.BadParameter("is for models without --kernel.", param_hint="--checkpoint")
    if request.checkpoint is not None and request.task is Task.sequence and request.method != "oca":
        raise typer.BadParameter("needs --method oca with --task sequence.", param_hint="--checkpoint")

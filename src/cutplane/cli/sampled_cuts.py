"""`cutplane train --kernel --sampled-cuts`: classes and label sequences with kernels, by cuts of sampled examples."""

from __future__ import annotations

import time

import numpy as np
import typer

from cutplane._types import Params
from cutplane.cli.classification import refuse_targets
from cutplane.cli.named_sequences import token_rows
from cutplane.cli.output import warn
from cutplane.cli.request import TrainRequest
from cutplane.cli.sequences import SequenceRun, read_sequences
from cutplane.cli.settings import Settings
from cutplane.cli.training import fit, fit_until_stopped, quietly
from cutplane.cli.watch import watched
from cutplane.estimators.kernel.sampled_cut_svc import SampledCutSVC
from cutplane.estimators.structured.kernel_structural_svm import KernelStructuralSVM
from cutplane.report.progress import TrainingProgress
from cutplane.structured.chain import ChainModel
from cutplane.structured.tokens import Vocabulary

_MEGABYTE = 1 << 20


def train(request: TrainRequest) -> int:
    """Train a kernel classifier on the examples of an svmlight file."""
    examples = request.read()
    refuse_targets(request.data, examples.y)
    _check_n_samples_cut(request, len(examples.y))
    held_out, names = request.read_test(examples), request.read_names(examples)
    model = model_for(request)
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch, problems=1)
    return request.finish(run, notes=request.notes(examples), train=examples, held_out=held_out, names=names)


def model_for(settings: Settings) -> SampledCutSVC:
    """The estimator that the options ask for, not trained."""
    return SampledCutSVC(**_params(settings), **settings.device_params(), method=_cuts(settings, "linear"))


def train_sequences(request: TrainRequest) -> int:
    """Train a chain with kernelised emissions on the last column of a token file."""
    (names, y, *_), template, columns = read_sequences(request)
    _check_n_samples_cut(request, len(y))
    vocabulary = Vocabulary()
    X = token_rows(vocabulary, names, grow=True)
    labels, codes = np.unique(np.array([label for labels in y for label in labels]), return_inverse=True)
    if len(labels) < 2:
        raise ValueError(f"{request.data} has the label {labels[0]} only; two or more are needed.")
    truth = np.split(codes, np.cumsum([len(labels) for labels in y])[:-1])
    chain = ChainModel(len(labels), X[0].shape[1])
    model = KernelStructuralSVM(chain, **_params(request), method=_cuts(request, "exact"))
    start = time.perf_counter()
    progress = TrainingProgress(model.risk_tol, enabled=not request.quiet)
    watching = watched(request.watch, model, model.risk_tol, progress)
    with progress, quietly() as caught, watching as on_step:
        fit_until_stopped(model.set_params(on_step=on_step), X, truth)
    model.set_params(on_step=None)
    for message in caught():
        warn(message)
    run = SequenceRun(model, len(X), time.perf_counter() - start, sum(map(len, y)), labels.tolist())
    notes = {"template": template.text, "columns": columns, "names": vocabulary.names, "labels": labels.tolist()}
    return request.finish(run, notes=notes)


def _cuts(request: Settings, usual: str) -> str:
    return usual if request.sampled_cuts is None else request.sampled_cuts.value


def _check_n_samples_cut(request: TrainRequest, n: int) -> None:
    size = request.n_samples_cut
    if size is not None and size > n:
        raise typer.BadParameter(
            f"{size} is more than the {n:,} examples of {request.data}; a sample has at most as many.",
            param_hint="--n-samples-cut",
        )


def _params(request: Settings) -> Params:
    return {
        **request.given("C", "max_iter", "time_limit", "risk_tol"),
        **request.kernel_params(),
        "n_samples_cut": request.n_samples_cut,
        "memory": None if request.cache_size is None else max(1, int(request.cache_size * _MEGABYTE)),
        "n_jobs": request.threads,
    }

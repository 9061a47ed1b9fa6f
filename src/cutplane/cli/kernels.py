"""`cutplane train --kernel`: kernel machines for classes and for regression."""

from __future__ import annotations

import numpy as np

from cutplane._types import Params
from cutplane.cli.classification import refuse_targets
from cutplane.cli.options import Task
from cutplane.cli.request import TrainRequest
from cutplane.cli.training import fit
from cutplane.estimators.kernel.svc import SVC
from cutplane.estimators.kernel.svr import SVR
from cutplane.report.trained import problem_name


def train(request: TrainRequest) -> int:
    """Train a kernel machine on the examples of a file, or label sequences."""
    if request.task is Task.regression:
        return _train_regression(request)
    if request.task is Task.sequence or request.sampled_cuts is not None:
        from cutplane.cli import sampled_cuts

        by_cuts = sampled_cuts.train_sequences if request.task is Task.sequence else sampled_cuts.train
        return by_cuts(request)
    examples = request.read()
    refuse_targets(request.data, examples.y)
    model = SVC(**_params(request), class_weight=request.weights(examples.y), probability=request.probability)
    held_out, names = request.read_test(examples), request.read_names(examples)
    run = fit(model, examples.X, examples.y, quiet=request.quiet)
    labels = [problem_name(each.problem) for each in model.certificates_]
    return request.finish(
        run,
        notes=request.notes(examples),
        labels=labels,
        train=examples,
        held_out=held_out,
        names=names,
    )


def _train_regression(request: TrainRequest) -> int:
    examples = request.read()
    model = SVR(**_params(request), epsilon=request.epsilon)
    held_out, names = request.read_test(examples), request.read_names(examples)
    run = fit(model, examples.X, examples.y.astype(np.float64), quiet=request.quiet)
    return request.finish(run, notes=request.notes(examples), train=examples, held_out=held_out, names=names)


def _params(request: TrainRequest) -> Params:
    return {
        **request.given("C", "tol", "max_iter", "time_limit"),
        **request.kernel_params(),
        "cache_size": request.cache_size,
        "n_jobs": request.threads,
        "keep_proof": request.proof,
    }

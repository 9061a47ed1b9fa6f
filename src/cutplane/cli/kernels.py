"""`cutplane train --kernel`: kernel machines for classes and for regression."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from cutplane._types import Labels
from cutplane.cli.classification import refuse_targets
from cutplane.cli.options import Task
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
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
    model = model_for(request, examples.y).set_params(keep_proof=request.proof)
    held_out, names = request.read_test(examples), request.read_names(examples)
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch)
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
    model = model_for(request, examples.y).set_params(keep_proof=request.proof)
    held_out, names = request.read_test(examples), request.read_names(examples)
    run = fit(model, examples.X, examples.y.astype(np.float64), quiet=request.quiet, watch=request.watch)
    return request.finish(run, notes=request.notes(examples), train=examples, held_out=held_out, names=names)


def model_for(settings: Settings, y: Labels) -> BaseEstimator:
    """The estimator that the options ask for, not trained."""
    if settings.sampled_cuts is not None:
        from cutplane.cli import sampled_cuts

        return sampled_cuts.model_for(settings)
    shared = {
        **settings.given("C", "tol", "max_iter", "time_limit"),
        **settings.kernel_params(),
        "cache_size": settings.cache_size,
        "n_jobs": settings.threads,
        **settings.device_params(),
    }
    if settings.task is Task.regression:
        return SVR(**shared, epsilon=settings.epsilon)
    return SVC(**shared, class_weight=settings.weights(y), probability=settings.probability)

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


def train(request: TrainRequest, task: Task) -> int:
    """Train a kernel classifier on the examples of an svmlight file, or label sequences."""
    _refuse_linear_options(request)
    if request.kernel is not None and (task is Task.sequence or request.kernel.sampled_cuts is not None):
        from cutplane.cli import sampled_cuts

        return sampled_cuts.train_sequences(request) if task is Task.sequence else sampled_cuts.train(request)
    examples = request.read()
    refuse_targets(request.data, examples.y)
    assert request.kernel is not None
    model = SVC(**_params(request), class_weight=request.class_weight, probability=request.kernel.probability)
    held_out, names = request.read_for_report(examples)
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch)
    labels = [problem_name(each.problem) for each in model.certificates_]
    return request.finish(
        run,
        notes={"zero_based": examples.zero_based},
        labels=labels,
        train=examples,
        held_out=held_out,
        names=names,
    )


def train_regression(request: TrainRequest) -> int:
    """Train a kernel regression on the examples of an svmlight file."""
    _refuse_linear_options(request)
    examples = request.read()
    assert request.kernel is not None
    model = SVR(**_params(request), epsilon=request.kernel.epsilon)
    held_out, names = request.read_for_report(examples)
    run = fit(model, examples.X, examples.y.astype(np.float64), quiet=request.quiet, watch=request.watch)
    return request.finish(
        run, notes={"zero_based": examples.zero_based}, train=examples, held_out=held_out, names=names
    )


def _refuse_linear_options(request: TrainRequest) -> None:
    given = {
        "--method": request.method != "auto",
        "--line-search": request.line_search is not None,
        "--no-intercept": not request.fit_intercept,
        "--intercept-scaling": request.intercept_scaling is not None,
    }
    for option in given:
        if given[option]:
            raise ValueError(f"{option} is for linear models; leave it out with --kernel.")


def _params(request: TrainRequest) -> Params:
    kernel = request.kernel
    assert kernel is not None
    return {
        **request.given("C", "tol", "max_iter", "time_limit"),
        **kernel.kernel_params(),
        "cache_size": kernel.cache_size,
        "n_jobs": request.threads,
        "keep_proof": request.proof,
    }

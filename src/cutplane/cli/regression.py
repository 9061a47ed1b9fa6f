"""`cutplane train` for targets that are numbers."""

from __future__ import annotations

from cutplane._types import Labels
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
from cutplane.cli.training import fit
from cutplane.estimators.linear.linear_svr import LinearSVR


def train(request: TrainRequest) -> int:
    """Train a regression on the examples of an svmlight file."""
    examples = request.read()
    held_out, names = request.read_test(examples), request.read_names(examples)
    model = model_for(request, examples.y).set_params(keep_proof=request.proof)
    run = fit(model, examples.X, examples.y.astype(float), quiet=request.quiet, watch=request.watch)
    return request.finish(run, notes=request.notes(examples), train=examples, held_out=held_out, names=names)


def model_for(settings: Settings, y: Labels) -> LinearSVR:
    """The estimator that the options ask for, not trained."""
    return LinearSVR(**settings.solver_params(), **settings.loss_params(), **settings.intercept_params())

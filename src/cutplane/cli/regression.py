"""`cutplane train` for targets that are numbers."""

from __future__ import annotations

from cutplane.cli.request import TrainRequest
from cutplane.cli.training import fit
from cutplane.estimators.linear.linear_svr import LinearSVR


def train(request: TrainRequest) -> int:
    """Train a regression on the examples of an svmlight file."""
    examples = request.read()
    held_out, names = request.read_for_report(examples)
    model = LinearSVR(
        **request.solver_params(),
        **request.loss_params(),
        fit_intercept=request.fit_intercept,
        intercept_scaling=request.intercept_scaling,
        keep_proof=request.proof,
    )
    run = fit(model, examples.X, examples.y.astype(float), quiet=request.quiet, watch=request.watch)
    return request.finish(
        run, notes={"zero_based": examples.zero_based}, train=examples, held_out=held_out, names=names
    )

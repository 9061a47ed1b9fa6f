"""`cutplane train` for targets that are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane._types import Labels
from cutplane.cli.data import Examples
from cutplane.cli.divided import Divided, Measured, Read, Reading, number_notes, read_numbers, shuffled
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


def _read(reading: Reading) -> Read:
    examples = read_numbers(reading)
    if examples.y.dtype.kind not in "biuf":
        raise ValueError(f"{reading.data} has the target {examples.y[0]!s}, but regression needs numbers.")
    return Read(examples._replace(y=examples.y.astype(np.float64)), number_notes(reading, examples))


def _measure(model: Any, examples: Examples) -> Measured:
    errors = examples.y - model.predict(examples.X)
    spread = float(np.sum((examples.y - examples.y.mean()) ** 2))
    share = 1.0 - float(errors @ errors) / spread if spread > 0.0 else np.nan
    return Measured({"R²": share, "negative MAE": -float(np.mean(np.abs(errors)))})


DIVIDED = Divided(_read, shuffled, _measure, chooser="LinearSVRCV")

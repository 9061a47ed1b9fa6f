"""`cutplane train` for classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from cutplane._types import Labels
from cutplane.cli.data import Examples, whole_labels
from cutplane.cli.divided import Divided, Measured, Read, Reading, number_notes, read_numbers, stratified
from cutplane.cli.request import TrainRequest
from cutplane.cli.settings import Settings
from cutplane.cli.training import fit
from cutplane.estimators.linear.linear_svc import LinearSVC
from cutplane.sources.mapped import CsrRows, MappedSource


def train(request: TrainRequest) -> int:
    """Train a classifier on the examples of an svmlight file, or of a folder of converted ones."""
    examples = _converted(request) if request.data.is_dir() else request.read()
    refuse_targets(request.data, examples.y)
    held_out, names = request.read_test(examples), request.read_names(examples)
    model = model_for(request, examples.y).set_params(keep_proof=request.proof)
    if request.until_certain is not None:
        assert held_out is not None  # checked with the other options
        model.set_params(certain_on=(held_out.X, share(request.until_certain)))
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch)
    return request.finish(
        run,
        notes=request.notes(examples),
        labels=list(model.classes_),
        train=examples,
        held_out=held_out,
        names=names,
    )


def model_for(settings: Settings, y: Labels) -> LinearSVC:
    """The estimator that the options ask for, not trained."""
    return LinearSVC(
        **settings.solver_params(),
        **settings.loss_params(),
        **settings.intercept_params(),
        **settings.given("multi_class"),
        class_weight=settings.weights(y),
        calibration="sigmoid" if settings.probability else None,
    )


def share(text: str) -> float:
    """A share of examples: 99.9% or 0.999."""
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 < value <= 1.0:
        raise typer.BadParameter(f"{text!r} is no share of examples, such as 99.9%.", param_hint="--until-certain")
    return value


def _converted(request: TrainRequest) -> Examples:
    """What `cutplane convert` has written, left in its folder: it need not fit into memory."""
    rows = CsrRows(request.data)
    return Examples(MappedSource(rows, n_threads=request.threads or 0), whole_labels(rows.labels), None)


def refuse_targets(path: Path, y: NDArray[np.generic]) -> None:
    """Say it plainly when a file for regression is given; scikit-learn's words take three lines."""
    if y.dtype.kind == "f":
        odd = y[np.rint(y) != y]
        example = odd[0] if len(odd) else y[np.argmax(np.abs(y))]
        raise ValueError(
            f"{path} has the label {example:g}, but classes are whole numbers below 2^53 in size; --task regression "
            "learns other numbers."
        )


def read_classes(reading: Reading) -> Read:
    """The examples of an svmlight file or of a table, whose labels are classes."""
    examples = read_numbers(reading)
    refuse_targets(reading.data, examples.y)
    return Read(examples, number_notes(reading, examples))


def measure_classes(model: Any, examples: Examples) -> Measured:
    """Accuracy, F1 and the area under the ROC curve."""
    from cutplane.report.evaluation import evaluate

    said = model.predict(examples.X)
    found = evaluate(examples.y, said, np.asarray(model.decision_function(examples.X)), model.classes_)
    area = np.nan if found.roc_area is None else found.roc_area
    return Measured({"accuracy": found.accuracy, "F1": found.f1, "area under ROC": area}, said)


DIVIDED = Divided(read_classes, stratified, measure_classes, chooser="LinearSVCCV")

"""`cutplane train` for classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cutplane.cli.data import Examples, whole_labels
from cutplane.cli.request import TrainRequest
from cutplane.cli.training import fit
from cutplane.estimators.linear.linear_svc import LinearSVC
from cutplane.sources.mapped import CsrRows, MappedSource


def train(request: TrainRequest) -> int:
    """Train a classifier on the examples of an svmlight file, or of a folder of converted ones."""
    examples = _converted(request) if request.data.is_dir() else request.read()
    refuse_targets(request.data, examples.y)
    held_out, names = request.read_for_report(examples)
    model = LinearSVC(
        **request.solver_params(),
        **request.loss_params(),
        fit_intercept=request.fit_intercept,
        intercept_scaling=request.intercept_scaling,
        keep_proof=request.proof,
        class_weight=request.class_weight,
        calibration="sigmoid" if request.probability else None,
    )
    run = fit(model, examples.X, examples.y, quiet=request.quiet, watch=request.watch)
    return request.finish(
        run,
        notes={"zero_based": examples.zero_based},
        labels=list(model.classes_),
        train=examples,
        held_out=held_out,
        names=names,
    )


def _converted(request: TrainRequest) -> Examples:
    """What `cutplane convert` has written, left in its folder: it need not fit into memory."""
    rows = CsrRows(request.data)
    return Examples(MappedSource(rows, n_threads=request.threads or 0), whole_labels(rows.labels), None)


def refuse_targets(path: Path, y: NDArray[np.generic]) -> None:
    """Say it plainly when a file for regression is given; scikit-learn's words take three lines."""
    if y.dtype.kind == "f":
        odd = y[np.rint(y) != y]
        example = odd[0] if len(odd) else y[np.argmax(np.abs(y))]
        raise ValueError(f"{path} has the label {example:g}, but classes are whole numbers below 2^53 in size.")

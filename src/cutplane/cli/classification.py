"""`cutplane train` for classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.cli.data import read_data
from cutplane.cli.request import TrainRequest
from cutplane.cli.training import fit
from cutplane.estimators.linear_svc import LinearSVC


def train(request: TrainRequest) -> int:
    """Train a classifier on the examples of an svmlight file."""
    examples = read_data(
        request.data,
        zero_based=request.zero_based,
        threads=request.threads,
        n_features=request.n_features,
        quiet=request.quiet,
    )
    refuse_targets(request.data, examples.y)
    model = LinearSVC(
        **request.solver_params(),
        fit_intercept=request.fit_intercept,
        intercept_scaling=request.intercept_scaling,
        class_weight=request.class_weight,
    )
    run = fit(model, examples.X, examples.y, quiet=request.quiet)
    return request.finish(run, notes={"zero_based": examples.zero_based}, labels=list(model.classes_))


def refuse_targets(path: Path, y: NDArray[Any]) -> None:
    """Say it plainly when a file for regression is given; scikit-learn's words take three lines."""
    if y.dtype.kind == "f":
        odd = y[np.rint(y) != y]
        example = odd[0] if len(odd) else y[np.argmax(np.abs(y))]
        raise ValueError(f"{path} has the label {example:g}, but classes are whole numbers below 2^53 in size.")

"""`cutplane predict`: labels, and scores if wanted, for the examples of a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy.sparse as sp
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane._types import Label
from cutplane.cli import exit_codes, sequences
from cutplane.cli.data import read_data_for, read_fitted
from cutplane.cli.options import (
    DataArgument,
    DebugOption,
    JsonOption,
    ModelArgument,
    ThreadsOption,
    ZeroBasedOption,
)
from cutplane.cli.output import plain_label, print_json
from cutplane.cli.outputs import check_text_output
from cutplane.io.atomic import replace_file


def predict(
    model_path: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write there, not to stdout.", show_default=False),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="After each label, the decision value (more than two classes: one per class)."),
    ] = False,
    threads: ThreadsOption = None,
    zero_based: ZeroBasedOption = None,
    as_json: JsonOption = False,
    _debug: DebugOption = False,
) -> int:
    """Predict the label of each example in DATA, one per line.

    The labels in DATA are not looked at; any number will do. With --scores the columns are separated
    by tabs.
    """
    if output is not None:
        check_text_output(output, inputs=[model_path, data])
    model, file = read_fitted(model_path)
    labeller = sequences.labeller(model, file)
    if labeller is not None:
        return sequences.predict(labeller, file, data, output, as_json=as_json)
    X = read_data_for(model, file, data, zero_based=zero_based, threads=threads).X
    if scores and not hasattr(model, "decision_function"):
        raise ValueError(f"{model_path} is a regression: its predictions are its scores; leave out --scores.")
    labels = [plain_label(label) for label in model.predict(X)]
    values = _scores(model, X) if scores else None

    if output is not None:
        with replace_file(output) as stream:
            stream.write(_lines(labels, values).encode())
    if as_json:
        result: dict[str, object] = {"n_examples": len(labels), "output": output}
        if output is None:
            result["predictions"] = labels
            if values is not None:
                result["scores"] = values
        print_json(result)
    elif output is None:
        sys.stdout.write(_lines(labels, values))
    return exit_codes.OK


def _scores(model: BaseEstimator, X: sp.csr_array) -> NDArray[np.float64]:
    """Decision values, or what orders the predictions where there are none."""
    for method in ("decision_function", "score_samples", "predict"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X), dtype=np.float64)
    raise ValueError(f"A {type(model).__name__} has no scores.")


def _lines(labels: list[Label], values: NDArray[np.float64] | None) -> str:
    if values is None:
        return "".join(f"{label}\n" for label in labels)
    columns = values.reshape(len(labels), -1).tolist()
    return "".join("\t".join([str(label), *map(repr, row)]) + "\n" for label, row in zip(labels, columns, strict=True))

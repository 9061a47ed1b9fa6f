"""`cutplane predict`: labels, and scores or probabilities if wanted, for the examples of a file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane._types import Label, MatrixLike
from cutplane.cli import exit_codes, thresholds
from cutplane.cli.data import read_data_for, read_fitted
from cutplane.cli.output import plain_label, print_json
from cutplane.cli.outputs import check_text_output
from cutplane.cli.predict import PredictOptions
from cutplane.io.atomic import replace_file
from cutplane.io.model_file import ModelFile


def predict(options: PredictOptions, context: typer.Context) -> int:
    """Write a line for each example."""
    output = None if options.output is None or str(options.output) == "-" else options.output
    if output is not None:
        check_text_output(output, inputs=[options.model_path, options.data])
    if options.scores and options.probability:
        raise typer.BadParameter("writes other columns than --scores; give one of them.", param_hint="--probability")
    model, file = read_fitted(options.model_path)
    if file.kind in ("SequenceSVM", "KernelStructuralSVM"):
        return _predict_sequences(model, file, options, output)
    examples = read_data_for(
        model,
        file,
        options.data,
        zero_based=options.zero_based,
        threads=options.threads,
        labelled=False,
        ignore_unknown=options.ignore_unknown,
    )
    threshold = thresholds.noted(file) if options.threshold is None else options.threshold
    labels = [plain_label(label) for label in thresholds.predicted(model, examples.X, threshold)]
    names, values = _columns(model, examples.X, options)
    if output is not None:
        _write(output, _lines(labels, values))
    if options.as_json:
        result: dict[str, object] = {"n_examples": len(labels), "output": output}
        if output is None:
            result |= {"predictions": labels} | ({} if names is None else names | {_column_name(options): values})
        print_json(result)
    elif output is None:
        sys.stdout.write(_lines(labels, values))
    return exit_codes.OK


def _predict_sequences(model: BaseEstimator, file: ModelFile, options: PredictOptions, output: Path | None) -> int:
    from cutplane.cli import sequences

    for option in ("scores", "probability", "threshold"):
        if getattr(options, option):
            raise typer.BadParameter("is not for sequences: they have labels only.", param_hint=f"--{option}")
    labeller = sequences.labeller(model, file)
    assert labeller is not None
    return sequences.predict(labeller, file, options.data, output, as_json=options.as_json)


def _column_name(options: PredictOptions) -> str:
    return "probabilities" if options.probability else "scores"


def _columns(
    model: BaseEstimator, X: MatrixLike, options: PredictOptions
) -> tuple[dict[str, object] | None, NDArray[np.float64] | None]:
    """What is written after the labels, and for JSON what its columns are."""
    if options.probability:
        if not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{options.model_path} has no probabilities: train with --probability, or with --loss logistic."
            )
        return {"classes": [plain_label(label) for label in model.classes_]}, np.asarray(model.predict_proba(X))
    if not options.scores:
        return None, None
    if not hasattr(model, "decision_function"):
        raise ValueError(f"{options.model_path} is a regression: its predictions are its scores; leave out --scores.")
    return {}, np.asarray(model.decision_function(X), dtype=np.float64)


def _write(output: Path, text: str) -> None:
    with replace_file(output) as stream:
        stream.write(text.encode())


def _lines(labels: list[Label], values: NDArray[np.float64] | None) -> str:
    if values is None:
        return "".join(f"{label}\n" for label in labels)
    columns = values.reshape(len(labels), -1).tolist()
    return "".join("\t".join([str(label), *map(repr, row)]) + "\n" for label, row in zip(labels, columns, strict=True))

"""`cutplane evaluate`: how good a model is on labelled examples."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
from rich.table import Table
from sklearn.base import BaseEstimator, is_outlier_detector, is_regressor

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
from cutplane.cli.output import plain_label, print_facts, print_json, stdout, warn
from cutplane.cli.strings import read_labelled
from cutplane.cli.summary import label_list
from cutplane.estimators.strings.string_svc import StringSVC
from cutplane.io.model_file import ModelFile
from cutplane.report.evaluation import Evaluation
from cutplane.report.evaluation import evaluate as compare

_WIDEST_MATRIX = 12
# Models that are no plain classifiers, and the modules whose `evaluate` knows them.
_RANKINGS = {"RankSVM": "cutplane.cli.ranking", "OrdinalSVC": "cutplane.cli.ordinal"}


def evaluate(
    model_path: ModelArgument,
    data: DataArgument,
    threads: ThreadsOption = None,
    zero_based: ZeroBasedOption = None,
    as_json: JsonOption = False,
    _debug: DebugOption = False,
) -> int:
    """Compare a model's predictions with the labels or targets in DATA.

    Accuracy, balanced accuracy (the mean of the classes' recalls), area under the ROC curve, F1 and
    the confusion matrix. Of a ranking: NDCG@1, 5 and 10, MAP, pair accuracy and area under the ROC
    curve, by the qid in DATA. Of a regression: the mean absolute and squared errors and R². For a one-class
    machine the labels are 1, and -1 for what does not belong.
    """
    model, file = read_fitted(model_path)
    if type(model).__name__ in _RANKINGS:
        examples = read_data_for(model, file, data, zero_based=zero_based, threads=threads)
        status: int = import_module(_RANKINGS[type(model).__name__]).evaluate(
            model, examples, model_path, data, as_json=as_json
        )
        return status
    labeller = sequences.labeller(model, file)
    if labeller is not None:
        return sequences.evaluate(labeller, file, model_path, data, as_json=as_json)
    if is_regressor(model):
        return _evaluate_regression(model, file, model_path, data, zero_based, threads, as_json)
    if not hasattr(model, "classes_") and not is_outlier_detector(model):
        raise ValueError(f"A {type(model).__name__} takes no svmlight files; use it in Python.")
    classes = np.array([-1, 1]) if is_outlier_detector(model) else model.classes_
    if classes.dtype.kind not in "biuf" and not isinstance(model, StringSVC):
        raise ValueError(
            f"{model_path} knows the labels {label_list(classes)}, which are not numbers, so they "
            f"cannot be compared with the labels of an svmlight file."
        )
    if isinstance(model, StringSVC):
        X, y, *_ = read_labelled(data, model.alphabet)
    else:
        X, y, *_ = read_data_for(model, file, data, zero_based=zero_based, threads=threads)
    unknown = np.setdiff1d(y, classes)
    if len(unknown) == len(np.unique(y)):
        raise ValueError(
            f"{data} has the labels {label_list(unknown)}, none of which the model knows: "
            f"it {'tells apart' if is_outlier_detector(model) else 'was trained on'} {label_list(classes)}."
        )
    if len(unknown):
        warn(f"{data} has labels the model was not trained on, so they count as errors: {label_list(unknown)}.")
    result = compare(y, model.predict(X), model.decision_function(X), classes)
    if as_json:
        print_json(_as_json(model_path, data, result))
    else:
        _print(result)
    return exit_codes.OK


def _evaluate_regression(
    model: BaseEstimator,
    file: ModelFile,
    model_path: Path,
    data: Path,
    zero_based: bool | None,
    threads: int | None,
    as_json: bool,
) -> int:
    X, y, *_ = read_data_for(model, file, data, zero_based=zero_based, threads=threads)
    errors = np.asarray(y, dtype=np.float64) - model.predict(X)
    spread = float(np.sum((y - np.mean(y)) ** 2))
    figures = {
        "mean_absolute_error": float(np.abs(errors).mean()),
        "root_mean_squared_error": float(np.sqrt(np.mean(errors**2))),
        "r2": 1.0 - float(errors @ errors) / spread if spread > 0.0 else None,
    }
    if as_json:
        print_json({"model": model_path, "data": data, "n_examples": len(errors), **figures})
        return exit_codes.OK
    r2 = figures["r2"]
    print_facts(
        [
            ("examples", f"{len(errors):,}"),
            ("mean absolute error", f"{figures['mean_absolute_error']:.6g}"),
            ("root mean squared error", f"{figures['root_mean_squared_error']:.6g}"),
            ("R²", "not defined, all targets are equal" if r2 is None else f"{r2:.4f}"),
        ]
    )
    return exit_codes.OK


def _as_json(model_path: Path, data: Path, result: Evaluation) -> dict[str, object]:
    return {
        "model": model_path,
        "data": data,
        "n_examples": result.n_examples,
        "accuracy": result.accuracy,
        "balanced_accuracy": result.balanced_accuracy,
        "roc_area": result.roc_area,
        "pr_area": result.pr_area,
        "f1": result.f1,
        "labels": [plain_label(label) for label in result.labels],
        "confusion_matrix": result.confusion,
    }


def _print(result: Evaluation) -> None:
    two = len(result.labels) == 2
    f1_of = f"class {plain_label(result.labels[1])}" if two else "mean over classes"
    area = "not defined, only one class in the data" if result.roc_area is None else f"{result.roc_area:.4f}"
    print_facts(
        [
            ("examples", f"{result.n_examples:,}"),
            ("accuracy", f"{100 * result.accuracy:.2f} %"),
            ("balanced accuracy", f"{100 * result.balanced_accuracy:.2f} %"),
            ("area under ROC", area),
            *([] if result.pr_area is None else [("area under PR", f"{result.pr_area:.4f}")]),
            ("F1", f"{result.f1:.4f} ({f1_of})"),
        ]
    )
    if len(result.labels) > _WIDEST_MATRIX:
        print(f"The confusion matrix of {len(result.labels)} classes is too wide to show; --json has it.")
        return
    table = Table(title="confusion matrix", title_justify="left", title_style="dim")
    table.add_column("true \\ predicted", justify="right")
    for label in result.labels:
        table.add_column(str(plain_label(label)), justify="right")
    for label, row in zip(result.labels, result.confusion, strict=True):
        table.add_row(str(plain_label(label)), *(f"{count:,}" for count in row))
    stdout().print(table)

"""`cutplane evaluate`: how good a model is on labelled examples."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import typer
from sklearn.base import BaseEstimator, is_outlier_detector, is_regressor

from cutplane._types import Labels
from cutplane.cli import exit_codes, thresholds
from cutplane.cli.data import Examples, read_data_for, read_fitted
from cutplane.cli.evaluate import EvaluateOptions
from cutplane.cli.judgement import Found, accuracy_bounds, bounds_facts
from cutplane.cli.output import plain_label, print_facts, print_json, print_table, warn
from cutplane.cli.summary import label_list
from cutplane.io.model_file import ModelFile
from cutplane.report.evaluation import Evaluation
from cutplane.report.evaluation import evaluate as compare

_WIDEST_MATRIX = 12
_MOST_CLASSES_SHOWN = 100
# Models that are no plain classifiers, and the modules whose `evaluate` knows them.
_RANKINGS = {"RankSVM": "cutplane.cli.ranking", "OrdinalSVC": "cutplane.cli.ordinal"}
_SEQUENCES = ("SequenceSVM", "KernelStructuralSVM")


def evaluate(options: EvaluateOptions, context: typer.Context) -> int:
    """Print the figures that there are of such a model."""
    model, file = read_fitted(options.model_path)
    plain = file.kind not in (*_RANKINGS, *_SEQUENCES) and not is_regressor(model)
    if options.threshold is not None and not plain:
        raise typer.BadParameter("is for models of two classes.", param_hint="--threshold")
    if file.kind in _SEQUENCES:
        from cutplane.cli import sequences

        labeller = sequences.labeller(model, file)
        assert labeller is not None
        return sequences.evaluate(labeller, file, options.model_path, options.data, as_json=options.as_json)
    if plain:
        _check_labels(model, options)
    examples = read_data_for(
        model,
        file,
        options.data,
        zero_based=options.zero_based,
        threads=options.threads,
        target=options.target,
        ignore_unknown=options.ignore_unknown,
    )
    if file.kind in _RANKINGS:
        status: int = import_module(_RANKINGS[file.kind]).evaluate(
            model, examples, options.model_path, options.data, as_json=options.as_json
        )
        return status
    if is_regressor(model):
        return _evaluate_regression(model, examples, options)
    return _evaluate_classes(model, file, examples, options)


def _check_labels(model: BaseEstimator, options: EvaluateOptions) -> None:
    if not hasattr(model, "classes_") and not is_outlier_detector(model):
        raise ValueError(f"A {type(model).__name__} takes no svmlight files; use it in Python.")


def _evaluate_classes(model: Any, file: ModelFile, examples: Examples, options: EvaluateOptions) -> int:
    classes = np.array([-1, 1]) if is_outlier_detector(model) else model.classes_
    X, y = examples.X, examples.y
    _check_known(model, classes, y, options)
    scores = np.asarray(model.decision_function(X))
    threshold = _threshold(model, file, scores, y, options)
    said = model.predict(X) if threshold is None else thresholds.by_threshold(classes, scores, threshold)
    result = compare(y, said, scores, classes)
    found = Found.counted("given", y, said, model)
    # A threshold of ours is not the optimum's, which says the second class above 0.
    bounds = accuracy_bounds(model, X, y) if threshold is None else None
    if options.as_json:
        print_json(
            {
                "model": options.model_path,
                "data": options.data,
                **_as_json(result),
                "commonest_share": found.commonest,
                "useless": found.is_useless,
                **({} if threshold is None else {"threshold": threshold}),
                **({} if bounds is None else {"accuracy_bounds": list(bounds)}),
            }
        )
        return exit_codes.OK
    if found.is_useless:
        warn(found.sentence())
    chosen = [] if threshold is None else [("threshold", f"{threshold:.6g}{_chosen_by(options)}")]
    print_facts([*chosen, *_facts(result, found, bounds)])
    _print_classes(result)
    return exit_codes.OK


def _check_known(model: Any, classes: Labels, y: Labels, options: EvaluateOptions) -> None:
    """Refuse labels of which the model knows none."""
    if classes.dtype.kind not in "biuf" and np.asarray(y).dtype.kind in "biuf":
        raise ValueError(
            f"{options.model_path} knows the labels {label_list(classes)}, which are not numbers, so they "
            f"cannot be compared with the labels of {options.data}."
        )
    unknown = np.setdiff1d(y, classes)
    if len(unknown) == len(np.unique(y)):
        raise ValueError(
            f"{options.data} has the labels {label_list(unknown)}, none of which the model knows: "
            f"it {'tells apart' if is_outlier_detector(model) else 'was trained on'} {label_list(classes)}."
        )
    if len(unknown):
        warn(f"{options.data} has labels the model was not trained on, so they count as errors: {label_list(unknown)}.")


def _threshold(model: Any, file: ModelFile, scores: Any, y: Labels, options: EvaluateOptions) -> float | None:
    if options.threshold is None:
        return thresholds.noted(file)
    classes = thresholds.check_two_classes(model)
    try:
        return float(options.threshold)
    except ValueError:
        return thresholds.Rule.parsed(options.threshold).best(scores, y == classes[1])


def _chosen_by(options: EvaluateOptions) -> str:
    rule = options.threshold
    if rule is None:
        return ", as training has chosen it"
    return f", chosen on these examples by {rule}" if rule[0].isalpha() else ""


def _evaluate_regression(model: BaseEstimator, examples: Examples, options: EvaluateOptions) -> int:
    y = np.asarray(examples.y, dtype=np.float64)
    errors = y - model.predict(examples.X)
    spread = float(np.sum((y - np.mean(y)) ** 2))
    figures = {
        "mean_absolute_error": float(np.abs(errors).mean()),
        "root_mean_squared_error": float(np.sqrt(np.mean(errors**2))),
        "r2": 1.0 - float(errors @ errors) / spread if spread > 0.0 else None,
    }
    if options.as_json:
        print_json({"model": options.model_path, "data": options.data, "n_examples": len(errors), **figures})
        return exit_codes.OK
    r2 = figures["r2"]
    if r2 is not None and r2 <= 0.0:
        warn("this model is no better than always saying the mean of the targets. Try a larger --C.")
    print_facts(
        [
            ("examples", f"{len(errors):,}"),
            ("mean absolute error", f"{figures['mean_absolute_error']:.6g}"),
            ("root mean squared error", f"{figures['root_mean_squared_error']:.6g}"),
            ("R²", "not defined, all targets are equal" if r2 is None else f"{r2:.4f}"),
        ]
    )
    return exit_codes.OK


def _as_json(result: Evaluation) -> dict[str, object]:
    return {
        "n_examples": result.n_examples,
        "accuracy": result.accuracy,
        "balanced_accuracy": result.balanced_accuracy,
        "roc_area": result.roc_area,
        "pr_area": result.pr_area,
        "f1": result.f1,
        "labels": [plain_label(label) for label in result.labels],
        "confusion_matrix": result.confusion,
    }


def _facts(result: Evaluation, found: Found, bounds: tuple[float, float] | None) -> list[tuple[str, str]]:
    two = len(result.labels) == 2
    f1_of = f"class {plain_label(result.labels[1])}" if two else "mean over classes"
    area = "not defined, only one class in the data" if result.roc_area is None else f"{result.roc_area:.4f}"
    return [
        ("examples", f"{result.n_examples:,}"),
        ("accuracy", f"{100 * result.accuracy:.2f} % (commonest class: {100 * found.commonest:.2f} %)"),
        *bounds_facts(bounds),
        ("balanced accuracy", f"{100 * result.balanced_accuracy:.2f} %"),
        ("area under ROC", area),
        *([] if result.pr_area is None else [("area under PR", f"{result.pr_area:.4f}")]),
        ("F1", f"{result.f1:.4f} ({f1_of})"),
    ]


def _print_classes(result: Evaluation) -> None:
    """The confusion matrix; where that is too wide, a line for each class."""
    labels = [str(plain_label(label)) for label in result.labels]
    if len(labels) <= _WIDEST_MATRIX:
        rows = [[label, *(f"{count:,}" for count in row)] for label, row in zip(labels, result.confusion, strict=True)]
        print_table("confusion matrix", ["true \\ predicted", *labels], rows)
        return
    true, said = result.confusion.sum(axis=1), result.confusion.sum(axis=0)
    right, wrong = np.diag(result.confusion), result.confusion - np.diag(np.diag(result.confusion))
    rows = [
        [
            labels[k],
            f"{true[k]:,}",
            f"{100 * right[k] / said[k]:.1f} %" if said[k] else "-",
            f"{100 * right[k] / true[k]:.1f} %" if true[k] else "-",
            labels[int(wrong[k].argmax())] if wrong[k].any() else "-",
        ]
        for k in np.argsort(-true, kind="stable").tolist()[:_MOST_CLASSES_SHOWN]
    ]
    title = f"{len(labels)} classes, the most frequent first" + (
        f" ({_MOST_CLASSES_SHOWN} of them; --json has all)" if len(labels) > _MOST_CLASSES_SHOWN else ""
    )
    print_table(title, ["class", "examples", "precision", "recall", "mostly taken for"], rows)

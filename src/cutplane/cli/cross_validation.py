"""`cutplane cross-validate`: models of parts of the examples, each asked for the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from cutplane.cli import exit_codes
from cutplane.cli.classification import refuse_targets
from cutplane.cli.cross_validate import CrossValidateOptions
from cutplane.cli.data import Examples, read_data
from cutplane.cli.judgement import Found
from cutplane.cli.options import Task
from cutplane.cli.output import print_facts, print_json, print_table, warn
from cutplane.cli.scopes import check_scopes
from cutplane.cli.settings import Settings
from cutplane.cli.strings import read_labelled
from cutplane.cli.training import fit_until_stopped, quietly

_MODELS = {
    Task.classes: "cutplane.cli.classification",
    Task.ordinal: "cutplane.cli.ordinal",
    Task.rank: "cutplane.cli.ranking",
    Task.strings: "cutplane.cli.strings",
    Task.regression: "cutplane.cli.regression",
}


@dataclass(frozen=True, kw_only=True)
class _Request(CrossValidateOptions, Settings):
    """The options of the command, and what they say of an estimator."""


@dataclass(frozen=True, slots=True)
class _Fold:
    """A model of the other parts, on one part."""

    score: float
    gap: float
    seconds: float
    n_examples: int


def cross_validate(options: CrossValidateOptions, context: typer.Context) -> int:
    """Print what the models of all parts make of the rest."""
    request = _Request(**vars(options))
    check_scopes(request, context)
    if request.task not in _MODELS or (request.kernel is not None and request.sampled_cuts is not None):
        raise typer.BadParameter(
            f"{request.task.value} is not cross-validated; {', '.join(task.value for task in _MODELS)} are.",
            param_hint="--task",
        )
    examples = _read(request)
    name, folds, predicted = _run(request, examples)
    found = Found.counted("left-out", examples.y, predicted) if request.task in (Task.classes, Task.strings) else None
    scores = np.array([fold.score for fold in folds])
    if request.as_json:
        rows = [{"score": each.score, "gap": each.gap, "seconds": each.seconds} for each in folds]
        useless = {} if found is None else {"commonest_share": found.commonest, "useless": found.is_useless}
        print_json({"scoring": name, "mean": scores.mean(), "deviation": scores.std(), "folds": rows, **useless})
        return exit_codes.OK
    if found is not None and found.is_useless:
        warn(found.sentence())
    if not request.quiet:
        print_table(
            f"{len(folds)} parts of {len(examples.y):,} examples",
            ["part", "examples", name, "proven gap", "seconds"],
            [
                [str(k), f"{each.n_examples:,}", f"{each.score:.4f}", f"{each.gap:.1e}", f"{each.seconds:.2f}"]
                for k, each in enumerate(folds, 1)
            ],
        )
    common = [] if found is None else [("commonest class", f"{found.commonest:.4f}")]
    print_facts([(f"mean {name}", f"{scores.mean():.4f} (standard deviation {scores.std():.4f})"), *common])
    return exit_codes.OK


def _read(request: _Request) -> Examples:
    if request.task is Task.strings:
        return read_labelled(request.data, request.alphabet)
    examples = read_data(
        request.data,
        zero_based=request.zero_based,
        threads=request.threads,
        n_features=request.n_features,
        target=request.target,
        quiet=request.quiet,
    )
    if request.task in (Task.classes, Task.ordinal):
        refuse_targets(request.data, examples.y)
    return examples if request.task is not Task.regression else examples._replace(y=examples.y.astype(np.float64))


def _run(request: _Request, examples: Examples) -> tuple[str, list[_Fold], NDArray[Any]]:
    """What is measured, each part's figures, and the prediction of each example by a model without it."""
    module = import_module("cutplane.cli.kernels" if request.kernel is not None else _MODELS[request.task])
    folds, predicted = [], np.empty(len(examples.y), examples.y.dtype)
    for rest, part in _parts(request, examples):
        model = module.model_for(request, examples.y)
        metadata = {} if request.task is not Task.rank else {"qid": _queries(examples)[rest]}
        start = time.perf_counter()
        with quietly():
            fit_until_stopped(model, _rows(examples.X, rest), examples.y[rest], **metadata)
        seconds = time.perf_counter() - start
        if model.stop_reason_ == "interrupted":
            raise KeyboardInterrupt
        said = model.predict(_rows(examples.X, part))
        name, score = _scored(request.task, examples, part, said)
        if is_classifier(model):
            predicted[part] = said
        folds.append(_Fold(score, float(model.gap_), seconds, len(part)))
    return name, folds, predicted


def _parts(request: _Request, examples: Examples) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    try:
        if request.task is Task.rank:
            yield from GroupKFold(request.folds).split(examples.y, groups=_queries(examples))
        elif request.task is Task.regression:
            yield from KFold(request.folds, shuffle=True, random_state=request.seed).split(examples.y)
        else:
            least = int(np.unique(examples.y, return_counts=True)[1].min())
            if least < request.folds:
                raise ValueError(f"a class has {least} examples only, fewer than --folds {request.folds}")
            divided = StratifiedKFold(request.folds, shuffle=True, random_state=request.seed)
            yield from divided.split(np.zeros(len(examples.y)), examples.y)
    except ValueError as error:
        raise ValueError(f"{request.data} cannot be divided: {str(error).rstrip('.')}.") from None


def _queries(examples: Examples) -> NDArray[np.int64]:
    if examples.qid is None:
        raise ValueError("the examples have no qid, by which rankings are divided")
    return examples.qid


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    return X.take(rows) if hasattr(X, "alphabet") else X[rows]


def _scored(task: Task, examples: Examples, part: NDArray[np.int64], said: Any) -> tuple[str, float]:
    truth = examples.y[part]
    if task is Task.regression:
        spread = float(np.sum((truth - truth.mean()) ** 2))
        return "R²", 1.0 - float(np.sum((truth - said) ** 2)) / spread if spread > 0.0 else float("nan")
    if task is Task.rank:
        from cutplane.report.ranking import evaluate_ranking

        return "pair accuracy", evaluate_ranking(truth, said, _queries(examples)[part]).pair_accuracy
    return "accuracy", float(np.mean(truth == said))

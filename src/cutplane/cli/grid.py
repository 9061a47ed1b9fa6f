"""A grid of models, each judged by cross-validation: what `cutplane path` does."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import cutplane
from cutplane._types import Array, Params
from cutplane.cli.data import Examples, Sentences
from cutplane.cli.divided import Divided
from cutplane.cli.folds import Fitted, fit_and_measure, fit_quietly
from cutplane.report.searched import Searched
from cutplane.report.trained import dense_weights

_SEED = 0  # of folds; the estimators' own choice draws none


def choose(
    request: Any, task: Divided, make: Any, examples: Any, Cs: Sequence[float], gammas: Sequence[float | str]
) -> tuple[BaseEstimator, Searched, bool]:
    """The best model on all examples, the grid, and whether all that was asked for is proven."""
    chooser = task.chooser if request.kernel is None else None
    if chooser is None:
        return _by_folds(request, task, make, examples, Cs, gammas)
    return _by_planes(request, getattr(cutplane, chooser), make, examples, Cs)


def chooser_for(kind: Any, plain: BaseEstimator, Cs: Sequence[float], **how: Any) -> BaseEstimator:
    """The estimator that chooses C, with the parameters of one that does not."""
    known = inspect.signature(kind).parameters
    shared: Params = {name: value for name, value in plain.get_params(deep=False).items() if name in known}
    return kind(list(Cs), **shared, **how)


def _by_planes(
    request: Any, kind: Any, make: Any, examples: Examples, Cs: Sequence[float]
) -> tuple[BaseEstimator, Searched, bool]:
    """By the estimator that chooses C itself, and models of all C on all examples, which share their planes."""
    begin = time.perf_counter()
    plain = make(request, examples.y)
    chosen: Any = chooser_for(kind, plain, Cs, cv=request.folds, scoring=request.scoring).fit(examples.X, examples.y)
    models = plain.path(examples.X, examples.y, list(Cs))
    name = request.scoring or ("accuracy" if hasattr(chosen, "classes_") else "r2")
    gaps = [float(model.gap_) for model in models]
    lengths = [_length(model) for model in models]
    found = Searched(Cs, (), {name: chosen.scores_}, gaps, lengths, time.perf_counter() - begin)
    return chosen, found, max(*gaps, float(chosen.gap_)) <= chosen.tol


def _by_folds(
    request: Any,
    task: Divided,
    make: Any,
    examples: Examples | Sentences,
    Cs: Sequence[float],
    gammas: Sequence[float | str],
) -> tuple[BaseEstimator, Searched, bool]:
    """By a model of each point for each fold; then the best on all examples."""
    begin = time.perf_counter()
    points: list[Params] = [{"C": C, **gamma} for gamma in ([{"gamma": g} for g in gammas] or [{}]) for C in Cs]
    columns: list[list[Fitted]] = []
    lengths: list[list[float]] = []
    folds = list(task.folds(request, examples, request.folds, _SEED))
    with _counted(len(folds) * len(points), request.quiet) as count:
        for rest, part in folds:
            training, left_out = examples.taken(rest), examples.taken(part)
            # Of one C the planes serve for the next, where an estimator can begin with them.
            model = _warm(make(request, examples.y))
            columns.append([])
            lengths.append([])
            for point in points:
                columns[-1].append(fit_and_measure(model.set_params(**point), training, left_out, task))
                _check_scoring(request.scoring, columns[-1][-1])
                lengths[-1].append(_length(model))
                count()
    figures = _figures(columns, request.scoring)
    gaps = np.max([[fitted.gap for fitted in column] for column in columns], axis=0)
    sizes = np.mean(lengths, axis=0)
    known = None if np.isnan(sizes).any() else sizes.tolist()
    found = Searched(Cs, gammas, figures, gaps.tolist(), known, time.perf_counter() - begin)
    chosen = make(request, examples.y).set_params(**points[found.best])
    fit_quietly(chosen, examples, task)
    proven = all(fitted.reached for column in columns for fitted in column)
    return chosen, replace(found, seconds=time.perf_counter() - begin), proven


def _warm(model: BaseEstimator) -> BaseEstimator:
    return model.set_params(warm_start=True) if "warm_start" in model.get_params(deep=False) else model


def _length(model: BaseEstimator) -> float:
    """|w|; not a number of models without."""
    weights = dense_weights(model)
    return float("nan") if weights is None else float(np.linalg.norm(weights))


def _word(name: str) -> str:
    """A figure as `--scoring` names it: "NDCG@10" is ndcg@10, "R²" r2."""
    plain = name.lower().replace("²", "2").replace("area under roc", "roc auc")
    return plain.replace("negative mae", "neg mean absolute error").replace(" ", "_")


def _check_scoring(scoring: str | None, fitted: Fitted) -> None:
    words = [_word(name) for name in fitted.measured.figures]
    if scoring is not None and scoring not in words:
        raise ValueError(f"--scoring {scoring} is none of the figures of this task: {', '.join(words)}.")


def _figures(columns: list[list[Fitted]], scoring: str | None) -> dict[str, Array]:
    """The figures by point and fold, the one that decides first."""
    names = [*columns[0][0].measured.figures]
    names.sort(key=lambda name: _word(name) != scoring)
    return {
        name: np.array([[fitted.measured.figures.get(name, np.nan) for fitted in column] for column in columns]).T
        for name in names
    }


@contextmanager
def _counted(total: int, quiet: bool) -> Iterator[Any]:
    """Call what it yields after each model: a terminal shows how many there are to come."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    shown = (TextColumn("models"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        line = progress.add_task("", total=total)
        yield lambda: progress.advance(line)

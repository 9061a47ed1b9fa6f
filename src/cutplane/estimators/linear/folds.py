"""Folds of cross-validation: a path of planes on the rows of each, scored on the others, over one copy of X."""

from __future__ import annotations

import copy
import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import interrupted, one_wish
from cutplane._runtime.side_by_side import side_by_side
from cutplane._runtime.threads import openmp_threads
from cutplane._runtime.warned import users_line
from cutplane._types import Array, Labels, Matrix, MatrixLike, Params
from cutplane.cluster.examples import ScatteredExamples
from cutplane.estimators.linear.c_path import results_in_time
from cutplane.estimators.linear.held_out import scores_of
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.linear.routed import Routed, Scoring, scorer_of
from cutplane.risks.base import Rows
from cutplane.solvers.path import outward
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings
from cutplane.sources import Source, given_source

#: scikit-learn's `cv`.
CrossValidation: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]] | None


class Scored:
    """A fitted model that answers with scores it has already, whatever it is asked about.

    Scorers want an estimator and its X; the scores of a fold are one pass over rows that are not copied.
    """

    def __init__(self, model: BaseEstimator, scores: Array) -> None:
        self._model = model
        self._scores = scores
        if is_classifier(model):
            self.classes_ = model.classes_

    def __sklearn_tags__(self) -> Tags:
        return self._model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Scorers want to see one."""
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        """The scores."""
        return self._scores

    def predict(self, X: MatrixLike) -> Labels:
        """What the model would predict from the scores."""
        return np.asarray(self._model._predict_from(self._scores))

    @available_if(lambda self: _scores_are_probabilities(self._model))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> Array:
        """Of scores that stand for probabilities: curves are learned for the model that is chosen alone."""
        return np.asarray(self._model._uncalibrated(self._scores))


def _scores_are_probabilities(model: BaseEstimator) -> bool:
    return getattr(model, "loss", None) == "logistic"


class Reached:
    """The weights of the best models of any fold, and whether some of them were cut short."""

    def __init__(self) -> None:
        self.weights: list[Array] | None = None
        self.cut = False
        self._best = -math.inf

    def note(self, score: float, results: Sequence[Result]) -> None:
        """Keep the weights of models that are better than those before."""
        self.cut = self.cut or any(result.stop_reason == "time_limit" for result in results)
        if score > self._best or self.weights is None:
            self._best, self.weights = score, [result.w for result in results]


class Fold:
    """One fold: the path on its training rows, scored on the others."""

    def __init__(
        self,
        model: BaseEstimator,
        training: Settings,
        prepared: Prepared,
        source: Source,
        scorer: Callable[..., float],
        routed: Routed,
        sample_weight: Array | None = None,
    ) -> None:
        self._model, self._training, self._prepared = model, training, prepared
        assert prepared.y is not None
        self._y = prepared.y
        self._source, self._scorer, self._routed, self._sample_weight = source, scorer, routed, sample_weight

    def scores(
        self, grid: Sequence[float], reached: Reached, share: Callable[[], float], train: ArrayLike, test: ArrayLike
    ) -> list[float]:
        """The score of each C of the grid; not a number where there was no time to train with it.

        `share` gives the part of the time left that is this fold's.
        """
        part = share()
        if self._training.overdue:
            return [math.nan] * len(grid)
        rows, others = (np.sort(np.asarray(part, dtype=np.int64)) for part in (train, test))
        with openmp_threads(self._training.n_threads):
            return self._balanced(rows, self._training.share(part))._scores(grid, reached, rows, others)

    def _balanced(self, rows: Rows, training: Settings) -> Fold:
        model, prepared = balanced(self._model, training, self._prepared, rows, self._sample_weight)
        if model is self._model and training is self._training:
            return self
        return Fold(model, training, prepared, self._source, self._scorer, self._routed)

    def _scores(self, grid: Sequence[float], reached: Reached, rows: Rows, others: Rows) -> list[float]:
        runs = results_in_time(self._model, self._training, self._prepared, self._source.take(rows), grid, rows)
        if interrupted():
            for C in runs[0]:
                if all(C in run and run[C].w.any() for run in runs):
                    reached.note(-math.inf, [run[C] for run in runs])
            return [math.nan] * len(grid)
        beyond = self._source.take(others)

        def score(results: list[Result]) -> float:
            found = self._score(beyond, others, results)
            reached.note(found, results)
            return found

        return score_each(grid, runs, score)

    def _score(self, beyond: Source, rows: Rows, results: list[Result]) -> float:
        beside = self._routed.scored(len(self._y), rows)
        if isinstance(self._scorer, _BaseScorer):
            return score_of(self._model, self._scorer, results, beyond, self._y[rows], **beside)
        self._model._warm_key = None
        self._model._keep(results)
        source = given_source(self._prepared.X)  # a user's own function may look at X
        part = cast(Matrix, self._prepared.X)[rows] if source is None else source.take(rows)
        return float(self._scorer(self._model, part, self._y[rows], **beside))


def balanced(
    model: BaseEstimator, training: Settings, prepared: Prepared, rows: Rows, given: Array | None
) -> tuple[BaseEstimator, Prepared]:
    """With ``class_weight="balanced"``: weights by the classes of the training rows, as a fit on these has them."""
    if getattr(model, "class_weight", None) != "balanced":
        return model, prepared
    y = prepared.y
    assert y is not None
    weights = np.ones(len(y)) if given is None else np.asarray(given, np.float64).copy()
    counted = rows[weights[rows] > 0.0]
    present = np.unique(y[counted])
    part = None if given is None else weights[counted]
    factors = compute_class_weight("balanced", classes=present, y=y[counted], sample_weight=part)
    weights[counted] *= factors[np.searchsorted(present, y[counted])]
    unweighted = clone(model).set_params(class_weight=None)
    return unweighted, unweighted._prepare(training, prepared.X, y, weights)


def score_each(
    grid: Sequence[float], runs: list[dict[float, Result]], score: Callable[[list[Result]], float]
) -> list[float]:
    """The score of each C of the grid, from the runs of each problem; not a number where there was no time for it."""
    return [score([run[C] for run in runs]) if all(C in run for run in runs) else math.nan for C in map(float, grid)]


def score_of(
    model: BaseEstimator,
    scorer: Callable[..., float],
    results: list[Result],
    beyond: Source,
    y: Labels,
    **beside: object,
) -> float:
    """What a scorer of scikit-learn says of other examples: one pass."""
    scores = scores_of(model, results, beyond)
    copied = object.__new__(type(model))
    vars(copied).update(vars(model))
    scored = Scored(copied, scores[:, 0] if scores.shape[1] == 1 else scores)
    if getattr(scorer, "_score_func", None) is accuracy_score and not scorer._kwargs and not beside:  # type: ignore[attr-defined]
        return float(np.mean(scored.predict(beyond) == y))  # the scorer's own checks take as long as a small fit
    return float(_knowing_classes(scorer, model)(scored, np.arange(len(y)).reshape(-1, 1), y, **beside))


def _knowing_classes(scorer: Any, model: BaseEstimator) -> Callable[..., float]:
    """A scorer of probabilities that is told of all classes: those left out need not have each."""
    if getattr(scorer, "_response_method", None) != "predict_proba":
        return cast(Callable[..., float], scorer)
    known = {"labels": model.classes_, **({"pos_label": model.classes_[1]} if len(model.classes_) == 2 else {})}
    taken = inspect.signature(scorer._score_func).parameters
    told = copy.copy(scorer)
    told._kwargs = {name: value for name, value in known.items() if name in taken} | told._kwargs
    return cast(Callable[..., float], told)


def choose(
    model: BaseEstimator,
    grid: Sequence[float],
    cv: CrossValidation,
    scoring: Scoring,
    routed: Routed,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
) -> tuple[Array, float, Reached]:
    """The scores, one row for each C and one column for each fold, the best C, and what is known of models."""
    reached = Reached()
    scorer = _scorer(model, scoring)
    training = model._training()
    if isinstance(X, ScatteredExamples):
        scores = scattered_scores(model, training, X, grid, cv, scorer, routed)
        return scores, _best(grid, scores, type(model).__name__), reached
    prepared = model._prepare(training, X, y, sample_weight)
    assert prepared.y is not None
    folds = splits(cv, prepared.y, routed, classes=is_classifier(model))
    threads = _core.thread_count(training.n_threads)
    own = isinstance(scorer, _BaseScorer)
    workers = min(threads, len(folds)) if own and model.on_step is None else 1
    each = max(1, threads // workers)
    model.set_params(n_jobs=each)
    source, given = model._source(prepared.X, 0), None if sample_weight is None else np.asarray(sample_weight)
    fold = Fold(model, replace(training, n_threads=each), prepared, source, scorer, routed, given)
    waiting = list(folds)

    def share() -> float:
        count = len(waiting)
        waiting.pop()
        return min(workers, count) / count

    scores_of_fold = partial(_configured, get_config(), fold.scores, grid, reached, share)
    with one_blas_thread(), one_wish() as wish:
        tasks = [partial(scores_of_fold, train, test) for train, test in folds]
        scores = np.array(side_by_side(tasks, workers, wish.stop)).T
    return scores, _best(grid, scores, type(model).__name__, cut=reached.cut), reached


def _configured(config: Params, task: Callable[..., list[float]], *args: object) -> list[float]:
    """What a task gives in another thread, where scikit-learn is not configured as in that of the caller."""
    with config_context(**config):
        return task(*args)


def splits(cv: CrossValidation, y: Labels, routed: Routed, *, classes: bool) -> list[tuple[ArrayLike, ArrayLike]]:
    """The rows to train on and those left out, of each fold."""
    return list(check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y, **routed.split))


def _scorer(model: BaseEstimator, scoring: Scoring) -> Callable[..., float]:
    """A scorer that a fold has the answers for."""
    found = scorer_of(model, scoring)
    if getattr(found, "_response_method", None) == "predict_proba" and not _scores_are_probabilities(model):
        raise ValueError(
            f"scoring={scoring!r} judges probabilities, which models in folds have with loss='logistic' alone; "
            "'roc_auc', 'accuracy' and many others judge scores and predictions."
        )
    return found


def scattered_scores(
    model: BaseEstimator,
    training: Settings,
    examples: ScatteredExamples,
    grid: Sequence[float],
    cv: CrossValidation,
    scorer: Callable[..., float],
    routed: Routed,
) -> Array:
    """The same of examples that lie elsewhere, fold after fold; scores of those left out come here."""
    folds = 5 if cv is None else cv
    if not isinstance(folds, int) or folds < 2:
        raise ValueError(f"cv={cv!r}: of examples on a cluster, each partition is cut into folds; say into how many.")
    if not isinstance(scorer, _BaseScorer):
        raise ValueError("scoring is a function of rows, which lie on a cluster; the name of a scorer will do.")
    beyond_weights = routed.score.keys() - {"sample_weight"}
    if beyond_weights:
        raise ValueError(f"scoring is handed {', '.join(beyond_weights)}, which is for examples in this process.")
    columns = []
    for number in range(folds):
        if training.overdue:
            columns.append([math.nan] * len(grid))
            continue
        prepared = model._prepare(training, examples.fold(number, folds, inside=True), None, None)
        runs = results_in_time(model, training, prepared, model._source(prepared.X, 0), grid)
        others = examples.fold(number, folds, inside=False)
        beside: Params = {name: others.weights() for name in routed.score}
        score = partial(score_of, model, scorer, beyond=others.source, y=others.targets(), **beside)
        columns.append(score_each(grid, runs, score))
    return np.array(columns).T


def _best(grid: Sequence[float], scores: Array, name: str, *, cut: bool = False) -> float:
    """The least C of those with the highest mean score over the folds that there was time for."""
    known = ~np.isnan(scores)
    if not known.all() or cut:
        chosen = "the best of these is taken" if known.any() else "the C in the middle is taken"
        why = "was interrupted" if interrupted() else "ran out of time"
        some = ", some of them of models that were cut short" if cut else ""
        warnings.warn(
            f"{name} {why} in cross-validation: {known.sum()} of {known.size} scores are known{some}, and "
            f"{chosen}; a larger time_limit or fewer Cs make the choice a better one.",
            ConvergenceWarning,
            stacklevel=users_line(),
        )
    return best_C(grid, scores)


def best_C(grid: Sequence[float], scores: Array) -> float:
    """The least C of those with the highest mean score, as far as scores are known (else not a number)."""
    known = ~np.isnan(scores)
    if not known.any():
        return outward(grid)[0]
    means = [row[there].mean() if there.any() else -np.inf for row, there in zip(scores, known, strict=True)]
    return min(C for C, mean in zip(grid, means, strict=True) if mean == max(means))

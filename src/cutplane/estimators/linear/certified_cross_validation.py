"""Cross-validation that proves its choice of C: what it asks of a model, and the folds it looks at."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.warned import users_line
from cutplane._types import Array, MatrixLike
from cutplane.cluster.examples import ScatteredExamples
from cutplane.estimators.common import validation
from cutplane.estimators.linear.certified_choice import CertifiedChoice, Search
from cutplane.estimators.linear.certified_fold import CertifiedFold
from cutplane.estimators.linear.folds import CrossValidation, balanced, splits
from cutplane.estimators.linear.problems import Prepared
from cutplane.estimators.linear.routed import Routed, Scoring
from cutplane.solvers.run import Settings
from cutplane.sources import given_source

# Of the error that is to be certified: what labels that are open at the C of a model may make of it.
_OPEN_SHARE = 0.3


def choose_certified(
    model: BaseEstimator,
    grid: Sequence[float],
    cv: CrossValidation,
    scoring: Scoring,
    certify: float,
    max_fits: int,
    routed: Routed,
    X: MatrixLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
) -> tuple[Array, Array, CertifiedChoice]:
    """The C that were tried, their accuracies by fold, and what is proven of every C between."""
    validation.check_share("certify", certify)
    _check_budget(max_fits, grid)
    if scoring not in (None, "accuracy"):
        raise ValueError(f"certify bounds the error rate: scoring={scoring!r} must be None or 'accuracy'.")
    if isinstance(X, ScatteredExamples):
        raise ValueError("certify looks at scores in one process; on a Dask collection C is chosen without it.")
    training = model._training()
    prepared = model._prepare(training, X, y, sample_weight)
    _refuse(model, prepared)
    given = None if sample_weight is None else np.asarray(sample_weight)
    threads = int(_core.thread_count(training.n_threads))
    parts = splits(cv, np.asarray(prepared.y), routed, classes=True)
    workers = min(threads, len(parts)) if model.on_step is None else 1
    each = replace(training, n_threads=max(1, threads // workers))
    with one_blas_thread():
        folds = [_fold(model, each, prepared, train, test, _OPEN_SHARE * certify, given) for train, test in parts]
        search = Search(folds, certify, max_fits, lambda: training.seconds_left, workers)
        found = search.run(grid)
    _warn_unless_certified(found, f"{type(model).__name__}CV")
    return search.Cs, 1.0 - search.errors, found


def _check_budget(max_fits: object, grid: Sequence[float]) -> None:
    least = len(set(grid))
    if not isinstance(max_fits, (int, np.integer)) or isinstance(max_fits, bool) or max_fits < least:
        raise ValueError(f"max_fits={max_fits!r} must be a whole number, {least} or more: there are as many Cs.")


def _refuse(model: BaseEstimator, prepared: Prepared) -> None:
    """Raise `ValueError` where nothing is proven of the predictions with other C."""
    if model.multi_class != "ovr":
        raise ValueError(f"certify is for multi_class='ovr', not multi_class={model.multi_class!r}.")
    if given_source(prepared.X) is not None:
        raise ValueError("certify looks at the rows of X, which must be an array or a CSR matrix and no source.")
    if model._intercept_is_free:
        model._terms(prepared)
    prepared.problems[0](None)  # says who decides
    if model._decides is not None:
        raise ValueError(f"The predictions of loss={model.loss!r} are its own `decide`: nothing is proven of them.")


def _fold(
    model: BaseEstimator,
    training: Settings,
    prepared: Prepared,
    train: ArrayLike,
    test: ArrayLike,
    open_share: float,
    given: Array | None,
) -> CertifiedFold:
    rows, others = (np.sort(np.asarray(part, dtype=np.int64)) for part in (train, test))
    copied = clone(model)
    vars(copied).update(vars(model))
    own, problems = balanced(copied, training, prepared, rows, given)
    source = own._source(problems.X, 0)  # each run says how many threads it has
    return CertifiedFold(own, training, problems, source, rows, others, open_share)


def _warn_unless_certified(found: CertifiedChoice, name: str) -> None:
    if found.stop_reason == "certified":
        return
    why = {"max_fits": f"tried max_fits={found.n_fits} values of C", "time_limit": "ran out of time"}
    reason = why.get(found.stop_reason, "made no more progress in double precision")
    warnings.warn(
        f"{name} {reason} before its choice was certified: the least cross-validated error found is {found.error:.4g}, "
        f"and proven is that no C has less than {found.lower_bound:.4g}.",
        ConvergenceWarning,
        stacklevel=users_line(),
    )

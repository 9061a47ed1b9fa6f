"""Scores of examples by models that were trained without them: fold by fold, over one copy of X."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.side_by_side import Watch, side_by_side
from cutplane._runtime.threads import openmp_threads
from cutplane._types import Array
from cutplane.estimators.common.calibration_folds import StratifiedFolds, warn_if_cut_short
from cutplane.estimators.linear.c_path import runs_in_time
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.estimators.linear.problems import Prepared
from cutplane.risks.base import Rows
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings
from cutplane.sources import Source


def scores_of(model: LinearModel, results: Sequence[Result], source: Source) -> Array:
    """The scores of the examples of a source, of shape (n, problems), by the results of all problems: one pass."""
    fitted = model._fitted(list(results))
    coef = np.atleast_2d(fitted["coef_"])
    if source.shape[1] > coef.shape[1]:  # rows have a constant feature, which the intercept accounts for
        coef = np.column_stack([coef, np.zeros(len(coef))])
    scores: Array = source.scores(np.ascontiguousarray(coef.T)) + fitted["intercept_"]
    return scores


def held_out_scores(
    model: LinearModel,
    training: Settings,
    prepared: Prepared,
    source: Source,
    grid: Sequence[float],
    folds: StratifiedFolds,
) -> list[Array]:
    """For each C the scores of all examples, each by the models of the fold that it is left out of.

    Models for all C of a fold share their planes. Rows of folds that there was no time for are not numbers, nor are
    those of examples that are in no fold (-1).
    """
    watch = Watch()
    quiet = copy.copy(model)  # with what preparing the examples has found out
    quiet.on_step, quiet.verbose = watch.step, 0
    threads = int(_core.thread_count(training.n_threads))
    workers = min(threads, folds.count)
    each = replace(training, n_threads=max(1, threads // workers))
    trainer = _Fold(quiet, each, prepared, source, grid)
    rows = [np.flatnonzero(folds.fold == number).astype(np.int64) for number in range(folds.count)]
    with one_blas_thread():
        found = side_by_side([partial(trainer.scores, others) for others in rows], workers, watch.stop)
    scores = [np.full((source.shape[0], len(prepared.problems)), np.nan) for _ in grid]
    for others, known in zip(rows, found, strict=True):
        for whole, part in zip(scores, known or (), strict=False):
            if part is not None:
                whole[others] = part
    warn_if_cut_short({"interrupted"} if None in found else {"time_limit"} if training.overdue else ())
    return scores


@dataclass(frozen=True)
class _Fold:
    """What the folds share."""

    model: LinearModel
    training: Settings
    prepared: Prepared
    source: Source
    grid: Sequence[float]

    def scores(self, others: Rows) -> list[Array | None] | None:
        """Of the rows left out, for each C; None where there was no time for it, and for all after Ctrl-C."""
        kept = np.ones(self.source.shape[0], bool)
        kept[others] = False
        rows = np.flatnonzero(kept).astype(np.int64)
        with openmp_threads(self.training.n_threads):
            try:
                runs = runs_in_time(self.model, self.training, self.prepared, self.source.take(rows), self.grid, rows)
            except KeyboardInterrupt:
                return None
            beyond = self.source.take(others)
            return [self._scores(beyond, runs, float(C)) for C in self.grid]

    def _scores(self, beyond: Source, runs: list[dict[float, Result]], C: float) -> Array | None:
        if not all(C in run for run in runs):
            return None
        return scores_of(self.model, [run[C] for run in runs], beyond)

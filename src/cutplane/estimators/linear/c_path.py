"""Models for a whole grid of C at little more than the price of one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.base import clone

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import interrupted
from cutplane._runtime.side_by_side import Watch, side_by_side
from cutplane._runtime.threads import openmp_threads
from cutplane._types import Params
from cutplane.cluster.examples import for_one_fit
from cutplane.estimators.common import validation
from cutplane.estimators.common.certificates import listening
from cutplane.estimators.common.training import prover_of, total_weight, warn_unless_proven
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.estimators.linear.problems import Prepared
from cutplane.objectives.factory import in_single
from cutplane.objectives.generic import Objective
from cutplane.proof.prover import Prover
from cutplane.risks.base import Rows
from cutplane.solvers.base import though_shards_are_lost
from cutplane.solvers.handover import Handover
from cutplane.solvers.path import chains, follow, outward
from cutplane.solvers.result import Result
from cutplane.solvers.run import Settings, run
from cutplane.sources import Source


class CPathMixin:
    """Adds `path` to a linear model that has a C."""

    @for_one_fit()
    def path(self: Any, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> list[Any]:
        """Train a model for each C, each from the planes of the others; all are certified to `tol`.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`
        Cs : sequence of float
            In any order.

        Returns
        -------
        list of fitted models
            In the order of `Cs`; this estimator itself stays as it is.

        Examples
        --------
        >>> from cutplane import LinearSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> [round(float(model.coef_[0, 0]), 2) for model in LinearSVC(tol=1e-6).path(X, y, [0.1, 1.0, 10.0])]
        [0.4, 1.0, 2.0]
        """
        grid = validation.check_grid(Cs)
        pattern: Any = clone(self)
        training = pattern._training()
        prepared = pattern._prepare(training, X, y, sample_weight)
        source = pattern._source(prepared.X, 0)  # each run says how many threads it has
        found = path_results(pattern, training, prepared, source, grid)
        results = [[each[k] for each in found] for k in range(len(grid))]
        beside = pattern._learned_beside(training, prepared, grid, results, sample_weight)
        return [_fitted_model(pattern, *of_one) for of_one in zip(grid, results, beside, strict=True)]


def path_results(
    model: LinearModel,
    training: Settings,
    prepared: Prepared,
    source: Source,
    grid: Sequence[float],
    rows: Rows | None = None,
) -> list[list[Result]]:
    """For each problem the results along the grid, on some rows of the examples or all; `source` holds these."""
    found = results_in_time(model, training, prepared, source, grid, rows, whole=True)
    return [[each[float(C)] for C in grid] for each in found]


def results_in_time(
    model: LinearModel,
    training: Settings,
    prepared: Prepared,
    source: Source,
    grid: Sequence[float],
    rows: Rows | None = None,
    *,
    whole: bool = False,
) -> list[dict[float, Result]]:
    """The same by C; unless the whole grid is wanted, those that there was time to begin with."""
    results = runs_in_time(model, training, prepared, source, grid, rows, whole=whole)
    said = [r for each in results for r in each.values() if whole or r.stop_reason not in ("time_limit", "interrupted")]
    warn_unless_proven(said, type(model).__name__)
    return results


def runs_in_time(
    model: LinearModel,
    training: Settings,
    prepared: Prepared,
    source: Source,
    grid: Sequence[float],
    rows: Rows | None = None,
    *,
    whole: bool = False,
) -> list[dict[float, Result]]:
    """The same, and nothing is said of gaps that are not proven."""
    weights = prepared.weights
    part = weights if rows is None or weights is None else weights[rows]
    results: list[dict[float, Result]] = []
    limited = training.stopping.time_limit is not None and not whole
    turns: list[Callable[[float, Handover, Settings], Result]] = []
    finishes: list[Callable[[Result], Result]] = []
    with one_blas_thread(), openmp_threads(training.n_threads):
        for index, make_risk in enumerate(prepared.problems):
            if limited and training.overdue:
                return [{}]
            risk = make_risk(rows)
            pose = partial(model._problem, source, risk, training, index, len(prepared.problems))
            objective, settings, origin = though_shards_are_lost(pose)
            relative_gap = settings.stopping.relative_gap
            objective = though_shards_are_lost(partial(in_single, objective, relative_gap))
            scale = total_weight(risk, source.shape[0], part)
            make_prover = partial(prover_of, objective)
            settings = replace(settings, on_step=listening(model._listener, index))
            finish = partial(model._with_threshold, objective=objective, risk=risk, source=source, origin=origin)
            if limited:
                turns.append(partial(_train, objective, settings, scale, make_prover))
                finishes.append(finish)
                continue
            found = _follow_all(objective, settings, scale, grid, make_prover, whole=whole)
            results.append({C: finish(result) for C, result in found.items()})
        if limited:
            found_by_turns = _outward(turns, training, grid)
            results = [{C: f(r) for C, r in each.items()} for f, each in zip(finishes, found_by_turns, strict=True)]
    return results


def _outward(
    turns: Sequence[Callable[[float, Handover, Settings], Result]], training: Settings, grid: Sequence[float]
) -> list[dict[float, Result]]:
    """The results of every problem for the C in the middle of the grid, then for those around it, while time lasts.

    Of the time that is left, half is for each C, and all problems have the same share of that.
    """
    found: list[dict[float, Result]] = [{} for _ in turns]
    known: dict[bool, list[Handover]] = {}
    order = outward(grid)
    for C in order:
        if training.overdue:
            break
        above = order[0] <= C
        if above not in known:
            known[above] = [Handover.of(each[order[0]]) if each else Handover() for each in found]
        for_C = training.share(0.5 if order[-1] != C else 1.0)
        for k, (train, handover) in enumerate(zip(turns, known[above], strict=True)):
            if for_C.overdue and training.seconds_left <= 0.0:
                return [{done: r for done, r in each.items() if done != C} for each in found]
            handover.more = True
            found[k][C] = train(C, handover, for_C.share(1.0 / (len(turns) - k)))
            if found[k][C].stop_reason == "interrupted":
                if interrupted():
                    return found
                raise KeyboardInterrupt
    return found


def _train(
    objective: Objective,
    settings: Settings,
    scale: float,
    make_prover: Callable[[Settings], Prover],
    C: float,
    handover: Handover,
    time: Settings,
) -> Result:
    """Train with a C for as long as `time` says; `scale` is the weight of all examples."""
    for_C = replace(settings, C=C * scale, stopping=time.stopping, began=time.began)
    return run(objective, for_C, though_shards_are_lost(partial(make_prover, for_C)), handover)


def _follow_all(
    objective: Objective,
    settings: Settings,
    scale: float,
    grid: Sequence[float],
    make_prover: Callable[[Settings], Prover],
    *,
    whole: bool = True,
) -> dict[float, Result]:
    """The results along the grid; chains of C that do not depend on each other run side by side.

    Unless the whole grid is wanted, no run begins when the time is up.
    """
    began = settings

    def enough() -> bool:
        return not whole and began.overdue

    parts = chains(grid, falling=settings.falls(objective))
    threads = int(_core.thread_count(settings.n_threads))
    workers = min(len(parts), threads)
    if workers == 1:
        found = [follow(part, _trainer(objective, settings, scale, make_prover), enough) for part in parts]
    else:
        watch = Watch(settings.on_step)
        settings = replace(settings, n_threads=threads // workers, on_step=watch.step)
        tasks = [partial(follow, part, _trainer(objective, settings, scale, make_prover), enough) for part in parts]
        found = side_by_side(tasks, workers, watch.stop)
    return {C: result for each in found for C, result in each.items()}


def _trainer(
    objective: Objective, settings: Settings, scale: float, make_prover: Callable[[Settings], Prover]
) -> Callable[[float, Handover], Result]:
    """What trains for a C, given what the run before it has left; `scale` is the weight of all examples."""

    return lambda C, handover: _train(objective, settings, scale, make_prover, C, handover, settings)


def _fitted_model(pattern: Any, C: float, results: list[Result], beside: Params) -> Any:
    model = copy.copy(pattern)  # with what preparing the examples has found out: classes, names of features
    model.C = C
    model._warm_key = None
    model._keep(results)
    vars(model).update(beside)
    return model

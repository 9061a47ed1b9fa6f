"""The problems of one fit, one for each class against the rest: solved in turn, or side by side."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import Wish, interrupted, one_wish
from cutplane._runtime.side_by_side import side_by_side
from cutplane._types import Labels, Matrix, Params
from cutplane.estimators.common.callbacks import StepHooks
from cutplane.estimators.common.certificates import listening
from cutplane.estimators.common.checkpoint import Checkpoint
from cutplane.estimators.common.checkpoint_entries import digests
from cutplane.estimators.common.training import on_scales, prover_of, total_weight, warn_unless_proven
from cutplane.estimators.linear.against_rest import AgainstRest
from cutplane.estimators.linear.joint_classes import JointClasses, by_joint_steps, is_for_joint_steps
from cutplane.estimators.linear.lockstep import in_lockstep, is_for_lockstep
from cutplane.objectives.factory import in_single
from cutplane.objectives.generic import Objective
from cutplane.proof.prover import Prover
from cutplane.risks.base import Risk, Rows
from cutplane.shards.example_interior import step_work
from cutplane.shards.registry import lockstep_rows
from cutplane.shards.scattered import ScatteredRisk
from cutplane.solvers.base import though_shards_are_lost
from cutplane.solvers.handover import Handover
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import OnStep, Result
from cutplane.solvers.run import Settings, run
from cutplane.solvers.small import TUNING as SMALL
from cutplane.sources import Source

# Of fewer entries, most of a run is Python, which threads share: in turn they take less time. digits.
_FEW_ENTRIES = 500_000
# The same where the core solves small problems by itself.
_FEW_ENTRIES_IN_CORE = 50_000
# A problem is gone on with where its share of the time left is this much of what the last round took for each.
_WORTH_A_ROUND = 0.5
_ENDED_EARLY = ("time_limit", "interrupted")


class Prepared(NamedTuple):
    """Checked examples, and what makes the problems of them.

    Attributes
    ----------
    X, y, weights : array
        The examples and their weights (None: 1 each), checked.
    problems : sequence of callables
        Each makes the risk of one problem on some of the examples (None: on all), when its turn comes.
    key : tuple
        All besides X and the weights that the risks depend on, arrays or comparable values: what a warm start must
        find equal. The targets come first; None where there are none.
    in_core : bool
        Whether the loss is one that the core solves small problems of by itself.
    against : AgainstRest or None
        Where the problems are those of one class each against the rest.
    joint : JointClasses or None
        Where there is one problem, of several classes by margins.
    """

    X: Matrix | Source
    y: Labels | None
    weights: NDArray[np.float64] | None
    problems: Sequence[Callable[[Rows | None], Risk]]
    key: tuple[object, ...]
    in_core: bool = False
    against: AgainstRest | None = None
    joint: JointClasses | None = None

    @property
    def few(self) -> bool:
        """Whether problems are so small that they are solved in turn."""
        n, d = self.X.shape
        alone_in_core = self.in_core and step_work(n, d) <= SMALL.small
        least = _FEW_ENTRIES_IN_CORE if alone_in_core else _FEW_ENTRIES
        return bool(getattr(self.X, "nnz", n * d) < least)


def scattered_problem(risk: ScatteredRisk) -> Callable[[Rows | None], Risk]:
    """What gives the risk of examples that lie elsewhere: of all of them."""

    def whole(rows: Rows | None) -> Risk:
        assert rows is None
        return risk

    return whole


class ProblemMaker(Protocol):
    """What makes problems of examples, and a model of their results: see `LinearModel`."""

    fit_intercept: bool
    checkpoint: str | PathLike[str] | None
    checkpoint_every: float

    @property
    def _plain_penalty(self) -> bool: ...

    @property
    def _listener(self) -> OnStep | None: ...

    def _source(self, X: Matrix | Source, n_threads: int) -> Source: ...

    def _problem(
        self, source: Source, risk: Risk, training: Settings, index: int, n_problems: int
    ) -> tuple[Objective, Settings, NDArray[np.float64] | None]: ...

    def _key(self, source: Source, prepared: Prepared) -> Any: ...

    def _warm_results(self, source: Source, prepared: Prepared) -> list[Result] | None: ...

    def _with_threshold(
        self, result: Result, objective: Objective, risk: Risk, source: Source, origin: NDArray[np.float64] | None
    ) -> Result: ...

    def _fitted(self, results: list[Result]) -> Params: ...


class _Posed(NamedTuple):
    """One of the problems, ready to be solved."""

    risk: Risk
    objective: Objective
    settings: Settings
    prover: Prover
    origin: NDArray[np.float64] | None


class Problems:
    """The problems of a fit, and what watches it: hooks, checkpoints, warm starts.

    Parameters
    ----------
    model : ProblemMaker
    training : Settings
    prepared : Prepared
    begin : sequence of Result, optional
        Of an earlier run on the same problems, to go on from.

    Attributes
    ----------
    workers : int
        How many of them are solved at a time. Hooks see one run after the other, and so do checkpoints.
    """

    def __init__(
        self,
        model: ProblemMaker,
        training: Settings,
        prepared: Prepared,
        begin: Sequence[Result] | None = None,
    ) -> None:
        self._model = model
        self._training = training
        self._prepared = prepared
        self._results: dict[int, Result] = {}
        self._waiting: list[int] = []  # in this round
        self._over = 0.0  # seconds that the last run took beyond its share, its proof included
        self._short = False  # whether a class has been cut short
        self._apart: dict[int, NDArray[np.float64]] = {}
        self._lock = Lock()
        self._under_way = 0
        self._earlier = begin
        self._ahead: list[Result] | None = None
        self._ledgers: list[Ledger] = []  # of the run under way
        self._hooks = StepHooks(model, model._listener, prepared.X, prepared.y, self._so_far)
        self._threads = int(_core.thread_count(training.n_threads))
        watched = self._hooks.wanted or model.checkpoint is not None
        apart = getattr(prepared.X, "elsewhere", False)  # asked for one thing after the other
        alone = watched or apart or prepared.few
        self.workers = 1 if alone else min(len(prepared.problems), self._threads)
        # Side by side, each run says how many threads it has.
        self._source = model._source(prepared.X, training.n_threads if self.workers == 1 else 0)
        self._checkpoint = Checkpoint(
            model.checkpoint, model.checkpoint_every, lambda: digests(model._key(self._source, prepared))
        )
        self._warm = model._warm_results(self._source, prepared) if begin is None else begin

    def solved(self) -> list[Result]:
        """The result of each: of all together where that can be, and of what they leave one by one.

        Each class has its share of a limit of time. What is left then goes to those that it may help the most.
        """
        with one_wish() as wish:
            self._ahead = self._all_there()
            known = {k: self._done(k) for k in range(self._number)}
            self._results = {k: result for k, result in known.items() if result is not None}
            turn = [k for k, result in known.items() if result is None]
            with one_blas_thread():
                while turn:
                    turn = self._round(turn, wish)
                self._lower_untrained()
        results = [self._results[k] for k in range(self._number)]
        warn_unless_proven(results, type(self._model).__name__, partial(on_scales, self._source))
        return results

    def _all_there(self) -> list[Result] | None:
        """All classes together, on examples of a device."""
        model, against, joint = self._model, self._prepared.against, self._prepared.joint
        watched = self._hooks.wanted or model.checkpoint is not None or self._warm is not None
        rows, intercept = lockstep_rows(self._source), bool(model.fit_intercept)
        if watched or rows is None or not model._plain_penalty:
            return None
        if against is not None and is_for_lockstep(against, rows, self._training):
            return in_lockstep(against, rows, self._training, intercept=intercept)
        if joint is not None and is_for_joint_steps(joint, rows, self._training):
            return [by_joint_steps(joint, rows, self._training, intercept=intercept)]
        return None

    def _done(self, index: int) -> Result | None:
        """What is proven of a problem already, as close as was asked for or as time allowed."""
        known = None if self._ahead is None else self._ahead[index]
        if known is None or known.stop_reason != "stalled":
            return known
        return replace(known, stop_reason="time_limit") if self._training.overdue else None

    def _round(self, turn: list[int], wish: Wish) -> list[int]:
        """Serve each of them, one after the other or side by side; gives those that another round may help.

        Side by side, dual ascent has one thread, and each model is the same to the bit.
        """
        began = time.perf_counter()
        self._waiting, self._over = list(turn), 0.0
        tasks = [partial(self._serve, index, wish) for index in turn]
        if self.workers == 1:
            for task in tasks:
                task()
        else:
            side_by_side(tasks, self.workers, wish.stop)
        spent = self.workers * (time.perf_counter() - began) / len(turn)
        late = [k for k in turn if self._results[k].stop_reason == "time_limit"]
        left = self._training.seconds_left
        if not late or left <= 0.0 or len(self._prepared.problems) == 1:
            return []
        count = len(late) if spent <= 0.0 else int(left * self.workers / (_WORTH_A_ROUND * spent))
        return sorted(late, key=lambda k: -self._results[k].gap)[:count]

    def _share(self, index: int, before: Result | None) -> Settings:
        """The settings of a problem whose turn has come: of the time left, as much as those who wait have each."""
        training, stopping = self._training, self._training.stopping
        if self.workers > 1:
            training = replace(training, n_threads=self._threads // self.workers)
        waiting = len(self._waiting)
        self._waiting.remove(index)
        if stopping.time_limit is None or self._number == 1:
            return training
        if before is not None and stopping.max_iter is not None:
            stopping = replace(stopping, max_iter=max(1, stopping.max_iter - len(before.history)))
        return replace(training, stopping=stopping).share(min(self.workers, waiting) / waiting, self._over)

    def _serve(self, index: int, wish: Wish) -> None:
        """Solve a problem, or go on with it, for as long as its share of the time lasts."""
        checkpoint, before, late = self._checkpoint, self._results.get(index), interrupted()
        training = self._share(index, before)
        given = training.seconds_left
        ledgers = self._ledgers if self.workers == 1 else []
        self._under_way = index
        on_step = checkpoint.watching(index, ledgers, listening(self._hooks if self._hooks.wanted else None, index))
        posed = though_shards_are_lost(partial(self._pose, index, training, on_step))
        result = checkpoint.ended(index, posed.settings, posed.objective, posed.prover) if before is None else None
        if result is None:
            begin = before or checkpoint.warm(index, posed.settings, posed.objective) or self._begin(index)
            handover = self._first(index) if begin is None else Handover.of(begin)
            result = run(posed.objective, posed.settings, posed.prover, handover, ledgers.append)
            ledger = ledgers.pop()
            if not late:  # what was reached before the wish to stop is not written over
                checkpoint.note(index, posed.settings, result, ledger)
        if result.stop_reason == "interrupted":
            wish.stop()
        elif result.stop_reason == "time_limit" and given > 0.0:
            self._over, self._short = -training.seconds_left, True
        result = self._model._with_threshold(result, posed.objective, posed.risk, self._source, posed.origin)
        earlier = self._earlier or self._ahead
        if before is not None:
            result = result.after(before)
        elif earlier is not None:
            result = result.with_history(earlier[index].history)
        self._results[index] = result

    def _first(self, index: int) -> Handover | None:
        """What a class begins with: where time is short, the means of its examples and of the others apart."""
        start = getattr(self._model, "_start", None)
        if start is not None:
            return Handover(w=start[index])
        against, waiting = self._prepared.against, sorted(self._waiting)
        if not self._short or against is None or self._training.overdue or not self._model._plain_penalty:
            return None
        with self._lock:
            if index not in self._apart:
                self._apart |= against.means_apart(self._source, [index, *(k for k in waiting if k > index)])
            return Handover(w=self._apart.pop(index))

    def _lower_untrained(self) -> None:
        """Put the intercepts of classes that there was no time for below all scores of the others."""
        results, number = self._results, self._number
        idle = [k for k in range(number) if results[k].stop_reason in _ENDED_EARLY and not results[k].w.any()]
        if not 0 < len(idle) < number or not self._model._plain_penalty or not self._model.fit_intercept:
            return
        reach = self._source.extent.reach
        others = [float(np.linalg.norm(r.w)) * reach + abs(float(r.intercept)) for r in results.values()]
        lowest = -1.0 - max(others)
        for k in idle:
            posed = self._pose(k, self._training, None)
            if posed.objective.intercept:
                upper = posed.prover.upper(results[k].w, lowest)
                history = [*results[k].history[:-1], replace(results[k].history[-1], upper=upper)]
                results[k] = replace(results[k], intercept=lowest, upper=upper, radius=math.inf, history=history)

    def close(self) -> None:
        """When the results are kept: nobody needs the checkpoint any more, unless the fit was interrupted."""
        if all(result.stop_reason != "interrupted" for result in self._results.values()):
            self._checkpoint.remove()
        self._hooks.close()
        del self._hooks, self._checkpoint  # they refer back: model and examples would wait for the garbage collector

    @property
    def _number(self) -> int:
        return len(self._prepared.problems)

    def _pose(self, index: int, training: Settings, on_step: OnStep | None) -> _Posed:
        model, prepared = self._model, self._prepared
        risk = prepared.problems[index](None)
        objective, settings, origin = model._problem(self._source, risk, training, index, self._number)
        settings = settings.for_risk(total_weight(risk, prepared.X.shape[0], prepared.weights), on_step)
        objective = in_single(objective, settings.stopping.relative_gap)
        return _Posed(risk, objective, settings, prover_of(objective, settings), origin)

    def _begin(self, index: int) -> Result | None:
        """The result of an earlier fit that this problem starts from, or what all of them together have reached."""
        known = self._ahead or self._warm
        return known[index] if known else None

    def _so_far(self) -> Params | None:
        """What predictions need, as of now; None while a problem has not begun."""
        known = dict(self._results)
        if self._ledgers:
            known[self._under_way] = self._ledgers[-1].result("interrupted")
        return self._model._fitted([known[k] for k in range(self._number)]) if len(known) == self._number else None

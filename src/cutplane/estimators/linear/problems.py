"""The problems of one fit, one for each class against the rest: solved in turn, or side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import until_ctrl_c
from cutplane._runtime.side_by_side import Watch, side_by_side
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
        self._results: list[Result] = []
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
        """The result of each: of all together where that can be, and of what they leave one by one."""
        self._ahead = self._all_there()
        done = [self._done(k) for k in range(self._number)]
        if all(result is not None for result in done):
            self._results = [result for result in done if result is not None]
            warn_unless_proven(self._results, type(self._model).__name__, partial(on_scales, self._source))
            return self._results
        with one_blas_thread():
            return self._side_by_side() if self.workers > 1 else self._in_turn()

    def _all_there(self) -> list[Result] | None:
        """All classes together, on examples of a device."""
        model, against, joint = self._model, self._prepared.against, self._prepared.joint
        watched = self._hooks.wanted or model.checkpoint is not None or self._warm is not None
        rows, intercept = lockstep_rows(self._source), bool(model.fit_intercept)
        if watched or rows is None or not model._plain_penalty:
            return None
        with until_ctrl_c():
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

    def _in_turn(self) -> list[Result]:
        """The result of each, solved one after the other."""
        checkpoint, ledgers = self._checkpoint, self._ledgers
        for index in range(self._number):
            done = self._done(index)
            if done is not None:
                self._results.append(done)
                continue
            on_step = checkpoint.watching(index, ledgers, listening(self._hooks if self._hooks.wanted else None, index))
            posed = though_shards_are_lost(partial(self._pose, index, self._training, on_step))
            result = checkpoint.ended(index, posed.settings, posed.objective, posed.prover)
            if result is None:
                begin = checkpoint.warm(index, posed.settings, posed.objective) or self._begin(index)
                handover = None if begin is None else Handover.of(begin)
                result = run(posed.objective, posed.settings, posed.prover, handover, ledgers.append)
                checkpoint.note(index, posed.settings, result, ledgers.pop())
            self._results.append(self._finished(posed, self._after(index, result)))
            if result.stop_reason == "interrupted" and len(self._results) < self._number:
                warn_unless_proven(self._results, type(self._model).__name__, partial(on_scales, self._source))
                raise KeyboardInterrupt
        warn_unless_proven(self._results, type(self._model).__name__, partial(on_scales, self._source))
        return self._results

    def _side_by_side(self) -> list[Result]:
        """The same, several at a time: dual ascent has one thread, and each model is the same to the bit."""
        watch = Watch()
        training = replace(self._training, n_threads=self._threads // self.workers)
        tasks = [partial(self._solve, index, training, watch.step) for index in range(self._number)]
        self._results = side_by_side(tasks, self.workers, watch.stop)
        if any(result.stop_reason == "interrupted" for result in self._results):
            raise KeyboardInterrupt
        warn_unless_proven(self._results, type(self._model).__name__, partial(on_scales, self._source))
        return self._results

    def close(self) -> None:
        """When the results are kept: nobody needs the checkpoint any more, unless the fit was interrupted."""
        if self._results[-1].stop_reason != "interrupted":
            self._checkpoint.remove()
        self._hooks.close()
        del self._hooks, self._checkpoint  # they refer back: model and examples would wait for the garbage collector

    @property
    def _number(self) -> int:
        return len(self._prepared.problems)

    def _solve(self, index: int, training: Settings, on_step: OnStep) -> Result:
        done = self._done(index)
        if done is not None:
            return done
        posed, begin = self._pose(index, training, on_step), self._begin(index)
        handover = None if begin is None else Handover.of(begin)
        result = run(posed.objective, posed.settings, posed.prover, handover)
        return self._finished(posed, self._after(index, result))

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

    def _after(self, index: int, result: Result) -> Result:
        """With the history of the run that it goes on from, where that is a part of this fit."""
        earlier = self._earlier or self._ahead
        if earlier is None:
            return result
        before = earlier[index].history
        count, seconds = len(before), before[-1].seconds if before else 0.0
        later = [replace(s, iteration=s.iteration + count, seconds=s.seconds + seconds) for s in result.history]
        return replace(result, history=[*before, *later])

    def _finished(self, posed: _Posed, result: Result) -> Result:
        return self._model._with_threshold(result, posed.objective, posed.risk, self._source, posed.origin)

    def _so_far(self) -> Params | None:
        """What predictions need, as of now; None while a problem has not begun."""
        known = self._results + ([self._ledgers[-1].result("interrupted")] if self._ledgers else [])
        return self._model._fitted(known) if len(known) == self._number else None

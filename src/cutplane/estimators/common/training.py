"""From an objective and a few settings to a certified result: what every linear estimator does."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import deadline
from cutplane._runtime.threads import openmp_threads
from cutplane.proof.prover import Plane, Proven, Prover
from cutplane.proof.rounding import UNIT
from cutplane.shards.hinge import ScoresTooLargeError
from cutplane.solvers.ascent.dual import is_wide
from cutplane.solvers.auto import Auto
from cutplane.solvers.base import Array, bare
from cutplane.solvers.bundle.bounded import BoundedBundle, BoundedLineSearch
from cutplane.solvers.bundle.planes import Bundle, plane_storage
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch, LineSearch, ThreePointLineSearch
from cutplane.solvers.newton.sampled import SampledNewton
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.newton.start import from_last, resumed_start
from cutplane.solvers.result import Result, Step, StopReason
from cutplane.solvers.stopping import Stopping

METHODS = ("auto", "newton", "oca", "cpa")
LINE_SEARCHES = ("adaptive", "exact", "three-point")
# More features than this make Newton's systems on pairs expensive.
_FEW_FEATURES = 2500
# So often a run goes on from what the prover granted it.
_MOST_DISPUTES = 2
# What is left to gain along a path of C, relative to what going on in the direction of the last two models gains.
_FORESEEN = 3.0


@dataclass(frozen=True)
class Training:
    """The settings of a run, or of several that share the time there is: it counts from when the settings were made."""

    C: float
    stopping: Stopping
    method: str = "auto"
    line_search: str = "adaptive"
    seed: int = 0
    n_threads: int = 0
    bounds: Array | None = field(default=None, repr=False)
    on_step: Callable[[Step], Any] | None = field(default=None, repr=False)
    began: float = field(default_factory=lambda: time.perf_counter(), repr=False)

    def with_C(self, C: float) -> Training:
        """The same settings with another C."""
        return replace(self, C=C)

    def for_risk(self, total_weight: float, on_step: Callable[[Step], Any] | None) -> Training:
        """The same settings for a mean risk: C per example times the weight of all."""
        return replace(self, C=self.C * total_weight, on_step=on_step)

    def run(
        self,
        objective: Any,
        warm: Result | None = None,
        watch: Callable[[Ledger], None] | None = None,
        reached: Sequence[Any] = (),
        prover: Prover | None = None,
    ) -> Result:
        """Train; after Ctrl-C, what was reached until then.

        Parameters
        ----------
        objective : Objective
        warm : Result, optional
            To go on from.
        watch : callable, optional
            Handed the books before the first step.
        reached : sequence of points of the objective
            Where earlier runs ended, the last of them `warm`: nothing of it is computed again, and from two of them it
            is foreseen where this run will end.
        prover : Prover, optional
            Says what is proven in the end; one for the objective as it is, if None.
        """
        if self.method == "newton" and objective.newton_by is None:
            raise ValueError(
                f"method='newton' needs a loss that is smooth or can round its kinks, which "
                f"{objective.shard.risk.name} cannot; 'auto', 'oca' and 'cpa' are accepted."
            )
        if self.method == "newton" and self.bounds is not None:
            raise ValueError("method='newton' has no bounds on weights; with nonnegative, 'auto', 'oca' and 'cpa' do.")
        with one_blas_thread(), openmp_threads(self.n_threads):
            if prover is None:
                prover = prover_of(objective, objective.shard.risk, self)
            return self._run(objective, warm, watch, reached, prover)

    def _run(
        self,
        objective: Any,
        warm: Result | None,
        watch: Callable[[Ledger], None] | None,
        reached: Sequence[Any],
        prover: Prover,
    ) -> Result:
        bundle = self.new_bundle(objective) if warm is None else warm.bundle.copy()
        left = self.stopping.after(time.perf_counter() - self.began)
        ledger = Ledger(self.C, bundle, left, self.on_step, objective.rounding)
        if warm is not None:
            ledger.duals = warm.duals
        if watch is not None:
            watch(ledger)
        try:
            with deadline(left.time_limit):
                reason = self._reach_proof(objective, ledger, warm, reached, prover)
        except KeyboardInterrupt:
            if ledger.incumbent is None:
                raise
            _prove(objective, ledger, prover)
            reason = "interrupted"
        return ledger.result(reason)

    def _reach_proof(
        self, objective: Any, ledger: Ledger, warm: Result | None, reached: Sequence[Any], prover: Prover
    ) -> StopReason:
        """Run until the prover grants what the run believes; twice at most it goes on from what was granted."""
        reason: StopReason = "gap"
        with suppress(ScoresTooLargeError):  # what was reached until then goes on in double precision
            reason = self._reach(objective, ledger, warm, reached)
        double = objective.in_double()
        for _ in range(_MOST_DISPUTES):
            if ledger.incumbent is not None:
                _prove(objective, ledger, prover)
                if reason != "gap" or ledger.granted:
                    return reason
                if ledger.overdue:
                    return "time_limit"
                ledger.incumbent = double.at(ledger.incumbent.w)
            reason = self._solve(double, ledger, resumed=ledger.incumbent is not None)
        _prove(objective, ledger, prover)
        return "stalled" if reason == "gap" and not ledger.granted else reason

    def _reach(self, objective: Any, ledger: Ledger, warm: Result | None, reached: Sequence[Any]) -> StopReason:
        reason = None if warm is None else self._resume(objective, ledger, warm, reached)
        if reason is None and ledger.overdue and ledger.incumbent is None:
            return self._look_at_zero(objective, ledger)
        return reason or self._solve(objective, ledger, resumed=warm is not None)

    def _look_at_zero(self, objective: Any, ledger: Ledger) -> StopReason:
        """What there is to say when no time is left to search: the plane at zero, and what it proves."""
        zero = np.zeros(objective.dimension)
        point = objective.at(zero if self.bounds is None else np.maximum(self.bounds, zero))
        ledger.offer(bare(point), objective.value(point))
        ledger.add(objective.cut(point))
        ledger.solve()
        reason = ledger.close_iteration(0.0)
        assert reason is not None  # the time is up
        return reason

    def proven(self, prover: Prover, w: Array, intercept: Any, witness: Plane) -> Proven:
        """What weights and a plane of an earlier run are worth."""
        with one_blas_thread(), openmp_threads(self.n_threads):
            upper = prover.upper(w, intercept)
            return Proven(upper, prover.lower(witness, w, upper))

    def new_bundle(self, objective: Any) -> Any:
        """One without planes."""
        about = {"lower_bound": objective.lower_bound, "n_threads": self.n_threads}
        if self.bounds is not None:
            return BoundedBundle(self.bounds, **about)
        storage = plane_storage(objective.dimension, self.stopping.relative_gap)
        return Bundle(objective.dimension, **about, **storage)

    def falls(self, objective: Any) -> bool:
        """Whether a path of C is followed from the largest: where dual ascent does the work and goes on."""
        ascends = self.method == "auto" and self.bounds is None and objective.newton_by == "kinks"
        return ascends and objective.keeps_duals and is_wide(objective)

    def _resume(self, objective: Any, ledger: Ledger, warm: Result, reached: Sequence[Any]) -> StopReason | None:
        """Planes and incumbent of an earlier run may prove the gap at once: planes do not depend on C."""
        point = reached[-1] if reached else objective.at(warm.w)
        last = ledger.evaluated
        ledger.offer(point, last.cut.value if last is not None and last.point is point else objective.value(point))
        ledger.solve()
        if self.bounds is None and not ledger.proven and from_last(objective, ledger) is None:
            if len(reached) > 1:
                before = ledger.upper
                self._look_along(objective, ledger, reached[-2], point)
                if ledger.upper < before:
                    ledger.foreseen_error = _FORESEEN * (before - ledger.upper)
            else:
                # The same direction at its best length.
                self._look_along(objective, ledger, objective.at(np.zeros_like(point.w)), point)
        return ledger.close_iteration(0.0)

    def _look_along(self, objective: Any, ledger: Ledger, base: Any, point: Any) -> None:
        """Offer the best point on the way from one to the other and beyond: no pass over the data."""
        step = ExactLineSearch().step(objective, base, point, self.C)
        found = objective.settle(objective.mix(base, point, step))
        ledger.offer(found, objective.value(found))

    def _solve(self, objective: Any, ledger: Ledger, *, resumed: bool) -> StopReason:
        start = ledger.incumbent.w if resumed and ledger.incumbent is not None else None
        if self.bounds is not None:
            begin_at = np.maximum(self.bounds, 0.0) if start is None else start
            return self._cutting_plane().run(objective, ledger, begin_at)
        if self.method in ("oca", "cpa"):
            return self._cutting_plane().run(objective, ledger, start)
        if objective.newton_by == "pairs":
            return self._solve_pairs(objective, ledger)
        if objective.newton_by is None:
            return CuttingPlane().run(objective, ledger, start)
        if self.method == "newton":
            begin = resumed_start(objective, ledger) if resumed else None
            return SmoothedNewton(self.seed).run(objective, ledger, begin)
        return Auto(self.seed).run(objective, ledger, resumed=resumed)

    def _cutting_plane(self) -> CuttingPlane:
        if self.method == "cpa":
            return CuttingPlane.cpa()
        search: LineSearch = ThreePointLineSearch() if self.line_search == "three-point" else ExactLineSearch()
        bounded = search if self.bounds is None else BoundedLineSearch(search, self.bounds)
        return CuttingPlane(bounded) if self.line_search == "adaptive" else CuttingPlane.published(bounded)

    def _solve_pairs(self, objective: Any, ledger: Ledger) -> StopReason:
        """Newton's method while its systems are small; OCA where they are not, or where it comes to a stand."""
        if self.method == "newton" or objective.dimension <= _FEW_FEATURES:
            reason = SampledNewton(self.seed).run(objective, ledger)
            if reason != "stalled" or self.method == "newton":
                return reason
        return CuttingPlane().run(objective, ledger, None if ledger.incumbent is None else ledger.incumbent.w)


def prover_of(objective: Any, risk: Any, training: Training, origin: Array | None = None) -> Prover:
    """What proves models of an objective; `risk` is that of the weights themselves, which count from `origin`."""
    return Prover(
        objective.shard.source,
        risk,
        training.C,
        replace(objective.rounding, unit=UNIT),
        intercept=objective.intercept,
        origin=origin,
        bounds=training.bounds,
    )


def _prove(objective: Any, ledger: Ledger, prover: Prover) -> None:
    """What the incumbent and the best plane are worth, as the prover sees it."""
    assert ledger.incumbent is not None
    point = ledger.incumbent = prover.feasible(objective.as_returned(ledger.incumbent))
    with ledger.phase("proof"):
        upper = prover.upper(point.w, point.intercept)
        lower = prover.lower(ledger.witness, point.w, upper)
    ledger.settle(Proven(upper, lower))


def warn_unless_proven(result: Result, what: str) -> None:
    """One sentence on a run that ended before its gap was proven."""
    if result.stop_reason == "gap":
        return
    why = {
        "max_iter": "reached max_iter",
        "time_limit": "ran out of time",
        "interrupted": "was interrupted",
        "stalled": "made no more progress in double precision",
    }[result.stop_reason]
    warnings.warn(
        f"{what} {why} after {len(result.history)} iterations; the best model so far is kept, proven to be within "
        f"{result.gap:.2g} of the optimum (relative).",
        ConvergenceWarning,
        stacklevel=4,
    )

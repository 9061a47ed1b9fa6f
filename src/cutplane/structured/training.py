"""From a model and examples to a certified result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import deadline
from cutplane._types import Array
from cutplane.solvers.bundle.planes import Bundle
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch, LineSearch, ThreePointLineSearch
from cutplane.solvers.result import OnStep, Result, Step, StopReason
from cutplane.solvers.stopping import Stopping
from cutplane.structured.cache import PlaneCache
from cutplane.structured.frank_wolfe import BlockFrankWolfe
from cutplane.structured.objective import StructuredObjective
from cutplane.structured.one_slack import OneSlack
from cutplane.structured.oracle import OracleSample
from cutplane.structured.proof import StructuredProver, prove
from cutplane.structured.tuning import PROOF

METHODS = ("auto", "one-slack", "oca", "frank-wolfe")
LINE_SEARCHES = ("adaptive", "exact", "three-point")


@dataclass(frozen=True)
class StructuredTraining:
    """The settings of a run; C is that of a mean risk. The time there is counts from when the settings were made."""

    C: float
    stopping: Stopping
    method: str = "auto"
    line_search: str = "three-point"
    seed: int = 0
    n_threads: int = 0
    cache: PlaneCache | None = None
    on_step: OnStep | None = field(default=None, repr=False)
    began: float = field(default_factory=lambda: time.perf_counter(), repr=False)

    def for_weight(self, total: float, cache: PlaneCache | None = None) -> StructuredTraining:
        """The same settings for a mean risk: C per example times the weight of all, which is 1 each or as given."""
        return replace(self, C=self.C * total, cache=cache)

    def new_bundle(self, objective: StructuredObjective) -> Bundle:
        """One without planes."""
        return Bundle(objective.dimension, lower_bound=objective.lower_bound, n_threads=self.n_threads)

    def by_blocks(self, objective: StructuredObjective) -> bool:
        """Whether a run goes on from the dual variables of single examples, and not from planes."""
        compiled = not isinstance(objective.sample, OracleSample)
        return self.method == "frank-wolfe" or (self.method == "auto" and compiled)

    def run(
        self,
        objective: StructuredObjective,
        watch: Callable[[Ledger], None] | None = None,
        warm: Result | None = None,
    ) -> Result:
        """Train, from the planes and weights of `warm` if there are some; after Ctrl-C, what was reached until then.

        Where the searches are inexact, their values are only below the risk: the result then has an infinite upper
        bound, and "stalled" stands for the end of what such searches can find.
        """
        bundle = self.new_bundle(objective) if warm is None else warm.bundle.copy()
        on_step = self.on_step if objective.exact or self.on_step is None else _hiding(self.on_step)
        left = self.stopping.after(time.perf_counter() - self.began)
        ledger = Ledger(self.C, bundle, left, on_step, objective.rounding, lambda: objective.rounding)
        if watch is not None:
            watch(ledger)
        with one_blas_thread(), deadline(left.time_limit):
            reason = self._run(objective, ledger, None if warm is None else warm.w)
        result = ledger.result(reason)
        if type(objective.sample) is OracleSample and objective.exact and reason == "gap":
            objective.sample.audit(result.w)
        return result if objective.exact else uncertified(result)

    def _run(self, objective: StructuredObjective, ledger: Ledger, start: Array | None) -> StopReason:
        prover = StructuredProver(objective, self.C) if objective.exact else None
        try:
            return self._reach_proof(objective, ledger, prover, start)
        except KeyboardInterrupt:
            if ledger.incumbent is None:
                raise
            if prover is not None:
                prove(ledger, prover)
            return "interrupted"

    def _reach_proof(
        self, objective: StructuredObjective, ledger: Ledger, prover: StructuredProver | None, start: Array | None
    ) -> StopReason:
        """Run until the prover grants the gap. If it does not, the run goes on from what was granted, twice at most."""
        solve = self._solver(objective, ledger)
        reason = solve(start)
        if prover is None:
            return reason
        prove(ledger, prover)
        for _ in range(PROOF.most_disputes):
            if reason != "gap" or ledger.granted or ledger.incumbent is None:
                return reason
            reason = solve(ledger.incumbent.w)
            prove(ledger, prover)
        return "stalled" if reason == "gap" and not ledger.granted else reason

    def _solver(self, objective: StructuredObjective, ledger: Ledger) -> Callable[[Array | None], StopReason]:
        """What goes on from some weights until the ledger says why to stop."""
        if self.method == "oca":
            search: LineSearch = ThreePointLineSearch() if self.line_search == "three-point" else ExactLineSearch()
            planes = CuttingPlane(search) if self.line_search == "adaptive" else CuttingPlane.published(search)
            return lambda start: planes.run(objective, ledger, start)
        if self.by_blocks(objective):
            ascent = objective.sample.ascent(ledger.C / objective.examples, self.seed)
            return lambda start: BlockFrankWolfe(self.seed).run(objective, ledger, ascent)
        return lambda start: OneSlack(self.cache).run(objective, ledger, start)


def uncertified(result: Result) -> Result:
    """The result without upper bounds: inexact searches prove none."""
    history = [_hidden(step) for step in result.history]
    reason: StopReason = "stalled" if result.stop_reason == "gap" else result.stop_reason
    return replace(result, upper=float("inf"), history=history, stop_reason=reason)


def _hidden(step: Step) -> Step:
    return replace(step, upper=float("inf"))


def _hiding(on_step: OnStep) -> OnStep:
    return lambda step: on_step(_hidden(step))

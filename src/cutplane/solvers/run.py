"""From an objective and a few settings to a certified result: one way for a fit and for each C of a path."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

import numpy as np

from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import deadline, interrupted
from cutplane._runtime.threads import openmp_threads
from cutplane.proof.prover import Plane, Proven, Prover
from cutplane.solvers.ascent.dual import DualAscent, is_wide
from cutplane.solvers.auto import Auto
from cutplane.solvers.base import (
    Array,
    Intercept,
    Point,
    ScoredPoint,
    ScoresTooCoarseError,
    ShardLostError,
    bare,
    though_shards_are_lost,
)
from cutplane.solvers.bundle.bounded import BoundedBundle, BoundedLineSearch
from cutplane.solvers.bundle.planes import Bundle, BundleLike, plane_storage
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.flat import inside_flat
from cutplane.solvers.handover import Handover
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch, LineSearch, ThreePointLineSearch
from cutplane.solvers.newton.classes import ClassNewton, ClassObjectiveLike
from cutplane.solvers.newton.sampled import SampledNewton
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.newton.start import from_last, resumed_start
from cutplane.solvers.protocols import PairObjectiveLike, RunObjectiveLike, SmoothObjectiveLike
from cutplane.solvers.result import OnStep, Result, StopReason
from cutplane.solvers.stopping import Stopping

METHODS = ("auto", "newton", "oca", "cpa")
LINE_SEARCHES = ("adaptive", "exact", "three-point")


@dataclass(frozen=True, slots=True)
class RunTuning:
    """How runs go on from one another; chosen by hand. benchmarks/path.py shows what they do."""

    #: More features than this make Newton's systems on pairs expensive, and OCA where weights have bounds.
    few_features: int = 2500
    #: Of so few examples with so many features, OCA shows by its first step whether it needs few planes for pairs: if
    #: that closes this part of the gap, or less where more features make Newton's method slow. mq2008, lightgbm_rank,
    #: mslr; with the 8 to 11 features of ordinal sets it did not pay.
    few_examples: int = 50_000
    some_features: int = 32
    first_step: float = 0.1
    more_features: float = 100.0
    #: So often a run goes on from what the prover granted it.
    most_disputes: int = 2
    #: What is left to gain along a path, relative to what going on in the direction of the last two models gains.
    foreseen: float = 3.0
    #: Epochs of dual ascent that OCA is worth where weights have bounds.
    patience: float = 2000.0


TUNING = RunTuning()


@dataclass(frozen=True)
class Settings:
    """The settings of a run, or of several that share the time there is: it counts from when the settings were made.

    `ascent_epochs` are those of dual ascent before something else is tried, as foreseen early on and later.
    """

    C: float
    stopping: Stopping
    method: str = "auto"
    line_search: str = "adaptive"
    seed: int = 0
    n_threads: int = 0
    bounds: Array | None = field(default=None, repr=False)
    on_step: OnStep | None = field(default=None, repr=False)
    ascent_epochs: tuple[float, float] | None = None
    began: float = field(default_factory=lambda: time.perf_counter(), repr=False)

    @property
    def overdue(self) -> bool:
        """Whether the time is up, or someone wishes the fit to end."""
        return self.seconds_left <= 0.0

    @property
    def seconds_left(self) -> float:
        """Until the time is up: infinity where there is no limit."""
        limit = self.stopping.time_limit
        if interrupted():
            return 0.0
        return math.inf if limit is None else limit - (time.perf_counter() - self.began)

    def share(self, part: float, less: float = 0.0) -> Settings:
        """The same with this part of the time that is left."""
        if self.stopping.time_limit is None:
            return self
        stopping = replace(self.stopping, time_limit=part * self.seconds_left - less)
        return replace(self, stopping=stopping, began=time.perf_counter())

    def why(self, *, granted: bool) -> StopReason:
        """Why a run ends here that can go no further."""
        if granted:
            return "gap"
        if interrupted():
            return "interrupted"
        return "time_limit" if self.overdue else "stalled"

    def for_risk(self, total_weight: float, on_step: OnStep | None) -> Settings:
        """The same settings for a mean risk: C per example times the weight of all."""
        return replace(self, C=self.C * total_weight, on_step=on_step)

    def new_bundle(self, objective: RunObjectiveLike) -> BundleLike:
        """One without planes."""
        dimension, lower_bound = objective.dimension, objective.lower_bound
        if self.bounds is not None:
            return BoundedBundle(self.bounds, lower_bound=lower_bound, n_threads=self.n_threads)
        own: BundleLike | None = objective.new_bundle()
        if own is not None:
            return own
        storage = plane_storage(dimension, self.stopping.relative_gap)
        return Bundle(dimension, lower_bound=lower_bound, n_threads=self.n_threads, **storage)

    def falls(self, objective: RunObjectiveLike) -> bool:
        """Whether a path of C is followed from the largest: where dual ascent does the work and goes on."""
        if self.method != "auto" or self.bounds is not None or objective.newton_by != "kinks":
            return False
        return cast(SmoothObjectiveLike, objective).duals_stay and is_wide(objective)

    def proven(self, prover: Prover, w: Array, intercept: Intercept, witness: Plane) -> Proven:
        """What weights and a plane of an earlier run are worth."""
        with one_blas_thread(), openmp_threads(self.n_threads):
            upper = prover.upper(w, intercept)
            lower = prover.lower(witness, w, upper)
            return Proven(upper, lower, prover.radius(witness, w, upper, lower))


def run(
    objective: RunObjectiveLike,
    settings: Settings,
    prover: Prover,
    handover: Handover | None = None,
    watch: Callable[[Ledger], None] | None = None,
) -> Result:
    """Train; after Ctrl-C, what was reached until then.

    Parameters
    ----------
    objective : Objective
    settings : Settings
    prover : Prover
        Says what is proven in the end.
    handover : Handover, optional
        What an earlier run on the same examples has left. Where another is to follow, it is brought up to date.
    watch : callable, optional
        Handed the ledger before the first step.
    """
    if settings.method == "newton" and objective.newton_by is None:
        raise ValueError(
            f"method='newton' needs a loss that is smooth or can round its kinks, which "
            f"{objective.name} cannot; 'auto', 'oca' and 'cpa' are accepted."
        )
    if settings.method == "newton" and settings.bounds is not None:
        raise ValueError("method='newton' has no bounds on weights; with nonnegative, 'auto', 'oca' and 'cpa' do.")
    # What is beyond double precision proves nothing, and a run goes on without it.
    with one_blas_thread(), openmp_threads(settings.n_threads), np.errstate(over="ignore", invalid="ignore"):
        given = Handover() if handover is None else handover
        try:
            return though_shards_are_lost(lambda: _Run(objective, settings, prover, given)).train(watch)
        except OverflowError:
            raise ValueError(
                f"With C={settings.C:g}, weights included, squares leave double precision: scale the features, or "
                "lower C."
            ) from None


class _Granted(NamedTuple):
    """What the prover has said by now: the best weights and plane, and their bounds."""

    point: Point
    witness: Plane
    upper: float
    lower: float


class _Run:
    """One run: the objective, the settings, and the ledger that all of its solvers enter what they find in."""

    def __init__(self, objective: RunObjectiveLike, settings: Settings, prover: Prover, handover: Handover) -> None:
        self.objective, self.settings, self.prover, self.handover = objective.begun(), settings, prover, handover
        bundle = settings.new_bundle(objective) if handover.planes is None else handover.planes.copy()
        self.left = settings.stopping.after(time.perf_counter() - settings.began)
        self.ledger = Ledger(settings.C, bundle, self.left, settings.on_step, objective.rounding, handover=handover)
        self.resumed = handover.w is not None
        self.granted: _Granted | None = None
        self.left_single = False  # whether scores of the objective were too coarse, and double precision took over

    def train(self, watch: Callable[[Ledger], None] | None) -> Result:
        """Until the gap is proven or there is another reason to stop."""
        if watch is not None:
            watch(self.ledger)
        try:
            with deadline(self.left.time_limit):
                reason = self._reach_proof_though_shards_are_lost()
            if reason in ("time_limit", "stalled") and interrupted():
                reason = "interrupted"
        except KeyboardInterrupt:
            if self.ledger.incumbent is None:
                raise
            self._prove()
            reason = "interrupted"
        result = self.ledger.result(reason)
        self._hand_over(result)
        return result

    def _hand_over(self, result: Result) -> None:
        """What the next run begins with. Cutting planes keep no scores, and so no point."""
        handover, end = self.handover, self.ledger.incumbent
        handover.planes, handover.w = result.bundle, result.w
        handover.reached = [*handover.reached[-1:], end] if isinstance(end, ScoredPoint) else []
        handover.drift = self.ledger.drift
        if self.left_single:
            handover.drop_points()

    def _reach_proof_though_shards_are_lost(self) -> StopReason:
        """Go on from the best weights known each time that examples elsewhere had to be read again."""
        while True:
            try:
                return self._reach_proof()
            except ShardLostError:
                self.handover.drop_points()
                incumbent = self.ledger.incumbent
                if incumbent is not None:
                    self.ledger.incumbent, self.handover.w = bare(incumbent), incumbent.w
                self.resumed = self.handover.w is not None

    def _reach_proof(self) -> StopReason:
        """Run until the prover grants what the run believes; twice at most it goes on from what was granted."""
        ledger = self.ledger
        reason: StopReason = "gap"
        with suppress(ScoresTooCoarseError):  # what was reached until then goes on in double precision
            reason = self._reach()
        double = self.objective.in_double()
        for _ in range(TUNING.most_disputes):
            if ledger.incumbent is not None:
                believed = ledger.first_aim_proven
                self._prove()
                self._prove_first()
                if reason == "stalled" and (ledger.granted or self._costs_nothing()):
                    return "gap"  # by what rounding might have hidden, and has not
                # A run that was asked for more than the first aim goes on where one that was asked for that would.
                disputed = reason == "gap" or (reason == "stalled" and believed and not ledger.first_aim_proven)
                if not disputed or ledger.granted:
                    return reason
                if ledger.overdue:
                    return "time_limit"
                ledger.incumbent, ledger.drift = double.at(ledger.incumbent.w), 0.0
            self._go_on_with(double)
            reason = self._solve(double, resumed=ledger.incumbent is not None)
        self._prove()
        if reason in ("gap", "stalled"):
            return "gap" if ledger.granted or self._costs_nothing() else "stalled"
        return reason

    def _prove_first(self) -> None:
        """What a run that was asked for the first aim alone would have ended with, where this one went on in vain."""
        ledger, first = self.ledger, self.ledger.first_reached
        if ledger.granted or first is None:
            return
        ledger.incumbent, ledger.witness = first
        self._prove()

    def _costs_nothing(self) -> bool:
        """Whether no plane helps, for weights of zero are proven to cost nothing with some intercept."""
        objective, ledger = self.objective.in_double(), self.ledger
        if objective.newton_by != "kinks" or ledger.lower > ledger.C * objective.lower_bound:
            return False
        if self.settings.bounds is not None and (self.settings.bounds > 0.0).any():
            return False
        point = inside_flat(cast(SmoothObjectiveLike, objective), np.zeros(objective.dimension))
        if point is None:
            return False
        ledger.incumbent = point
        self._prove()
        return ledger.granted

    def _go_on_with(self, double: RunObjectiveLike) -> None:
        """Points in single precision are of no use in double precision, nor the other way round."""
        if double is not self.objective:
            self.left_single = True
            self.ledger.rounding = double.rounding
            self.handover.drop_points()

    def _prove(self) -> None:
        """What the incumbent and the best plane are worth, as the prover sees it."""
        ledger, prover = self.ledger, self.prover
        assert ledger.incumbent is not None
        point = prover.feasible(self.objective.as_returned(ledger.on_host()))
        with ledger.phase("proof"):
            upper = prover.upper(point.w, point.intercept)
            if self.granted is not None and self.granted.upper < upper:  # what was gained since was rounding
                point, upper = self.granted.point, self.granted.upper
            lower = prover.lower(ledger.witness, point.w, upper)
            if self.granted is not None and self.granted.lower > lower:
                ledger.witness, lower = self.granted.witness, self.granted.lower
            radius = prover.radius(ledger.witness, point.w, upper, lower)
        ledger.incumbent, self.granted = point, _Granted(bare(point), ledger.witness, upper, lower)
        ledger.accept(Proven(upper, lower, radius), look=self.objective.newton_by is None)

    def _reach(self) -> StopReason:
        reason = self._resume() if self.resumed else None
        if reason is None and self.ledger.overdue and self.ledger.incumbent is None:
            return self._look_at_zero()
        return reason or self._solve(self.objective, resumed=self.resumed)

    def _look_at_zero(self) -> StopReason:
        """What there is to say when no time is left to search: weights of zero, without a pass over the data."""
        objective, bounds, ledger = self.objective, self.settings.bounds, self.ledger
        zero = np.zeros(objective.dimension)
        point = objective.at(zero if bounds is None else np.maximum(bounds, zero))
        ledger.offer(bare(point), objective.value(point))
        reason = ledger.close_iteration(0.0)
        assert reason is not None  # the time is up
        return reason

    def _resume(self) -> StopReason | None:
        """Planes and incumbent of an earlier run may prove the gap at once: planes do not depend on C."""
        objective, handover, ledger = self.objective, self.handover, self.ledger
        assert handover.w is not None
        point = handover.reached[-1] if handover.reached else objective.at(handover.w)
        last = handover.evaluated
        ledger.offer(point, last.cut.value if last is not None and last.point is point else objective.value(point))
        ledger.solve()
        if self.settings.bounds is None and not ledger.proven and not self._goes_on_from_last():
            if len(handover.reached) > 1:
                before = ledger.upper
                self._look_along(handover.reached[-2], point)
                if ledger.upper < before:
                    ledger.foreseen_error = TUNING.foreseen * (before - ledger.upper)
            else:
                # The same direction at its best length.
                self._look_along(objective.at(np.zeros(objective.dimension)), point)
        return ledger.close_iteration(0.0)

    def _goes_on_from_last(self) -> bool:
        """Whether the last evaluation of Newton's method shows the way."""
        if self.handover.evaluated is None:
            return False
        return from_last(cast(SmoothObjectiveLike, self.objective), self.ledger) is not None

    def _look_along(self, base: ScoredPoint, point: ScoredPoint) -> None:
        """Offer the best point on the way from one to the other and beyond: no pass over the data."""
        objective = self.objective
        step = ExactLineSearch().step(objective, base, point, self.settings.C)
        self.ledger.mixed(base, point, step)
        found = objective.fit_intercept(objective.mix(base, point, step))
        self.ledger.offer(found, objective.value(found))

    def _solve(self, objective: RunObjectiveLike, *, resumed: bool) -> StopReason:
        settings, ledger = self.settings, self.ledger
        start = ledger.incumbent.w if resumed and ledger.incumbent is not None else None
        if settings.bounds is not None:
            return self._solve_bounded(objective, settings.bounds, start)
        if settings.method in ("oca", "cpa"):
            return self._cutting_plane().run(objective, ledger, start)
        if objective.newton_by is None:
            return CuttingPlane().run(objective, ledger, start)
        if objective.newton_by == "pairs":
            return self._solve_pairs(cast(PairObjectiveLike, objective))
        if objective.newton_by == "classes":
            point = ledger.incumbent if resumed and isinstance(ledger.incumbent, ScoredPoint) else None
            return ClassNewton(settings.seed).run(cast(ClassObjectiveLike, objective), ledger, point)
        rounded = cast(SmoothObjectiveLike, objective)
        if settings.method == "newton":
            begin = resumed_start(rounded, ledger) if resumed else None
            return SmoothedNewton(settings.seed).run(rounded, ledger, begin)
        return Auto(settings.seed, settings.ascent_epochs).run(rounded, ledger, resumed=resumed)

    def _solve_bounded(self, objective: RunObjectiveLike, bounds: Array, start: Array | None) -> StopReason:
        """Dual ascent where weights are many and examples can be visited one by one, and OCA."""
        settings, ledger = self.settings, self.ledger
        if settings.method == "auto" and objective.newton_by == "kinks" and objective.dimension > TUNING.few_features:
            search = BoundedLineSearch(ExactLineSearch(), bounds)
            ascent = DualAscent(settings.seed, patience=TUNING.patience, line_search=search)
            reason = ascent.run(cast(SmoothObjectiveLike, objective), ledger)
            if reason != "stalled":
                return reason
            start = start if ledger.incumbent is None else ledger.incumbent.w
        return self._cutting_plane().run(objective, ledger, np.maximum(bounds, 0.0) if start is None else start)

    def _cutting_plane(self) -> CuttingPlane:
        settings = self.settings
        if settings.method == "cpa":
            return CuttingPlane.cpa()
        search: LineSearch = ThreePointLineSearch() if settings.line_search == "three-point" else ExactLineSearch()
        bounded = search if settings.bounds is None else BoundedLineSearch(search, settings.bounds)
        return CuttingPlane(bounded) if settings.line_search == "adaptive" else CuttingPlane.published(bounded)

    @staticmethod
    def _few_planes_may_do(objective: PairObjectiveLike) -> bool:
        return objective.examples <= TUNING.few_examples and objective.dimension >= TUNING.some_features

    def _solve_pairs(self, objective: PairObjectiveLike) -> StopReason:
        """OCA where few planes do, Newton's method while its systems are small, and OCA where it comes to a stand."""
        method, ledger, afresh = self.settings.method, self.ledger, False
        if method == "auto" and ledger.incumbent is None and self._few_planes_may_do(objective):
            gap = 1.0 - TUNING.first_step / (1.0 + objective.dimension / TUNING.more_features)
            reason = CuttingPlane(first_gap=gap).run(objective, ledger)
            if reason != "stalled":
                return reason
            afresh = True
        if method == "newton" or objective.dimension <= TUNING.few_features:
            reason = SampledNewton(self.settings.seed, afresh).run(objective, ledger)
            if reason != "stalled" or method == "newton":
                return reason
        return CuttingPlane().run(objective, ledger, None if ledger.incumbent is None else ledger.incumbent.w)

"""Dual coordinate ascent as a source of planes: cheap where examples are sparse and C is not large."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from cutplane.solvers.ascent.pace import TUNING, Pace
from cutplane.solvers.base import Array, Duals, ScoredPoint
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch, LineSearch
from cutplane.solvers.protocols import AscentLike, ObjectiveLike, SmoothObjectiveLike
from cutplane.solvers.result import StopReason


@dataclass
class DualAscent:
    """Epochs of dual coordinate ascent, certified by the plane of its dual variables.

    Parameters
    ----------
    seed : int
        For the order of the examples.
    promise, patience : float
        Gives up with "stalled" when, at the pace of the last ones, it would take more epochs in all: than `promise`
        during the first ten, than `patience` later.
    """

    seed: int = 0
    promise: float = float("inf")
    patience: float = float("inf")
    line_search: LineSearch = field(default_factory=ExactLineSearch, repr=False)

    def run(self, objective: SmoothObjectiveLike, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop, or "stalled" if that is too far off."""
        ascent: AscentLike | None = objective.dual_ascent(ledger.C, self.seed, ledger.bundle.bounds)
        if ascent is None:
            return "stalled"
        duals, near_zero = ledger.handover.duals, _near_zero(ledger, ascent)
        resumed = duals is not None and not near_zero and ascent.resume(duals, ledger.incumbent)
        ledger.ascent = ascent
        due = TUNING.first_certificate_if_resumed
        reason: StopReason | None = None
        if not resumed and ledger.bundle.bounds is None:
            reason, due = self._begin(objective, ledger, ascent)
        if reason is None:
            reason = self._ascend(objective, ledger, ascent, due)
        # Where something else takes over, it will at the next C, too. Nothing does where rounding is what is left.
        given_up = reason == "stalled" and not ledger.mostly_rounding
        ledger.handover.duals = None if given_up else _ended(ascent, duals)
        ledger.ascent = None
        return reason

    def _ascend(self, objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike, due: int) -> StopReason:
        """Epochs and certificates in turn, the first of these after `due` epochs."""
        pace = Pace(ledger, ascent, is_wide(objective), objective.dimension, self.promise, self.patience, due)
        while True:
            with ledger.phase("epochs"):
                while pace.goes_on and not self._hopeless(objective, pace.epochs, ascent):
                    if pace.extrapolates:
                        ascent.extrapolate()
                    ascent.epoch()
                    pace.entered(ascent.last_gain)
                    if pace.climbs:
                        pace.climbed(ascent.climb(pace.climb_products, pace.climb_gap))
                    if ledger.overdue:
                        break
            reason = self._certify(objective, ledger, ascent)
            if reason is not None:
                return reason
            if self._hopeless(objective, pace.epochs, ascent):
                return "stalled"
            pace.certified()
            if pace.disputed:
                return "stalled"
            if pace.sums_are_doubtful:
                ascent.renew()
            if pace.too_slow:
                self._prove(ledger, ascent)
                return "stalled"
            if pace.hardly_closer:
                ascent.unshrink()
                if ascent.estimate > ledger.lower:  # it may get no closer: what it has is not lost
                    self._prove(ledger, ascent)
                if objective.intercept:
                    self._touch(objective, ledger)
            pace.schedule()

    def _hopeless(self, objective: SmoothObjectiveLike, epochs: int, ascent: AscentLike) -> bool:
        """Whether hardly a dual variable is as large as it will be, where something else can be tried."""
        enough = epochs == (2 if objective.dimension > TUNING.many_features else 1)
        # Where an epoch is many sweeps, examples are so few that nothing is much cheaper.
        return enough and ascent.sweeps == 1 and self.promise < math.inf and ascent.share_at_bounds <= TUNING.unbound

    @staticmethod
    def _begin(objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike) -> tuple[StopReason | None, int]:
        """Start from the plane at w = 0, which at small C is nearly all there is to know.

        Returns why to stop, and how many epochs come before the first certificate.
        """
        C = ledger.C
        zero = objective.at(np.zeros(objective.dimension))
        value = objective.value(zero)
        if value <= objective.lower_bound:  # nothing is better, and what comes close to it would never be proven
            ledger.offer(zero, value)
            return ledger.close_iteration(0.0), TUNING.first_certificate
        if not _near_zero(ledger, ascent):
            return None, TUNING.first_certificate
        with ledger.phase("cut"):
            begun = ascent.start(zero, TUNING.mostly)
        with ledger.phase("qp"):
            ledger.add(begun.plane)
        ledger.prove_by(begun.plane)
        due = 1 if begun.fraction >= TUNING.nearly_all else TUNING.first_certificate
        if begun.foreseen > ledger.allowed_fraction:
            return None, due
        with ledger.phase("scores"):
            point = objective.at(-C * begun.plane.slope)
        ledger.offer(point, objective.value(point))
        return ledger.close_iteration(1.0), due

    def _certify(self, objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike) -> StopReason | None:
        late = ledger.overdue and ledger.incumbent is not None
        if late:
            # Out of time: a bound for the best weights known comes before others that may be better.
            self._prove(ledger, ascent)
        point = self._reached(objective, ledger, ascent)
        ledger.offer(point, objective.value(point))
        if late:
            return ledger.close_iteration(1.0)
        # Running sums carry rounding: what is proven is summed up afresh, when it is worth it or the last chance.
        if ledger.ending or ledger.aim.proven(ledger.upper, ascent.estimate, ledger.C):
            self._prove(ledger, ascent)
        return ledger.close_iteration(1.0)

    def _reached(self, objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike) -> ScoredPoint:
        """The weights of the ascent, or the best point on the way to them."""
        w, intercept = ascent.weights
        with ledger.phase("scores"):
            point = objective.score(w, intercept)
            ascent.unshrink(point)
            point = objective.fit_intercept(point)
        with ledger.phase("line_search"):
            if ledger.incumbent is None or is_wide(objective):
                # Where many features can tell most examples apart, what the weights lack is often length alone.
                point = self._towards(objective, objective.score(_shortest(w, ledger), 0.0), point, ledger.C)
            if ledger.incumbent is not None:
                # The weights of the ascent swing around the optimum: the best point towards them is often much better.
                point = self._towards(objective, objective.with_scores(ledger.incumbent), point, ledger.C)
        return point

    def _towards(self, objective: SmoothObjectiveLike, base: ScoredPoint, point: ScoredPoint, C: float) -> ScoredPoint:
        """The best point on the way; the end is used up."""
        step = self.line_search.step(objective, base, point, C)
        mixed = objective.mix_over(base, point, step)
        if abs(step) > TUNING.longest_step:
            mixed = objective.score(mixed.w, mixed.intercept)
        return objective.fit_intercept(mixed)

    @staticmethod
    def _touch(objective: SmoothObjectiveLike, ledger: Ledger) -> None:
        """The plane at the best point: of smooth losses it is in balance sooner than the dual variables are."""
        assert ledger.incumbent is not None  # a certificate has been looked for
        with ledger.phase("cut"):
            ledger.prove_by(objective.cut(objective.with_scores(ledger.incumbent)))

    @staticmethod
    def _prove(ledger: Ledger, ascent: AscentLike) -> None:
        room = TUNING.room_for_drift * ledger.allowed_fraction * abs(ascent.estimate)
        with ledger.phase("cut"):
            plane = ascent.plane(room)
        ledger.prove_by(plane)
        with ledger.phase("qp"):
            ledger.add(plane)


def _ended(ascent: AscentLike, before: Duals | None) -> Duals | None:
    """Where the ascent ended, and where the run before it did."""
    duals = ascent.duals
    if duals is None or before is None or before.C == duals.C:
        return duals
    return replace(duals, earlier=(before.slopes, before.C))


def _near_zero(ledger: Ledger, ascent: AscentLike) -> bool:
    """Whether C is so small that the plane at zero is a good start."""
    return ascent.can_start and ledger.C * ascent.mean_square <= TUNING.small_C


def _shortest(w: Array, ledger: Ledger) -> Array:
    """The weights nearest to zero that are allowed."""
    bounds = ledger.bundle.bounds
    return np.zeros(len(w)) if bounds is None else np.maximum(bounds, 0.0)


def is_wide(objective: ObjectiveLike[ScoredPoint]) -> bool:
    """Whether examples have nearly as many features to differ in as there are examples."""
    return bool(objective.dimension >= TUNING.wide * objective.examples)

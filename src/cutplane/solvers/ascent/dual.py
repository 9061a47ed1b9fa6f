"""Dual coordinate ascent as a source of planes: cheap where examples are sparse and C is not large."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from cutplane.solvers.base import ScoredPoint
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.line_search import ExactLineSearch
from cutplane.solvers.protocols import AscentLike, ObjectiveLike, SmoothObjectiveLike
from cutplane.solvers.result import StopReason, relative_gap

# Before this epoch there is little to certify, unless the gap is foreseen to be small; later where it goes on from
# variables that were found under other bounds, and are out of place at first.
_FIRST_CERTIFICATE, _FIRST_IF_RESUMED = 2, 3
# Where the first plane takes this much of its bound, most dual variables end there: ascent begins from it.
_MOSTLY = 0.3
# C times the squared lengths of all examples, above which that is out of the question.
_SMALL_C = 30.0
# Before this many epochs the pace says little...
_FIRST_EPOCHS = 5
# ... unless no more than this fraction of the dual variables above zero has met its bound in the first; where there are
# many features, steps of Newton's method are dear, and a second epoch for a better start pays.
_UNBOUND, _MANY_FEATURES = 0.02, 400
# A certificate that has closed the gap to no less than this fraction looks at every example again.
_HARDLY = 0.9
# An epoch has gained at most so many times the gap it left, on text and census data alike: after a greater gain than
# this times the gap aimed at, a certificate is not worth its pass.
_MOST_GAIN = 12.0
# Certificates in a row that fail although the running sums promise them.
_MOST_DISPUTES = 50
# Features per example from which weights are also scaled and epochs extrapolated: with fewer, neither was found to pay.
_WIDE = 0.25
# Epochs until the next certificate at most, relative to those before it; where the sweeps tell when it may succeed.
_PATIENT, _PATIENT_IF_TOLD = 0.5, 3.0
# A certificate is tried where the gap that the sweeps tell of is at most so many times the one aimed at. What scaling,
# and the best point towards the weights, leave of such a gap: at first, at least and at most.
_PROMISING, _FIRST_TOLD, _LEAST_TOLD, _MOST_TOLD = 1.1, 0.8, 0.2, 1.5
# With so few examples still moving, epochs cost next to nothing: the first certificate may wait until this one.
_FEW_ACTIVE, _LAST_FIRST = 0.1, 20
# Epochs from one extrapolation to the next.
_EXTRAPOLATE_AFTER = 2


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
    line_search: ExactLineSearch = field(default_factory=ExactLineSearch, repr=False)

    def run(self, objective: SmoothObjectiveLike, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop, or "stalled" if that is too far off."""
        ascent: AscentLike | None = objective.dual_ascent(ledger.C, self.seed)
        if ascent is None:
            return "stalled"
        resumed = ledger.handover.duals is not None and ascent.resume(ledger.handover.duals, ledger.incumbent)
        ledger.ascent = ascent
        reason = None if resumed else self._begin(objective, ledger, ascent)
        if reason is None:
            reason = self._ascend(objective, ledger, ascent, resumed=resumed)
        # Where something else takes over, it will at the next C, too.
        ledger.handover.duals = None if reason == "stalled" else ascent.duals
        ledger.ascent = None
        return reason

    def _ascend(
        self, objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike, *, resumed: bool
    ) -> StopReason:
        """Epochs and certificates in turn."""
        epochs, gaps = 0, [(0, 1.0)]
        gains, disputes = [math.inf], 0
        wide = is_wide(objective)
        told = _FIRST_TOLD if wide else math.inf
        due = _FIRST_IF_RESUMED if resumed else _FIRST_CERTIFICATE
        if ascent.first_gap <= ledger.allowed_fraction:
            due = 1
        while True:
            with ledger.phase("epochs"):
                while not self._hopeless(objective, epochs, ascent) and (
                    epochs == gaps[-1][0]
                    or (epochs < due and not self._promising(ledger, ascent, told))
                    or (epochs < _FIRST_EPOCHS and self._far_off(ledger, ascent, gains))
                    or (len(gaps) == 1 and epochs < _LAST_FIRST and self._cheap(ledger, ascent))
                ):
                    if wide and epochs > 0 and epochs % _EXTRAPOLATE_AFTER == 0:
                        ascent.extrapolate()
                    ascent.epoch()
                    epochs += 1
                    gains.append(ascent.last_gain)
                    if ledger.overdue:
                        break
            reason = self._certify(objective, ledger, ascent)
            if reason is not None:
                return reason
            if self._hopeless(objective, epochs, ascent):
                return "stalled"
            gaps.append((epochs, relative_gap(ledger.upper, max(ledger.lower, ascent.estimate))))
            left = self._epochs_left(gaps, ledger.allowed_fraction)
            # The running sums call it proven, the plane does not: rounding, or an intercept still out of balance.
            disputes = disputes + 1 if left == 0.0 else 0
            if disputes > _MOST_DISPUTES:
                return "stalled"
            # The pace slackens: what is promised early on takes several times as long.
            limit = self.promise if epochs < 2 * _FIRST_EPOCHS else self.patience
            # Until its own bound is the best one (an earlier run may have left a better), the pace says nothing.
            in_all = epochs + left if ascent.estimate >= ledger.lower else epochs
            if epochs >= _FIRST_EPOCHS and in_all > limit:
                self._prove(ledger, ascent)
                return "stalled"
            # Shrinking trusts the last sweep's violations: where the gap has hardly closed, they may have misled.
            if gaps[-1][1] > _HARDLY * gaps[-2][1]:
                ascent.revive()
            # A certificate costs about half an epoch: the next one is due when it may succeed, as the pace slackens.
            due = epochs + max(1, math.ceil(min(left, _PATIENT * epochs + 1)))
            # Until it is clear that nothing else will take over, the pace must be known, too.
            stays = wide or epochs >= 2 * _FIRST_EPOCHS or ascent.share_active <= _FEW_ACTIVE
            if stays and 0.0 < ascent.open_gap < math.inf:
                told = min(max(gaps[-1][1] * abs(ascent.estimate) / ascent.open_gap, _LEAST_TOLD), _MOST_TOLD)
                due = epochs + max(1, math.ceil(_PATIENT_IF_TOLD * epochs))

    def _cheap(self, ledger: Ledger, ascent: AscentLike) -> bool:
        """Whether epochs cost next to nothing by now, and a certificate would hardly succeed."""
        few = ascent.share_active <= _FEW_ACTIVE
        return few and not ledger.ending and not self._promising(ledger, ascent, _FIRST_TOLD)

    @staticmethod
    def _promising(ledger: Ledger, ascent: AscentLike, told: float) -> bool:
        """Whether the last sweep tells of a gap that is small enough; `told` is what such gaps were worth of late."""
        return told * ascent.open_gap <= _PROMISING * ledger.allowed_fraction * abs(ascent.estimate)

    def _hopeless(self, objective: SmoothObjectiveLike, epochs: int, ascent: AscentLike) -> bool:
        """Whether hardly a dual variable is as large as it will be, where something else can be tried."""
        enough = epochs == (2 if objective.dimension > _MANY_FEATURES else 1)
        return enough and self.promise < math.inf and ascent.share_at_bounds <= _UNBOUND

    @staticmethod
    def _far_off(ledger: Ledger, ascent: AscentLike, gains: list[float]) -> bool:
        """Whether the last epoch gained too much for the gap to be small, and the next one will gain much, too."""
        allowed = ledger.allowed_fraction * abs(ascent.estimate)
        before, last = gains[-2:]
        return not ledger.ending and last > _MOST_GAIN * allowed and 2.0 * last * last > allowed * before

    @staticmethod
    def _begin(objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike) -> StopReason | None:
        """Start from the plane at w = 0: at small C it is nearly all there is to know."""
        C = ledger.C
        if not ascent.can_start or C * ascent.mean_square > _SMALL_C:
            return None
        with ledger.phase("cut"):
            plane = objective.cut(objective.at(np.zeros(objective.dimension)))
        with ledger.phase("qp"):
            ledger.add(plane)
        v = -C * plane.slope
        square = float(v @ v)
        fraction = min(1.0, C * plane.offset / square) if square > 0.0 else 1.0
        ledger.prove_by(plane, fraction)
        if fraction > _MOSTLY:
            ascent.start(plane, fraction)
        if fraction < 1.0:
            return None
        with ledger.phase("scores"):
            point = objective.at(v)
        ledger.offer(point, objective.value(point))
        return ledger.close_iteration(1.0)

    def _certify(self, objective: SmoothObjectiveLike, ledger: Ledger, ascent: AscentLike) -> StopReason | None:
        if ledger.overdue and ledger.incumbent is not None:
            # Out of time: a bound for the best weights known is worth more than others that may be better.
            self._prove(ledger, ascent)
            return ledger.close_iteration(0.0)
        w, intercept = ascent.weights
        with ledger.phase("scores"):
            point = objective.score(w, intercept)
            ascent.revive(point)
            point = objective.settle(point)
        with ledger.phase("line_search"):
            if ledger.incumbent is None or is_wide(objective):
                # Where many features can tell most examples apart, what the weights lack is often length alone.
                point = self._towards(objective, objective.score(np.zeros_like(w), 0.0), point, ledger.C)
            if ledger.incumbent is not None:
                # The weights of the ascent swing around the optimum: the best point towards them is often much better.
                point = self._towards(objective, objective.with_scores(ledger.incumbent), point, ledger.C)
            ledger.offer(point, objective.value(point))
        # Running sums carry rounding: what is proven is summed up afresh, when it is worth it or the last chance.
        if ledger.ending or ledger.stopping.proven(ledger.upper, ascent.estimate, ledger.C):
            self._prove(ledger, ascent)
        return ledger.close_iteration(1.0)

    def _towards(self, objective: SmoothObjectiveLike, base: ScoredPoint, point: ScoredPoint, C: float) -> ScoredPoint:
        """The best point on the way."""
        return objective.settle(objective.mix(base, point, self.line_search.step(objective, base, point, C)))

    @staticmethod
    def _prove(ledger: Ledger, ascent: AscentLike) -> None:
        with ledger.phase("cut"):
            plane = ascent.plane()
        ledger.prove_by(plane)
        with ledger.phase("qp"):
            ledger.add(plane)

    @staticmethod
    def _epochs_left(gaps: list[tuple[int, float]], target: float) -> float:
        """Epochs still needed if the gap goes on shrinking by the same factor an epoch."""
        end, now = gaps[-1]
        # The pace of the second half: it slackens as the easy examples settle.
        start, before = next((entry for entry in gaps[1:-1] if 2 * entry[0] >= end - 1), gaps[-2])
        if now <= target:
            return 0.0
        if now >= before:
            return math.inf
        return math.log(now / target) * (end - start) / math.log(before / now)


def is_wide(objective: ObjectiveLike[ScoredPoint]) -> bool:
    """Whether examples have nearly as many features to differ in as there are examples."""
    return bool(objective.dimension >= _WIDE * objective.examples)

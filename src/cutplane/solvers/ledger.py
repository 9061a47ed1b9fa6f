"""The ledger of a run: incumbent, bounds, time by phase, history. Every solver keeps one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from cutplane._runtime.deadline import interrupted, set_aside
from cutplane.proof.prover import Plane, Proven
from cutplane.proof.rounding import UNIT, Rounding, gamma, largest, leaning_mass, length
from cutplane.solvers.base import Array, Cut, Duals, Point, ScoresTooCoarseError, SmoothedCut, bare
from cutplane.solvers.bundle.planes import BundleLike, BundleSolution
from cutplane.solvers.handover import Handover
from cutplane.solvers.protocols import AscentLike
from cutplane.solvers.result import OnStep, Result, Step, StopReason
from cutplane.solvers.stopping import Stopping
from cutplane.solvers.vectors import inner, on_host, scaled

# Planes that carried no weight for this many solves are dropped.
IDLE_SOLVES = 50
# A run stands still where so many iterations leave this much of the difference between its bounds.
_STANDSTILL, _HARDLY_CLOSER = 100, 0.999
# The same where none of them found a direction of descent.
_CLOSER_WITHOUT_DESCENT = 0.9
# And where so many took none and moved neither bound: OCA has then looked as near to its best point as it ever will.
_IDLE = 31
# And where this share of their difference is what they are charged for rounding; or this, and so few iterations have
# not brought them closer. That is looked at below such a gap.
_ROUNDING_ALONE, _MOSTLY_ROUNDING, _SOON, _TIGHT = 0.9, 0.1, 10, 1e-6
# A run that is asked for less aims at this gap first, as one that is asked for no more would: what helps towards a
# gap that rounding may forbid can keep a run from one that can be proven.
_FIRST_AIM = 1e-9
# Of the gap that is aimed at: what scores in single precision may hide.
_TOO_COARSE = 0.5
# Scores may be moved along until rounding is this much of the scale on which the risk bends.
_MOST_DRIFT = 1e-8
# Of a limit of time, as much is kept for the proof at most: as long as it took to evaluate the first point.
_FOR_PROOF = 0.2
# From so many weights on their length is summed up by all threads; times the second, it is no less than it should be,
# unless its square is so small that squares may have underflowed.
_MANY, _ABOVE, _TINY = 1 << 16, 1.0 + 1e-9, 1e-290


class Ledger:
    """Keeps what a run has reached and says when to stop.

    Bounds allow for rounding as far as it is foreseen. They decide when a run ends; what is then proven, the prover
    says, from `incumbent` and `witness` alone.

    Parameters
    ----------
    C : float
        Of ½|w|² + C·R.
    bundle : Bundle
        The planes found so far; a warm start hands over a filled one.
    stopping : Stopping
    on_step : callable, optional
        Called with each `Step`; returning True ends the run.
    rounding : Rounding, optional
        What planes and values are charged for.
    rounding_now : callable, optional
        Gives what is known of rounding by now, where that is more than when the run began.
    handover : Handover, optional
        What an earlier run has left, and what this one leaves.
    """

    def __init__(
        self,
        C: float,
        bundle: BundleLike,
        stopping: Stopping,
        on_step: OnStep | None = None,
        rounding: Rounding | None = None,
        rounding_now: Callable[[], Rounding] | None = None,
        handover: Handover | None = None,
    ) -> None:
        self.C = C
        self.bundle = bundle
        self.stopping = stopping
        close = stopping.relative_gap < _FIRST_AIM
        self._first_aim = replace(stopping, relative_gap=_FIRST_AIM) if close else stopping
        self._on_aim = True  # whether that has not been proven yet
        self.first_reached: tuple[Point, Plane] | None = None  # the weights and the plane that it was reached by
        self.upper = float("inf")
        self.lower = C * bundle.lower_bound
        self.rounding = Rounding() if rounding is None else rounding
        self._mass = self._steepness()
        self._rounding_now = rounding_now
        self._margin = 0.0  # by how much bounds must be closer than asked for: what the prover did not grant
        self.witness = Plane(np.zeros(bundle.dimension), bundle.lower_bound)  # the plane that proves the lower bound
        self.incumbent: Point | None = None
        self.radius = float("inf")  # how far the optimum's weights are from the incumbent's, as the prover says
        self.handover = Handover() if handover is None else handover
        self.drift = self.handover.drift  # how far scores that are moved along with the weights may have left them
        self.foreseen_error = float("inf")  # what the incumbent is thought to be above the optimum at most
        self.ascent: AscentLike | None = None  # under way: the one that knows its dual variables
        self.history: list[Step] = []
        self._on_step = on_step
        self._for_proof: float | None = None  # seconds
        self._start = time.perf_counter()
        self._phases: dict[str, float] = {}

    def _steepness(self) -> float:
        """The mass of the steepest plane that another run has left: what its error was charged by."""
        most, one = self.rounding.least_mass, self.rounding.slope(1.0)
        return max(most, float(np.max(self.bundle.errors)) / one) if len(self.bundle) and one > 0.0 else most

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self._start

    @property
    def current_duals(self) -> Duals | None:
        """Of the dual ascent under way, or of the last one."""
        return self.handover.duals if self.ascent is None else self.ascent.duals

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Charge the time spent inside to a phase of the current iteration."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._phases[name] = self._phases.get(name, 0.0) + time.perf_counter() - begin

    def moved(self, direction: Point, step: float) -> bool:
        """Note that scores are moved along with the weights, rather than computed from them: rounding collects.

        False where the step is so long that they should be computed afresh instead.
        """
        b = largest(direction.intercept)
        drift = 4.0 * UNIT * abs(step) * (self._spread(direction.w) + b)
        self.drift += drift
        return drift <= _MOST_DRIFT * self.rounding.scale

    def mixed(self, start: Point, end: Point, step: float) -> None:
        """The same of scores start + step (end - start): the start is rounded, however little is left of it."""
        self.moved(start, 0.0 if step == 1.0 else max(1.0, abs(1.0 - step)))
        self.moved(end, step)

    def offer(self, point: Point, risk: float) -> bool:
        """Note an evaluated point; True if it is the new incumbent."""
        if self._for_proof is None:
            self._for_proof = min(self.seconds, _FOR_PROOF * max(0.0, self.stopping.time_limit or 0.0))
            set_aside(self._for_proof)
        square, allowance = inner(point.w, point.w), self._allowance(point)
        value = 0.5 * square + self.C * (risk + allowance)
        if not value < self.upper:
            return False
        self.upper = value
        self.incumbent, self.radius = point, float("inf")
        self.foreseen_error = float("inf")
        if self.rounding.unit > UNIT and self.C * allowance > _TOO_COARSE * self.aim.allowed(value, self.C):
            raise ScoresTooCoarseError
        return True

    def _allowance(self, point: Point) -> float:
        """What rounding may hide of the risk."""
        b, spread = largest(point.intercept), self._spread(point.w)
        drift = self.drift + 4.0 * UNIT * len(self.history) * (spread + b)
        return self.rounding.value(spread, b, self._mass) + self._mass * drift

    def _spread(self, w: Array) -> float:
        """As `Rounding.spread`, where weights are many and their length is all that matters by all threads."""
        if w.size < _MANY or self.rounding.columns is not None:
            return self.rounding.spread(on_host(w))
        square = inner(w, w)
        if square > _TINY:
            return self.rounding.spread_of(math.sqrt(square) * _ABOVE)
        return self.rounding.spread(on_host(w))

    def add(self, cut: Cut | SmoothedCut) -> Plane:
        """Add a plane to the bundle, lowered by what rounding may have raised it by."""
        plane = self._charged(cut)
        # The mass of a mixture is told by the errors of its planes.
        self.bundle.add(plane.slope, plane.offset, error=max(plane.error, self.rounding.slope(plane.mass)))
        return plane

    def _charged(self, cut: Cut | SmoothedCut) -> Plane:
        self._mass = cut.mass  # how steep the risk is
        offset = cut.offset - self.rounding.offset(cut.offset, cut.mass, cut.value)
        drift, lean = (cut.drift, cut.lean) if isinstance(cut, Cut) else (0.0, 0.0)
        error = self.rounding.slope(cut.mass) + drift * self.rounding.reach
        return Plane(cut.slope, offset, error, leaning_mass(cut.mass, lean))

    def planes(self) -> tuple[Array, Array, Array]:
        """Slopes, offsets and errors of the planes of the bundle, charged for all that is known of rounding by now."""
        (slopes, offsets), errors = self.bundle.planes, self.bundle.errors
        if self._rounding_now is None:
            return slopes, offsets, errors
        now = self._rounding_now()
        longer = max(1.0, now.reach / self.rounding.reach, now.scale / self.rounding.scale)
        if longer > 1.0:
            offsets = offsets - np.array([now.offset(offset, longer, 0.0) for offset in offsets.tolist()])
        return slopes, offsets, longer * errors

    def prove_by(self, cut: Cut | SmoothedCut) -> None:
        """Note what a plane proves by itself."""
        plane = self._charged(cut)
        lower = self.bundle.proven_by(plane.slope, plane.offset, plane.error, self.C)
        if lower > self.lower:
            self.lower, self.witness = lower, plane
            self._note_first()

    def _note_first(self) -> None:
        """Keep the weights and the plane that the first aim is reached by: later ones may be rounded more."""
        if self.first_reached is None and self.incumbent is not None and self.first_aim_proven:
            self.first_reached = bare(self.incumbent), self.witness

    def solve(self) -> BundleSolution:
        """Minimise over the planes of the bundle, and note what they prove together."""
        solution = self.bundle.solve(self.C)
        lower = solution.lower - 8.0 * UNIT * abs(solution.lower)
        if lower > self.lower:
            self.lower = lower
            self.witness = self._mixture(solution)
        return solution

    def _mixture(self, solution: BundleSolution) -> Plane:
        """The weighted mean of the planes: a plane as good as all of them."""
        offsets, lower_bound, slack = self.bundle.offsets, self.bundle.lower_bound, gamma(len(self.bundle) + 8)
        # A little less than one, so that rounding leaves no more weight than there is.
        share = (1.0 - 8.0 * UNIT) / max(1.0, float(solution.weights.sum()))
        weights = share * solution.weights
        rest = max(0.0, 1.0 - float(weights.sum()))
        error, one = float(weights @ self.bundle.errors), self.rounding.slope(1.0)
        mass = error / one if one > 0.0 else 0.0
        error += slack * self.rounding.reach * mass
        offset = float(weights @ offsets) + rest * lower_bound
        offset -= slack * (float(weights @ np.abs(offsets)) + abs(lower_bound))
        slopes = solution.slopes_sum(self.C)
        return Plane(scaled(slopes, -share / self.C), offset, error, mass)

    def enter(self, cut: SmoothedCut) -> None:
        """Note a plane and its own bound; where that is not enough, all planes together may give more."""
        self.prove_by(cut)
        self.add(cut)
        if not self.proven:
            self.solve()
            self.bundle.prune(IDLE_SOLVES)

    def accept(self, proven: Proven, *, look: bool = False) -> None:
        """Take over what the prover says, as part of the last iteration.

        Bounds that cross are proof of a broken risk, and so is a plane above the risk, which is looked for on demand.
        """
        if look or proven.lower > proven.upper:
            self._look_for_contradictions(proven)
        believed = self.upper - self.lower
        self.upper, self.lower, self.radius = proven
        disputed = max(0.0, proven.upper - proven.lower - max(believed, 0.0))
        # What was believed of the first aim, and is not granted, is gone for again.
        self._on_aim = not self.first_aim_proven
        self._margin = min(2.0 * disputed, 0.5 * self.aim.allowed(proven.upper, self.C))
        if self.history:
            last, more, self._phases = self.history[-1], self._phases, {}
            phases = {**last.phases, **{name: last.phases.get(name, 0.0) + spent for name, spent in more.items()}}
            self.history[-1] = replace(
                last, seconds=self.seconds, upper=self.upper, lower=self.lower, phases=phases, planes=len(self.bundle)
            )

    def _look_for_contradictions(self, proven: Proven) -> None:
        """Raise where a plane lies above the risk at the incumbent: no plane of a convex risk does."""
        w = self.on_host().w
        value = (proven.upper - 0.5 * inner(w, w) * (1.0 - gamma(w.size + 8))) / self.C
        value += 8.0 * UNIT * (abs(value) + abs(proven.upper) / self.C)
        plane, height = "its lower_bound", self.bundle.lower_bound
        if value >= height:
            found, offsets, errors = self.planes()
            slopes = [np.asarray(on_host(slope), np.float64) for slope in found]
            charges = errors + gamma(w.size + 8) * np.array([length(slope) for slope in slopes])
            heights = np.array([slope @ w for slope in slopes]) + offsets - charges * length(w) * (1.0 + 1e-9)
            highest = int(np.argmax(heights)) if len(heights) else -1
            if highest >= 0:
                plane, height = f"the plane of cut {highest + 1} (of {len(heights)} kept)", float(heights[highest])
        if proven.lower > proven.upper or height > value:
            raise ValueError(
                f"The risk breaks its contract, so nothing is proven: {plane} is {height:.6g} at the weights of "
                f"length {length(w):.6g} that iteration {len(self.history)} ended with, where its value is "
                f"{value:.6g} (objective {proven.upper:.6g}, lower bound {proven.lower:.6g}); no plane may lie above "
                "a convex risk; check_risk of cutplane.testing (check_oracle for a structured model) finds the fault."
            )

    @property
    def proven(self) -> bool:
        """Whether the bounds are as close as was asked for."""
        return self.stopping.proven(self.upper + self._margin, self.lower, self.C)

    @property
    def granted(self) -> bool:
        """Whether bounds that the prover gave are as close as was asked for."""
        return self.stopping.proven(self.upper, self.lower, self.C)

    @property
    def first_aim_proven(self) -> bool:
        """Whether the bounds are as close as is aimed at first."""
        return self._first_aim.proven(self.upper, self.lower, self.C)

    @property
    def aim(self) -> Stopping:
        """What solvers go for: the gap asked for, or a first one on the way to it."""
        if self._on_aim and self.upper < float("inf"):
            self._on_aim = not self._first_aim.proven(self.upper + self._margin, self.lower, self.C)
        return self._first_aim if self._on_aim else self.stopping

    @property
    def allowed_fraction(self) -> float:
        """The largest difference of the bounds that solvers go for, relative to the upper one."""
        aim = self.aim
        if self.upper == 0.0:
            return aim.relative_gap
        # Before any point is known: as if the risk were one, what the hinge is at w = 0.
        upper = self.C if self.upper == float("inf") else self.upper
        return aim.allowed(upper, self.C) / abs(upper)

    @property
    def overdue(self) -> bool:
        """Whether the time is up, or someone wishes the run to end."""
        limit = self.stopping.time_limit
        return interrupted() or (limit is not None and self.seconds + (self._for_proof or 0.0) >= limit)

    @property
    def ending(self) -> bool:
        """Whether the iteration under way is the last, whatever it proves."""
        most = self.stopping.max_iter
        return self.overdue or (most is not None and len(self.history) + 1 >= most)

    def close_iteration(self, step: float) -> StopReason | None:
        """Enter an iteration into the history; returns why to stop, if there is a reason."""
        entry = Step(
            len(self.history) + 1,
            self.seconds,
            self.upper,
            self.lower,
            len(self.bundle),
            step,
            self._phases,
        )
        self._phases = {}
        self.history.append(entry)
        self._note_first()
        reason = self.stopping.reason(entry, self.C, self.proven)
        if reason is None and self.overdue and not interrupted():
            reason = "time_limit"
        if reason is None and self._stands_still():
            reason = "stalled"
        ends = self._on_step is not None and self._on_step(entry) is True
        return "interrupted" if reason is None and (ends or interrupted()) else reason

    def _stands_still(self) -> bool:
        """Whether rounding is all that is left, or many iterations have not brought the bounds closer."""
        rounding = self._share_of_rounding()
        if rounding >= _ROUNDING_ALONE:
            return True
        patience = _SOON if rounding >= _MOSTLY_ROUNDING else _STANDSTILL
        if len(self.history) > _IDLE and self._idles():
            return True
        if len(self.history) <= patience:
            return False
        before, now = self.history[-1 - patience], self.history[-1]
        # Planes whose minimum is never a direction of descent may be rounded too much to be told apart.
        descends = any(entry.step != 0.0 for entry in self.history[-patience:])
        enough = _HARDLY_CLOSER if descends and patience == _STANDSTILL else _CLOSER_WITHOUT_DESCENT
        return not now.upper - now.lower < enough * abs(before.upper - before.lower) or now.upper < now.lower

    def _idles(self) -> bool:
        """Whether the last steps led nowhere, and no plane of theirs raised the lower bound."""
        before, *since = self.history[-1 - _IDLE :]
        return all((entry.step, entry.upper, entry.lower) == (0.0, before.upper, before.lower) for entry in since)

    @property
    def mostly_rounding(self) -> bool:
        """Whether what keeps the bounds apart may be rounding: where one solver stands still, no other will help."""
        return self._share_of_rounding() >= _MOSTLY_ROUNDING

    def _share_of_rounding(self) -> float:
        """Of the gap: what the bounds are charged for it. The prover, who sums more finely, may charge less."""
        gap = self.upper - self.lower
        if self.incumbent is None or not 0.0 < gap <= _TIGHT * abs(self.upper):
            return 0.0
        plane = self.witness
        lowered = self.rounding.offset(plane.offset, plane.mass, 0.0) + plane.error * length(on_host(self.incumbent.w))
        return self.C * (self._allowance(self.incumbent) + lowered) / gap

    def on_host(self) -> Point:
        """The incumbent; its weights and the slope of the witness are arrays of this process from now on."""
        assert self.incumbent is not None
        w, slope = on_host(self.incumbent.w), on_host(self.witness.slope)
        if w is not self.incumbent.w:
            self.incumbent = replace(self.incumbent, w=w)
        if slope is not self.witness.slope:
            self.witness = self.witness._replace(slope=slope)
        return self.incumbent

    def result(self, reason: StopReason) -> Result:
        """What the run has reached, and why it ended."""
        assert self.incumbent is not None  # every solver evaluates a point before it ends
        return Result(
            on_host(self.incumbent.w),
            self.incumbent.intercept,
            self.upper,
            self.lower,
            self.history,
            reason,
            self.bundle,
            self.handover.duals,
            self.radius,
        )

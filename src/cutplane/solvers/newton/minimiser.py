"""The loop of smoothed Newton on one objective: that of all examples, of a sample, or of those near their kinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cutplane.solvers.base import Array, Intercept, Point, ScoredPoint, SmoothedCut, bare
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.neighbourhood import Neighbourhood
from cutplane.solvers.newton.progress import Until, Within
from cutplane.solvers.newton.rounded import Evaluation, evaluate, next_width, shrinking
from cutplane.solvers.newton.step import is_far_enough, newton_direction, search
from cutplane.solvers.newton.system import NewtonSystem
from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike

# A point to begin at, the width of rounding, and the plane there if it is known.
Beginning = tuple[ScoredPoint, float, SmoothedCut | None]


class _Aim(NamedTuple):
    """Where a step leads: changes of weights and intercept, and the width there.

    Where it is the outcome of steps on the near examples: the point that these reached, and how many there were since
    the width was last narrowed.
    """

    p: Array
    shift: Intercept
    h: float
    end: Point | None = None
    tries: int = 0


class Minimiser:
    """Newton steps; each is many steps on the examples near their kinks, where these are a fraction below `few`.

    Parameters
    ----------
    objective : SmoothObjectiveLike
    ledger : Ledger
    system : NewtonSystem
        It keeps what is worth keeping from one step to the next.
    until : Until
        Says when to end.
    few : float
    narrowing : float
        The width after one that is solved, relative to it.
    """

    point: ScoredPoint
    h: float
    cut: SmoothedCut | None

    def __init__(
        self,
        objective: SmoothObjectiveLike,
        ledger: Ledger,
        system: NewtonSystem,
        until: Until,
        *,
        few: float,
        narrowing: float,
    ) -> None:
        self._objective, self._ledger, self._system, self._until = objective, ledger, system, until
        self._neighbourhood = Neighbourhood(few, bold=until.bold)
        self._narrowing = narrowing
        self._step, self._tries = 1.0, 0
        self._short = 0  # steps on all examples in a row that were cut short

    def run(self, begin: Callable[[], Beginning], known: Evaluation | None = None) -> tuple[ScoredPoint, float]:
        """Go on to the end; returns the point and the width reached.

        `begin` makes the first point and width: with many examples, scores are most of what training takes, and no one
        but the loop holds on to those it has left behind. `known` is the evaluation there, where it has been made
        before and did not end the run.
        """
        with self._until.phase("scores"):
            self.point, self.h, self.cut = begin()
        while True:
            now, known = self._evaluate(known), None
            if now is None:
                return self.point, self.h
            if self._is_stuck(now):
                self._widen()
                continue
            with self._until.phase("newton"):
                aim = self._near_step(now) or self._newton_step(now)
            if self._until.proven(0.0) if aim.end is not None else self._ledger.overdue:
                return self.point, self.h
            with self._until.phase("scores"):
                direction = self._towards(aim, now)
            if direction is not None:
                self._move(direction, aim, now)
                del direction

    def _evaluate(self, known: Evaluation | None) -> Evaluation | None:
        """What the plane at the point says; None where the loop ends there."""
        self._tries += 1
        if known is not None:
            return known
        until, point = self._until, self.point
        with until.phase("cut"):
            now = evaluate(self.cut or self._objective.smoothed(point, self.h), point.w, self._ledger.C)
        ended = until.record(point, now, self._step, self.h, self._tries)
        return None if ended or self._ledger.overdue else now

    def _is_stuck(self, now: Evaluation) -> bool:
        """Whether steps are cut short again and again, far from the rounded optimum, and close nothing of the gap.

        Examples far from their kinks then have a feature to themselves that none on a kink has: the rounded risk does
        not bend there, and a step goes as far beyond as its slope is steep. They are on kinks that are wide enough.
        """
        far = now.residual > TUNING.lost_if_further * now.error and self.h < self._objective.first_width
        return far and self._short >= TUNING.most_short and self._until.widens

    def _widen(self) -> None:
        """Begin again from the same point, the kinks rounded over a greater width."""
        self.h = min(self._objective.first_width, TUNING.widening * self.h)
        self.point, self.cut = self._objective.balance(self.point, self.h), None
        self._short = self._tries = 0

    def _newton_step(self, now: Evaluation) -> _Aim:
        """A step on all examples of the objective."""
        objective, until = self._objective, self._until
        least = TUNING.least_width * objective.first_width
        h = max(least, next_width(now, self.h, self._narrowing, until.tolerance))
        p, shift = newton_direction(
            objective, self._ledger.C, self.point, now, self.h, h, self._system, bold=until.bold
        )
        return _Aim(p, shift, h)

    def _near_step(self, now: Evaluation) -> _Aim | None:
        """Where many steps on the examples near their kinks end; None where these are many."""
        until, neighbourhood, point, h = self._until, self._neighbourhood, self.point, self.h
        if until.in_one_step(now):
            return None
        shrunk = shrinking(now, self._narrowing, until.tolerance)
        near = neighbourhood.restrict(self._objective, point, now, h, shrunk)
        if near is None:
            return None
        within = Within(until.tolerance_near, TUNING.most_inner_steps, until.few_kinks, bold=True, proves=until.proves)

        def begin() -> Beginning:
            return *neighbourhood.start(near, point, h), None

        known = now if neighbourhood.starts_afresh else None
        inner = Minimiser(near, self._ledger, self._system, within, few=TUNING.few_of_near, narrowing=self._narrowing)
        reached, h_next = inner.run(begin, known)
        end = bare(reached)
        return _Aim(end.w - point.w, end.intercept - point.intercept, h_next, end, within.tries)

    def _towards(self, aim: _Aim, now: Evaluation) -> ScoredPoint | None:
        """The direction of a step; None where the step has been taken.

        Scores and plane of a whole step are found in one pass; after a shorter one, the next may be as well.
        """
        objective, point, h = self._objective, self.point, self.h
        whole = self._step == 1.0 and aim.h == h and aim.end is None and self._until.goes_whole(now)
        tried = objective.stepped(point, aim.p, h) if whole else None
        if tried is not None and is_far_enough(now, self._ledger.C, aim.p, *tried):
            self.point, self.cut = tried
            self._step = 1.0
            return None
        self.cut = None
        return objective.direction(aim.p, aim.shift) if tried is None else objective.between(point, tried[0])

    def _move(self, direction: ScoredPoint, aim: _Aim, now: Evaluation) -> None:
        """Go along a direction as far as it pays, and to the width of the aim."""
        objective, ledger, h_next = self._objective, self._ledger, aim.h
        with self._until.phase("line_search"):
            first = float(now.gradient @ aim.p) if h_next == self.h and not objective.intercept else None
            step = self._step = search(objective, self.point, direction, h_next, ledger.C, first)
        self._short = self._short + 1 if step < TUNING.cut_short and aim.end is None else 0
        if h_next < self.h and step < TUNING.cut_short:
            self._narrowing = TUNING.narrowing_with_care
        if aim.end is not None:
            self._tries = aim.tries
            if not self._neighbourhood.learn(objective, self.point, direction, (aim.end, h_next), step):
                h_next = self.h
        elif h_next != self.h:
            self._tries = 0
        moved = objective.move(self.point, direction, step)
        if not ledger.moved(direction, step):
            moved = objective.score(moved.w, moved.intercept)
        self.point, self.h = objective.balance(moved, h_next), h_next

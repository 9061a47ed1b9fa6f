"""When a run of Newton's method ends, and what becomes of its evaluations on the way."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar, Protocol

from cutplane.solvers.base import Evaluated, ScoredPoint, bare
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import finish
from cutplane.solvers.newton.rounded import Evaluation, plenty
from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike
from cutplane.solvers.result import StopReason


class Until(Protocol):
    """When a loop of Newton's method ends, and how closely it solves: `Within` or `Progress`."""

    few_kinks: int

    @property
    def widens(self) -> bool: ...  # noqa: D102

    @property
    def bold(self) -> bool: ...  # noqa: D102

    @property
    def proves(self) -> Ledger | None: ...  # noqa: D102

    @property
    def tolerance(self) -> float: ...  # noqa: D102

    @property
    def tolerance_near(self) -> float: ...  # noqa: D102

    def phase(self, name: str) -> AbstractContextManager[None]: ...  # noqa: D102

    def in_one_step(self, now: Evaluation) -> bool: ...  # noqa: D102

    def goes_whole(self, now: Evaluation) -> bool: ...  # noqa: D102

    def proven(self, step: float) -> bool: ...  # noqa: D102

    def record(self, point: ScoredPoint, now: Evaluation, step: float, h: float, tries: int) -> bool: ...  # noqa: D102


@dataclass
class Within:
    """Ends when the gap of an auxiliary problem is small enough, after so many steps, or where few kinks are left."""

    tolerance: float
    steps: int
    few_kinks: int = 0
    bold: bool = False  # as a part of the whole; an attempt that fails costs a sample more than it may save
    proves: Ledger | None = None  # where planes of the auxiliary problem are planes of the whole
    tries: int = 0
    widens: ClassVar[bool] = False  # the next width is that of the whole

    @property
    def tolerance_near(self) -> float:
        """The relative gap that a problem of the near examples may leave: some for their tangents, once."""
        return self.tolerance if self.bold else TUNING.for_near * self.tolerance

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Not timed: its caller is."""
        return nullcontext()

    def in_one_step(self, now: Evaluation) -> bool:
        """Whether a step on all examples will mostly do: an auxiliary problem asks for more."""
        return False

    def goes_whole(self, now: Evaluation) -> bool:
        """Whether steps are mostly taken whole: here they begin anywhere."""
        return False

    def proven(self, step: float) -> bool:
        """Whether planes found since the last evaluation have proven the gap of the best point of all."""
        return self.proves is not None and self.proves.proven

    def record(self, point: ScoredPoint, now: Evaluation, step: float, h: float, tries: int) -> bool:
        """Count an evaluation; True if the loop ends there."""
        self.steps -= 1
        self.tries = tries
        if self.proves is not None and _prove(self.proves, now):
            return True
        if self.steps < 0 or now.upper - now.lower <= self.tolerance * abs(now.upper):
            return True
        return _hard_to_narrow(now, tries, self.tolerance, self.few_kinks)


@dataclass
class Progress:
    """Ends when the ledger says so; every evaluation on the way is certified and entered there."""

    objective: SmoothObjectiveLike
    ledger: Ledger
    few_kinks: int
    reason: StopReason | None = None
    idle: int = 0
    bold: ClassVar[bool] = True

    def phase(self, name: str) -> AbstractContextManager[None]:
        """Time for the ledger."""
        return self.ledger.phase(name)

    @property
    def widens(self) -> bool:
        """Whether steps that are cut short lead nowhere."""
        return self.idle >= TUNING.most_short

    @property
    def proves(self) -> Ledger | None:
        """The ledger that planes of a part of the examples go to, with tangents for the others.

        Where another C comes next, good weights to start from are worth more than a proof of those there are.
        """
        proves = self.objective.proves_by_parts and not self.ledger.handover.more
        return self.ledger if proves else None

    def proven(self, step: float) -> bool:
        """Whether planes found since the last evaluation have proven the gap of the best point."""
        if not self.ledger.proven:
            return False
        self.reason = self.ledger.close_iteration(step)
        return True

    def in_one_step(self, now: Evaluation) -> bool:
        """Whether a step on all examples will mostly do: no finer rounding is needed, and the optimum is near.

        Along a path, that is: the steps that would follow are as many for the next C, and begin closer by.
        """
        allowed = self.tolerance * abs(now.upper)
        near = now.error <= 0.5 * allowed and now.residual <= min(
            TUNING.one_step * allowed, TUNING.one_step_if_below * abs(now.upper)
        )
        return self.ledger.handover.more and near

    def goes_whole(self, now: Evaluation) -> bool:
        """Whether steps are mostly taken whole: along a path, where they begin close by and no example counts much."""
        return self.ledger.handover.more and plenty(now, 1.0)

    @property
    def tolerance(self) -> float:
        """The relative gap aimed at."""
        return self.ledger.allowed_fraction

    @property
    def tolerance_near(self) -> float:
        """The relative gap that a problem of the near examples may leave."""
        return TUNING.for_near * self.tolerance

    def record(self, point: ScoredPoint, now: Evaluation, step: float, h: float, tries: int) -> bool:
        """Enter an evaluation, and let an interior point finish where that is sooner; True if the run ends there."""
        before = self.ledger.upper - self.ledger.lower
        best = self._enter(point, now, step, h)
        self.idle = 0 if self.ledger.upper - self.ledger.lower < TUNING.idle * before else self.idle + 1
        if self.reason is None and _hard_to_narrow(now, tries, self.tolerance, self.few_kinks):
            self._finish(point, best, h)
        return self.reason is not None or self.idle >= TUNING.most_idle

    def _enter(self, point: ScoredPoint, now: Evaluation, step: float, h: float) -> ScoredPoint | None:
        """Certify an evaluation; returns its point if it is the new incumbent, with the best intercept if need be."""
        ledger = self.ledger
        if ledger.handover.more:
            ledger.handover.evaluated = Evaluated(point, now.cut, h)
        best = self._offered(point, now.cut.value)
        with ledger.phase("qp"):
            ledger.enter(now.cut)
        if self._settles(now):
            settled = self.objective.fit_intercept(point)
            best = self._offered(settled, self.objective.value(settled)) or best
        self.reason = ledger.close_iteration(step)
        return best

    def _settles(self, now: Evaluation) -> bool:
        """Whether to look for the very best intercept: that of the rounded risk is best but for rounding.

        Where many examples are on their kinks, it gains next to nothing, and only what ends the run is worth it.
        """
        ledger = self.ledger
        if not self.objective.intercept or not plenty(now, 1.0):
            return self.objective.intercept
        left = now.upper - TUNING.settling * now.error - ledger.lower
        return not ledger.proven and left <= ledger.allowed_fraction * abs(ledger.upper)

    def _offered(self, point: ScoredPoint, value: float) -> ScoredPoint | None:
        """The point, if it is the new incumbent."""
        return point if self.ledger.offer(point if self.ledger.handover.more else bare(point), value) else None

    def _finish(self, point: ScoredPoint, best: ScoredPoint | None, h: float) -> None:
        """Go on with an interior point, once; where it stalls, Newton's method takes over again."""
        base = self._incumbent() if best is None else best
        ended = finish(self.objective, self.ledger, point, base, h, 2 * self.few_kinks)
        self.few_kinks = 0
        self.reason = None if ended == "stalled" else ended

    def _incumbent(self) -> ScoredPoint:
        """The best point known, scored again: the ledger mostly holds weights alone, for scores take much room."""
        best = self.ledger.incumbent
        assert best is not None
        return self.objective.fit_intercept(self.objective.score(best.w, best.intercept))


def _prove(ledger: Ledger, now: Evaluation) -> bool:
    """Enter a plane that may raise the lower bound; whether that is enough."""
    if now.lower > ledger.lower:
        ledger.enter(now.cut)
    return ledger.proven


def _hard_to_narrow(now: Evaluation, tries: int, tolerance: float, few_kinks: int) -> bool:
    """Whether the rounded problem took many steps, much finer rounding is needed, and few are on their kinks."""
    solved = now.residual < 0.5 * now.error and tries >= TUNING.many_steps
    return (
        few_kinks > 0
        and solved
        and now.cut.kinks <= few_kinks
        and now.error > TUNING.far_off * tolerance * abs(now.upper)
    )

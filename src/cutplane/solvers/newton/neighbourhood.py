"""Which examples a step of Newton's method looks at: those near their kinks, and those that were met on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from cutplane.solvers.base import Point, ScoredPoint, Subset
from cutplane.solvers.newton.rounded import Evaluation, plenty
from cutplane.solvers.newton.tuning import TUNING
from cutplane.solvers.protocols import SmoothObjectiveLike


@dataclass
class Neighbourhood:
    """The examples near their kinks; the others are replaced by their tangents, as long as these hold.

    Parameters
    ----------
    few : float
        The fraction of all examples up to which it pays to look at the near ones alone.
    bold : bool
        Whether those on kinks may be all that is looked at.
    """

    few: float
    bold: bool = False
    reach: float = field(default=TUNING.reach, init=False)
    _near: Subset | None = field(default=None, init=False, repr=False)
    _met: Subset | None = field(default=None, init=False, repr=False)
    _end: tuple[Point, float] | None = field(default=None, init=False, repr=False)
    _trusted: bool | None = field(default=None, init=False, repr=False)  # None: not yet known

    def restrict(
        self, objective: SmoothObjectiveLike, point: ScoredPoint, now: Evaluation, h: float, shrunk: float
    ) -> SmoothObjectiveLike | None:
        """The objective of the near examples, evaluated at the point; None where all should be looked at.

        `shrunk` is the width after this one, relative to it.
        """
        most, cut = self.few * objective.examples, now.cut
        trusted = self._trusted if self._trusted is not None else now.residual <= TUNING.lost_if_further * now.error
        self._trusted = True
        reach = self.reach
        if self.bold and 2.0 * reach * cut.kinks >= most and self._settled(now, shrunk):
            reach *= TUNING.on_kinks / TUNING.reach
        if trusted and 2.0 * reach * cut.kinks < most:
            near = objective.near_kinks(point, reach * h)
            if self._met is not None:
                assert self._near is not None
                near = near.union(self._near, self._met)
            self._near = near
            if len(near) <= most:
                return objective.near(point, cut, h, near)
        self._met = self._end = None
        return None

    @staticmethod
    def _settled(now: Evaluation, shrunk: float) -> bool:
        return shrunk <= TUNING.finer and plenty(now, shrunk) and now.residual <= TUNING.settled * now.error

    @property
    def starts_afresh(self) -> bool:
        """Whether `start` is at the point itself."""
        return self._end is None

    def start(self, near: SmoothObjectiveLike, point: ScoredPoint, h: float) -> tuple[ScoredPoint, float]:
        """Where to begin on the near examples, and how wide: at the end of the last time, if some were missing then."""
        begin, h = (point, h) if self._end is None else self._end
        return near.score(begin.w, begin.intercept), h

    def learn(
        self,
        objective: SmoothObjectiveLike,
        point: ScoredPoint,
        direction: ScoredPoint,
        end: tuple[Point, float],
        step: float,
    ) -> bool:
        """Whether the tangents held on the way to `end`, of which `step` was taken; if not, more will be near.

        With the end goes the width of rounding there.
        """
        assert self._near is not None
        met = objective.crossed(point, direction).minus(self._near) if step < TUNING.whole else None
        if met is not None and 0 < len(met) <= TUNING.few_met * len(self._near):
            self._met = met if self._met is None else self._met.union(met)
            self._end = end
        else:
            self._met = self._end = None
            self._trusted = step >= TUNING.lost
            if step < TUNING.held:
                self.reach *= 2.0
        return step >= TUNING.held

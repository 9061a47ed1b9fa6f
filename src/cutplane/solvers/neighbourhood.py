"""Which examples a step of Newton's method looks at: those near their kinks, and those that were met on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.solvers.rounded import Evaluation

# Examples within this many widths of their kinks are near (kinks are within half a width, so the near are about
# 2 * _REACH times as many).
_REACH = 3.0
# A step cut shorter than the first met the kinks of far examples; than the second, and their tangents did not hold.
_WHOLE, _HELD = 0.9, 0.5
# After a step shorter than the first, or where the first point is so many times as far from the rounded optimum as
# rounding costs, far examples will move too far for their tangents: the next step is made on all examples.
_LOST, _FAR_OFF = 0.1, 100.0
# Where no more far examples were met, relative to the near ones, these are looked at from then on; else all that are
# twice as far.
_FEW_MET = 0.05


@dataclass
class Neighbourhood:
    """The examples near their kinks; the others are replaced by their tangents, as long as these hold.

    Parameters
    ----------
    few : float
        The fraction of all examples up to which it pays to look at the near ones alone.
    """

    few: float
    reach: float = field(default=_REACH, init=False)
    _rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), init=False, repr=False)
    _met: NDArray[np.int64] | None = field(default=None, init=False, repr=False)
    _end: Any = field(default=None, init=False, repr=False)
    _trusted: bool | None = field(default=None, init=False, repr=False)  # None: not yet known

    def restrict(self, objective: Any, point: Any, now: Evaluation, h: float) -> Any | None:
        """The objective of the near examples, evaluated at the point; None where all should be looked at."""
        most, cut = self.few * objective.examples, now.cut
        trusted = self._trusted if self._trusted is not None else now.residual <= _FAR_OFF * now.error
        self._trusted = True
        if trusted and 2.0 * self.reach * cut.kinks < most:
            rows = objective.near_rows(point, self.reach * h)
            self._rows = rows if self._met is None else np.union1d(rows, self._met)
            if len(self._rows) <= most:
                return objective.near(point, cut, h, self._rows)
        self._met = self._end = None
        return None

    def start(self, near: Any, point: Any) -> Any:
        """Where to begin on the near examples: at the end of the last time, if some were missing then."""
        begin = point if self._end is None else self._end
        return near.score(begin.w, begin.intercept)

    def learn(self, objective: Any, point: Any, direction: Any, end: Any, step: float) -> bool:
        """Whether the tangents held on the way to `end`, of which `step` was taken; if not, more will be near."""
        met = np.empty(0, np.int64)
        if step < _WHOLE:
            met = np.setdiff1d(objective.crossed(point, direction), self._rows, assume_unique=True)
        if 0 < len(met) <= _FEW_MET * len(self._rows):
            self._met = met if self._met is None else np.union1d(self._met, met)
            self._end = end
        else:
            self._met = self._end = None
            self._trusted = step >= _LOST
            if step < _HELD:
                self.reach *= 2.0
        return step >= _HELD

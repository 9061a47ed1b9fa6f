"""Whichever way of finding planes proves the gap soonest, switching while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.dual_ascent import DualAscent
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton import SmoothedNewton, Start
from cutplane.solvers.result import StopReason

# With this many examples a feature, samples tell nearly all: Newton's method starts from them and needs no help.
_AMPLE = 2000
# More features than this make Newton's systems expensive: coordinate ascent is given more time.
_FEW_FEATURES = 2500


@dataclass
class Auto:
    """Dual coordinate ascent while it promises to arrive soon, then smoothed Newton, then OCA.

    The choice depends on the problem and its bounds alone, not on the clock: the same data give the same model.
    """

    seed: int = 0

    def run(self, objective: Any, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop."""
        n, d = objective.examples, objective.dimension
        start: Start | None = None
        if n < _AMPLE * d:
            reason = DualAscent(self.seed, patience=40.0 if d <= _FEW_FEATURES else 400.0).run(objective, ledger)
            if reason != "stalled":
                return reason
            start = self._narrowed(objective, ledger)
        reason = SmoothedNewton(self.seed).run(objective, ledger, start)
        if reason != "stalled":
            return reason
        assert ledger.incumbent is not None
        return CuttingPlane().run(objective, ledger, ledger.incumbent.w)

    @staticmethod
    def _narrowed(objective: Any, ledger: Ledger) -> Start:
        """The incumbent, with a rounding that costs about as much as the gap still open."""
        point = ledger.incumbent
        h, gap = 4.0, ledger.upper - ledger.lower
        while h > 1e-6 and ledger.C * objective.rounding_error(point, h) > 0.5 * gap:
            h *= 0.5
        assert point is not None
        return Start(point.w, point.intercept, h)

"""Whichever way of finding planes proves the gap soonest, switching while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutplane.solvers.ascent.dual import DualAscent
from cutplane.solvers.cutting_plane import CuttingPlane
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.newton.interior_point import finish, most_examples
from cutplane.solvers.newton.samples import AMPLE
from cutplane.solvers.newton.smoothed import SmoothedNewton
from cutplane.solvers.newton.start import resumed_start
from cutplane.solvers.result import StopReason, relative_gap

# More features than this make Newton's systems expensive: coordinate ascent is given more time.
_FEW_FEATURES = 2500
# Epochs that Newton's method is worth, as they are promised early on and as they turn out; many features make it slow.
# An objective may know better.
_EPOCHS, _EPOCHS_IF_WIDE = (27.0, 150.0), (float("inf"), 20_000.0)
# From an incumbent further off than this, Newton's method takes longer than the usual way from nothing.
_NEAR, _NEAR_WITH_SAMPLES = 0.1, 0.3
# Where coordinate ascent came this close and examples are cheap, an interior point goes on with those within some
# widths of their kinks.
_CLOSE, _CHEAP, _MANY, _WIDTHS = 5e-3, 4e7, 0.05, 5.0
# From this many weights on, vectors are long against the examples on a kink, and the many products of Newton's method
# cost more than the passes of OCA: where examples cannot be visited one by one, nothing else is tried.
_VERY_WIDE = 100_000


@dataclass
class Auto:
    """Dual coordinate ascent while it promises to arrive soon, then smoothed Newton, then OCA.

    The choice depends on the problem and its bounds alone, not on the clock: the same data give the same model.
    """

    seed: int = 0

    def run(self, objective: Any, ledger: Ledger, *, resumed: bool = False) -> StopReason:
        """Go on until the ledger says why to stop; `resumed` if it holds an incumbent to start from."""
        n, d = objective.examples, objective.dimension
        ample = n >= AMPLE * d  # samples tell nearly all
        near = _NEAR_WITH_SAMPLES if ample else _NEAR
        if resumed and d <= _FEW_FEATURES and relative_gap(ledger.upper, ledger.lower) <= near:
            start = resumed_start(objective, ledger)
        else:
            start = None
        # Where samples tell nearly all, Newton's method starts from them and needs no help.
        if start is None and not ample:
            usual = _EPOCHS if d <= _FEW_FEATURES else _EPOCHS_IF_WIDE
            ascent = DualAscent(self.seed, *(objective.ascent_epochs or usual))
            reason = ascent.run(objective, ledger)
            if reason != "stalled":
                return reason
            if ledger.overdue and ledger.incumbent is not None:
                return "time_limit"
            if not ledger.history and d >= _VERY_WIDE:
                incumbent = ledger.incumbent
                return CuttingPlane().run(objective, ledger, None if incumbent is None else incumbent.w)
            start, incumbent = resumed_start(objective, ledger), ledger.incumbent
            if start is not None and incumbent is not None and self._close(objective, ledger):
                radius, most = _WIDTHS * start.h, most_examples(objective, _CHEAP)
                reason = finish(objective, ledger, incumbent, incumbent, radius, most)
                if reason != "stalled":
                    return reason
                start = resumed_start(objective, ledger)
        if objective.newton_pays:
            reason = SmoothedNewton(self.seed).run(objective, ledger, start)
            if reason != "stalled":
                return reason
        return CuttingPlane().run(objective, ledger, None if ledger.incumbent is None else ledger.incumbent.w)

    @staticmethod
    def _close(objective: Any, ledger: Ledger) -> bool:
        """Whether an interior point can go on: little is left to do, and many examples are cheap."""
        close = relative_gap(ledger.upper, ledger.lower) <= _CLOSE
        return close and most_examples(objective, _CHEAP) >= _MANY * objective.examples

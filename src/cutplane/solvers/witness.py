"""Dual variables that prove a bound by themselves: one plane of all examples, not a mixture of many."""

from __future__ import annotations

from typing import Any

from cutplane.solvers.auto import Auto
from cutplane.solvers.base import Array, Cut, SmoothedCut
from cutplane.solvers.bundle import Bundle, BundleSolution
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.stopping import Stopping


class WitnessLedger(Ledger):
    """Books that count what single planes prove, and keep the coefficients of the best.

    Attributes
    ----------
    coef : array or None
        Of the plane that proves the lower bound.
    """

    coef: Array | None = None

    def prove_by(self, cut: Cut | SmoothedCut, fraction: float = 1.0) -> None:
        """Note what a plane proves by itself."""
        before = self.lower
        super().prove_by(cut, fraction)
        if self.lower > before and cut.coef is not None:
            self.coef = fraction * cut.coef

    def solve(self) -> BundleSolution:
        """Minimise over the planes; what they prove together does not count."""
        return self.bundle.solve(self.C)


def find_witness(objective: Any, C: float, stopping: Stopping, seed: int = 0) -> Array | None:
    """Coefficients of a plane whose own bound is as close as was asked for, or of the best that was found.

    Parameters
    ----------
    objective : SmoothObjective
        One that keeps coefficients.
    C : float
        Of the whole risk.
    stopping : Stopping
        How close the bound should come to the best value found.
    """
    bundle = Bundle(objective.dimension, lower_bound=objective.lower_bound)
    ledger = WitnessLedger(C, bundle, stopping, rounding=objective.rounding)
    Auto(seed).run(objective, ledger)
    return ledger.coef

"""Dual variables that prove a bound by themselves: of one plane of all examples, or of a mixture of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.proof.prover import Plane
from cutplane.solvers.auto import Auto
from cutplane.solvers.base import Array, Cut, SmoothedCut
from cutplane.solvers.bundle.planes import Bundle, BundleSolution
from cutplane.solvers.cutting_plane import CuttingPlane
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

    def prove_by(self, cut: Cut | SmoothedCut) -> None:
        """Note what a plane proves by itself."""
        before = self.lower
        super().prove_by(cut)
        if self.lower > before and cut.coef is not None:
            self.coef = cut.coef

    def solve(self) -> BundleSolution:
        """Minimise over the planes; what they prove together does not count."""
        return self.bundle.solve(self.C)


def find_witness(objective: Any, C: float, stopping: Stopping, seed: int = 0) -> Array | None:
    """Coefficients of a plane whose own bound is as close as was asked for, or of the best that was found.

    Parameters
    ----------
    objective : RoundedObjective
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


class _WholeBundle(Bundle):
    """A bundle that keeps every plane."""

    __slots__ = ()

    def prune(self, idle: int) -> int:
        """Nothing is dropped."""
        return 0


class MixtureLedger(Ledger):
    """Books that keep the coefficients of every plane, and the weights of the mixture that proves most.

    In single precision: any coefficients within their limits prove something.
    """

    def __init__(self, C: float, bundle: Bundle, stopping: Stopping, rounding: Any) -> None:
        super().__init__(C, bundle, stopping, rounding=rounding)
        self._coefs: list[Any] = []
        self._best: Array | None = None

    def add(self, cut: Cut | SmoothedCut) -> Plane:
        """Add a plane, and keep its coefficients."""
        assert cut.coef is not None
        self._coefs.append(cut.coef.astype(np.float32))
        return super().add(cut)

    def solve(self) -> BundleSolution:
        """Minimise over the planes, and note who proves what."""
        before = self.lower
        solution = super().solve()
        if self.lower > before or self._best is None:
            self._best = solution.weights.copy()
        return solution

    @property
    def coef(self) -> Array:
        """The coefficients of the best mixture."""
        assert self._best is not None
        total = np.zeros(len(self._coefs[0]))
        for weight, coef in zip(self._best, self._coefs, strict=False):
            if weight > 0.0:
                total += weight * coef
        return total


def find_mixture(objective: Any, C: float, stopping: Stopping) -> Array:
    """Coefficients of a mixture of planes: for risks that are not rounded, whose single planes prove little."""
    bundle = _WholeBundle(objective.dimension, lower_bound=objective.lower_bound)
    ledger = MixtureLedger(C, bundle, stopping, objective.rounding)
    CuttingPlane().run(objective, ledger)
    return ledger.coef

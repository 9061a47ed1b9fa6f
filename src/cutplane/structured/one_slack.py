"""The 1-slack cutting-plane algorithm (Joachims, Finley and Yu 2009) with cached planes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutplane._types import Array
from cutplane.solvers.bundle.planes import BundleSolution
from cutplane.solvers.ledger import IDLE_SOLVES, Ledger
from cutplane.solvers.result import StopReason
from cutplane.structured.cache import PlaneCache
from cutplane.structured.objective import StructuredObjective
from cutplane.structured.tuning import ONE_SLACK


@dataclass
class OneSlack:
    """Minimise ½|w|² + C·R(w), R the mean over examples of their highest planes.

    Parameters
    ----------
    cache : PlaneCache, optional
        Planes of past searches: tried first, for they cost no search.
    """

    cache: PlaneCache | None = None

    def run(self, objective: StructuredObjective, ledger: Ledger, start: Array | None = None) -> StopReason:
        """Go on until the ledger says why to stop."""
        bundle = ledger.bundle
        point = objective.at(np.zeros(objective.dimension) if start is None else start)
        while True:
            with ledger.phase("search"):
                cut = objective.cut(point)
            ledger.offer(point, cut.value)
            with ledger.phase("qp"):
                ledger.add(cut)
                model = ledger.solve()
                bundle.prune(IDLE_SOLVES)
            reason = ledger.close_iteration(1.0)
            if reason is not None:
                return reason
            with ledger.phase("cache"):
                w = self._exhaust_cache(ledger, model)
            if np.array_equal(w, point.w):
                return "stalled"
            point = objective.at(w)

    def _exhaust_cache(self, ledger: Ledger, model: BundleSolution) -> Array:
        """The minimiser of the model once all useful planes of the cache are added."""
        rises = True  # a plane above the model raises the bound, unless rounding is all that it is above by
        while self.cache is not None and rises and not ledger.proven and not ledger.overdue:
            known = self.cache.sweep(model.w)
            if known.value - model.risk_model <= ONE_SLACK.cache_share * (ledger.upper - ledger.lower) / ledger.C:
                break
            ledger.add(known.plane)
            before, model = model.lower, ledger.solve()
            rises = model.lower > before
        return model.w

"""Block-coordinate Frank-Wolfe as a source of planes: it wins where a search is cheap."""

from __future__ import annotations

from dataclasses import dataclass

from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import StopReason
from cutplane.structured.base import Array, Ascent
from cutplane.structured.objective import StructuredObjective

# Gaps seen on visits grow stale: after this many epochs a sweep renews them all.
_RENEW_AFTER = 10


@dataclass
class BlockFrankWolfe:
    """Epochs of dual ascent over single examples, certified by the plane of its dual variables and one exact sweep.

    Parameters
    ----------
    seed : int
        For the order of the examples.
    """

    seed: int = 0

    def run(self, objective: StructuredObjective, ledger: Ledger) -> StopReason:
        """Go on until the ledger says why to stop, or no epoch raises the dual value any more."""
        ascent = objective.sample.ascent(ledger.C / objective.examples, self.seed)
        since, certified = _RENEW_AFTER, float("-inf")
        while True:
            with ledger.phase("epochs"):
                ascent.epoch()
            since += 1
            if since >= _RENEW_AFTER or self._may_end(ledger, ascent):
                self._certify(objective, ledger, ascent)
                since = 0
            reason = ledger.close_iteration(1.0)
            if reason is not None:
                return reason
            if since == 0:
                if ascent.estimate <= certified:
                    return "stalled"
                certified = ascent.estimate

    @staticmethod
    def _may_end(ledger: Ledger, ascent: Ascent) -> bool:
        """Whether a certificate may succeed, as the gaps on visits sum up to about the gap itself, or must be made."""
        stopping = ledger.stopping
        upper = ascent.estimate + ascent.gap_estimate
        last = stopping.max_iter is not None and len(ledger.history) + 1 >= stopping.max_iter
        return last or ledger.overdue or stopping.proven(upper, ascent.estimate, ledger.C)

    def _certify(self, objective: StructuredObjective, ledger: Ledger, ascent: Ascent) -> None:
        point = objective.at(ascent.weights)
        with ledger.phase("search"):
            ledger.offer(point, objective.value(point))
            ascent.renew(objective.sweep(point))
        with ledger.phase("cut"):
            slope, offset = ascent.plane()
        self._prove(ledger, slope, offset)

    @staticmethod
    def _prove(ledger: Ledger, slope: Array, offset: float) -> None:
        with ledger.phase("qp"):
            ledger.bundle.add(slope, offset)
            ledger.prove(ledger.bundle.solve(ledger.C).lower)
            ledger.bundle.prune(2)

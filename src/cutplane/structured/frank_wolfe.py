"""Block-coordinate Frank-Wolfe as a source of planes: it wins where a search is cheap."""

from __future__ import annotations

from dataclasses import dataclass

from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import StopReason
from cutplane.structured.base import Array
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
        """Go on until the ledger says why to stop."""
        ascent = objective.sample.ascent(ledger.C / objective.examples, self.seed)
        since = 0
        while True:
            with ledger.phase("epochs"):
                ascent.epoch()
            since += 1
            # The gaps on visits sum up to about the gap there is: a certificate is due when it may succeed.
            upper = ascent.estimate + ascent.gap_estimate
            hopeful = ledger.stopping.proven(upper, ascent.estimate, ledger.C)
            if (since == 1 and not ledger.history) or hopeful or since >= _RENEW_AFTER or ledger.overdue:
                since = 0
                point = objective.at(ascent.weights)
                with ledger.phase("search"):
                    ledger.offer(point, objective.value(point))
                ascent.renew(objective.sweep(point))
                self._prove(ledger, *ascent.plane())
            reason = ledger.close_iteration(1.0)
            if reason is not None:
                return reason

    @staticmethod
    def _prove(ledger: Ledger, slope: Array, offset: float) -> None:
        with ledger.phase("qp"):
            ledger.bundle.add(slope, offset)
            ledger.prove(ledger.bundle.solve(ledger.C).lower)
            ledger.bundle.prune(2)

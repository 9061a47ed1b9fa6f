"""Block-coordinate Frank-Wolfe as a source of planes: it wins where a search is cheap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutplane.solvers.base import Cut
from cutplane.solvers.ledger import Ledger
from cutplane.solvers.result import StopReason
from cutplane.structured.base import Ascent
from cutplane.structured.objective import StructuredObjective
from cutplane.structured.tuning import FRANK_WOLFE


class _RunningMean:
    """The mean of the weights after each epoch, later ones weighing more: less far from the optimum than the last.

    Attributes
    ----------
    share : float
        How much of the gap that the visits saw was left at the mean, when last proven.
    """

    def __init__(self, dimension: int) -> None:
        self.weights = np.zeros(dimension)
        self.share = 1.0
        self._count = 0

    def add(self, ascent: Ascent) -> None:
        """Take what an epoch has reached."""
        self._count += 1
        ascent.blend(self.weights, FRANK_WOLFE.forgetting / (self._count + FRANK_WOLFE.forgetting - 1.0))

    def restart(self) -> None:
        """Forget what was added."""
        self._count = 0


@dataclass
class BlockFrankWolfe:
    """Epochs of dual ascent over single examples, certified by the plane of its dual variables and one exact sweep.

    Parameters
    ----------
    seed : int
        For the order of the examples.
    """

    seed: int = 0

    def run(self, objective: StructuredObjective, ledger: Ledger, ascent: Ascent | None = None) -> StopReason:
        """Go on until the ledger says why to stop, or no epoch raises the dual value any more.

        `ascent` is one to go on with; a new one by default.
        """
        if ascent is None:
            ascent = objective.sample.ascent(ledger.C / objective.examples, self.seed)
        since, certified = FRANK_WOLFE.renew_after, float("-inf")
        mean = _RunningMean(objective.dimension)
        while True:
            with ledger.phase("epochs"):
                ascent.epoch()
                mean.add(ascent)
            since += 1
            if since >= FRANK_WOLFE.renew_after or self._may_end(ledger, ascent, mean.share):
                self._certify(objective, ledger, ascent, mean)
                since = 0
            reason = ledger.close_iteration(1.0)
            if reason is not None:
                return reason
            if since == 0:
                if ascent.estimate <= certified:
                    return "stalled"
                certified = ascent.estimate

    @staticmethod
    def _may_end(ledger: Ledger, ascent: Ascent, share: float) -> bool:
        """Whether a certificate may succeed, as the gaps on visits sum up to about the gap itself, or must be made."""
        stopping = ledger.stopping
        upper = ascent.estimate + share * ascent.gap_estimate
        last = stopping.max_iter is not None and len(ledger.history) + 1 >= stopping.max_iter
        return last or ledger.overdue or stopping.proven(upper, ascent.estimate, ledger.C)

    def _certify(self, objective: StructuredObjective, ledger: Ledger, ascent: Ascent, mean: _RunningMean) -> None:
        seen = ascent.gap_estimate
        point, averaged = objective.at(ascent.weights), objective.at(mean.weights.copy())
        with ledger.phase("search"):
            ledger.offer(point, objective.value(point))
            if not ledger.offer(averaged, objective.value(averaged)):
                mean.restart()
            ascent.renew(objective.sweep(point))
        with ledger.phase("cut"):
            slope, offset = ascent.plane()
        with ledger.phase("qp"):
            # The plane of a sweep sums one term an example, this one up to `most_planes`: its mass is charged for all.
            mass = objective.mass * max(1.0, 1.001 * ascent.most_planes)
            ledger.add(Cut(slope, offset, np.nan, exact=False, mass=mass))
            ledger.solve()
            ledger.bundle.prune(2)
        mean.share = min(1.0, (ledger.upper - ledger.lower) / seen) if 0.0 < seen < np.inf else 1.0

"""CPA (Joachims 2006) and OCA (Franc and Sonnenburg 2009, Algorithm 2), pure: planes, a line search, no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutplane.solvers.base import Array, Cut, ObjectiveLike, bare
from cutplane.solvers.ledger import IDLE_SOLVES, Ledger
from cutplane.solvers.line_search import ExactLineSearch, LineSearch, NoLineSearch
from cutplane.solvers.result import StopReason


@dataclass
class CuttingPlane:
    """Minimise ½|w|² + C·R(w) by planes below R.

    Parameters
    ----------
    line_search : LineSearch
        How the incumbent moves towards the model's minimiser w_t.
    mu : float
        The plane is taken at (1 - mu)·w_b + mu·w_t (OCA eq. 9), or closer to w_b; 1 is CPA's choice.
    nearest : float or None
        How much closer it may be: the plane is taken twice as far ahead as the step went, between `nearest` and mu of
        the way. None: always mu of the way, as in the papers.
    """

    line_search: LineSearch = field(default_factory=ExactLineSearch)
    mu: float = 0.1
    nearest: float | None = 0.005

    @classmethod
    def cpa(cls) -> CuttingPlane:
        """Joachims' Algorithm 1: no line search, the plane at w_t itself."""
        return cls.published(NoLineSearch(), 1.0)

    @classmethod
    def published(cls, line_search: LineSearch, mu: float = 0.1) -> CuttingPlane:
        """As in the papers: every plane at the same part of the way."""
        return cls(line_search, mu, None)

    def run(self, objective: ObjectiveLike, ledger: Ledger, start: Array | None = None) -> StopReason:
        """Go on until the ledger says why to stop."""
        C, bundle = ledger.C, ledger.bundle
        with ledger.phase("scores"):
            w_b: Any = objective.at(np.zeros(objective.dimension) if start is None else start)
        ledger.offer(bare(w_b), objective.value(w_b))
        if not len(bundle):
            _add_plane(ledger, lambda: objective.cut(w_b))
        while True:
            with ledger.phase("qp"):
                model = bundle.solve(C)
                ledger.prove(model.lower)
                bundle.prune(IDLE_SOLVES)
            with ledger.phase("scores"):
                w_t = objective.at(model.w)
            with ledger.phase("line_search"):
                k = self.line_search.step(objective, w_b, w_t, C)
                w_b, risk, cut = objective.advance(w_b, w_t, k, self._ahead(objective, k), C)
                ledger.offer(bare(w_b), risk)
            reason = ledger.close_iteration(k)
            if reason is not None:
                return reason
            _add_plane(ledger, cut)
            del w_t, cut  # the scores they hold make room for the next ones

    def _ahead(self, objective: ObjectiveLike, step: float) -> float:
        """OCA's mu after such a step.

        Short steps say that the risk bends close to w_b, and planes from further on do not tell how. With an intercept
        steps say less: its best value lies beside the line.
        """
        if self.nearest is None or objective.intercept:
            return self.mu
        return min(self.mu, max(self.nearest, 2.0 * step))


def _add_plane(ledger: Ledger, take: Callable[[], Cut]) -> None:
    with ledger.phase("cut"):
        cut = take()
    with ledger.phase("qp"):
        ledger.bundle.add(cut.slope, cut.offset)

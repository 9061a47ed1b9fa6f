"""CPA (Joachims 2006) and OCA (Franc and Sonnenburg 2009, Algorithm 2), pure: planes, a line search, no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from cutplane.solvers.base import Array, Cut, bare
from cutplane.solvers.ledger import IDLE_SOLVES, Ledger
from cutplane.solvers.line_search import ExactLineSearch, LineSearch, NoLineSearch
from cutplane.solvers.protocols import ObjectiveLike, P
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
        How much closer: the plane is taken twice as far ahead as the longer of the last two steps went, between
        `nearest` and mu of the way; closer still where steps are zero one after the other. None: always mu of the way,
        as in the papers. So, too, with an intercept, where steps say less: its best value lies beside the line.
    first_gap : float
        Ends with "stalled" where the relative gap after the first step is larger: where C is small, it is not, and few
        planes are enough.
    """

    line_search: LineSearch = field(default_factory=ExactLineSearch)
    mu: float = 0.1
    nearest: float | None = 0.005
    first_gap: float = float("inf")

    @classmethod
    def cpa(cls) -> CuttingPlane:
        """Joachims' Algorithm 1: no line search, the plane at w_t itself."""
        return cls.published(NoLineSearch(), 1.0)

    @classmethod
    def published(cls, line_search: LineSearch, mu: float = 0.1) -> CuttingPlane:
        """As in the papers: every plane at the same part of the way."""
        return cls(line_search, mu, None)

    def run(self, objective: ObjectiveLike[P], ledger: Ledger, start: Array | None = None) -> StopReason:
        """Go on until the ledger says why to stop."""
        C, bundle, ahead = ledger.C, ledger.bundle, self._ahead(objective)
        with ledger.phase("scores"):
            w_b = objective.at(np.zeros(objective.dimension) if start is None else start)
        ledger.offer(bare(w_b), objective.value(w_b))
        if not len(bundle):
            _add_plane(ledger, lambda: objective.cut(w_b))
        while True:
            with ledger.phase("qp"):
                model = ledger.solve()
                bundle.prune(IDLE_SOLVES)
            if ledger.overdue:  # the planes have raised the lower bound; for another point there is no time
                return ledger.close_iteration(0.0) or "time_limit"
            with ledger.phase("scores"):
                w_t = objective.at(model.w, w_b)
            with ledger.phase("line_search"):
                k = self.line_search.step(objective, w_b, w_t, C)
                ledger.mixed(w_b, w_t, k)
                w_b, risk, cut = objective.advance(w_b, w_t, k, ahead.after(k), C)
                ledger.offer(bare(w_b), risk)
            reason = ledger.close_iteration(k)
            if reason is not None:
                return reason
            if len(ledger.history) == 1 and ledger.history[0].gap > self.first_gap:
                return "stalled"
            _add_plane(ledger, cut)
            del w_t, cut  # the scores they hold make room for the next ones

    def _ahead(self, objective: ObjectiveLike[P]) -> _Ahead | _Fixed:
        return _Fixed(self.mu) if self.nearest is None or objective.intercept else _Ahead(self.mu, self.nearest)


class _Ahead:
    """OCA's mu after each step: twice as far as the longer of the last two, within limits.

    Short steps say that the risk bends close to w_b, and planes from further on do not tell how. Where no step is
    better, planes come closer still, one after the other, until they have proven it.
    """

    #: After another step of zero planes come closer by the first factor; in all by no more than the second. a9a, w8a.
    CLOSER, CLOSEST = 0.8, 0.02

    def __init__(self, mu: float, nearest: float) -> None:
        self._mu = mu
        self._nearest = nearest
        self._last = 0.0
        self._still = 0  # steps of zero one after the other

    def after(self, step: float) -> float:
        """Where the plane is wanted."""
        self._still = self._still + 1 if step == 0.0 else 0
        closer = max(self.CLOSEST, self.CLOSER ** max(0, self._still - 1))
        longer, self._last = max(step, self._last), step
        return min(self._mu, max(closer * self._nearest, 2.0 * longer))


class _Fixed:
    """The papers' mu: always the same."""

    def __init__(self, mu: float) -> None:
        self._mu = mu

    def after(self, step: float) -> float:
        """Where the plane is wanted."""
        return self._mu


def _add_plane(ledger: Ledger, take: Callable[[], Cut]) -> None:
    with ledger.phase("cut"):
        cut = take()
    with ledger.phase("qp"):
        ledger.add(cut)

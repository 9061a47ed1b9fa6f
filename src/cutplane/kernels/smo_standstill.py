"""When SMO gets no further: only rounding is left, or steps hardly close the gap."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from cutplane import _core
from cutplane.kernels.smo_result import Array
from cutplane.kernels.smo_settings import TUNING
from cutplane.kernels.smo_workspace import Workspace
from cutplane.proof.certificate import relative_gap


@dataclass
class Standstill:
    """Whether a run still gets anywhere: it may be that only rounding is left, or that it hardly moves.

    Parameters
    ----------
    workspace : Workspace
    max_iter : int, optional
        Pair steps that the whole run may take.
    otherwise : callable, optional
        Makes the solver to go on with once a run hardly moves, from multipliers and the steps that are left.
    """

    workspace: Workspace
    max_iter: int | None
    otherwise: Callable[[Array, int | None], _core.SmoSolver] | None
    _looks: int = 1
    _halfway: tuple[int, float, float] = (0, -math.inf, math.inf)  # steps, dual and violation of the last look back

    @property
    def reached(self) -> bool:
        """Whether to give up; looked at now and then, as steps add up."""
        variables, steps = len(self.workspace.problem.y), self.workspace.steps
        if steps >= self._looks * max(TUNING.patience, TUNING.patience_each * variables):
            self._looks += 1
            _, _, violation = self.workspace.bounds()
            return violation <= self.workspace.solver.rounding()
        return self._no_way_on(max(TUNING.look_back, TUNING.look_back_each * variables))

    def only_double_rounding_is_left(self, violation: float, tol: float) -> bool:
        """Whether gradients summed up afresh differ by no more than they may be off: no step can prove more."""
        solver = self.workspace.solver
        if not solver.ready or violation > solver.drift:
            return False
        solver.refresh()
        if solver.bounds()[2] > solver.drift:
            return False
        dual, primal, _ = self.workspace.bounds()
        return relative_gap(primal, dual) > tol

    def _no_way_on(self, first: int) -> bool:
        """Whether the run is to end because it hardly moves; the first time it goes on with another solver."""
        if not self._hardly_moves(first):
            return False
        if self.otherwise is None:
            return self.workspace.steps >= TUNING.give_up_after * first
        left = None if self.max_iter is None else max(1, self.max_iter - self.workspace.steps)
        self.workspace.take_over(self.otherwise(self.workspace.solver.alpha(), left))
        self.otherwise = None
        return False

    def _hardly_moves(self, first: int) -> bool:
        """Whether the last half of the steps has brought the end hardly nearer; looked at as steps double."""
        if self.workspace.steps < max(first, 2 * self._halfway[0]):
            return False
        dual, primal, violation = self.workspace.bounds()
        _, dual_before, violation_before = self._halfway
        self._halfway = (self.workspace.steps, dual, violation)
        if not math.isfinite(violation_before):
            return False
        closed = dual - dual_before
        return closed < TUNING.closed_share * (primal - dual) and violation > TUNING.violation_share * violation_before

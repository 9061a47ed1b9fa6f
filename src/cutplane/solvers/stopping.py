"""When a run may end."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cutplane.solvers.result import Step, StopReason


@dataclass(frozen=True, slots=True)
class Stopping:
    """A run ends at the first of these that holds.

    Parameters
    ----------
    relative_gap : float
        (upper - lower) / |upper|; 0 turns it off.
    absolute_gap : float
        upper - lower; 0 turns it off.
    risk_gap : float
        SVM-perf's epsilon: (upper - lower) / C, the gap as a risk; 0 turns it off.
    max_iter : int or None
    time_limit : float or None
        Seconds.
    """

    relative_gap: float = 1e-3
    absolute_gap: float = 0.0
    risk_gap: float = 0.0
    max_iter: int | None = None
    time_limit: float | None = None

    def after(self, seconds: float) -> Stopping:
        """The same rule for what is left of the time, which may be nothing."""
        return self if self.time_limit is None else replace(self, time_limit=self.time_limit - seconds)

    def reason(self, step: Step, C: float, proven: bool | None = None) -> StopReason | None:
        """Why to stop after this step, if there is a reason."""
        if self.proven(step.upper, step.lower, C) if proven is None else proven:
            return "gap"
        if self.max_iter is not None and step.iteration >= self.max_iter:
            return "max_iter"
        if self.time_limit is not None and step.seconds >= self.time_limit:
            return "time_limit"
        return None

    def proven(self, upper: float, lower: float, C: float) -> bool:
        """Whether the bounds are as close as was asked for."""
        return upper - lower <= self.allowed(upper, C)

    def allowed(self, upper: float, C: float) -> float:
        """The largest difference of the bounds that ends a run."""
        return max(self.relative_gap * abs(upper), self.absolute_gap, self.risk_gap * C, 0.0)

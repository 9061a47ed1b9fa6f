"""What was reached and proven of one problem of a fit, whatever solved it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from cutplane.proof.ball import radius
from cutplane.proof.certificate import relative_gap
from cutplane.solvers.result import Step

AnyStopReason = Literal["interrupted", "time_limit", "max_iter", "stalled", "pair", "risk_tol", "kkt", "certain", "gap"]

#: Why runs end. Of several problems' reasons, `stop_reason_` is the first in this order: what was cut short, then what
#: proves no gap; "gap" only where it holds for every problem.
STOP_REASONS: tuple[AnyStopReason, ...] = (
    "interrupted",
    "time_limit",
    "max_iter",
    "stalled",
    "pair",
    "risk_tol",
    "kkt",
    "certain",
    "gap",
)


# Bounds that meet may cross by their rounding, where runs in single precision did not charge all of it.
_ROUNDING = 1e-9


def crossed(upper: float, lower: float) -> bool:
    """True if the bounds contradict each other by more than rounding."""
    size = max((abs(bound) for bound in (upper, lower) if math.isfinite(bound)), default=0.0)
    return lower > upper + _ROUNDING * size


@dataclass(frozen=True, slots=True)
class ProblemCertificate:
    """What was reached and proven of one problem of a fit.

    Attributes
    ----------
    problem : object
        Which one: the label of a class against the rest, a pair of labels, or None where there is nothing to tell
        apart. Of two classes, linear models name the second, which has the positive scores.
    objective : float
        The objective at the model.
    lower_bound : float
        What no model's objective is below; -inf where nothing is proven.
    stop_reason : str
        One of `STOP_REASONS`.
    n_iter : int
        Iterations; pair steps of kernel machines.
    seconds : float
        What the run took.
    history : list of Step
        What the iterations reached; the `problem` of each step is the place of this certificate in `certificates_`.
    radius : float
        How far the weights of the optimum are from the model's at most, where more is known than follows from the gap
        (sqrt(2·(objective - lower_bound))); else infinite.
    """

    problem: object
    objective: float
    lower_bound: float
    stop_reason: AnyStopReason
    n_iter: int
    seconds: float
    history: list[Step] = field(repr=False)
    radius: float = math.inf

    def __post_init__(self) -> None:
        """Refuse bounds that cross: the ledger of linear and structured runs says more of them."""
        if crossed(self.objective, self.lower_bound):
            raise ValueError(
                f"The lower bound {self.lower_bound:.6g} is above the objective {self.objective:.6g}, so the kernel or "
                "the risk breaks its contract; a kernel must be symmetric, positive semi-definite and the same each "
                "time, and check_risk and check_oracle of cutplane.testing find the fault of a risk or a model."
            )

    @property
    def ball(self) -> float:
        """How far the weights of the optimum are from the model's at most: docs/certain.md has the proof."""
        return min(self.radius, radius(self.objective, self.lower_bound))

    @property
    def gap(self) -> float:
        """(objective - lower_bound) / |objective|; infinite where the objective is 0 and the bound is not."""
        return relative_gap(self.objective, self.lower_bound)

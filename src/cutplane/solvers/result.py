"""What a run did and what it proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.certificate import Certificate, relative_gap
from cutplane.solvers.base import Duals, Intercept
from cutplane.solvers.bundle.planes import BundleLike

__all__ = ["Certificate", "Estimate", "OnStep", "Result", "Step", "StopReason", "relative_gap"]

StopReason = Literal["gap", "max_iter", "time_limit", "interrupted", "stalled"]


class Estimate(NamedTuple):
    """What a run believes where it proves nothing: the objective, and the value of the model that its cuts make up."""

    objective: float
    value: float


@dataclass(frozen=True, slots=True)
class Step:
    """A look at a run, as `history_` and `on_step` see it: of every solver, for linear, kernel and structured models.

    Attributes
    ----------
    iteration : int
        Iterations until now; pair steps of SMO.
    seconds : float
        Since the run began.
    upper, lower : float
        The optimum of ½|w|² + C·R lies between them. Infinite while nothing is proven, as with cuts on the way.
    planes : int
        Planes of the model of the risk; 0 where a solver has none.
    step : float
        The length of the step taken; 0 where a solver does not state one.
    violation : float
        SMO: the maximal violation of the optimality conditions. Cuts of kernel machines: by how much the mean loss is
        above its model. Infinite where it is not known.
    problem : int
        Which of several problems: its place in `certificates_`.
    estimate : Estimate or None
        What cuts of kernel machines say of the objective. None where `upper` and `lower` say it all.
    phases : mapping
        Seconds spent, by what they were spent on.
    """

    iteration: int
    seconds: float
    upper: float
    lower: float
    planes: int = 0
    step: float = 0.0
    phases: Mapping[str, float] = field(default_factory=dict)
    violation: float = float("inf")
    problem: int = 0
    estimate: Estimate | None = None

    @property
    def gap(self) -> float:
        """The proven relative gap after this iteration."""
        return relative_gap(self.upper, self.lower)

    @property
    def objective(self) -> float:
        """The objective of the point a run would return now: an estimate, or else the upper bound."""
        return self.upper if self.estimate is None else self.estimate.objective

    @property
    def value(self) -> float:
        """The value of the model that the cuts make up: an estimate, or else the lower bound."""
        return self.lower if self.estimate is None else self.estimate.value

    @property
    def cuts(self) -> int:
        """The same as `planes`, by the name that sampled cuts have for them."""
        return self.planes


# Called with every step; True ends the run, whatever else is returned is ignored.
OnStep = Callable[[Step], object]


@dataclass(frozen=True, slots=True)
class Result:
    """The incumbent of a run with its certificate, and what another run needs to go on from there.

    Ensures: `upper` is at least the objective at (`w`, `intercept`), `lower` is at most the optimum: as inequalities of
    real numbers, what rounding can do to them included. The weights of the optimum are within `radius` of `w`.
    """

    w: NDArray[np.float64]
    intercept: Intercept
    upper: float
    lower: float
    history: list[Step]
    stop_reason: StopReason
    bundle: BundleLike
    duals: Duals | None = None
    radius: float = float("inf")

    @property
    def certificate(self) -> Certificate:
        """Both bounds."""
        return Certificate(self.upper, self.lower)

    @property
    def gap(self) -> float:
        """The proven relative gap."""
        return self.certificate.gap

    def with_history(self, before: Sequence[Step]) -> Self:
        """The same, with the steps of the run that it goes on from."""
        count, seconds = len(before), before[-1].seconds if before else 0.0
        later = [replace(s, iteration=s.iteration + count, seconds=s.seconds + seconds) for s in self.history]
        return replace(self, history=[*before, *later])

    def after(self, before: Self) -> Self:
        """What is known after a run that went on from another one: the better weights, and the better bound."""
        found = self.with_history(before.history)
        if before.upper < self.upper:
            found = replace(found, w=before.w, intercept=before.intercept, upper=before.upper, radius=before.radius)
        lower = max(before.lower, self.lower)
        last = replace(found.history[-1], upper=found.upper, lower=lower)
        return replace(found, lower=lower, history=[*found.history[:-1], last])

"""What a run did and what it proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cutplane.solvers.base import Duals, Intercept
from cutplane.solvers.bundle.planes import BundleLike

StopReason = Literal["gap", "max_iter", "time_limit", "interrupted", "stalled"]


def relative_gap(upper: float, lower: float) -> float:
    """(upper - lower) / |upper|: how far above the optimum `upper` can be at most, relative to itself."""
    if upper == lower:
        return 0.0
    return (upper - lower) / abs(upper) if upper != 0.0 and upper != float("inf") else float("inf")


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration, as `history_` and `on_step` see it. Bounds are of ½|w|² + C·R."""

    iteration: int
    seconds: float
    upper: float
    lower: float
    planes: int
    step: float
    phases: Mapping[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """The proven relative gap after this iteration."""
        return relative_gap(self.upper, self.lower)


# Called with each step; returning True ends the run.
OnStep = Callable[[Step], object]


@dataclass(frozen=True, slots=True)
class Result:
    """The incumbent of a run with its certificate, and what another run needs to go on from there.

    Ensures: `upper` is at least the objective at (`w`, `intercept`), `lower` is at most the optimum: as inequalities of
    real numbers, what rounding can do to them included.
    """

    w: NDArray[np.float64]
    intercept: Intercept
    upper: float
    lower: float
    history: list[Step]
    stop_reason: StopReason
    bundle: BundleLike
    duals: Duals | None = None

    @property
    def gap(self) -> float:
        """The proven relative gap."""
        return relative_gap(self.upper, self.lower)

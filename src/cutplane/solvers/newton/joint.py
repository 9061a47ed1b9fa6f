"""An interior point for classes that are one problem: a number of steps that hardly depends on the data.

Examples have a weight on each class and a slack of each line. All products of these are brought down together; each
step solves one system, after which the weights of classes make the whole step and every example as much of its own as
keeps it inside. What an example lacks then is a part of the next step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from cutplane.solvers.result import Estimate, Step


@dataclass(frozen=True, slots=True)
class JointTuning:
    """Chosen by hand: MNIST with 60 principal components, C from 0.001 to 100; embeddings with 100 classes."""

    #: The gap that steps end with, of the one asked for: the rest is for rounding.
    leave: float = 0.8
    #: Products of weights and slacks, relative to the last.
    falling: float = 0.3
    #: What they may cost in the end, of the gap aimed at.
    for_products: float = 0.3
    #: Steps end after so many that have not made the least gap smaller than this times what it was.
    patience: int = 12
    idle: float = 0.9
    most_steps: int = 80


TUNING = JointTuning()


class JointLook(NamedTuple):
    """Where classes stand: estimates of their bounds, and the mean product of a weight and a slack."""

    upper: float
    lower: float
    product: float


class JointLike(Protocol):
    """Classes under way: see `cutplane.shards.joint.JointShard`."""

    @property
    def pairs(self) -> float: ...  # noqa: D102

    def look(self) -> JointLook: ...  # noqa: D102

    def step(self, target: float) -> None: ...  # noqa: D102


@dataclass
class JointInterior:
    """The interior point.

    Parameters
    ----------
    allowed : callable
        From an objective to the gap asked for.
    overdue : callable
        Whether the time is up.
    """

    allowed: Callable[[float], float]
    overdue: Callable[[], bool]
    history: list[Step] = field(default_factory=list)

    def run(self, shard: JointLike) -> list[Step]:
        """Until the classes are close enough, or come no nearer, or the time is up."""
        began, least, idle = time.perf_counter(), math.inf, 0
        for iteration in range(1, TUNING.most_steps + 1):
            look = shard.look()
            estimate = Estimate(look.upper, look.lower)
            self.history.append(Step(iteration, time.perf_counter() - began, math.inf, -math.inf, estimate=estimate))
            gap, allowed = look.upper - look.lower, self.allowed(look.upper)
            idle = 0 if gap < TUNING.idle * least else idle + 1
            least = min(least, gap)
            # A gap that is no number is not close.
            if gap <= TUNING.leave * allowed or not math.isfinite(gap):
                break
            if idle >= TUNING.patience or self.overdue():
                break
            shard.step(max(TUNING.falling * look.product, TUNING.for_products * allowed / shard.pairs))
        return self.history

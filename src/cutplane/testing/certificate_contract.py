"""The contract of certificates as a check; it raises AssertionError with what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cutplane.solvers.result import Step
from cutplane.testing.requirements import ROUNDING, require


def check_certificate(
    history: Sequence[Step], upper: float, lower: float, optimum: float, *, accuracy: float = 1e-7
) -> None:
    """Check the bounds of a run against the optimum, known from elsewhere up to a relative `accuracy`.

    Parameters
    ----------
    history : sequence of Step
        What the iterations reported.
    upper, lower : float
        What the run reported in the end.
    optimum : float
        The least value of the objective.
    accuracy : float

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    slack = accuracy * abs(optimum)
    steps = [*history]
    require(steps, "the history is empty; every run has at least one iteration.")
    for step in steps:
        require(
            step.lower <= optimum + slack,
            f"iteration {step.iteration} claims a lower bound {step.lower!r}, above the optimum {optimum!r}.",
        )
        require(
            step.upper >= optimum - slack,
            f"iteration {step.iteration} claims the objective {step.upper!r}, below the optimum {optimum!r}.",
        )
    for before, after in pairwise(steps):
        require(
            after.upper <= before.upper,
            f"upper rises from {before.upper!r} to {after.upper!r} in iteration {after.iteration}.",
        )
        # Where the bounds meet, the lower one is cut off at the upper one: that much it may fall.
        require(
            after.lower >= before.lower - ROUNDING * abs(before.lower),
            f"lower falls from {before.lower!r} to {after.lower!r} in iteration {after.iteration}.",
        )
    last = steps[-1]
    require(
        upper <= last.upper and lower >= last.lower,
        f"the result, [{lower!r}, {upper!r}], is worse than the last iteration, [{last.lower!r}, {last.upper!r}].",
    )
    require(
        lower <= optimum + slack and upper >= optimum - slack,
        f"the result, [{lower!r}, {upper!r}], does not hold the optimum {optimum!r}.",
    )

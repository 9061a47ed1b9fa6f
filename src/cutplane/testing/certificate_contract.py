"""The contract of certificates as a check; it raises AssertionError with what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cutplane.solvers.result import Step
from cutplane.testing.requirements import require

# What the prover may charge for rounding, relative to the bounds.
CHARGED = 1e-7


def check_certificate(
    history: Sequence[Step],
    upper: float,
    lower: float,
    optimum: float,
    *,
    accuracy: float = 1e-7,
    charged: float = 0.0,
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
    charged : float
        What the prover may charge for rounding beyond `CHARGED` of the bounds.

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
        # Bounds that the prover restates, the last ones and any it did not grant, are charged for rounding in full.
        charge = CHARGED * (abs(before.upper) + abs(before.lower)) + charged
        require(
            after.upper <= before.upper + charge,
            f"upper rises from {before.upper!r} to {after.upper!r} in iteration {after.iteration}.",
        )
        require(
            after.lower >= before.lower - charge,
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

"""A certificate, for every kind of model: the objective, a lower bound on the optimum, the gap between them."""

from __future__ import annotations

import math
from typing import NamedTuple


def relative_gap(upper: float, lower: float) -> float:
    """(upper - lower) / |upper|: how far `upper` can be above the optimum at most, relative to itself.

    Infinite where only `upper` is 0, and where one of the two proves nothing. Bounds that cross leave a negative gap: a
    contradiction is shown, not hidden.
    """
    if upper == lower:
        return 0.0
    if upper == 0.0 or not math.isfinite(upper) or not math.isfinite(lower):
        return math.inf
    return (upper - lower) / abs(upper)


class Certificate(NamedTuple):
    """The objective of a model, and what no model's objective is below: both as inequalities of real numbers.

    `premise` says in words what they take for granted or are of, where that is not plainly the problem: a kernel that
    is positive semi-definite for these examples, or nearly so. `certificate_of_` of a kernel machine says which matrix
    they are of.
    """

    objective: float
    lower_bound: float
    premise: str = ""

    @property
    def gap(self) -> float:
        """The relative gap."""
        return relative_gap(self.objective, self.lower_bound)

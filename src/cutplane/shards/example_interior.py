"""An interior point over all examples of a matrix, as planes and points of an objective."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from cutplane import _core
from cutplane.risks.base import Array
from cutplane.risks.intercept import balanced
from cutplane.risks.visited import VisitedRisk
from cutplane.shards.example_ascent import WITHIN, dual_plane
from cutplane.solvers.base import Cut
from cutplane.sources.base import Source

# Passes and losses beside the system take as long as so many columns.
_FURTHER_COLUMNS = 40


def step_work(n: int, d: int) -> float:
    """What a step costs with n examples of d features, in multiplications of the sum that makes its system."""
    return 0.5 * n * (d + _FURTHER_COLUMNS) ** 2 + d**3 / 6.0


class ExampleInterior:
    """Steps of a primal-dual interior point for a sum of losses, one for each example.

    Parameters
    ----------
    source : Source
    risk : VisitedRisk
    make : callable
        Makes the core's part of it, which copies the examples: when it is first asked for.
    C : float
    mean_square : callable
        The mean squared length of an example, when it is asked for.
    intercept : bool
        Whether an intercept is free.
    origin : array, optional
        Weights that those found count from.
    """

    def __init__(
        self,
        source: Source,
        risk: VisitedRisk,
        make: Callable[[], _core.InteriorPoint],
        C: float,
        mean_square: Callable[[], float],
        *,
        intercept: bool,
        origin: Array | None,
    ) -> None:
        self._source, self._risk, self._make = source, risk, make
        self._C, self._mean_square = C, mean_square
        self._intercept, self._origin = intercept, origin

    @cached_property
    def _core(self) -> _core.InteriorPoint:
        return self._make()

    @property
    def knows_loss(self) -> bool:
        """Whether there is one for the loss; where there is none, Newton's method needs as few steps."""
        return self._risk.has_interior

    @property
    def work(self) -> float:
        """What a step costs, in multiplications of the sum that makes its system."""
        return step_work(*self._source.shape)

    @property
    def own_move(self) -> float:
        """By how much an example moves its own score at most, with a slope of one: on the average."""
        return self._C / self._source.shape[0] * self._mean_square()

    def step(self) -> bool:
        """One step; False where rounding leaves no way on."""
        return self._core.step()

    @property
    def gap(self) -> float:
        """The upper less the lower bound, about."""
        return self._core.gap

    @property
    def upper(self) -> float:
        """The objective at the weights reached, about."""
        return self._core.upper

    @property
    def weights(self) -> tuple[Array, float]:
        """The weights and the intercept reached."""
        return self._core.w, self._core.intercept

    def plane(self) -> Cut:
        """The plane that the dual variables stand for; value is not the risk anywhere."""
        coef = self._core.coefficients(WITHIN / self._C)
        if self._intercept:
            coef = balanced(coef)
        return dual_plane(self._risk, coef, self._source.combine(coef), self._origin)

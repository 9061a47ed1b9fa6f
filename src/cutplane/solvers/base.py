"""What solvers see of an objective, and what they hand over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """Weights and an intercept; whatever else it holds is the objective's own."""

    w: Array
    intercept: float


def bare(point: Any) -> Point:
    """Weights and intercept alone: what else a point holds may be large, or used up by the next step."""
    return Point(point.w, point.intercept)


class Cut(NamedTuple):
    """A plane R(v) >= <slope, v> + offset, and the risk where it was taken.

    `exact` is False where the plane holds but the value is not the risk itself, as with an approximate oracle: such a
    cut raises the lower bound and never lowers the upper one. `mass` is the sum of the sizes of the coefficients that
    the slope was summed up with: what rounding is charged by. `coef` are these, where they are at hand.
    """

    slope: Array
    offset: float
    value: float
    exact: bool = True
    mass: float = 0.0
    coef: Array | None = None


class SmoothedCut(NamedTuple):
    """A plane from a risk whose kinks are rounded; `error` is value - <slope, w> - offset, the rest as in `Cut`."""

    slope: Array
    offset: float
    value: float
    error: float
    kinks: int
    mass: float = 0.0
    coef: Array | None = None


class Evaluated(NamedTuple):
    """A point, and the plane that the risk rounded over h gave there: what another C can go on from."""

    point: Any
    cut: SmoothedCut
    h: float


class Curvature(Protocol):
    """H times the second derivative of a rounded risk, an intercept moving along where one is free."""

    @property
    def examples(self) -> int:
        """The number of examples it is made from."""

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products."""

    @property
    def exact(self) -> bool:
        """Whether `matrix` is summed up in double precision."""

    def product(self, v: Array) -> Array:
        """The curvature times v."""

    def shift(self, p: Array) -> Any:
        """The change of the intercept that goes with a change p of the weights."""

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from `most` of its examples; the lower triangle is meant to be read."""

    def root(self, most: int) -> Array | None:
        """A with A'A = curvature, a row for each example; None where these are more than `most`, or not at hand."""


class Subset(Protocol):
    """Some of the examples: which, only the shard knows that they lie in."""

    def __len__(self) -> int:
        """The number of examples."""

    def union(self, *others: Any) -> Subset:
        """What is in this set or in any of the others."""

    def minus(self, other: Any) -> Subset:
        """What is in this set and not in the other."""


class RayLike(Protocol):
    """The risk along a line: see `cutplane.risks.base.Ray`."""

    def value(self, t: float) -> float: ...  # noqa: D102

    def slope(self, t: float) -> float: ...  # noqa: D102

    def minimise(self, quadratic: float, linear: float, C: float) -> float: ...  # noqa: D102


class ObjectiveLike(Protocol):
    """The risk as a function of the weights: all that a cutting-plane solver sees."""

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def lower_bound(self) -> float: ...  # noqa: D102

    @property
    def intercept(self) -> bool: ...  # noqa: D102

    def at(self, w: Array) -> Any: ...  # noqa: D102

    def settle(self, point: Any) -> Any: ...  # noqa: D102

    def mix(self, a: Any, b: Any, t: float) -> Any: ...  # noqa: D102

    def value(self, point: Any) -> float: ...  # noqa: D102

    def cut(self, point: Any) -> Cut: ...  # noqa: D102

    def advance(  # noqa: D102
        self, a: Any, b: Any, step: float, mu: float, C: float
    ) -> tuple[Any, float, Callable[[], Cut]]: ...

    def ray(self, a: Any, b: Any) -> RayLike | None: ...  # noqa: D102

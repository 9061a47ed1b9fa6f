"""What solvers and objectives hand each other: points, planes, curvature, sets of examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
T = TypeVar("T")
# One number, or one for each class.
Intercept = float | Array


class ScoresTooCoarseError(ArithmeticError):
    """Scores in single precision cannot tell what they must: they are too large, or the gap aimed at is too small."""


class ShardLostError(Exception):
    """What had been made of examples that lie elsewhere is gone; the examples themselves are there again."""


def though_shards_are_lost(find: Callable[[], T]) -> T:
    """What a function finds that asks for what examples are, and makes nothing of them: after a loss, asked again."""
    while True:
        try:
            return find()
        except ShardLostError:
            continue


@dataclass(frozen=True, slots=True)
class Point:
    """Weights and an intercept."""

    w: Array
    intercept: Intercept


@dataclass(frozen=True, slots=True)
class ScoredPoint(Point):
    """Weights together with a handle to their scores, the intercept included in these."""

    scores: object


def bare(point: Point) -> Point:
    """Weights and intercept alone: scores may be large, or used up by the next step."""
    return Point(point.w, point.intercept)


class Cut(NamedTuple):
    """A plane R(v) >= <slope, v> + offset, and the risk where it was taken.

    `exact` is False where the plane holds but the value is not the risk itself, as with an approximate oracle: such a
    cut raises the lower bound and never lowers the upper one. `mass` is the sum of the sizes of the coefficients that
    the slope was summed up with: what rounding is charged by. `coef` are these, where they are at hand. `drift` is what
    rounding did to the slope besides, where it is a running sum: how far it can be off, in lengths of the longest
    example. `lean` is what sums of coefficients, which should be zero for every free intercept, may add up to.
    """

    slope: Array
    offset: float
    value: float
    exact: bool = True
    mass: float = 0.0
    coef: Array | None = None
    drift: float = 0.0
    lean: float = 0.0


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

    point: ScoredPoint
    cut: SmoothedCut
    h: float


@dataclass(frozen=True, slots=True)
class Duals:
    """Where dual ascent ended: each variable per C and weight of its example, that C, weights and intercept.

    `earlier` are the variables, and the C, of the run before it.
    """

    slopes: Array
    C: float
    w: Array
    intercept: Intercept
    earlier: tuple[Array, float] | None = None


class Climb(NamedTuple):
    """What it took to solve for the dual variables between their bounds, as far as it went.

    Attributes
    ----------
    products : int
    rise : float
        Of the dual value.
    stands : bool
        Whether no other variable met its bound in the end: what is left is a linear system.
    """

    products: int
    rise: float
    stands: bool


class AscentStart(NamedTuple):
    """Where dual ascent begins: every dual variable is a fraction of its value at scores of zero.

    Attributes
    ----------
    plane : Cut
        The plane that the dual variables stand for.
    fraction : float
    foreseen : float
        A rough forecast of the relative gap at the weights that they stand for; 0 where the fraction is 1.
    """

    plane: Cut
    fraction: float
    foreseen: float


class Products(NamedTuple):
    """Products with a curvature, where its examples lie: vectors go there and come back.

    Attributes
    ----------
    there, back : callables
        Bring a vector there, and one from there back.
    times : callable
        The curvature times a vector that is there.
    diagonal : callable or None
        The curvature's diagonal, which is there; None where it costs more than it gains.
    """

    there: Callable[[Array], Any]
    back: Callable[[Any], Array]
    times: Callable[[Any], Any]
    diagonal: Callable[[], Any] | None = None

    @classmethod
    def here(cls, times: Callable[[Array], Array]) -> Products:
        """In the memory of this process."""
        return cls(_itself, _itself, times)


def _itself(v: Array) -> Array:
    return v


class ProductsHere:
    """What curvatures share whose products are taken in the memory of this process."""

    __slots__ = ()

    def products(self: Any) -> Products:
        """Products with many vectors one after the other."""
        return Products.here(self.product)


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

    def products(self) -> Products:
        """The same for many vectors one after the other, where examples lie."""

    def shift(self, p: Array) -> Intercept:
        """The change of the intercept that goes with a change p of the weights."""

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from `most` of its examples; the lower triangle is meant to be read."""

    def root(self, most: int) -> Array | None:
        """A with A'A = curvature, a row for each example; None where these are more than `most`, or not at hand."""


class Subset(Protocol):
    """Some of the examples: which, only the shard knows that they lie in."""

    def __len__(self) -> int:
        """The number of examples."""

    def union(self, *others: Subset) -> Subset:
        """What is in this set or in any of the others."""

    def minus(self, other: Subset) -> Subset:
        """What is in this set and not in the other."""

"""What an objective asks of the place where its examples lie.

Whatever there is one of for each example (scores, coefficients, sets of examples) stays in the shard. Others hold it by
a handle, which is an `object` to them: the type checker lets no one look into it. A shard answers with sums over its
examples, small matrices, and new handles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.evaluation import Evaluation
from cutplane.proof.prover import InterceptBound
from cutplane.proof.rounding import Rounding
from cutplane.solvers.base import Curvature, Subset
from cutplane.solvers.protocols import NearHingesLike, RayLike, Stiffness

Array = NDArray[np.float64]
Handle = object
T = TypeVar("T")


class Reply(ABC, Generic[T]):
    """The answer of a shard that lies elsewhere, which may not be there yet."""

    @abstractmethod
    def now(self) -> T:
        """The answer, waited for."""


def answers(asked: Iterable[T]) -> list[T]:
    """What several shards answer: all are asked before the first is waited for."""
    found = list(asked)
    return [each.now() if isinstance(each, Reply) else each for each in found]


class ShardPlane(NamedTuple):
    """A plane below the risk of the shard's examples, as a function of the weights.

    Attributes
    ----------
    slope, offset : array, float
    value : float
        The risk where the plane was taken.
    error : float
        What rounding of kinks adds to the gap: value - <slope, w> - offset.
    kinks : int
        The number of examples on a rounded kink.
    mass : float
        What the sizes of the coefficients add up to.
    lean : float or array
        What the coefficients add up to, for each class: how the plane rises with an intercept. Only where asked for.
    coef : handle or None
        The coefficients, where they are kept.
    """

    slope: Array
    offset: float
    value: float
    error: float = 0.0
    kinks: int = 0
    mass: float = 0.0
    lean: float | Array = 0.0
    coef: Any = None


class NearPart(NearHingesLike, Protocol):
    """The problem of the near examples, which may be a part of a larger one.

    What is balanced or centred over all examples can be had before that is done.
    """

    def bend(self, at: Handle) -> Stiffness: ...  # noqa: D102

    def sides(self, at: Handle) -> Array: ...  # noqa: D102

    def leaning_plane(self, at: Handle, factors: Array) -> ShardPlane: ...  # noqa: D102


class KindOfShard(Protocol):
    """A shard that says which objective it is for."""

    @property
    def kind(self) -> str: ...  # noqa: D102


class Shard(Protocol):
    """Examples and the risk of their scores: what cutting planes need, and the prover (the last two)."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def examples(self) -> int: ...  # noqa: D102

    @property
    def lower_bound(self) -> float: ...  # noqa: D102

    @property
    def advances_in_place(self) -> bool: ...  # noqa: D102

    @property
    def elsewhere(self) -> bool: ...  # noqa: D102

    @property
    def long_products(self) -> bool: ...  # noqa: D102

    @property
    def row_bytes(self) -> float: ...  # noqa: D102

    @property
    def most_drawn(self) -> int: ...  # noqa: D102

    @property
    def least_drawn(self) -> int: ...  # noqa: D102

    def rounding(self, *, by_columns: bool) -> Rounding: ...  # noqa: D102

    def begun(self) -> Self: ...  # noqa: D102

    def at(self, w: Array) -> Handle: ...  # noqa: D102

    def shifted(self, scores: Handle, shift: float | Array, *, in_place: bool = False) -> Handle: ...  # noqa: D102

    def blend(self, a: Handle, b: Handle, t: float, into: Handle | None = None) -> Handle: ...  # noqa: D102

    def value(self, scores: Handle) -> float: ...  # noqa: D102

    def best_shift(self, scores: Handle) -> float: ...  # noqa: D102

    def leans(self, scores: Handle, shifts: Array) -> Array: ...  # noqa: D102

    def turns(self, scores: Handle, low: float, high: float, most: int) -> tuple[Array, Array] | None: ...  # noqa: D102

    def size(self, scores: Handle) -> float: ...  # noqa: D102

    def cut(self, scores: Handle) -> ShardPlane: ...  # noqa: D102

    def balanced_cut(self, scores: Handle) -> ShardPlane: ...  # noqa: D102

    def advance(  # noqa: D102
        self, a: Handle, b: Handle, step: float, mu: float
    ) -> tuple[Handle, float, Callable[[], ShardPlane]]: ...

    def ray(self, a: Handle, b: Handle) -> RayLike | None: ...  # noqa: D102

    def evaluated(self, w: Array, intercept: float | Array, delta: float) -> Evaluation: ...  # noqa: D102

    def intercept_bound(self) -> InterceptBound: ...  # noqa: D102


class RoundedShard(Shard, Protocol):
    """A shard whose risk can round its kinks: what Newton's method needs."""

    @property
    def first_width(self) -> float: ...  # noqa: D102

    @property
    def streamed(self) -> bool: ...  # noqa: D102

    @property
    def keeps(self) -> bool: ...  # noqa: D102

    def keeping(self) -> RoundedShard: ...  # noqa: D102

    def sides(self, scores: Handle, h: float) -> Array: ...  # noqa: D102

    def smoothed(  # noqa: D102
        self,
        scores: Handle,
        h: float,
        *,
        balanced: bool = False,
        lean: bool = False,
        factors: Array | None = None,
    ) -> ShardPlane: ...

    @property
    def fuses(self) -> bool: ...  # noqa: D102

    def stepped(self, p: Array, base: Handle | None, h: float) -> tuple[Handle, ShardPlane]: ...  # noqa: D102

    def difference(self, end: Handle, start: Handle) -> Handle: ...  # noqa: D102

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle: ...  # noqa: D102

    def rounding_error(self, scores: Handle, h: float) -> float: ...  # noqa: D102

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array: ...  # noqa: D102

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> Curvature: ...  # noqa: D102

    def along(  # noqa: D102
        self, scores: Handle, direction: Handle | None, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]: ...

    def draw(self, size: int, generator: np.random.Generator) -> Subset: ...  # noqa: D102

    def near(self, scores: Handle, radius: float) -> Subset: ...  # noqa: D102

    def crossed(self, scores: Handle, direction: Handle) -> Subset: ...  # noqa: D102

    def part(self, subset: Subset, *, scale: float = 1.0, gathered: bool = False) -> Self: ...  # noqa: D102

    def restricted(self, scores: Handle, subset: Subset, *, gathered: bool = False) -> Handle: ...  # noqa: D102

    def part_at(self, scores: Handle, subset: Subset) -> tuple[RoundedShard, Handle]: ...  # noqa: D102

    def samples(  # noqa: D102
        self, sizes: Sequence[int], generator: np.random.Generator
    ) -> Iterator[tuple[Subset, RoundedShard]]: ...

    @property
    def duals_stay(self) -> bool: ...  # noqa: D102

    @property
    def smooth(self) -> bool: ...  # noqa: D102

    def ascent(  # noqa: D102
        self, C: float, seed: int, *, intercept: bool, origin: Array | None = None, floor: Array | None = None
    ) -> Any: ...

    def interior(  # noqa: D102
        self, C: float, *, intercept: bool, origin: Array | None = None
    ) -> Any: ...

    @property
    def near_work(self) -> float: ...  # noqa: D102

    def near_problem(self, scores: Handle, radius: float, most: int, *, intercept: bool) -> NearPart: ...  # noqa: D102

    def in_double(self) -> RoundedShard: ...  # noqa: D102

    def in_single(self) -> RoundedShard: ...  # noqa: D102


class ClassCurvature(Curvature, Protocol):
    """The curvature of a risk of several classes, each of which may have an intercept."""

    def moments(self, most: int | None = None) -> tuple[Array, Array]: ...  # noqa: D102


class ClassShard(RoundedShard, Protocol):
    """A shard of several classes, each with an intercept where these are free."""

    @property
    def n_classes(self) -> int: ...  # noqa: D102

    @property
    def classes_share(self) -> bool: ...  # noqa: D102

    @property
    def mean_cost(self) -> float: ...  # noqa: D102

    @property
    def goes_by_gram(self) -> bool: ...  # noqa: D102

    def in_intercepts(self, scores: Handle, b: Array, h: float) -> tuple[Array, Array]: ...  # noqa: D102

    def rough_shift(self, scores: Handle) -> Array: ...  # noqa: D102

    def close_shift(self, scores: Handle, allowed: float) -> tuple[Array, float]: ...  # noqa: D102

    def rounded_shift(self, scores: Handle, h: float, rest: Array) -> Array: ...  # noqa: D102

    def balanced_cut(self, scores: Handle, h: float | None = None) -> ShardPlane: ...  # noqa: D102

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> ClassCurvature: ...  # noqa: D102

    def keeping(self) -> ClassShard: ...  # noqa: D102


class RoundedPairs(NamedTuple):
    """A risk of pairs with its kinks rounded, at some scores.

    Attributes
    ----------
    coef : handle
        The coefficients of a plane below the risk itself.
    offset, value, error, kinks
        As in `ShardPlane`.
    """

    coef: Handle
    offset: float
    value: float
    error: float
    kinks: int


class PairRayLike(RayLike, Protocol):
    """The risk of pairs along a line: see `cutplane.risks.pairs.PairRay`."""

    @property
    def accuracy(self) -> float: ...  # noqa: D102

    def at(self, t: float) -> tuple[float, float]: ...  # noqa: D102


class PairPart(Shard, Protocol):
    """A shard whose risk is of pairs: what Newton's method on these needs."""

    @property
    def within_queries(self) -> bool: ...  # noqa: D102

    @property
    def total_mass(self) -> float: ...  # noqa: D102

    @property
    def share(self) -> float: ...  # noqa: D102

    def weighing(self, share: float) -> PairPart: ...  # noqa: D102

    def ray(self, a: Handle, b: Handle) -> PairRayLike: ...  # noqa: D102

    def smoothed(self, scores: Handle, h: float) -> RoundedPairs: ...  # noqa: D102

    def plane(self, smoothed: RoundedPairs, scores: Handle, h: float) -> ShardPlane: ...  # noqa: D102

    def slope_along(self, smoothed: RoundedPairs, direction: Handle) -> float: ...  # noqa: D102

    def extrapolated(self, scores: Handle, h: float, reach: float) -> Array: ...  # noqa: D102

    def moved(self, scores: Handle, direction: Handle, t: float) -> Handle: ...  # noqa: D102

    def sample(self, size: int, generator: np.random.Generator) -> PairPart | None: ...  # noqa: D102

    def curvature(self, scores: Handle, h: float) -> Curvature: ...  # noqa: D102

"""What solvers ask of an objective: for planes, for Newton's method, for dual ascent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from cutplane.proof.rounding import Rounding
from cutplane.solvers.base import (
    Array,
    AscentStart,
    Climb,
    Curvature,
    Cut,
    Duals,
    Evaluated,
    Intercept,
    Point,
    ScoredPoint,
    SmoothedCut,
    Subset,
)

# What stays where the examples are: others hold it, and cannot look into it.
Handle = object
# Points are the objective's own: what else than weights and intercept they hold, solvers need not know.
P = TypeVar("P", bound=Point)


class RayLike(Protocol):
    """The risk along a line: see `cutplane.risks.base.Ray`."""

    def value(self, t: float) -> float: ...  # noqa: D102

    def slope(self, t: float) -> float: ...  # noqa: D102

    def minimise(self, quadratic: float, linear: float, C: float) -> float: ...  # noqa: D102


class ObjectiveLike(Protocol[P]):
    """The risk as a function of the weights: all that a cutting-plane solver sees."""

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def examples(self) -> int: ...  # noqa: D102

    @property
    def lower_bound(self) -> float: ...  # noqa: D102

    @property
    def intercept(self) -> bool: ...  # noqa: D102

    @property
    def rounding(self) -> Rounding: ...  # noqa: D102

    def at(self, w: Array, nearby: P | None = None) -> P: ...  # noqa: D102

    def fit_intercept(self, point: P) -> P: ...  # noqa: D102

    def mix(self, a: P, b: P, t: float) -> P: ...  # noqa: D102

    def value(self, point: P) -> float: ...  # noqa: D102

    def cut(self, point: P) -> Cut: ...  # noqa: D102

    def advance(  # noqa: D102
        self, a: P, b: P, step: float, mu: float, C: float
    ) -> tuple[P, float, Callable[[], Cut]]: ...

    def ray(self, a: P, b: P) -> RayLike | None: ...  # noqa: D102


class RunObjectiveLike(ObjectiveLike[ScoredPoint], Protocol):
    """An objective that a run can be made of: see `cutplane.objectives.generic.Objective`."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def newton_by(self) -> Literal["kinks", "pairs", "classes"] | None: ...  # noqa: D102

    def begun(self) -> RunObjectiveLike: ...  # noqa: D102

    def in_double(self) -> RunObjectiveLike: ...  # noqa: D102

    def as_returned(self, point: Point) -> Point: ...  # noqa: D102

    def new_bundle(self) -> Any: ...  # noqa: D102


class Sample(Protocol):
    """Some of the examples, drawn at random: what they are, only the objective knows that drew them."""


class Stiffness(NamedTuple):
    """How the losses of the near examples bend along the central path.

    Attributes
    ----------
    curvature : Curvature
        The sum over the near examples of stiffness x x', an intercept moving along where one is free.
    moments : tuple of float and array, or None
        The sum of the stiffnesses, and that of the examples weighted by them. None without an intercept.
    each : handle
        The stiffness of every example.
    """

    curvature: Curvature
    moments: tuple[float, Array] | None
    each: Handle


class Pull(NamedTuple):
    """Where the examples want to go: their weighted sum, the sum of their weights, and a handle to what each wants."""

    slope: Array
    weight: float
    each: Handle


class NearHingesLike(Protocol):
    """The problem of the examples near their kinks: see `cutplane.shards.near_hinges.NearHinges`.

    An iterate (dual variables, losses, surpluses) and a step of it are handles: they stay where the examples are.
    """

    @property
    def radius(self) -> float: ...  # noqa: D102

    @property
    def intercept(self) -> bool: ...  # noqa: D102

    @property
    def examples(self) -> int: ...  # noqa: D102

    @property
    def rest_slope(self) -> Array: ...  # noqa: D102

    @property
    def rest_balance(self) -> float: ...  # noqa: D102

    def start(self, C: float) -> Handle: ...  # noqa: D102

    def dual_sums(self, at: Handle) -> tuple[Array, float]: ...  # noqa: D102

    def disagreement(self, at: Handle) -> float: ...  # noqa: D102

    def stiffness(self, at: Handle) -> Stiffness: ...  # noqa: D102

    def pull(self, at: Handle, stiffness: Handle, target: float, ahead: Handle | None) -> Pull: ...  # noqa: D102

    def steps(self, at: Handle, stiffness: Handle, pull: Handle, w: Array, intercept: float) -> Handle: ...  # noqa: D102

    def complementarity(self, at: Handle) -> float: ...  # noqa: D102

    def fastest(self, at: Handle, steps: Handle) -> float: ...  # noqa: D102

    def moved(self, at: Handle, steps: Handle, t: float) -> Handle: ...  # noqa: D102

    def is_finite(self, at: Handle) -> bool: ...  # noqa: D102

    def plane(self, at: Handle) -> Cut: ...  # noqa: D102


class SmoothObjectiveLike(ObjectiveLike[ScoredPoint], Protocol):
    """An objective that can round its kinks: see `cutplane.objectives.rounded.RoundedObjective`."""

    def mix_over(self, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint: ...  # noqa: D102

    @property
    def first_width(self) -> float: ...  # noqa: D102

    @property
    def most_drawn(self) -> int: ...  # noqa: D102

    @property
    def least_drawn(self) -> int: ...  # noqa: D102

    @property
    def correction(self) -> float: ...  # noqa: D102

    @property
    def proves_by_parts(self) -> bool: ...  # noqa: D102

    @property
    def newton_pays(self) -> bool: ...  # noqa: D102

    @property
    def long_products(self) -> bool: ...  # noqa: D102

    @property
    def ascent_epochs(self) -> tuple[float, float] | None: ...  # noqa: D102

    @property
    def duals_stay(self) -> bool: ...  # noqa: D102

    @property
    def smooth(self) -> bool: ...  # noqa: D102

    def dual_ascent(self, C: float, seed: int, floor: Array | None = None) -> AscentLike | None: ...  # noqa: D102

    def interior(self, C: float) -> InteriorLike | None: ...  # noqa: D102

    def score(self, w: Array, intercept: Intercept) -> ScoredPoint: ...  # noqa: D102

    def direction(self, p: Array, shift: Intercept) -> ScoredPoint: ...  # noqa: D102

    def with_scores(self, point: Point) -> ScoredPoint: ...  # noqa: D102

    def balance(self, point: ScoredPoint, h: float) -> ScoredPoint: ...  # noqa: D102

    def smoothed(self, point: ScoredPoint, h: float) -> SmoothedCut: ...  # noqa: D102

    def stepped(  # noqa: D102
        self, point: ScoredPoint | None, p: Array, h: float
    ) -> tuple[ScoredPoint, SmoothedCut] | None: ...

    def between(self, start: ScoredPoint, end: ScoredPoint) -> ScoredPoint: ...  # noqa: D102

    def rounding_error(self, point: ScoredPoint, h: float) -> float: ...  # noqa: D102

    def extrapolated_slope(self, point: ScoredPoint, h: float, reach: float) -> Array: ...  # noqa: D102

    def curvature(self, point: ScoredPoint, h: float) -> Curvature: ...  # noqa: D102

    def move(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint: ...  # noqa: D102

    def smoothed_ray(  # noqa: D102
        self, point: ScoredPoint, direction: ScoredPoint, steps: Sequence[float], h: float
    ) -> list[tuple[float, float, float]]: ...

    def draw(self, size: int, generator: np.random.Generator) -> Sample: ...  # noqa: D102

    def samples(self, sizes: Sequence[int], generator: np.random.Generator) -> Iterator[Sample]: ...  # noqa: D102

    def estimate(self, sample: Sample) -> SmoothObjectiveLike: ...  # noqa: D102

    def anchored(self, sample: Sample, last: Evaluated) -> tuple[SmoothObjectiveLike, ScoredPoint]: ...  # noqa: D102

    def near_kinks(self, point: ScoredPoint, radius: float) -> Subset: ...  # noqa: D102

    def near(  # noqa: D102
        self, point: ScoredPoint, whole: SmoothedCut, h: float, subset: Subset
    ) -> SmoothObjectiveLike: ...

    def crossed(self, point: ScoredPoint, direction: ScoredPoint) -> Subset: ...  # noqa: D102

    def most_near_hinges(self, work: float) -> int: ...  # noqa: D102

    def near_hinges(self, point: ScoredPoint, radius: float, most: int) -> NearHingesLike: ...  # noqa: D102


class RoundedPairs(Protocol):
    """A rounded risk of pairs in terms of the scores: of it a solver sees what rounding costs."""

    @property
    def error(self) -> float: ...  # noqa: D102


class PairObjectiveLike(ObjectiveLike[ScoredPoint], Protocol):
    """An objective whose curvature is estimated: see `cutplane.objectives.pairs.PairObjective`."""

    @property
    def most_drawn(self) -> int: ...  # noqa: D102

    @property
    def least_drawn(self) -> int: ...  # noqa: D102

    def direction(self, p: Array) -> ScoredPoint: ...  # noqa: D102

    def smoothed(self, point: ScoredPoint, h: float) -> RoundedPairs: ...  # noqa: D102

    def plane(self, smoothed: RoundedPairs, point: ScoredPoint, h: float) -> SmoothedCut: ...  # noqa: D102

    def slope_along(self, smoothed: RoundedPairs, direction: ScoredPoint) -> float: ...  # noqa: D102

    def extrapolated_slope(self, point: ScoredPoint, h: float, reach: float) -> Array: ...  # noqa: D102

    def curvature(self, point: ScoredPoint, h: float) -> Curvature: ...  # noqa: D102

    def move(self, point: ScoredPoint, direction: ScoredPoint, t: float) -> ScoredPoint: ...  # noqa: D102

    def sample(self, size: int, generator: np.random.Generator) -> PairObjectiveLike | None: ...  # noqa: D102


class AscentLike(Protocol):
    """Dual coordinate ascent under way: see `cutplane.shards.example_ascent.ExampleAscent`."""

    @property
    def can_start(self) -> bool: ...  # noqa: D102

    def start(self, zero: ScoredPoint, least: float) -> AscentStart: ...  # noqa: D102

    def resume(self, duals: Duals, nearby: Point | None = None) -> bool: ...  # noqa: D102

    @property
    def duals(self) -> Duals | None: ...  # noqa: D102

    @property
    def sweeps(self) -> int: ...  # noqa: D102

    def epoch(self) -> None: ...  # noqa: D102

    def extrapolate(self) -> None: ...  # noqa: D102

    def climb(self, products: int, gap: float) -> Climb: ...  # noqa: D102

    def unshrink(self, point: ScoredPoint | None = None) -> None: ...  # noqa: D102

    def renew(self) -> None: ...  # noqa: D102

    @property
    def weights(self) -> tuple[Array, Intercept]: ...  # noqa: D102

    @property
    def estimate(self) -> float: ...  # noqa: D102

    @property
    def last_gain(self) -> float: ...  # noqa: D102

    @property
    def open_gap(self) -> float: ...  # noqa: D102

    @property
    def share_active(self) -> float: ...  # noqa: D102

    @property
    def share_at_bounds(self) -> float: ...  # noqa: D102

    @property
    def mean_square(self) -> float: ...  # noqa: D102

    @property
    def first_gap(self) -> float: ...  # noqa: D102

    def plane(self, room: float) -> Cut: ...  # noqa: D102


class InteriorLike(Protocol):
    """An interior point over all examples: see `cutplane.shards.example_interior.ExampleInterior`."""

    @property
    def knows_loss(self) -> bool: ...  # noqa: D102

    @property
    def work(self) -> float: ...  # noqa: D102

    @property
    def own_move(self) -> float: ...  # noqa: D102

    @property
    def gap(self) -> float: ...  # noqa: D102

    @property
    def upper(self) -> float: ...  # noqa: D102

    @property
    def weights(self) -> tuple[Array, float]: ...  # noqa: D102

    def step(self) -> bool: ...  # noqa: D102

    def plane(self) -> Cut: ...  # noqa: D102

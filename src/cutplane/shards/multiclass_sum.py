"""The multi-class risk over examples that lie in several shards.

Every class has an intercept, so that what one number balances for two classes takes a matrix here: of what flows
between classes, and of how the rounded risk bends as intercepts move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cutplane.proof.rounding import UNIT
from cutplane.risks.multiclass import balancing_flows
from cutplane.risks.multiclass_intercepts import (
    FLAT,
    FLAT_ON_THE_WAY,
    ROUGH_WIDTH,
    WIDTHS,
    closest_shift,
    rounded_shift,
)
from cutplane.shards.base import Array, ClassCurvature, ClassShard, Handle, ShardPlane
from cutplane.shards.sum import SumShard
from cutplane.shards.sum_base import each_of
from cutplane.shards.sum_parts import CurvatureSum, added
from cutplane.solvers.base import ProductsHere


class MulticlassSumShard(SumShard):
    """The sum of the multi-class risks of several shards; weights and intercepts are the same for all.

    Parameters
    ----------
    parts : sequence of ClassShard
        All of the same classes and costs. The risk of each is its part of the whole one. Those without examples are
        left out.
    """

    kind: ClassVar[str] = "classes"

    _parts: tuple[ClassShard, ...]

    def __init__(self, parts: Sequence[ClassShard]) -> None:
        super().__init__(parts)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self._parts[0].n_classes

    @property
    def classes_share(self) -> bool:
        """Whether classes share weights, by features of theirs."""
        return self._parts[0].classes_share

    @property
    def mean_cost(self) -> float:
        """The mean cost of a mistake: the scale of the risk."""
        return self._parts[0].mean_cost

    @property
    def goes_by_gram(self) -> bool:
        """Whether dual ascent goes by the Gram matrix: there is no dual ascent on a sum."""
        return False

    def in_intercepts(self, scores: Handle, b: Array, h: float) -> tuple[Array, Array]:
        """Slope and second derivative of the risk rounded over h in the intercepts, at scores + b."""
        found = [part.in_intercepts(s, b, h) for part, s in self._of(scores)]
        return added([gradient for gradient, _ in found]), added([hessian for _, hessian in found])

    def rough_shift(self, scores: Handle) -> Array:
        """Nearly the best intercepts to add."""
        return self._shift(scores, ROUGH_WIDTH * self.mean_cost, np.zeros(self.n_classes), FLAT_ON_THE_WAY)

    def close_shift(self, scores: Handle, allowed: float) -> tuple[Array, float]:
        """Intercepts to add that leave no more than `allowed`, and the width of the rounding they were found with."""
        return closest_shift(
            lambda h, start, flat: self._shift(scores, h, start, flat),
            lambda b, h: self.rounding_error(self.shifted(scores, b), h),
            self.n_classes,
            self.mean_cost,
            allowed,
        )

    def rounded_shift(self, scores: Handle, h: float, rest: Array) -> Array:
        """Intercepts to add that make the rounded risk least, beside a plane that leans by `rest`."""
        return self._shift(scores, h, np.zeros(self.n_classes), FLAT, rest)

    def _shift(self, scores: Handle, h: float, start: Array, flat: float, rest: Array | float = 0.0) -> Array:
        def derivatives(b: Array) -> tuple[Array, Array]:
            gradient, hessian = self.in_intercepts(scores, b, h)
            return gradient + rest, hessian

        resolved = 4.0 * UNIT * self.size(scores)
        return rounded_shift(derivatives, start, scale=self.mean_cost, resolved=resolved, flat=flat)

    def balanced_cut(self, scores: Handle, h: float | None = None) -> ShardPlane:
        """The plane at the rounded risk's own best intercepts: there it is in balance but for rounding."""
        if len(self._parts) == 1:
            (only,) = each_of(scores)
            return self._parts[0].balanced_cut(only, h)
        plane = self.smoothed(scores, WIDTHS[-1] * self.mean_cost if h is None else h, balanced=True)
        return ShardPlane(plane.slope, plane.offset, plane.value, mass=plane.mass)

    @staticmethod
    def _balancing(sides: Array) -> Array:
        """The fractions of flows between classes to keep so that they are in balance."""
        return balancing_flows(sides)

    def curvature(self, scores: Handle, h: float, *, centred: bool) -> ClassCurvature:
        """H times the second derivative of the rounded risk; `centred`: free intercepts move along."""
        if len(self._parts) == 1:
            (only,) = each_of(scores)
            return self._parts[0].curvature(only, h, centred=centred)
        parts = tuple(part.curvature(s, h, centred=False) for part, s in self._of(scores))
        return ClassCurvatureSum(parts, centred=centred)


@dataclass
class ClassCurvatureSum(ProductsHere):
    """The sum of the parts' curvatures, less what intercepts that move along take away.

    With A the curvature in the intercepts alone and B what couples them to the weights, that is B A^-1 B'.

    Parameters
    ----------
    parts : tuple of ClassCurvature
        Without intercepts.
    centred : bool
        Whether intercepts move along.
    """

    parts: tuple[ClassCurvature, ...]
    centred: bool

    @cached_property
    def _sum(self) -> CurvatureSum:
        return CurvatureSum(self.parts)

    @property
    def examples(self) -> int:
        """The number of examples on their kinks."""
        return self._sum.examples

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products."""
        return self._sum.cost

    @property
    def exact(self) -> bool:
        """Whether `matrix` is summed up in double precision."""
        return self._sum.exact

    def moments(self, most: int | None = None) -> tuple[Array, Array]:
        """The intercepts' own curvature, and what couples them to the weights."""
        share = self._sum.share(most)
        found = [part.moments(share) for part in self.parts]
        return added([own for own, _ in found]), added([coupling for _, coupling in found])

    @cached_property
    def _elimination(self) -> tuple[Array, Array]:
        """A^-1 and B."""
        own, coupling = self.moments()
        return np.asarray(np.linalg.pinv(own, hermitian=True)), coupling

    def product(self, v: Array) -> Array:
        """The curvature times v, the intercepts moving along as suits them best."""
        product = self._sum.product(v)
        return product + self._elimination[1] @ self.shift(v) if self.centred else product

    def shift(self, p: Array) -> Array | float:
        """The change of the intercepts that goes with a change p of the weights."""
        if not self.centred:
            return 0.0
        inverse, coupling = self._elimination
        return -inverse @ (p @ coupling)

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from about `most` of its examples."""
        matrix = self._sum.matrix(most)
        if self.centred:
            own, coupling = self.moments(most)
            matrix = matrix - coupling @ np.linalg.pinv(own, hermitian=True) @ coupling.T
        return matrix

    def root(self, most: int) -> None:
        """Not at hand."""

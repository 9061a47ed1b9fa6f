"""Rays, curvatures and sets of examples of several shards, added up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Protocol, cast

import numpy as np

from cutplane.proof.rounding import exact_sum
from cutplane.risks.root import crossing_from_zero
from cutplane.shards.base import Array, answers
from cutplane.solvers.base import Curvature, ProductsHere, Subset
from cutplane.solvers.protocols import RayLike

# Examples that are sent here for an estimate, at most: those of the largest system that is factorised from a sample.
_MOST_SENT = 15_000


def added(arrays: Sequence[Array]) -> Array:
    """In order."""
    return reduce(np.add, arrays)


class PartCurvature(Curvature, Protocol):
    """A curvature of two classes or of targets, which an intercept may centre together with others."""

    def moments(self, most: int | None = None) -> tuple[float, Array]: ...  # noqa: D102

    def sampled_root(self, most: int) -> Array | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class SubsetSum(Subset):
    """Some of the examples of each part."""

    parts: tuple[Subset, ...]

    def __len__(self) -> int:
        """The number of examples."""
        return sum(map(len, self.parts))

    def union(self, *others: Subset) -> SubsetSum:
        """What is in this set or in any of the others."""
        groups = zip(self.parts, *map(_parts_of, others), strict=True)
        return SubsetSum(tuple(first.union(*rest) for first, *rest in groups))

    def minus(self, other: Subset) -> SubsetSum:
        """What is in this set and not in the other."""
        return SubsetSum(tuple(a.minus(b) for a, b in zip(self.parts, _parts_of(other), strict=True)))


def _parts_of(subset: Subset) -> tuple[Subset, ...]:
    """Those of a set that a sum has made."""
    return cast(SubsetSum, subset).parts


@dataclass(frozen=True, slots=True)
class RaySum:
    """The risk along a line: the sum of the parts'."""

    parts: tuple[RayLike, ...]

    def value(self, t: float) -> float:
        """The risk at t."""
        return exact_sum(answers(part.value(t) for part in self.parts))

    def slope(self, t: float) -> float:
        """Its right derivative at t."""
        return exact_sum(answers(part.slope(t) for part in self.parts))

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk."""
        if len(self.parts) == 1:
            return answers([self.parts[0].minimise(quadratic, linear, C)])[0]
        return crossing_from_zero(lambda t: quadratic * t + linear + C * self.slope(t))


class Moments:
    """What centres the curvatures of several parts: sums of weights, and of weighted examples.

    They are waited for when they are first looked at: with the curvature itself, where examples lie elsewhere.

    Parameters
    ----------
    asked : iterable of tuples, or of replies
        Both sums of each part.
    """

    def __init__(self, asked: Iterable[tuple[float, Array]]) -> None:
        self._asked = list(asked)

    @cached_property
    def sums(self) -> tuple[float, Array]:
        """Of all parts."""
        found = answers(self._asked)
        return exact_sum(weight for weight, _ in found), added([slope for _, slope in found])

    @property
    def mean(self) -> Array | None:
        """The mean of the examples times the root of what they weigh; None where that is nothing."""
        weight, slope = self.sums
        return slope / np.sqrt(weight) if weight > 0.0 else None

    @property
    def weight(self) -> float:
        """Of all examples."""
        return self.sums[0]


@dataclass(frozen=True, slots=True)
class CurvatureSum(ProductsHere):
    """The sum of the parts' curvatures, less mean mean' where an intercept is free, which `centring` says."""

    parts: tuple[Curvature, ...]
    centring: Moments | None = None

    @property
    def examples(self) -> int:
        """The number of examples on kinks."""
        return sum(part.examples for part in self.parts)

    @property
    def cost(self) -> float:
        """What `matrix` costs, in products."""
        return max(part.cost for part in self.parts)

    @property
    def exact(self) -> bool:
        """Whether `matrix` is summed up in double precision."""
        return all(part.exact for part in self.parts)

    def product(self, v: Array) -> Array:
        """The curvature times v."""
        result = added(answers(part.product(v) for part in self.parts))
        mean = self._mean(self.centring)
        return result if mean is None else result - mean * float(mean @ v)

    @staticmethod
    def _mean(centring: Moments | None) -> Array | None:
        return None if centring is None else centring.mean

    def _moments(self, most: int | None) -> Moments:
        share = self.share(most)
        return Moments(cast(PartCurvature, part).moments(share) for part in self.parts)

    def moments(self, most: int | None = None) -> tuple[float, Array]:
        """The sum of the weights, and that of the weighted examples: what centres them; or of about `most` of these."""
        return self._moments(most).sums

    def centred(self) -> CurvatureSum:
        """The same with an intercept that moves along."""
        return replace(self, centring=self._moments(None))

    def shift(self, p: Array) -> float:
        """The change of the intercept that goes with a change p of the weights."""
        mean = self._mean(self.centring)
        return 0.0 if mean is None or self.centring is None else -float(mean @ p) / math.sqrt(self.centring.weight)

    def matrix(self, most: int | None = None) -> Array:
        """The curvature itself, or an estimate from about `most` of its examples."""
        centring = self.centring
        if centring is not None and most is not None:  # by the same examples: see RowCurvature
            centring = self._moments(most)
        rows = self._sampled_rows(most)
        asked = [part.matrix(self.share(most)) for part in self.parts] if rows is None else [rows.T @ rows]
        matrix, mean = added(answers(asked)), self._mean(centring)
        return matrix if mean is None else matrix - np.outer(mean, mean)

    def _sampled_rows(self, most: int | None) -> Array | None:
        """The examples that an estimate is made of, where they come here sooner than a matrix from each part does."""
        share = self.share(most)
        few = most is not None and most <= _MOST_SENT
        if share is None or not few or not all(getattr(part, "elsewhere", False) for part in self.parts):
            return None
        roots = answers(cast(PartCurvature, part).sampled_root(share) for part in self.parts)
        found = [root for root in roots if root is not None]
        return np.concatenate(found) if len(found) == len(roots) else None

    def share(self, most: int | None) -> int | None:
        """Of so many examples, those that each part takes."""
        return None if most is None else max(1, most // len(self.parts))

    def root(self, most: int) -> Array | None:
        """Not at hand where an intercept is free; else the parts' own, one below the other."""
        if self.centring is not None or self.examples > most:
            return None
        roots = answers(part.root(most) for part in self.parts)
        found = [root for root in roots if root is not None]
        return np.concatenate(found) if len(found) == len(roots) else None

"""Examples that lie elsewhere, in parts: what a shard of each is made of, and their sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.rounding import exact_sum
from cutplane.risks.base import Risk, ScoreCut
from cutplane.shards.base import Array, answers
from cutplane.shards.remote import RemoteRoundedShard
from cutplane.shards.rounds import Remote, asked
from cutplane.shards.sum import SumShard
from cutplane.shards.sum_parts import added
from cutplane.solvers.base import though_shards_are_lost
from cutplane.sources.augmented import AugmentedSource
from cutplane.sources.base import Extent, Rows, Source

#: Makes a risk of targets and weights.
Loss = Callable[[Any, Any], Risk]


class Recipe(NamedTuple):
    """What makes the risk of a part: sent there, and small.

    Attributes
    ----------
    loss : callable
        Of targets, or labels of -1 and +1, and weights (None: 1 each); gives a `RoundedRisk`.
    classes : array or None
        All of them, in order; None: targets are numbers.
    positive : int
        Which of them is told from the others.
    factors : array or None
        What the classes weigh.
    total_weight : float
        Of all parts.
    """

    loss: Loss
    classes: NDArray[Any] | None
    positive: int
    factors: Array | None
    total_weight: float


class Survey(NamedTuple):
    """What must be known of a part before the problem can be posed.

    Attributes
    ----------
    shape : tuple
        Numbers of examples and features.
    weight : float
        The sum of the weights.
    labels : array
        The labels there, sorted; of targets none.
    weights : array
        What the examples of each weigh.
    """

    shape: tuple[int, int]
    weight: float
    labels: NDArray[Any]
    weights: Array


class RemoteExamples(Remote):
    """The examples of a part, which lie elsewhere."""

    survey = asked("survey")
    mark = asked("mark")
    extent = asked("extent")
    scores = asked("scores")
    combine = asked("combine")
    targets = asked("targets")
    weights = asked("weights")

    def fold(self, number: int, folds: int, turn: int, *, inside: bool, labels: bool) -> RemoteExamples:
        """See `PartExamples`."""
        return self._derive(RemoteExamples, "fold", (number, folds, turn), inside=inside, labels=labels)

    def shard(self, recipe: Recipe, constant: float, *, intercept: bool) -> RemoteRoundedShard:
        """See `PartExamples`."""
        return self._derive(RemoteRoundedShard, "shard", (recipe, constant), intercept=intercept)


@dataclass(frozen=True)
class ScatteredSource(Source):
    """The examples of several parts, one below the other."""

    parts: tuple[RemoteExamples, ...]
    sizes: tuple[int, ...]
    features: int

    elsewhere = True

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        return sum(self.sizes), self.features

    def scores(self, w: Array) -> Array:
        """X @ w: they come here."""
        return np.concatenate(though_shards_are_lost(lambda: answers(part.scores(w) for part in self.parts)))

    def combine(self, coef: Array) -> Array:
        """X.T @ coef."""
        begins = np.cumsum([0, *self.sizes[:-1]])
        found = answers(part.combine(int(begin), coef) for part, begin in zip(self.parts, begins, strict=True))
        return added(found)

    def take(self, rows: Rows) -> Source:
        """Not some of them: they lie elsewhere."""
        raise ValueError("Rows of examples that lie on other machines are not taken one by one.")

    @cached_property
    def extent(self) -> Extent:
        """What rounding in passes is charged by."""
        found: list[Extent] = though_shards_are_lost(lambda: answers(part.extent() for part in self.parts))
        sizes = [each.columns for each in found if each.columns is not None]
        columns = np.max(np.array(sizes), axis=0) if len(sizes) == len(found) else None
        depth = max(each.sum_depth for each in found) + len(found)
        return Extent(max(each.reach for each in found), max(each.row_depth for each in found), depth, columns)


class ScatteredRisk(Risk):
    """The risk of examples that lie elsewhere: what makes that of each part."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.total_weight = recipe.total_weight
        probe = recipe.loss(np.array([-1.0, 1.0]), None).summand(np.arange(2))
        self.takes_intercept, self.shift_invariant = probe.takes_intercept, probe.shift_invariant
        self.own_decision = type(probe).decide is not Risk.decide
        self._name = probe.name

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name

    def value(self, scores: Array) -> float:
        """Not here: the targets lie elsewhere."""
        raise NotImplementedError

    def cut(self, scores: Array) -> ScoreCut:
        """Not here: the targets lie elsewhere."""
        raise NotImplementedError


def scattered_shard(source: ScatteredSource, risk: ScatteredRisk, intercept: bool, constant: float = 0.0) -> SumShard:
    """The sum of the parts' shards, with a constant feature where that is not 0."""
    parts: list[Any] = [part.shard(risk.recipe, constant, intercept=intercept) for part in source.parts]
    return SumShard(parts)


def augmented_scattered_shard(source: AugmentedSource, risk: ScatteredRisk, intercept: bool) -> SumShard:
    """The same of examples with a constant feature."""
    return scattered_shard(cast(ScatteredSource, source.base), risk, intercept, source.constant)


class Whole(NamedTuple):
    """What the surveys of all parts say together: labels, what the examples of each weigh, and what all do."""

    labels: NDArray[Any]
    weights: Array
    weight: float

    @classmethod
    def of(cls, surveys: Sequence[Survey]) -> Whole:
        """Added up, part after part."""
        labels = np.unique(np.concatenate([each.labels for each in surveys]))
        weights = np.zeros(len(labels))
        for each in surveys:
            weights[np.searchsorted(labels, each.labels)] += each.weights
        return cls(labels, weights, exact_sum(each.weight for each in surveys))

"""From scores to what a model answers: values, classes, ranks, inside or outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cutplane.plain import one_vs_one
from cutplane.plain.checks import require, require_classes, require_numbers

if TYPE_CHECKING:
    from cutplane._types import Array, Labels


class Decision(Protocol):
    """What is made of scores of shape (n, machines).

    `methods` names those that a predictor offers besides `predict`. Decisions into classes have `winners`.
    """

    methods: ClassVar[tuple[str, ...]]

    def machines(self) -> int:
        """How many scores it needs of an example."""

    def predict(self, scores: Array) -> Labels:
        """The answer for each example."""


class Classes(Decision, Protocol):
    """A decision into classes."""

    classes: Labels

    def winners(self, scores: Array) -> NDArray[np.intp]:
        """The class of each example, by number."""


@dataclass(frozen=True)
class Value:
    """The score itself: regression, or a score to sort by."""

    methods: ClassVar[tuple[str, ...]] = ()

    def machines(self) -> int:
        """One."""
        return 1

    def predict(self, scores: Array) -> Labels:
        """The score of each example."""
        return scores[:, 0]


@dataclass(frozen=True, eq=False)
class Sign:
    """Two classes: the second where the score is above 0."""

    classes: Labels
    methods: ClassVar[tuple[str, ...]] = ("decision_function",)

    def __post_init__(self) -> None:
        require_classes(self.classes)
        require(len(self.classes) == 2, "there are not two classes")

    def machines(self) -> int:
        """One."""
        return 1

    def winners(self, scores: Array) -> NDArray[np.intp]:
        """By the sign."""
        return (scores[:, 0] > 0.0).astype(np.intp)

    def predict(self, scores: Array) -> Labels:
        """The class of each example."""
        return self.classes[self.winners(scores)]

    def decision_function(self, scores: Array) -> Array:
        """The score of each example."""
        return scores[:, 0]


@dataclass(frozen=True, eq=False)
class Highest:
    """A score for each class: the highest wins."""

    classes: Labels
    methods: ClassVar[tuple[str, ...]] = ("decision_function",)

    def __post_init__(self) -> None:
        require_classes(self.classes)

    def machines(self) -> int:
        """One a class."""
        return len(self.classes)

    def winners(self, scores: Array) -> NDArray[np.intp]:
        """By the highest score, the first of several."""
        return np.asarray(np.argmax(scores, axis=1))

    def predict(self, scores: Array) -> Labels:
        """The class of each example."""
        return self.classes[self.winners(scores)]

    def decision_function(self, scores: Array) -> Array:
        """The score of each class."""
        return scores


@dataclass(frozen=True, eq=False)
class Votes:
    """A score for each pair of classes, above 0 for its first: the class that wins most of its pairs.

    `by_class`: decision values are given by class, not by pair. `break_ties`: the highest of these wins, not the first
    of the classes with most votes.
    """

    classes: Labels
    by_class: bool
    break_ties: bool
    methods: ClassVar[tuple[str, ...]] = ("decision_function",)

    def __post_init__(self) -> None:
        require_classes(self.classes)

    def machines(self) -> int:
        """One a pair."""
        return len(self.classes) * (len(self.classes) - 1) // 2

    def winners(self, scores: Array) -> NDArray[np.intp]:
        """By votes."""
        count = one_vs_one.class_scores if self.break_ties else one_vs_one.votes
        return np.asarray(np.argmax(count(scores, len(self.classes)), axis=1))

    def predict(self, scores: Array) -> Labels:
        """The class of each example."""
        return self.classes[self.winners(scores)]

    def decision_function(self, scores: Array) -> Array:
        """The score of each class, or of each pair."""
        return one_vs_one.class_scores(scores, len(self.classes)) if self.by_class else scores


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Ordered classes: as many thresholds as lie below the score."""

    classes: Labels
    thresholds: Array
    methods: ClassVar[tuple[str, ...]] = ("score_samples",)

    def __post_init__(self) -> None:
        require_classes(self.classes)
        require_numbers("thresholds", self.thresholds, (len(self.classes) - 1,))
        require(bool((np.diff(self.thresholds) >= 0.0).all()), "the thresholds are not in order")

    def machines(self) -> int:
        """One."""
        return 1

    def winners(self, scores: Array) -> NDArray[np.intp]:
        """By the thresholds below the score."""
        return np.searchsorted(self.thresholds, scores[:, 0], side="left")

    def predict(self, scores: Array) -> Labels:
        """The class of each example."""
        return self.classes[self.winners(scores)]

    def score_samples(self, scores: Array) -> Array:
        """The score of each example."""
        return scores[:, 0]


@dataclass(frozen=True)
class Inside:
    """+1 inside, where the score is above 0 (or 0, with `border`), -1 for outliers; `offset` is in the scores."""

    offset: float
    border: bool
    methods: ClassVar[tuple[str, ...]] = ("decision_function", "score_samples")

    def __post_init__(self) -> None:
        require(bool(np.isfinite(self.offset)), "the offset is not finite")

    def machines(self) -> int:
        """One."""
        return 1

    def predict(self, scores: Array) -> Labels:
        """1 or -1 for each example."""
        found = scores[:, 0]
        return np.where(found >= 0.0 if self.border else found > 0.0, 1, -1).astype(np.intp)

    def decision_function(self, scores: Array) -> Array:
        """How far inside."""
        return scores[:, 0]

    def score_samples(self, scores: Array) -> Array:
        """The score without the offset."""
        return scores[:, 0] + self.offset

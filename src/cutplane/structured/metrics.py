"""How well predicted label sequences fit the true ones: tokens, and the entities they spell out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cutplane._types import Array


class Entity(NamedTuple):
    """A run of tokens [begin, end) of one type."""

    begin: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Things found: rightly, wrongly, and those missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """The share of right ones among those found."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share found among those there are."""
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


@dataclass(frozen=True, slots=True)
class SequenceScores:
    """What `score_sequences` found.

    Attributes
    ----------
    tokens : int
    accuracy : float
        The share of tokens with the right label.
    token_f1 : float
        The mean over the labels that occur of their F1.
    entities : Counts
        Entities that were found with the right bounds and type, others found, and those missed.
    by_type : dict
        The same for each type of entity.
    """

    tokens: int
    accuracy: float
    token_f1: float
    entities: Counts
    by_type: dict[str, Counts] = field(default_factory=dict)


def entities(labels: Sequence[Hashable]) -> list[Entity]:
    """The entities in a sequence of labels B-X, I-X, O (also E-X and S-X), read as the CoNLL scorer does.

    Examples
    --------
    >>> from cutplane.structured.metrics import entities
    >>> entities(["B-NP", "I-NP", "O", "B-VP", "B-VP"])
    [Entity(begin=0, end=2, type='NP'), Entity(begin=3, end=4, type='VP'), Entity(begin=4, end=5, type='VP')]
    """
    found: list[Entity] = []
    begin, open_type, ended = 0, "", True
    for place, label in enumerate([*labels, "O"]):
        prefix, _, kind = str(label).partition("-")
        inside = prefix in ("B", "I", "E", "S") and bool(kind)
        starts = not inside or ended or prefix in ("B", "S") or kind != open_type
        if starts:
            if open_type:
                found.append(Entity(begin, place, open_type))
            begin, open_type = place, kind if inside else ""
        ended = not inside or prefix in ("E", "S")
    return found


def score_sequences(truth: Sequence[Sequence[Hashable]], predicted: Sequence[Sequence[Hashable]]) -> SequenceScores:
    """Compare predicted label sequences with the true ones.

    Examples
    --------
    >>> from cutplane.structured.metrics import score_sequences
    >>> scores = score_sequences([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]])
    >>> scores.accuracy, scores.entities.f1
    (0.6666666666666666, 0.0)
    """
    right: Counter[Hashable] = Counter()
    wrong: Counter[Hashable] = Counter()
    missed: Counter[Hashable] = Counter()
    by_type: dict[str, list[int]] = {}
    for a, b in _pairs(truth, predicted):
        for true, found in zip(a, b, strict=True):
            if true == found:
                right[true] += 1
            else:
                wrong[found] += 1
                missed[true] += 1
        _count_entities(set(entities(a)), set(entities(b)), by_type)
    tokens = right.total() + wrong.total()
    labels = sorted(right | wrong | missed, key=str)
    f1s = [Counts(right[label], wrong[label], missed[label]).f1 for label in labels]
    totals = [sum(counts[k] for counts in by_type.values()) for k in range(3)]
    return SequenceScores(
        tokens,
        right.total() / max(1, tokens),
        sum(f1s) / max(1, len(f1s)),
        Counts(*totals),
        {kind: Counts(*by_type[kind]) for kind in sorted(by_type)},
    )


def token_accuracy(
    truth: Sequence[Sequence[Hashable]], predicted: Sequence[Sequence[Hashable]], weights: Array | None = None
) -> float:
    """The share of labels that are right, each with the weight of its sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.structured.metrics import token_accuracy
    >>> token_accuracy([["N", "V"], ["D", "N"]], [["N", "V"], ["N", "N"]], np.array([3.0, 1.0]))
    0.875
    """
    right = np.array([sum(x == y for x, y in zip(a, b, strict=True)) for a, b in _pairs(truth, predicted)], dtype=float)
    lengths = np.array([len(a) for a in truth], dtype=float)
    weights = np.ones(len(lengths)) if weights is None else weights
    tokens = weights @ lengths
    return float(weights @ right / tokens) if tokens else 0.0


def _pairs(
    truth: Sequence[Sequence[Hashable]], predicted: Sequence[Sequence[Hashable]]
) -> Iterator[tuple[Sequence[Hashable], Sequence[Hashable]]]:
    for index, (a, b) in enumerate(zip(truth, predicted, strict=True)):
        if len(a) != len(b):
            raise ValueError(f"Sequence {index} has {len(a)} labels, but {len(b)} were predicted.")
        yield a, b


def _count_entities(true: set[Entity], found: set[Entity], by_type: dict[str, list[int]]) -> None:
    for place, group in enumerate((true & found, found - true, true - found)):
        for entity in group:
            by_type.setdefault(entity.type, [0, 0, 0])[place] += 1

"""What rankings are asked of on a device: examples in the order of their scores, and sums over pairs of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

#: An array that lies on the device.
DeviceArray = Any


class RankLevel(NamedTuple):
    """A level of the tree over ranks, whose nodes are compared half with half.

    Attributes
    ----------
    begins : device array of int64
        The first place of each node in the order of the level, and the end.
    node_of_leaf : device array of int32 or None
        The node of each rank of each group; None where there is but one.
    shift : int
        The bit of a rank that says which half it is of.
    weights : device array
        What each pair of a node counts, beside the weights of its examples.
    """

    begins: DeviceArray
    node_of_leaf: DeviceArray | None
    shift: int
    weights: DeviceArray

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.weights)


class RankedExamples(NamedTuple):
    """What is known of the examples.

    Attributes
    ----------
    rank : device array of int32
        Within the group, counted from 0.
    leaf : device array of int32
        Ranks of all groups, counted through; the same array where there is one group.
    weights : device array or None
    """

    rank: DeviceArray
    leaf: DeviceArray
    weights: DeviceArray | None


class RankOrder(NamedTuple):
    """Examples in some order: their scores, on a grid, and which they are (uint32)."""

    key: DeviceArray
    example: DeviceArray


class RankPrefixes(NamedTuple):
    """A level's order, and what of either half of a node is before each place of it.

    Attributes
    ----------
    order : RankOrder
    mass : device array
        The weights of the examples, below zero in the lower half.
    low, high : device array of shape (n, 2)
        Weights, and weights times scores.
    """

    order: RankOrder
    mass: DeviceArray
    low: DeviceArray
    high: DeviceArray


def word_bits(n: int) -> int:
    """Bits that number n places."""
    return max(1, (n - 1).bit_length())


class RankSums(ABC):
    """Orders and sums over pairs, wherever the arrays lie."""

    @abstractmethod
    def by_score(self, s: DeviceArray, step: float, largest: float) -> RankOrder:
        """Scores no larger than `largest` in order, on a grid of the given step, a power of two.

        The grid must leave as many bits of 62 as number the examples.
        """

    @abstractmethod
    def by_node(self, order: RankOrder, examples: RankedExamples, level: RankLevel) -> RankOrder:
        """Examples by node, and within it as they were."""

    @abstractmethod
    def prefixes(self, order: RankOrder, examples: RankedExamples, level: RankLevel) -> RankPrefixes:
        """Sums over what is before each place of a node."""

    @abstractmethod
    def swept(
        self, given: RankPrefixes, level: RankLevel, reach: float, per_h: float, coef: DeviceArray
    ) -> tuple[float, float]:
        """Sums over all pairs of a level: value and offset; what each adds to its examples' `coef` is added there.

        A pair with z = 1 - (score of the higher - score of the lower) counts z·per_h + ½ where |z| < reach, else
        nothing or whole.
        """

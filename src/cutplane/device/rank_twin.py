"""Sums over pairs of different rank in NumPy: what those of a GPU are tested beside."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from cutplane.device.rank_sums import DeviceArray, RankedExamples, RankLevel, RankOrder, RankPrefixes, RankSums
from cutplane.device.twin_arrays import on_twin


class TwinRankSums(RankSums):
    """On the host."""

    def by_score(self, s: DeviceArray, step: float, largest: float) -> RankOrder:
        """Scores no larger than `largest` in order, on a grid of the given step, a power of two."""
        on_grid = np.rint(np.asarray(s) / step) * step
        order = np.argsort(on_grid, kind="stable")
        return RankOrder(on_twin(on_grid[order]), on_twin(order.astype(np.uint32)))

    def by_node(self, order: RankOrder, examples: RankedExamples, level: RankLevel) -> RankOrder:
        """Examples by node, and within it as they were."""
        if level.node_of_leaf is None:
            return order
        key, example = map(np.asarray, order)
        found = np.argsort(np.asarray(level.node_of_leaf)[np.asarray(examples.leaf)[example]], kind="stable")
        return RankOrder(on_twin(key[found]), on_twin(example[found]))

    def prefixes(self, order: RankOrder, examples: RankedExamples, level: RankLevel) -> RankPrefixes:
        """Sums over what is before each place of a node."""
        key, example = map(np.asarray, order)
        weights = np.ones(len(key)) if examples.weights is None else np.asarray(examples.weights)[example]
        higher = np.asarray(examples.rank)[example] >> level.shift & 1 > 0
        mass = np.where(higher, weights, -weights)
        sides = [np.stack([m, m * key], axis=1) for m in (np.maximum(-mass, 0.0), np.maximum(mass, 0.0))]
        for begin, end in pairwise(np.asarray(level.begins).tolist()):
            for side in sides:
                side[begin + 1 : end] = np.cumsum(side[begin:end], axis=0)[:-1]
                side[begin] = 0.0
        return RankPrefixes(order, on_twin(mass), *map(on_twin, sides))

    def swept(
        self, given: RankPrefixes, level: RankLevel, reach: float, per_h: float, coef: DeviceArray
    ) -> tuple[float, float]:
        """Sums over all pairs of a level: value and offset; what each adds to its examples' `coef` is added there."""
        s, mass = np.asarray(given.order.key), np.asarray(given.mass)
        begins = np.asarray(level.begins)
        node = np.repeat(np.arange(level.nodes), np.diff(begins))
        begin, end, weight = begins[node], begins[node + 1], np.asarray(level.weights)[node]
        higher = mass > 0.0
        found = [
            _met(s, mass, np.asarray(side), (begin[who], end[who]), s[who], reach, above=above)
            for side, who, above in ((given.low, higher, True), (given.high, ~higher, False))
        ]
        beyond, on, on_scores, costly = (np.empty_like(s) for _ in range(4))
        for who, met in zip((higher, ~higher), found, strict=True):
            beyond[who], on[who], on_scores[who], costly[who] = met
        sign = np.where(higher, 1.0, -1.0)
        each = weight * np.abs(mass) * (beyond + 0.5 * on + (on * (1.0 - sign * s) + sign * on_scores) * per_h)
        np.asarray(coef)[np.asarray(given.order.example)] -= sign * each
        value = weight * np.abs(mass) * costly * np.where(higher, 1.0 - s, s)
        return float(value.sum()), float(each[higher].sum())


def _met(
    key: Any, mass: Any, before: Any, node: tuple[Any, Any], s: Any, reach: float, *, above: bool
) -> tuple[Any, Any, Any, Any]:
    """What examples of one half are compared with in the other: as `Met` of the kernels."""
    begin, end = node
    last = end - 1
    own = np.maximum((-1.0 if above else 1.0) * mass[last], 0.0)
    whole = before[last] + np.stack([own, own * key[last]], axis=1)

    def upto(place: Any) -> Any:
        return np.where((place < end)[:, None], before[np.minimum(place, last)], whole)

    def first(holds: Callable[[Any], Any]) -> Any:
        """By bisection in all nodes at once."""
        low, high = begin.copy(), end.copy()
        while (low < high).any():
            middle = (low + high) // 2
            k = key[np.minimum(middle, last)]
            z = (1.0 - s) + k if above else (1.0 - k) + s
            down = holds(z) | (low >= high)
            low, high = np.where(down, low, middle + 1), np.where(down, np.minimum(high, middle), high)
        return low

    if above:
        a = upto(first(lambda z: (z > -reach) | (z >= 0.0)))
        kink, b = upto(first(lambda z: z >= 0.0)), upto(first(lambda z: z >= reach))
        return whole[:, 0] - b[:, 0], b[:, 0] - a[:, 0], b[:, 1] - a[:, 1], whole[:, 0] - kink[:, 0]
    a, kink = upto(first(lambda z: z < reach)), upto(first(lambda z: z < 0.0))
    b = upto(first(lambda z: (z <= -reach) & (z < 0.0)))
    return a[:, 0], b[:, 0] - a[:, 0], b[:, 1] - a[:, 1], kink[:, 0]

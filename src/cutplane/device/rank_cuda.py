"""Sums over pairs of different rank on a GPU, through CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.device import text
from cutplane.device.programs import Kernel, kernel
from cutplane.device.rank_sums import (
    DeviceArray,
    RankedExamples,
    RankLevel,
    RankOrder,
    RankPrefixes,
    RankSums,
    word_bits,
)

# Of the kernels: threads of a block, and places that it adds up before each.
_THREADS, _TILE = 256, 2048
# Blocks of what is done place by place, and of sums: these depend on the number of examples alone.
_MOST_BLOCKS, _SUMMED = 8192, 4096
# Four sums and a flag, as the compiler lays them out.
_RUN_BYTES = 40


def _function(name: str) -> Kernel:
    return kernel(text.rank_text, name)


def _each(name: str, n: int, arguments: tuple[Any, ...]) -> None:
    _function(name)((min(_MOST_BLOCKS, -(-n // _THREADS)),), (_THREADS,), arguments)


class CudaRankSums(RankSums):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy

        self._xp = cupy

    def by_score(self, s: DeviceArray, step: float, largest: float) -> RankOrder:
        """Scores no larger than `largest` in order, on a grid of the given step, a power of two."""
        n, xp = s.size, self._xp
        bits, bias = word_bits(n), int(np.ceil(largest / step)) + 1
        words = xp.empty(n, np.uint64)
        _each("rank_words", n, (s, np.int64(n), np.float64(1.0 / step), np.int64(bias), np.int32(bits), words))
        words.sort()  # whole numbers: by their digits
        found = RankOrder(xp.empty(n), xp.empty(n, np.uint32))
        _each("rank_unpack", n, (words, np.int64(n), np.float64(step), np.int64(bias), np.int32(bits), *found))
        return found

    def by_node(self, order: RankOrder, examples: RankedExamples, level: RankLevel) -> RankOrder:
        """Examples by node, and within it as they were."""
        if level.node_of_leaf is None:
            return order
        n, xp = order.key.size, self._xp
        bits, words = word_bits(n), xp.empty(n, np.uint64)
        given = (order.example, examples.leaf, level.node_of_leaf, np.int64(n), np.int32(bits), words)
        _each("rank_node_words", n, given)
        words.sort()
        found = RankOrder(xp.empty(n), xp.empty(n, np.uint32))
        _each("rank_regroup", n, (words, np.int64(n), np.int32(bits), *order, *found))
        return found

    def prefixes(self, order: RankOrder, examples: RankedExamples, level: RankLevel) -> RankPrefixes:
        """Sums over what is before each place of a node."""
        n, xp = order.key.size, self._xp
        mass, low, high = xp.empty(n), xp.empty((n, 2)), xp.empty((n, 2))
        # A null pointer where all weights are the same.
        weights = np.uintp(0) if examples.weights is None else examples.weights
        _each("rank_masses", n, (order.example, examples.rank, np.int32(level.shift), weights, np.int64(n), mass))
        tiles = -(-n // _TILE)
        runs = xp.empty(tiles * _RUN_BYTES, np.uint8)
        places = (mass, order.key, np.int64(n), level.begins, np.int64(level.nodes), runs)
        _function("rank_tiles")((tiles,), (_THREADS,), places)
        _function("rank_carry")((1,), (_THREADS,), (runs, np.int64(tiles)))
        _function("rank_prefix")((tiles,), (_THREADS,), (*places, low, high))
        return RankPrefixes(order, mass, low, high)

    def swept(
        self, given: RankPrefixes, level: RankLevel, reach: float, per_h: float, coef: DeviceArray
    ) -> tuple[float, float]:
        """Sums over all pairs of a level: value and offset; what each adds to its examples' `coef` is added there."""
        n = given.mass.size
        blocks = min(_SUMMED, -(-n // _THREADS))
        out = self._xp.empty((blocks, 2))
        order, nodes = given.order, (level.begins, level.weights, np.int64(level.nodes))
        places = (order.key, given.mass, order.example, given.low, given.high, np.int64(n))
        arguments = (*places, *nodes, np.float64(reach), np.float64(per_h), coef, out)
        _function("rank_sweep")((blocks,), (_THREADS,), arguments)
        value, offset = self._xp.asnumpy(out).sum(axis=0).tolist()
        return value, offset

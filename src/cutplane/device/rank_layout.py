"""Who is compared with whom, on a device: examples by group and rank, and the levels of the tree over these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cutplane.device.kernels import Array, DeviceArray, Kernels
from cutplane.device.rank_sums import RankedExamples, RankLevel
from cutplane.risks.pairs import NoPairsError, pair_sums

# Groups and leaves are counted by four bytes.
_MOST = 1 << 31
# So many ranks are counted one by one.
_FEW_RANKS = 16


class PairsThere(NamedTuple):
    """Ranks and groups of examples on a device, from which a risk is made.

    Attributes
    ----------
    ranks : device array of whole numbers
        Not negative; only their order counts.
    groups : device array of whole numbers or None
        Not negative; None where all are one.
    weights : device array or None
    equal_groups : bool
        Whether every group weighs the same; else every pair does.
    """

    ranks: DeviceArray
    groups: DeviceArray | None
    weights: DeviceArray | None
    equal_groups: bool

    def take(self, rows: DeviceArray) -> PairsThere:
        """Those of some examples."""
        groups, weights = (None if each is None else each[rows] for each in (self.groups, self.weights))
        return PairsThere(self.ranks[rows], groups, weights, self.equal_groups)


class RankLayout(NamedTuple):
    """Examples in a tree over their ranks.

    Attributes
    ----------
    examples : RankedExamples
    levels : list of RankLevel
    counts : array of int
        Pairs of each group that has one.
    total_mass : float
        What the mean is taken over: groups, or the weights of pairs.
    group_of_leaf : array of int
        Of each rank of each group, counted through.
    all_groups : int
        Those without a pair included, if an example of theirs has a weight.
    """

    examples: RankedExamples
    levels: list[RankLevel]
    counts: Any
    total_mass: float
    group_of_leaf: Any
    all_groups: int


class _Leaves(NamedTuple):
    """The ranks of all groups: on the host the first place and the group of each, on the device the example's."""

    begins: Any
    group: Any
    of_example: DeviceArray
    order: DeviceArray | None


def laid_out(kernels: Kernels, given: PairsThere, share: float) -> RankLayout:
    """The layout of a risk that is so many means."""
    leaves = _leaves(kernels, given)
    sizes, weighted = np.diff(leaves.begins), None
    if given.weights is not None:
        order = leaves.order
        assert order is not None
        by_place = kernels.to_host(given.weights[order])
        weighted = np.add.reduceat(by_place, leaves.begins[:-1])
        sizes = np.add.reduceat((by_place > 0.0).astype(np.int64), leaves.begins[:-1])
    counts = pair_sums(sizes, leaves.group)
    masses: Array = counts.astype(np.float64) if weighted is None else pair_sums(weighted, leaves.group)
    has_pairs = counts > 0
    if not has_pairs.any():
        raise NoPairsError("There is no pair to compare: every group has examples of one rank only.")
    if given.equal_groups:
        total = float(np.count_nonzero(has_pairs))
        each = np.divide(share, total * masses, out=np.zeros(len(counts)), where=has_pairs)
    else:
        total = float(masses[has_pairs].sum())
        each = np.where(has_pairs, share / total, 0.0)
    first = np.flatnonzero(np.diff(leaves.group, prepend=-1))
    local = np.arange(len(leaves.group)) - np.repeat(first, np.diff(np.append(first, len(leaves.group))))
    levels = [_level(kernels, leaves, local, bit, each) for bit in range(int(local.max()).bit_length())]
    there = kernels.to_device(local.astype(np.int32))[leaves.of_example] if len(first) > 1 else leaves.of_example
    examples = RankedExamples(there, leaves.of_example, given.weights)
    present = int(np.count_nonzero(np.add.reduceat(sizes, first)))
    return RankLayout(examples, levels, counts[has_pairs], total, leaves.group, present)


def _level(kernels: Kernels, leaves: _Leaves, local: Any, bit: int, each: Array) -> RankLevel:
    """The level whose nodes are halved by a bit of the ranks."""
    node = local >> (bit + 1)
    begins = np.ones(len(node), dtype=bool)
    begins[1:] = (node[1:] != node[:-1]) | (leaves.group[1:] != leaves.group[:-1])
    first = np.flatnonzero(begins)
    of_leaf = None if len(first) == 1 else kernels.to_device((np.cumsum(begins) - 1).astype(np.int32))
    places = kernels.to_device(np.append(leaves.begins[first], leaves.begins[-1]))
    return RankLevel(places, of_leaf, bit, kernels.to_device(each[leaves.group[first]]))


def _leaves(kernels: Kernels, given: PairsThere) -> _Leaves:
    """Ranks of groups, counted through."""
    xp, n = kernels.xp, len(given.ranks)
    if n >= _MOST:
        raise ValueError(f"There are {n:,} examples; pairs can be counted among fewer than {_MOST:,} on a GPU.")
    if given.groups is None and given.weights is None:
        counts = _counts(kernels, given.ranks)
        present = np.flatnonzero(counts)
        numbers = np.zeros(len(counts), np.int32)
        numbers[present] = np.arange(len(present))
        codes = given.ranks if len(present) == len(counts) else kernels.to_device(numbers)[given.ranks]
        begins = np.concatenate([[0], np.cumsum(counts[present])]).astype(np.int64)
        return _Leaves(begins, np.zeros(len(present), np.int64), codes.astype(np.int32), None)
    # Both in one number, which is sorted by its digits.
    keys = given.ranks.astype(np.int64)
    if given.groups is not None:
        keys |= given.groups.astype(np.int64) << np.int64(32)
    order = xp.argsort(keys)
    keys = keys[order]
    fresh = xp.ones(n, dtype=bool)
    fresh[1:] = keys[1:] != keys[:-1]
    of_example = xp.empty(n, np.int32)
    of_example[order] = (xp.cumsum(fresh) - 1).astype(np.int32)
    first = xp.flatnonzero(fresh)
    group = kernels.to_host(keys[first]) >> 32
    begins = np.append(kernels.to_host(first), n).astype(np.int64)
    return _Leaves(begins, np.cumsum(np.diff(group, prepend=group[:1]) != 0), of_example, order)


def _counts(kernels: Kernels, ranks: DeviceArray) -> Any:
    """How many examples have each rank; where ranks are few, all threads would add to the same numbers."""
    most = int(ranks.max()) + 1
    if most > _FEW_RANKS:
        return kernels.to_host(kernels.xp.bincount(ranks))
    return np.array([int(kernels.sides((ranks == rank).astype(np.float64))[0]) for rank in range(most)])

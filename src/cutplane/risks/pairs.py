"""The pair risk: the mean over pairs of different rank of max(0, 1 - (score of the higher - score of the lower))."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.risks import bracketing
from cutplane.risks.base import Array, Risk, Rows, ScoreCut, Smoothed
from cutplane.risks.stretches import one_of_each

Codes = NDArray[np.int64]

# How far coefficients of weighted pairs can be off, in units of what a sum over the examples can be off.
_WEIGHTED = 4.0
# Whole numbers no further apart than so many times as there are of them are counted; others are sorted.
_MOST_APART = 4
# NumPy sorts whole numbers of 16 bits in linear time.
_SORTED_BY_DIGITS = 1 << 16
# Groups of a sample at least: few say little of the others, and few examples of many groups have few pairs.
_LEAST_GROUPS = 64


class NoPairsError(ValueError):
    """A sample without two examples of different rank in one group."""


class PairRay(NamedTuple):
    """The pair risk along a line of scores; every value or slope is a sort and a sweep."""

    core: _core.PairRay
    #: The fraction of its descent that `minimise` may miss.
    accuracy: float
    #: The risk and the slope of a plane at the start, where they are known.
    first: tuple[float, float] | None = None

    def at(self, t: float) -> tuple[float, float]:
        """The risk at t and its right derivative; at the start, the slope that is known."""
        return self.core.at(t) if t != 0.0 or self.first is None else self.first

    def value(self, t: float) -> float:
        """The risk at t."""
        return self.at(t)[0]

    def slope(self, t: float) -> float:
        """The right derivative at t."""
        return self.at(t)[1]

    def minimise(self, quadratic: float, linear: float, C: float) -> float:
        """Argmin over t >= 0 of ½ quadratic t² + linear t + C·risk, up to `accuracy` of the descent."""
        return bracketing.ray_minimum(self.at, quadratic, linear, C, accuracy=self.accuracy)


class _Layout(NamedTuple):
    """Examples by group and rank, as `_core.Pairs` takes them; without those that have no partner."""

    example: NDArray[np.uint32]
    leaf: Codes
    group: Codes
    pair_weights: Array
    counts: Codes
    all_groups: int


class _Laid(NamedTuple):
    """Pairs as the core has them, how many there are, in how many of all groups, and what their mean is taken over."""

    core: _core.Pairs
    n_pairs: int
    n_groups: int
    all_groups: int
    total_mass: float


class PairRisk(Risk):
    """Weighted mean over the pairs of each group of max(0, 1 - (s_i - s_j)), i ranked above j.

    A pair weighs the product of its examples' weights, so that a weight of 2 counts as the example twice. It does not
    change when a constant is added to the scores of a group: there is no intercept.

    Parameters
    ----------
    ranks : array of int of shape (n,)
        The rank of each example, higher is better; only their order counts.
    groups : array of int of shape (n,), optional
        Examples are compared within their group only; all are one group if None.
    sample_weight : array of shape (n,), optional
        Non-negative.
    equal_groups : bool
        Whether every group weighs the same; else every pair does.
    n_threads : int
        0 leaves it to OpenMP.

    Attributes
    ----------
    n_pairs : int
        The pairs compared (examples of weight 0 have none).
    n_groups : int
        The groups that have a pair.
    all_groups : int
        The groups that have an example (of a weight above 0).
    total_mass : float
        What the mean is taken over: groups, or the weights of pairs.
    share : float
        The risk is this many means: less than one where it is a part of a larger one.
    """

    shift_invariant = True
    binary_only = True
    steepest = 2.0
    #: The fraction of its descent that a line search may miss.
    ray_accuracy = bracketing.ACCURACY

    def __init__(
        self,
        ranks: NDArray[Any],
        groups: NDArray[Any] | None = None,
        sample_weight: NDArray[Any] | None = None,
        *,
        equal_groups: bool = False,
        n_threads: int = 0,
    ) -> None:
        codes = None if groups is None else dense_codes(groups)
        self._set(dense_codes(ranks), codes, sample_weight, equal_groups, n_threads, 1.0)

    def _set(
        self,
        ranks: Codes,
        groups: Codes | None,
        weights: NDArray[Any] | None,
        equal_groups: bool,
        n_threads: int,
        share: float,
        *,
        later: bool = False,
    ) -> None:
        """`later`: there are pairs, and they are laid out when they are asked for. Elsewhere they may never be."""
        self._ranks, self._groups, self._weights = ranks, groups, weights
        self._equal_groups, self._n_threads, self.share = equal_groups, n_threads, share
        self._known: _Laid | None = None if later else self._lay()

    def _lay(self) -> _Laid:
        weights, share = self._weights, self.share
        own = None if weights is None else np.asarray(weights, dtype=np.float64)
        layout = _lay_out(self._ranks, self._groups, own)
        n_groups = len(layout.counts)
        if not n_groups:
            raise NoPairsError("There is no pair to compare: every group has examples of one rank only.")
        if self._equal_groups:
            total_mass = float(n_groups)
            group_weights = share / (n_groups * layout.pair_weights)
        else:
            total_mass = float(layout.pair_weights.sum())
            group_weights = np.full(n_groups, share / total_mass)
        by_place = None if own is None else np.ascontiguousarray(own[layout.example])
        core = _core.Pairs(len(self._ranks), layout.example, layout.leaf, layout.group, group_weights, by_place)
        return _Laid(core, int(layout.counts.sum()), n_groups, layout.all_groups, total_mass)

    @property
    def _laid(self) -> _Laid:
        if self._known is None:
            self._known = self._lay()
        return self._known

    @property
    def n_pairs(self) -> int:
        """The pairs compared."""
        return self._laid.n_pairs

    @property
    def n_groups(self) -> int:
        """The groups that have a pair."""
        return self._laid.n_groups

    @property
    def all_groups(self) -> int:
        """The groups that have an example."""
        return self._laid.all_groups

    @property
    def total_mass(self) -> float:
        """What the mean is taken over."""
        return self._laid.total_mass

    @property
    def made_of(self) -> tuple[Codes, Codes | None, NDArray[Any] | None, bool, int, float]:
        """Ranks, groups, weights, whether groups weigh the same, threads, and the number of means."""
        return self._ranks, self._groups, self._weights, self._equal_groups, self._n_threads, self.share

    def __reduce__(self) -> tuple[object, ...]:
        """What it was made of: the rest is laid out again."""
        return _laid_out, (type(self), self.made_of, self.total_weight)

    def take(self, rows: Rows) -> Self:
        """The risk of a part of the sample: a mean of its own."""
        part = object.__new__(type(self))
        part._set(
            self._ranks[rows],
            None if self._groups is None else self._groups[rows],
            None if self._weights is None else self._weights[rows],
            self._equal_groups,
            self._n_threads,
            self.share,
        )
        return part

    def weighing(self, share: float) -> Self:
        """The mean, so many times: a part of a larger one."""
        part = copy.copy(self)
        part._set(self._ranks, self._groups, self._weights, self._equal_groups, self._n_threads, share)
        return part

    @property
    def groups(self) -> Codes | None:
        """The group of each example; None where all are one."""
        return self._groups

    def sample_rows(self, size: int, generator: np.random.Generator) -> Rows:
        """About `size` examples that stand for all: one by one, or groups, of large ones some examples each."""
        n = len(self._ranks)
        if self._groups is None and self._ranks.max() == 1:
            # Of two ranks equally many: the mean over pairs does not depend on their shares, and one may be rare.
            sides = [np.flatnonzero(self._ranks == rank) for rank in (0, 1)]
            fewer = min(len(sides[0]), len(sides[1]), size // 2)
            wanted = [min(len(side), size - fewer) for side in sides]
            drawn = [side[one_of_each(len(side), k, generator)] for side, k in zip(sides, wanted, strict=True)]
            return np.sort(np.concatenate(drawn)).astype(np.int64)
        if self._groups is None:
            return one_of_each(n, size, generator)
        count = int(self._groups.max()) + 1
        chosen = np.zeros(count, dtype=bool)
        chosen[one_of_each(count, groups_drawn(count, n, size), generator)] = True
        rows = np.flatnonzero(chosen[self._groups]).astype(np.int64)
        return rows if len(rows) < 2 * size else rows[one_of_each(len(rows), size, generator)]

    @property
    def inexact(self) -> float:  # type: ignore[override]
        """Pairs are counted exactly; products of weights are differences of sums over the examples."""
        return inexact_sums(weighted=self._weights is not None)

    def resolution(self, scores: Array) -> float:
        """The step of the grid that scores are put on, so that sums of them have no digits to lose."""
        return _core.grid_step(len(scores), float(np.abs(scores).max(initial=0.0)))

    def sort(self, scores: Array, near: _core.PairOrder | None = None) -> _core.SortedPairs:
        """The scores in order, on their grid: what every sweep starts from. Sooner from an order that is nearly it."""
        return self._laid.core.sort(scores, near, self._n_threads)

    def smoothed_mass(self, smoothed: Smoothed, scores: Array, h: float) -> float:
        """As `mass`: places on a kink are sums over windows, exact but for weights that are no whole numbers."""
        largest = float(np.abs(scores).max(initial=0.0))
        return self.mass(smoothed) + smoothed_inexactness(largest, h, weighted=self._weights is not None)

    def value(self, scores: Array) -> float:
        """The risk."""
        return self.cut(scores).value

    def cut(self, scores: Array) -> ScoreCut:
        """The plane at `scores`: every pair at or beyond its kink counts whole."""
        return ScoreCut(*self.sort(scores).cut())

    def ray(self, start: Array, end: Array, near: _core.PairOrder | None = None) -> PairRay:
        """The restriction to a line; sooner with an order that is nearly that of its start."""
        return PairRay(self._laid.core.ray(start, end, near, self._n_threads), self.ray_accuracy)

    def smoothed(self, scores: Array, h: float) -> Smoothed:
        """The risk with every pair's kink rounded over a width h."""
        return rounded(self.sort(scores), scores, h)


def groups_drawn(count: int, n: int, size: int) -> int:
    """Of how many groups a sample is: as many as there is room for, but some, however large these are."""
    return min(count, max(count * size // n, _LEAST_GROUPS))


def inexact_sums(*, weighted: bool) -> float:
    """How far coefficients can be off, in units of what a sum over the examples can be off."""
    return _WEIGHTED if weighted else 0.0


def smoothed_inexactness(largest: float, h: float, *, weighted: bool) -> float:
    """How far those of a risk rounded over h can be off beside that, at scores that are no larger."""
    return _WEIGHTED + (_WEIGHTED * (1.0 + 2.0 * largest) / h if weighted else 0.0)


def rounded(order: _core.SortedPairs, scores: Array, h: float) -> Smoothed:
    """The risk rounded over h at scores whose order is known; every example has pairs on a kink."""
    coef, offset, value = order.smoothed(h, h)
    return Smoothed(coef, offset, value, max(0.0, value - float(coef @ scores) - offset), len(coef))


def _laid_out(kind: type[PairRisk], made_of: tuple[Any, ...], total_weight: float | None) -> PairRisk:
    risk = object.__new__(kind)
    risk._set(*made_of)
    risk.total_weight = total_weight
    return risk


def check_query_names(queries: NDArray[Any]) -> None:
    """Refuse what stands for no query among names that are objects, and names that cannot be compared."""
    if queries.dtype != object:
        return
    for place, query in enumerate(queries.tolist()):
        if query is None or query != query:
            raise ValueError(f"qid[{place}] is {query}; every example needs a query.")
    if len(kinds := {type(query).__name__ for query in queries.tolist()}) > 1 and "str" in kinds:
        raise ValueError(f"qid has values of the types {', '.join(sorted(kinds))}; all must be of one.")


def dense_codes(values: NDArray[Any]) -> Codes:
    """0, 1, 2, ... in the order of the values."""
    offsets = _offsets(values.ravel())
    if offsets is None:
        return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False).ravel()
    present = np.bincount(offsets) > 0
    codes: Codes = (np.cumsum(present) - 1)[offsets]
    return codes


def _offsets(values: NDArray[Any]) -> Codes | None:
    """Whole numbers less the least of them; None where some are not whole, or they are too far apart to be counted."""
    if values.dtype.kind not in "iuf" or not len(values):
        return None
    least, most = values.min(), values.max()
    if not float(most) - float(least) <= _MOST_APART * len(values):  # not a number, too
        return None
    if values.dtype.kind == "f" and not np.array_equal(values, np.rint(values)):
        return None
    wide = values.astype(np.int64) if values.dtype.kind == "i" else values
    offsets: Codes = (wide - least).astype(np.int64)
    return offsets


def _narrow(codes: Codes) -> NDArray[Any]:
    """The same codes in the smallest type: those of 16 bits are sorted in linear time."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def _lay_out(ranks: Codes, groups: Codes | None, weights: Array | None) -> _Layout:
    if len(ranks) >= 2**32:
        raise ValueError(f"There are {len(ranks):,} examples; pairs can be counted among fewer than 4,294,967,296.")
    order = _by_group_and_rank(ranks, groups)
    if weights is not None:
        order = order[weights[order] > 0.0]
    rank, group = ranks[order], np.zeros(len(order), dtype=np.int64) if groups is None else groups[order]
    new_group = np.ones(len(order), dtype=bool)
    new_group[1:] = group[1:] != group[:-1]
    new_leaf = new_group.copy()
    new_leaf[1:] |= rank[1:] != rank[:-1]
    # Groups of one rank have no pair.
    of_place = np.cumsum(new_group) - 1
    several = np.bincount(of_place[new_leaf]) > 1 if len(order) else np.zeros(0, dtype=bool)
    kept = several[of_place]
    order, new_group, new_leaf = order[kept], new_group[kept], new_leaf[kept]
    leaf = np.append(np.flatnonzero(new_leaf), len(order)).astype(np.int64)
    group_of_leaf = np.cumsum(new_group)[leaf[:-1]] - 1
    first_leaf = np.append(np.flatnonzero(new_group[leaf[:-1]]), len(leaf) - 1).astype(np.int64)
    sizes = np.diff(leaf)
    counts = pair_sums(sizes, group_of_leaf)
    masses = sizes if weights is None else np.add.reduceat(weights[order], leaf[:-1]) if len(order) else sizes
    return _Layout(
        order.astype(np.uint32),
        leaf,
        first_leaf,
        counts.astype(np.float64) if weights is None else pair_sums(masses, group_of_leaf),
        counts,
        int(of_place[-1]) + 1 if len(of_place) else 0,
    )


def _by_group_and_rank(ranks: Codes, groups: Codes | None) -> NDArray[np.intp]:
    """The order of the examples: equal ones stay in theirs."""
    if groups is None:
        return np.argsort(_narrow(ranks), kind="stable")
    n_ranks = int(ranks.max(initial=-1)) + 1
    if n_ranks * (int(groups.max(initial=-1)) + 1) <= _SORTED_BY_DIGITS:
        return np.argsort((groups * n_ranks + ranks).astype(np.uint16), kind="stable")
    order = np.argsort(_narrow(ranks), kind="stable")
    return order[np.argsort(_narrow(groups[order]), kind="stable")]


def pair_sums(masses: NDArray[Any], group: Codes) -> NDArray[Any]:
    """By group, the sum over pairs of its ranks of the products of their masses; exact for counts."""
    below = np.cumsum(masses) - masses
    first = np.ones(len(group), dtype=bool)
    first[1:] = group[1:] != group[:-1]
    below -= np.repeat(below[first], np.diff(np.append(np.flatnonzero(first), len(group))))
    starts = np.flatnonzero(first)
    return np.add.reduceat(masses * below, starts) if len(starts) else masses[:0]

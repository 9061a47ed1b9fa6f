"""Dual variables of classes that are trained together, as small whole numbers: for each example a few wrong classes.

A row holds the shares of an example that its wrong classes have: none negative, together at most one. Most are zero,
and are not stored. The others are 0 to 2^bits - 1 parts of one. When they are read, rows that sum to more than one are
scaled down. Where intercepts are free, as much must flow into every class as out of it: flows that do not return are
taken away, and what rounding leaves of them the checker charges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane._types import Integers

Array = NDArray[np.float64]

#: Sizes of codes, from the smallest.
BITS = (8, 16, 32)
# Rows sum to this at most, so that rounding leaves none above one.
_WITHIN = 1.0 - 2.0**-40
# Flows that do not return are left where they are smaller than this part of all.
_RETURNED = 1e-15


class JointCodes(NamedTuple):
    """Rows of codes: those of example i, and the classes they are of, are `start[i]` to `start[i + 1]`."""

    start: NDArray[np.integer]
    classes: NDArray[np.integer]
    numbers: NDArray[np.unsignedinteger]


def encode(shares: Array, bits: int) -> JointCodes:
    """The nearest code of each share, an array of shape (n, n_classes) with zeros for the examples' own classes."""
    rows = sp.csr_array(np.rint(np.clip(shares, 0.0, 1.0) * (2**bits - 1)))
    small = np.min_scalar_type(max(shares.shape[1] - 1, 1))
    return JointCodes(
        rows.indptr.astype(np.int64), rows.indices.astype(small), rows.data.astype(np.dtype(f"u{bits // 8}"))
    )


def decode(codes: JointCodes, y: Integers, factors: Array, weight: Array, *, balance: bool) -> sp.csr_array:
    """The shares that codes stand for, a CSR matrix of shape (n, n_classes).

    `factors` and `weight` say how much of a share flows: weight[i]·factors[y[i], k]·share[i, k] from y[i] to k.
    """
    n, k = len(y), len(factors)
    _check(codes, n, k)
    shares = codes.numbers.astype(np.float64) / (2.0 ** (8 * codes.numbers.dtype.itemsize) - 1.0)
    rows = np.repeat(np.arange(n), np.diff(codes.start))
    classes = codes.classes.astype(np.int64)
    shares[classes == y[rows]] = 0.0  # an example's own class has what is left
    sums = np.bincount(rows, shares, n)
    shares *= (_WITHIN / np.maximum(sums, 1.0))[rows]
    if balance:
        flow = weight[rows] * factors[y[rows], classes] * shares
        flows = np.asarray(np.bincount(y[rows] * k + classes, flow, k * k), np.float64).reshape(k, k)
        kept = circulation(flows)
        shares *= np.divide(kept, flows, out=np.zeros_like(flows), where=flows > 0.0)[y[rows], classes]
    return sp.csr_array((shares, classes, codes.start.astype(np.int64)), shape=(n, k))


def _check(codes: JointCodes, n: int, k: int) -> None:
    start, classes, numbers = codes
    if any(part.dtype.kind not in "iu" or part.ndim != 1 for part in codes):
        raise ValueError("its codes are not whole numbers")
    if numbers.dtype.kind != "u" or 8 * numbers.dtype.itemsize not in BITS or numbers.shape != classes.shape:
        raise ValueError("its codes are not one number for each class that they name")
    if len(start) != n + 1 or start[0] != 0 or start[-1] != len(numbers) or np.any(start[1:] < start[:-1]):
        raise ValueError("its codes are not a row for each example")
    if len(classes) and (int(classes.max()) >= k or int(classes.min()) < 0):
        raise ValueError("its codes are of classes that there are not")


def circulation(flows: Array) -> Array:
    """The flows without those that do not return: as much then comes into every class as goes out.

    Flows are cycles and paths from classes that give more than they get to classes that get more. The paths are taken
    away, the shortest first.
    """
    left = flows.copy()
    np.fill_diagonal(left, 0.0)
    least = _RETURNED * float(left.sum())
    for _ in range(4 * left.size):
        surplus = left.sum(axis=0) - left.sum(axis=1)
        first = int(np.argmin(surplus))
        if -surplus[first] <= least:
            break
        path = _shortest(left > 0.0, first, surplus > 0.0)
        if path is None:
            break
        edges = (np.array(path[:-1]), np.array(path[1:]))
        step = min(-float(surplus[first]), float(surplus[path[-1]]), float(left[edges].min()))
        left[edges] -= step
        left[left < 1e-3 * least / left.size] = 0.0
    return np.minimum(left, flows)


def _shortest(edges: NDArray[np.bool_], first: int, targets: NDArray[np.bool_]) -> list[int] | None:
    """The classes on a shortest path from the first one to a target."""
    before = np.full(len(edges), -1)
    before[first] = first
    frontier = np.array([first])
    while len(frontier):
        reached = edges[frontier] & (before < 0)
        new = np.flatnonzero(reached.any(axis=0))
        before[new] = frontier[reached[:, new].argmax(axis=0)]
        ends = new[targets[new]]
        if len(ends):
            path = [int(ends[0])]
            while path[-1] != first:
                path.append(int(before[path[-1]]))
            return path[::-1]
        frontier = new
    return None

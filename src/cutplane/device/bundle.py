"""Planes whose slopes lie on a device: the QP over them is the host's, from their products alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cutplane.device.kernels import Array, DeviceArray, Kernels
from cutplane.device.vectors import DeviceVector
from cutplane.solvers.bundle.gram import GramBundle
from cutplane.solvers.bundle.planes import Bundle, BundleSolution

# Slopes that are kept together, to be multiplied as a matrix; and the part of the free memory that slopes may take.
_TOGETHER, _SHARE = 16, 0.5
# The fewest planes that are kept, however little memory is left.
_FEWEST = 20


class DeviceBundle:
    """Planes R(w) >= <slope, w> + offset in double precision on a device; otherwise as `Bundle`.

    Parameters
    ----------
    kernels : Kernels
    dimension : int
    lower_bound : float
        What the risk never falls below.
    most : int, optional
        The most planes to keep: as many as there is memory for, unless given.

    Notes
    -----
    Slopes lie in blocks of rows; `_places` has the block and the row of each, in the order of the QP's planes.
    """

    #: Weights are free.
    bounds: Array | None = None

    def __init__(self, kernels: Kernels, dimension: int, *, lower_bound: float = 0.0, most: int | None = None) -> None:
        self._kernels, self._dimension, self._lower_bound = kernels, int(dimension), float(lower_bound)
        self._most = max(_FEWEST, int(_SHARE * kernels.free_bytes / (8 * dimension))) if most is None else most
        self._qp = GramBundle(lower_bound=lower_bound)
        self._gram: Array = np.zeros((0, 0))
        self._errors: list[float] = []
        self._weights: Array = np.zeros(0)
        self._blocks: list[DeviceArray] = []
        self._places: list[tuple[int, int]] = []
        self._free: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._places)

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent elsewhere, it is one of the host."""
        slopes, offsets = self.planes
        return _on_host, (slopes, offsets, self.errors, self._lower_bound)

    @property
    def dimension(self) -> int:
        """The length of a slope."""
        return self._dimension

    @property
    def lower_bound(self) -> float:
        """The height of the trivial plane."""
        return self._lower_bound

    @property
    def planes(self) -> tuple[Array, Array]:
        """The slopes, shape (len, dimension), and the offsets, shape (len,), on the host."""
        rows = [self._kernels.to_host(self._blocks[block][row]) for block, row in self._places]
        return np.stack(rows) if rows else np.zeros((0, self._dimension)), self.offsets

    @property
    def offsets(self) -> Array:
        """Of the planes, shape (len,)."""
        return self._qp.offsets

    @property
    def errors(self) -> Array:
        """How far slopes can be from those of planes that hold, shape (len,)."""
        return np.array(self._errors)

    def copy(self) -> DeviceBundle:
        """An independent bundle with the same planes; slopes are shared, and new ones go to blocks of their own."""
        twin = DeviceBundle(self._kernels, self._dimension, lower_bound=self._lower_bound, most=self._most)
        twin._blocks, twin._places = list(self._blocks), list(self._places)
        twin._set(self._gram, self.offsets.tolist(), self._errors)
        return twin

    def _set(self, gram: Array, offsets: list[float], errors: list[float]) -> None:
        """The QP anew, of planes that are stored."""
        self._qp = GramBundle(lower_bound=self._lower_bound)
        for k, offset in enumerate(offsets):
            self._qp.add(gram[k, : k + 1], offset)
        self._gram, self._errors, self._weights = gram.copy(), list(errors), np.zeros(len(offsets))

    def add(self, slope: Any, offset: float, *, error: float = 0.0) -> None:
        """Add the plane <slope, w> + offset; `error` is how far its slope can be from one that holds."""
        there = DeviceVector.on(self._kernels, slope).array
        if len(self) >= self._most:
            self._make_room()
        products = np.append(self._products(there), float(self._kernels.sides(there * there)[0]))
        if not (math.isfinite(offset) and np.isfinite(products).all()):
            raise ValueError("A plane is not finite, and must be: scale the features, or lower C.")
        self._store(there)
        self._qp.add(products, offset)
        n = len(self) - 1
        gram = np.zeros((n + 1, n + 1))
        gram[:n, :n], gram[n], gram[:, n] = self._gram, products, products
        self._gram, self._weights = gram, np.append(self._weights, 0.0)
        self._errors.append(error)

    def _store(self, slope: DeviceArray) -> None:
        if not self._free:
            rows = min(_TOGETHER, self._most)
            self._blocks.append(self._kernels.xp.zeros((rows, self._dimension)))
            self._free = [(len(self._blocks) - 1, row) for row in reversed(range(rows))]
        block, row = self._free.pop()
        self._blocks[block][row] = slope
        self._places.append((block, row))

    def _products(self, slope: DeviceArray) -> Array:
        """Of the slopes with another one."""
        found = [self._kernels.to_host(block @ slope) for block in self._blocks]
        return np.array([found[block][row] for block, row in self._places])

    def _mixture(self, weights: Array) -> DeviceArray:
        """The sum of the slopes, weighted."""
        total = self._kernels.xp.zeros(self._dimension)
        shares = [np.zeros(len(block)) for block in self._blocks]
        for (block, row), weight in zip(self._places, weights.tolist(), strict=True):
            shares[block][row] = weight
        for block, share in zip(self._blocks, shares, strict=True):
            if share.any():
                total += self._kernels.to_device(share) @ block
        return total

    def solve(self, C: float) -> BundleSolution:
        """Minimise ½|w|² + C·(highest plane at w); the bound is that of the weighted sum itself."""
        solution = self._qp.solve(C)
        self._weights = solution.weights
        w = DeviceVector(self._kernels, self._mixture(-C * solution.weights))
        rest = max(0.0, 1.0 - float(solution.weights.sum()))
        height = float(solution.weights @ self.offsets) + rest * self._lower_bound
        length = math.sqrt(w.inner(w)) + C * float(solution.weights @ self.errors)
        lower = C * height - 0.5 * length**2
        return BundleSolution(w, lower, solution.weights, solution.risk_model, 0.0, 0)  # type: ignore[arg-type]

    def proven_by(self, slope: Any, offset: float, error: float, C: float) -> float:
        """What one plane proves, its slope being within `error` of one that holds."""
        there = DeviceVector.on(self._kernels, slope)
        return C * offset - 0.5 * (C * (math.sqrt(there.inner(there)) + error)) ** 2

    def prune(self, idle: int) -> int:
        """Drop the planes whose weight was zero in each of the last `idle` solves; returns how many."""
        gone = self._qp.idle(idle)
        if len(gone):
            self._qp.remove(gone)
            self._forget(gone.tolist())
        return len(gone)

    def _forget(self, gone: list[int]) -> None:
        """Slopes of planes that the QP has not any more."""
        self._free += [self._places[k] for k in gone]
        kept = [k for k in range(len(self)) if k not in set(gone)]
        self._places, self._errors = [self._places[k] for k in kept], [self._errors[k] for k in kept]
        self._gram, self._weights = self._gram[np.ix_(kept, kept)], self._weights[kept]

    def _make_room(self) -> None:
        """Drop a plane without weight, the one idle for longest; if all have weight, merge the two with least."""
        idle = self._qp.idle(1)
        if len(idle):
            longest = idle[-1:]
            for solves in range(2, 1 << 20):
                found = self._qp.idle(solves)
                if not len(found):
                    break
                longest = found[:1]
            self._qp.remove(longest)
            self._forget(longest.tolist())
            return
        a, b = (int(k) for k in np.argsort(self._weights, kind="stable")[:2])
        total = float(self._weights[a] + self._weights[b])
        shares = np.zeros(len(self))
        shares[a], shares[b] = (0.5, 0.5) if total == 0.0 else (self._weights[a] / total, self._weights[b] / total)
        slope, offset = self._mixture(shares), float(shares @ self.offsets)
        error, offsets = float(shares @ self.errors), self.offsets.tolist()
        kept = [k for k in range(len(self)) if k not in (a, b)]
        self._forget([a, b])
        self._set(self._gram, [offsets[k] for k in kept], self._errors)
        self.add(DeviceVector(self._kernels, slope), offset, error=error)


def _on_host(slopes: Array, offsets: Array, errors: Array, lower_bound: float) -> Bundle:
    bundle = Bundle(slopes.shape[1], lower_bound=lower_bound)
    for slope, offset, error in zip(slopes, offsets.tolist(), errors.tolist(), strict=True):
        bundle.add(slope, offset, error=error)
    return bundle

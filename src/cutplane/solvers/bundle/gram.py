"""A bundle of planes that are known by their inner products alone, as in the feature space of a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane import _core

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


class GramSolution(NamedTuple):
    """The minimiser of ½|w|² + C·(highest plane at w): w = -C times the weighted sum of the slopes.

    Attributes
    ----------
    weights : array of shape (len(bundle),)
        None negative; what they lack to one lies on the trivial plane R >= lower_bound.
    value : float
        C·(weighted offsets) - ½|w|²: a lower bound on the least ½|w|² + C·R(w) if every plane is below R.
    squared_norm : float
        |w|².
    risk_model : float
        The highest plane at w.
    """

    weights: Array
    value: float
    squared_norm: float
    risk_model: float


class GramBundle:
    """Planes R(w) >= <slope, w> + offset by the products of their slopes, and the trivial plane R(w) >= lower_bound.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.solvers.bundle.gram import GramBundle
    >>> bundle = GramBundle()
    >>> bundle.add(np.array([1.0]), 1.0)
    >>> bundle.solve(C=0.5).value
    0.375
    """

    def __init__(self, *, lower_bound: float = 0.0) -> None:
        self._lower_bound = float(lower_bound)
        self._qp = _core.ReducedQp(self._lower_bound)
        # Room for more planes than there are: so that adding one does not copy the products of all.
        self._room: Array = np.zeros((16, 16))
        self._offsets: Array = np.zeros(0)

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def offsets(self) -> Array:
        """Of the planes, in order."""
        return self._offsets

    def add(self, products: Array, offset: float) -> None:
        """Add a plane; `products` are those of its slope with the planes so far in order, then with itself."""
        values = np.ascontiguousarray(products, dtype=np.float64)
        self._qp.append(values, float(offset))
        n = len(self)
        if n == len(self._room):
            room = np.zeros((2 * n, 2 * n))
            room[:n, :n] = self._room
            self._room = room
        self._room[n, : n + 1], self._room[:n, n] = values, values[:n]
        self._offsets = np.append(self._offsets, offset)

    def solve(self, C: float) -> GramSolution:
        """Minimise ½|w|² + C·(highest plane at w)."""
        weights, risk_model, _, _ = self._qp.solve(C)
        squared_norm = max(0.0, C * C * float(weights @ self._room[: len(self), : len(self)] @ weights))
        trivial = max(0.0, 1.0 - float(weights.sum()))
        value = C * (float(weights @ self._offsets) + trivial * self._lower_bound) - 0.5 * squared_norm
        return GramSolution(weights, value, squared_norm, risk_model)

    def idle(self, solves: int) -> Positions:
        """The planes without weight in each of the last `solves` solves."""
        return np.flatnonzero(self._qp.idle() >= solves).astype(np.int64)

    def remove(self, positions: Positions) -> None:
        """Forget planes without weight, at ascending positions."""
        self._qp.remove(np.ascontiguousarray(positions, dtype=np.int64))
        gram = self._room[: len(self), : len(self)]
        kept = np.delete(np.delete(gram, positions, axis=0), positions, axis=1)
        self._room[: len(kept), : len(kept)] = kept
        self._offsets = np.delete(self._offsets, positions)

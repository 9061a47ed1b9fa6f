"""Where the examples live, as a linear map."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


class Source(ABC):
    """The data matrix X, of which only products are ever asked.

    Requires: X does not change while a source over it is in use. Ensures: sources are immutable; products are
    in float64, arrays of their own that the caller may overwrite, and the same to the bit for any number of threads.

    A new source implements `shape`, `scores`, `combine` and `take`; the rest follows from these and is
    overridden where it can be done faster.
    """

    #: Whether rows are read from a file pass by pass, so that `take` copies into memory what may not fit there.
    streamed: bool = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""

    @abstractmethod
    def scores(self, w: Array) -> Array:
        """X @ w in one pass; w of shape (d,) or (d, k)."""

    @abstractmethod
    def combine(self, coef: Array) -> Array:
        """X.T @ coef in one pass; coef of shape (n,) or (n, k). Rows of zeros cost nothing."""

    @abstractmethod
    def take(self, rows: Rows) -> Source:
        """The source over some rows, in the order given."""

    def gathered(self, rows: Rows) -> Source:
        """The same, copied together where that makes many passes over them cheaper."""
        return self.take(rows)

    def curvature(self, rows: Rows, weights: Array, v: Array) -> Array:
        """Sum over `rows` of weights[i] x_i <x_i, v>."""
        part = self.take(rows)
        return part.combine(weights * part.scores(v))

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature` on the same rows."""
        return float(self.shape[1])

    @property
    def exact_gram(self) -> bool:
        """Whether `gram` is summed up in double precision."""
        return True

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i', of which only the lower triangle need be filled."""
        part = self.take(rows)
        dense = part.scores(np.eye(self.shape[1]))
        return np.asarray((dense.T * weights) @ dense)

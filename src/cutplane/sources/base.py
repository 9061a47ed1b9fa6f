"""Where the examples live, as a linear map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.sources.rough import RoughPasses

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


# Rows that are turned dense at a time to measure their length, for so many features at most; of more, the longest is
# estimated from this many random projections and multiplied, to be on the safe side.
_MEASURED_ROWS, _MOST_MEASURED = 1024, 1024
_PROJECTIONS, _SAFETY = 8, 4.0


class Extent(NamedTuple):
    """What rounding in passes over a source is charged by.

    Attributes
    ----------
    reach : float
        The length of the longest example, or more.
    row_depth : int
        The longest chain of additions in a score.
    sum_depth : int
        The longest chain of additions in a sum over all examples.
    columns : array of shape (d,) or None
        The largest size of each feature, where it is known: scales of features differ. Of a feature's weights, if it
        has several, each is multiplied by values no larger than that.
    """

    reach: float
    row_depth: int
    sum_depth: int
    columns: Array | None = None


class Source(ABC):
    """The data matrix X, of which only products are ever asked.

    Requires: X does not change while a source over it is in use. Ensures: sources are immutable; products are
    in float64, arrays of their own that the caller may overwrite, and the same to the bit for any number of threads.

    A new source implements `shape`, `scores`, `combine` and `take`; the rest follows from these and is
    overridden where it can be done faster.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import LinearSVC
    >>> from cutplane.sources import Source
    >>> class Powers(Source):
    ...     "1, t, t² of each number t, never stored."
    ...
    ...     def __init__(self, t):
    ...         self._t = np.asarray(t, dtype=np.float64)
    ...
    ...     @property
    ...     def shape(self):
    ...         return len(self._t), 3
    ...
    ...     def scores(self, w):
    ...         return np.vander(self._t, 3, increasing=True) @ w
    ...
    ...     def combine(self, coef):
    ...         return np.vander(self._t, 3, increasing=True).T @ coef
    ...
    ...     def take(self, rows):
    ...         return Powers(self._t[rows])
    >>> t = np.linspace(-2.0, 2.0, 41)
    >>> bool((LinearSVC(C=100.0).fit(Powers(t), t**2 > 1.0).predict(Powers([0.5, 1.9])) == [False, True]).all())
    True
    """

    #: Whether rows are read from a file pass by pass, so that `take` copies into memory what may not fit there.
    streamed: bool = False
    #: Whether rows lie in other processes, which are asked for one thing after the other.
    elsewhere: bool = False

    def check_finite(self) -> None:  # noqa: B027
        """Refuse values that are not finite; a source that cannot tell without a pass of its own does nothing."""

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

    @property
    def extent(self) -> Extent:
        """What rounding in passes is charged by.

        A source that knows the length of its longest example should say so. Otherwise it is measured, or estimated
        where features are many.
        """
        n, d = self.shape
        return Extent(_longest_row(self), d + 8, n + 8)

    @property
    def row_bytes(self) -> float:
        """What an example takes, in the mean."""
        return 8.0 * self.shape[1]

    def gathered(self, rows: Rows) -> Source:
        """The same, copied together where that makes many passes over them cheaper."""
        return self.take(rows)

    def close_scores(self, w: Array, b: float | Array) -> tuple[Array, float] | None:
        """X @ w + b, rounded about once, and how far off they can be; None where that takes too long."""
        return None

    def exactly(self) -> Source:
        """The same source, whose `gram` is summed up in double precision."""
        return self

    def rough(self) -> RoughPasses:
        """Passes of several columns for what is not certified, as fast as they can be."""
        return RoughPasses(self)

    def curvature(self, rows: Rows, weights: Array, v: Array) -> Array:
        """Sum over `rows` of weights[i] x_i <x_i, v>."""
        part = self.take(rows)
        return part.combine(weights * part.scores(v))

    @property
    def gram_cost(self) -> float:
        """What `gram` costs, in calls of `curvature` on the same rows."""
        return float(self.shape[1])

    @property
    def gram_work(self) -> float:
        """What a row costs in `gram`, in multiplications of a BLAS."""
        return float(self.shape[1]) ** 2

    @property
    def exact_gram(self) -> bool:
        """Whether `gram` is summed up in double precision."""
        return True

    def gram(self, rows: Rows, weights: Array) -> Array:
        """Sum over `rows` of weights[i] x_i x_i', of which only the lower triangle need be filled."""
        part = self.take(rows)
        dense = part.scores(np.eye(self.shape[1]))
        return np.asarray((dense.T * weights) @ dense)


def _longest_row(source: Source) -> float:
    n, d = source.shape
    if d <= _MOST_MEASURED:
        squares = [
            np.square(source.take(np.arange(k, min(k + _MEASURED_ROWS, n))).scores(np.eye(d))).sum(axis=1).max()
            for k in range(0, n, _MEASURED_ROWS)
        ]
        return float(np.sqrt(max(squares, default=0.0))) * (1.0 + 1e-9)
    projections = np.random.default_rng(0).standard_normal((d, _PROJECTIONS))
    estimates = np.square(source.scores(projections)).mean(axis=1)
    return _SAFETY * float(np.sqrt(estimates.max(initial=0.0)))


def given_source(X: object) -> Source | None:
    """What a user handed over, where it is a source and not data that one is made of."""
    return X if isinstance(X, Source) else None

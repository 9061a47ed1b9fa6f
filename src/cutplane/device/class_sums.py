"""What many classes, each against the rest, are asked of on a device: sums over examples for all of them at once.

Scores and coefficients are matrices of the device, in single precision and with a column for each class. What there is
one of for each class (widths, steps, sums) is an array of the host. What is proven is in double precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: An array that lies on the device.
DeviceArray = Any
#: Losses that are known.
CLASS_LOSSES = ("hinge", "squared_hinge", "logistic")
# So many examples tell how large the smallest margins of all are; as much more than is asked for is looked at.
_LOOKED_AT, _MORE = 20_000, 1.5


class ClassExamples(NamedTuple):
    """Examples of many classes.

    Attributes
    ----------
    loss : str
        One of `CLASS_LOSSES`.
    codes : device array of int32
        The class of each example.
    weights : device array or None
        In double precision.
    each : float
        The weight of an example where `weights` is None.
    classes : array of int32
        The class that each column has against the rest.
    """

    loss: str
    codes: DeviceArray
    weights: DeviceArray | None
    each: float
    classes: NDArray[np.int32]


def every(of: ClassExamples, step: int) -> ClassExamples:
    """One of so many examples, with weights that make up for the others."""
    codes = of.codes[::step].copy()
    weights = None if of.weights is None else of.weights[::step].copy()
    if weights is not None:
        weights *= 1.0 / float(weights.sum())
    return of._replace(codes=codes, weights=weights, each=1.0 / len(codes))


class RoundedSums(NamedTuple):
    """Risks with their kinks rounded: coefficients, and sums by class.

    `bend` is the sum of h times the curvatures.
    """

    coef: DeviceArray
    value: Array
    offset: Array
    lean: Array
    bend: Array


class ProvenSums(NamedTuple):
    """Risks and planes below them in double precision, by class; `steep` is how steep the risk is."""

    value: Array
    steep: Array
    offset: Array
    rising: Array
    falling: Array


class ClassSums(ABC):
    """What a device can do for many classes."""

    xp: Any

    @abstractmethod
    def in_single(self, array: Any) -> DeviceArray:
        """An array of the host or the device, on the device in single precision."""

    @abstractmethod
    def to_host(self, array: DeviceArray) -> Array:
        """An array of the device, on the host in double precision."""

    @abstractmethod
    def multiply(self, a: DeviceArray, b: DeviceArray, *, rough: bool) -> DeviceArray:
        """A @ b; `rough`: factors in single precision may be rounded to ten bits."""

    @abstractmethod
    def smoothed(self, of: ClassExamples, S: DeviceArray, h: Array) -> RoundedSums:
        """The risks rounded over h."""

    @abstractmethod
    def extrapolated(self, of: ClassExamples, S: DeviceArray, h: Array, reach: Array) -> tuple[DeviceArray, Array]:
        """Coefficients for h as if examples on kinks of width `reach` stayed on them, and what they add up to."""

    @abstractmethod
    def bent(self, of: ClassExamples, S: DeviceArray, h: Array, D: DeviceArray | None) -> DeviceArray:
        """H times the second derivatives of the risks rounded over h; times D, which is used up."""

    @abstractmethod
    def along(self, of: ClassExamples, S: DeviceArray, D: DeviceArray | None, t: Array, h: Array) -> Array:
        """Slopes and curvatures, a row each, of the rounded risks at S + t D (None: the constant 1)."""

    @abstractmethod
    def mix(self, A: DeviceArray, B: DeviceArray | None, a: Array, b: Array) -> None:
        """A = a A + b B, column by column (None: the constant 1)."""

    @abstractmethod
    def damp(self, A: DeviceArray, values: DeviceArray, a: Array) -> None:
        """Divide row j of A by 1 + a[k] values[j]."""

    @abstractmethod
    def dots(self, A: DeviceArray, B: DeviceArray) -> Array:
        """Sums of products, column by column, in double precision."""

    @abstractmethod
    def picked(self, A: DeviceArray, columns: NDArray[np.int32]) -> DeviceArray:
        """Some columns of a matrix, copied."""

    def nearest(self, of: ClassExamples, S: DeviceArray, most: int) -> list[DeviceArray]:
        """For each class the examples of the smallest margins, at most so many; S has their scores, and is used up."""
        xp, (n, columns) = self.xp, S.shape
        place = np.full(1 + max(int(of.codes.max()), int(of.classes.max())), -1)
        place[of.classes] = np.arange(columns)
        own = xp.asarray(place)[of.codes]
        S *= np.float32(-1.0)
        known = xp.flatnonzero(own >= 0)
        S[known, own[known]] = -S[known, own[known]]
        every = max(1, n // _LOOKED_AT)
        among = xp.sort(S[::every].copy(), axis=0)
        upto = self.to_host(among[min(len(among) - 1, int(_MORE * most / every))])
        found = []
        for k in range(columns):
            margins = xp.ascontiguousarray(S[:, k])
            rows = xp.flatnonzero(margins <= np.float32(upto[k]))
            found.append(rows if len(rows) <= most else rows[xp.argsort(margins[rows])[:most]])
        return found

    @abstractmethod
    def eigen(self, A: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Eigenvalues and eigenvectors of a symmetric matrix."""

    @abstractmethod
    def solve(self, A: DeviceArray, b: DeviceArray) -> DeviceArray:
        """The solution of a positive definite system; not finite where the matrix is not."""

    @abstractmethod
    def weighted(self, X: DeviceArray, weights: DeviceArray) -> DeviceArray:
        """The rows of positive weight, times its root."""

    @abstractmethod
    def proven(
        self,
        of: ClassExamples,
        S: DeviceArray,
        b: Array,
        h: Array,
        off: Array,
        factors: tuple[Array, Array],
        *,
        write: bool,
    ) -> ProvenSums:
        """Risks at scores S + b in double precision, and planes whose sides are scaled; `write`: S becomes these."""

"""The kernels in NumPy, on the host: what the logic around them is tested with, and they themselves beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from cutplane.device.class_sums import ClassSums
from cutplane.device.class_twin import TwinClassSums
from cutplane.device.joint_sums import JointSums
from cutplane.device.joint_twin import TwinJointSums
from cutplane.device.kernels import (
    Array,
    CutSums,
    DeviceArray,
    Examples,
    Kernels,
    SmoothedSums,
    SparseRows,
    segments_of,
)
from cutplane.device.pair_steps import PairSteps
from cutplane.device.pair_steps_twin import TwinPairSteps
from cutplane.device.rank_sums import RankSums
from cutplane.device.rank_twin import TwinRankSums
from cutplane.device.string_kernels import StringKernels
from cutplane.device.string_twin import TwinStrings
from cutplane.device.transfers import Seen
from cutplane.device.twin_arrays import TwinNumPy, on_twin


class _At(NamedTuple):
    """A loss at scores: itself, and rounded over h; the height is that of the plane below the loss itself."""

    value: Array
    slope: Array
    height: Array
    rounded: Array
    curvature: Array


class _Sides(NamedTuple):
    """above·max(0, s - y - epsilon) + below·max(0, y - epsilon - s), the prices by example."""

    above: Any
    below: Any
    epsilon: float

    def height(self, slope: Array, y: Array) -> Array:
        return np.asarray(-slope * y - self.epsilon * np.abs(slope))

    def value(self, s: Array, y: Array) -> Array:
        over, under = s - y - self.epsilon, y - self.epsilon - s
        return np.asarray(self.above * np.maximum(over, 0.0) + self.below * np.maximum(under, 0.0))

    def touch(self, s: Array, y: Array) -> _At:
        slope = np.where(s - y > self.epsilon, self.above, 0.0) - np.where(y - s > self.epsilon, self.below, 0.0)
        value = self.value(s, y)
        return _At(value, slope, self.height(slope, y), value, np.zeros_like(value))

    def at(self, s: Array, y: Array, h: float) -> _At:
        over, under = s - y - self.epsilon, y - self.epsilon - s
        raw_over, raw_under = over / h + 0.5, under / h + 0.5
        pi_over, pi_under = np.clip(raw_over, 0.0, 1.0), np.clip(raw_under, 0.0, 1.0)
        slope = self.above * pi_over - self.below * pi_under
        rounded = self.above * pi_over * (over + 0.5 * h * (1.0 - pi_over)) + self.below * pi_under * (
            under + 0.5 * h * (1.0 - pi_under)
        )
        curvature = ((raw_over == pi_over) * self.above + (raw_under == pi_under) * self.below) / h
        return _At(self.value(s, y), slope, self.height(slope, y), rounded, curvature)

    def extrapolated(self, s: Array, y: Array, h: float, reach: float) -> Array:
        over, under = s - y - self.epsilon, y - self.epsilon - s
        shares = [
            np.where(np.abs(side) <= 0.5 * reach, side / h + 0.5, np.where(side > 0.0, 1.0, 0.0))
            for side in (over, under)
        ]
        return np.asarray(self.above * shares[0] - self.below * shares[1])

    def right(self, s: Array, y: Array, direction: Array) -> Array:
        over, under = s - y - self.epsilon, y - self.epsilon - s
        up = np.where((over > 0.0) | ((over == 0.0) & (direction > 0.0)), self.above, 0.0)
        down = np.where((under > 0.0) | ((under == 0.0) & (direction < 0.0)), self.below, 0.0)
        return np.asarray(up - down)


def _squared_hinge(s: Array, y: Array) -> _At:
    raw = 1.0 - y * s
    z = np.maximum(raw, 0.0)
    return _At(z * z, -2.0 * y * z, z * (2.0 - z), z * z, np.where(raw > 0.0, 2.0, 0.0))


def _logistic(s: Array, y: Array) -> _At:
    m = y * s
    small = np.exp(-np.abs(m))
    less = small / (1.0 + small)
    rest = np.log1p(small)
    value = np.where(m > 0.0, rest, rest - m)
    slope = -y * np.where(m > 0.0, less, 1.0 - less)
    return _At(value, slope, rest + less * np.abs(m), value, less * (1.0 - less))


def _squared_tube(s: Array, y: Array, epsilon: float) -> _At:
    u = s - y
    raw = np.abs(u) - epsilon
    z = np.maximum(raw, 0.0)
    slope = np.where(u > 0.0, 2.0 * z, -2.0 * z)
    return _At(z * z, slope, _squared_height(slope, y, epsilon), z * z, np.where(raw > 0.0, 2.0, 0.0))


def _squared_height(slope: Array, y: Array, epsilon: float) -> Array:
    return np.asarray(-slope * y - epsilon * np.abs(slope) - 0.25 * slope * slope)


def _huber(s: Array, y: Array, delta: float) -> _At:
    u = s - y
    slope = np.clip(u, -delta, delta)
    value = slope * (u - 0.5 * slope)
    return _At(value, slope, -slope * y - 0.5 * slope * slope, value, np.where(slope == u, 1.0, 0.0))


def _entropy(slope: Array, y: Array) -> Array:
    p = np.clip(-y * slope, 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = np.where(p > 0.0, p * np.log(p), 0.0), np.where(p < 1.0, (1.0 - p) * np.log1p(-p), 0.0)
    return np.asarray(-first - second)


_SMOOTH: dict[str, Callable[..., _At]] = {
    "squared_hinge": lambda s, y, *_: _squared_hinge(s, y),
    "logistic": lambda s, y, *_: _logistic(s, y),
    "squared_tube": lambda s, y, a, *_: _squared_tube(s, y, a),
    "huber": lambda s, y, a, *_: _huber(s, y, a),
}
_HEIGHTS: dict[str, Callable[..., Array]] = {
    "squared_hinge": lambda p, y, *_: -y * p - 0.25 * np.square(p),
    "logistic": lambda p, y, *_: _entropy(p, y),
    "squared_tube": lambda p, y, a, *_: _squared_height(p, y, a),
    "huber": lambda p, y, *_: -p * y - 0.5 * p * p,
}


class _Sum(NamedTuple):
    """A sum of losses on the host."""

    of: Examples
    y: Array
    weights: Any

    @classmethod
    def here(cls, of: Examples) -> _Sum:
        weights = of.each if of.weights is None else np.asarray(of.weights)
        return cls(of, np.asarray(of.y, np.float64), weights)

    @property
    def sides(self) -> _Sides | None:
        """Those of a loss that has kinks."""
        if self.of.loss == "hinge":
            return _Sides(np.where(self.y < 0.0, 1.0, 0.0), np.where(self.y < 0.0, 0.0, 1.0), 0.0)
        return _Sides(*self.of.parameters) if self.of.loss == "tube" else None

    def touch(self, s: Array) -> _At:
        sides = self.sides
        return _SMOOTH[self.of.loss](s, self.y, *self.of.parameters) if sides is None else sides.touch(s, self.y)

    def at(self, s: Array, h: float) -> _At:
        sides = self.sides
        return _SMOOTH[self.of.loss](s, self.y, *self.of.parameters) if sides is None else sides.at(s, self.y, h)

    def add(self, each: Array) -> float:
        return float((self.weights * each).sum())


def _numbers(X: DeviceArray, entries: str) -> Array:
    """Entries in double precision."""
    bits = np.asarray(X)
    # The upper half of single precision.
    return (
        (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        if entries == "bfloat16"
        else (bits.astype(np.float64))
    )


class TwinKernels(Kernels):
    """Arrays of "the device" are NumPy's own, but for what they mix with."""

    xp = TwinNumPy()

    def class_sums(self) -> ClassSums:
        """The same for many classes at once."""
        return TwinClassSums()

    def joint_sums(self) -> JointSums:
        """Passes for classes that are one problem."""
        return TwinJointSums()

    def pair_steps(self) -> PairSteps:
        """Pair steps of kernel machines."""
        return TwinPairSteps()

    def strings(self) -> StringKernels:
        """Passes over strings."""
        return TwinStrings()

    def rank_sums(self) -> RankSums:
        """Sums over pairs of different rank."""
        return TwinRankSums()

    @property
    def free_bytes(self) -> int:
        """As much as a GPU may have."""
        return 1 << 36

    @property
    def devices(self) -> int:
        """As many as several parts need."""
        return 4

    @property
    def current(self) -> int:
        """All are the host."""
        return 0

    def use(self, number: int) -> None:
        """All are the host."""

    def csr_to_device(self, parts: tuple[DeviceArray, DeviceArray, DeviceArray], shape: tuple[int, int]) -> Any:
        """A CSR matrix of SciPy's."""
        return sp.csr_array(tuple(map(np.asarray, parts)), shape=shape, copy=False)

    def to_device(self, array: Any, seen: Seen | None = None) -> DeviceArray:
        """The array, as one of the device; in two parts, the last one first, where they are seen."""
        found = on_twin(array)
        if seen is not None:
            half = len(found) // 2
            for begin, part in ((half, found[half:]), (0, found[:half])):
                if len(part):
                    seen(begin, part)
        return found

    def to_host(self, array: DeviceArray) -> Any:
        """The array, as one of the host."""
        return np.asarray(array)

    def value(self, of: Examples, s: DeviceArray) -> float:
        """The risk."""
        here = _Sum.here(of)
        return here.add(here.touch(np.asarray(s)).value)

    def cut(self, of: Examples, s: DeviceArray) -> CutSums:
        """The plane that touches the risk at scores."""
        here = _Sum.here(of)
        at = here.touch(np.asarray(s))
        coef = here.weights * at.slope
        return CutSums(on_twin(coef), here.add(at.value), here.add(at.height), float(np.abs(coef).sum()))

    def smoothed(self, of: Examples, s: DeviceArray, h: float) -> SmoothedSums:
        """The risk rounded over h."""
        here, scores = _Sum.here(of), np.asarray(s)
        at = here.at(scores, h)
        coef = here.weights * at.slope
        value, offset = here.add(at.value), here.add(at.height)
        error = here.add(at.value - at.slope * scores - at.height)
        curved, mass = int((at.curvature > 0.0).sum()), float(np.abs(coef).sum())
        return SmoothedSums(on_twin(coef), value, offset, error, curved, mass)

    def extrapolated(self, of: Examples, s: DeviceArray, h: float, reach: float) -> DeviceArray:
        """Coefficients for width h as if examples on a kink of width `reach` stayed on it."""
        here, scores = _Sum.here(of), np.asarray(s)
        sides = here.sides
        slope = here.at(scores, h).slope if sides is None else sides.extrapolated(scores, here.y, h, reach)
        return on_twin(here.weights * slope)

    def curved(self, of: Examples, s: DeviceArray, h: float) -> DeviceArray:
        """H times the second derivatives of the risk rounded over h, of every example."""
        here = _Sum.here(of)
        return on_twin(h * here.weights * here.at(np.asarray(s), h).curvature)

    def along(
        self,
        of: Examples,
        s: DeviceArray,
        other: DeviceArray | None,
        steps: Sequence[float],
        h: float,
        *,
        towards: bool,
    ) -> list[tuple[float, float, float]]:
        """Value, slope and curvature of the risk rounded over h (0: itself) at several steps along a line."""
        here, start = _Sum.here(of), np.asarray(s)
        direction = np.ones_like(start) if other is None else np.asarray(other) - (start if towards else 0.0)
        return [self._step(here, start + t * direction, direction, h) for t in steps]

    @staticmethod
    def _step(here: _Sum, score: Array, direction: Array, h: float) -> tuple[float, float, float]:
        if h > 0.0:
            at = here.at(score, h)
            bend = here.add(at.curvature * direction * direction)
            return here.add(at.rounded), here.add(at.slope * direction), bend
        sides, at = here.sides, here.touch(score)
        slope = at.slope if sides is None else sides.right(score, here.y, direction)
        return here.add(at.value), here.add(slope * direction), 0.0

    def leans(self, of: Examples, s: DeviceArray, shifts: Sequence[float]) -> Array:
        """What the coefficients of `cut` add up to, each of these constants added to the scores."""
        here, scores = _Sum.here(of), np.asarray(s)
        return np.array([here.add(here.touch(scores + t).slope) for t in shifts])

    def offset(self, of: Examples, coef: DeviceArray) -> tuple[float, float]:
        """The offset of the highest plane with these coefficients, and their sizes added up."""
        here, given = _Sum.here(of), np.asarray(coef)
        weights = np.broadcast_to(here.weights, given.shape)
        slope = np.divide(given, weights, out=np.zeros_like(given), where=weights > 0.0)
        sides = here.sides
        height = _HEIGHTS[of.loss](slope, here.y, *of.parameters) if sides is None else sides.height(slope, here.y)
        return here.add(height), float(np.abs(given).sum())

    def sides(self, coef: DeviceArray) -> tuple[float, float, float]:
        """The sum of all numbers, of the positive and of the negative ones."""
        given = np.asarray(coef)
        return float(given.sum()), float(given[given > 0.0].sum()), float(given[given < 0.0].sum())

    def dense_scores(self, X: DeviceArray, entries: str, w: DeviceArray) -> DeviceArray:
        """X @ w, in double precision."""
        return on_twin(_numbers(X, entries) @ np.asarray(w))

    def dense_combine(self, X: DeviceArray, entries: str, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, in double precision."""
        return on_twin(_numbers(X, entries).T @ np.asarray(coef))

    def dense_extent(self, X: DeviceArray, entries: str) -> tuple[DeviceArray, DeviceArray]:
        """The largest sum of the squares of a row, and the largest size in every column."""
        wide = _numbers(X, entries)
        return on_twin(np.square(wide).sum(axis=1).max()), on_twin(np.abs(wide).max(axis=0))

    def dense_gather(self, X: DeviceArray, entries: str, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[k] times some rows, in double precision."""
        return on_twin(np.asarray(scale)[:, None] * _numbers(X, entries)[np.asarray(rows)])

    def csr_scores(self, X: SparseRows, w: DeviceArray) -> DeviceArray:
        """X @ w, in double precision."""
        return on_twin(X.rows.astype(np.float64) @ np.asarray(w))

    def csr_combine(self, X: SparseRows, coef: DeviceArray, *, squared: bool = False) -> DeviceArray:
        """X.T @ coef, in double precision: by segments, as the device has them; `squared`: of squared entries."""
        assert X.columns is not None
        data, rows, begins, first = map(np.asarray, X.columns)
        given, entries = np.asarray(coef), data.astype(np.float64) ** (2 if squared else 1)
        parts = [float(entries[b:e] @ given[rows[b:e]]) for b, e in pairwise(begins.tolist())]
        return on_twin(np.array([sum(parts[f:g]) for f, g in pairwise(first.tolist())], np.float64))

    def csr_take(self, rows: Any, positions: DeviceArray) -> Any:
        """Some rows of a CSR matrix, copied."""
        return rows[np.asarray(positions)]

    def csr_gather(self, rows: Any, positions: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[k] times some rows of a CSR matrix, dense and in double precision."""
        dense = rows[np.asarray(positions)].toarray().astype(np.float64)
        return on_twin(np.asarray(scale)[:, None] * dense)

    def csr_columns(self, rows: Any) -> SparseRows:
        """A CSR matrix, and the same by columns."""
        by_columns = rows.tocsc()
        begins, first = map(on_twin, segments_of(by_columns.indptr.astype(np.int64)))
        return SparseRows(rows, (on_twin(by_columns.data), on_twin(by_columns.indices), begins, first))

    def largest(self, columns: DeviceArray, indices: DeviceArray, data: DeviceArray) -> None:
        """Of columns, the largest sizes of some more entries; those that are no numbers are passed over."""
        np.fmax.at(columns.view(np.ndarray), np.asarray(indices), np.abs(np.asarray(data, np.float64)))

    def csr_extent(self, rows: Any, columns: DeviceArray | None = None) -> tuple[float, int, Array]:
        """The largest sum of the squares of a row, the most entries of one, and the largest size in every column."""
        wide = abs(rows).astype(np.float64)
        if columns is None or not np.isfinite(wide.data).all():
            columns = np.asarray(wide.max(axis=0).toarray()).ravel()
        wide.data = wide.data**2
        return float(wide.sum(axis=1).max()), int(np.diff(rows.indptr).max()), np.asarray(columns)

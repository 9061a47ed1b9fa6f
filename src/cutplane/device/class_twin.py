"""Sums over examples for many classes, in NumPy: the logic around them is tested with these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.device.class_sums import Array, ClassExamples, ClassSums, DeviceArray, ProvenSums, RoundedSums
from cutplane.device.twin_arrays import TwinNumPy, on_twin
from cutplane.proof.losses import ScoreLoss, make_loss


class _At(NamedTuple):
    """Losses at margins: minus their slopes p, rounded over h, what p proves, and curvatures."""

    value: Array
    p: Array
    height: Array
    curvature: Array


def _hinge(m: Array, h: Any) -> _At:
    z = 1.0 - m
    raw = z / h + 0.5
    p = np.clip(raw, 0.0, 1.0)
    return _At(np.maximum(z, 0.0), p, p, (raw == p) / h)


def _squared_hinge(m: Array, h: Any) -> _At:
    z = np.maximum(1.0 - m, 0.0)
    return _At(z * z, 2.0 * z, z * (2.0 - z), np.where(m < 1.0, 2.0, 0.0))


def _logistic(m: Array, h: Any) -> _At:
    small = np.exp(-np.abs(m))
    less, rest = small / (1.0 + small), np.log1p(small)
    p = np.where(m > 0.0, less, 1.0 - less)
    return _At(np.where(m > 0.0, rest, rest - m), p, rest + less * np.abs(m), less * (1.0 - less))


_LOSSES: dict[str, Callable[[Array, Any], _At]] = {
    "hinge": _hinge,
    "squared_hinge": _squared_hinge,
    "logistic": _logistic,
}


class _Sum(NamedTuple):
    """The examples on the host: signs by class, and weights."""

    at: Callable[[Array, Any], _At]
    y: Array
    weights: Any

    @classmethod
    def here(cls, of: ClassExamples) -> _Sum:
        y = np.where(np.asarray(of.codes)[:, None] == of.classes, 1.0, -1.0)
        weights = of.each if of.weights is None else np.asarray(of.weights)[:, None]
        return cls(_LOSSES[of.loss], y, weights)

    def rounded(self, S: DeviceArray, h: Array) -> _At:
        return self.at(self.y * np.asarray(S, np.float64), h)


def _single(values: Array) -> DeviceArray:
    return on_twin(np.ascontiguousarray(values, np.float32))


class TwinClassSums(ClassSums):
    """Arrays of "the device" are NumPy's own, but for what they mix with."""

    xp = TwinNumPy()

    def in_single(self, array: Any) -> DeviceArray:
        """An array, as one of the device in single precision."""
        return on_twin(np.asarray(array, np.float32))

    def to_host(self, array: DeviceArray) -> Array:
        """An array of the device, on the host in double precision."""
        return np.array(array, np.float64)

    def multiply(self, a: DeviceArray, b: DeviceArray, *, rough: bool) -> DeviceArray:
        """A @ b, never rougher than its factors."""
        return a @ b

    def smoothed(self, of: ClassExamples, S: DeviceArray, h: Array) -> RoundedSums:
        """The risks rounded over h."""
        here = _Sum.here(of)
        at = here.rounded(S, h)
        coef = -here.y * here.weights * at.p
        value, offset = ((here.weights * each).sum(axis=0) for each in (at.value, at.height))
        bend = (here.weights * h * at.curvature).sum(axis=0)
        return RoundedSums(_single(coef), value, offset, coef.sum(axis=0), bend)

    def extrapolated(self, of: ClassExamples, S: DeviceArray, h: Array, reach: Array) -> tuple[DeviceArray, Array]:
        """Coefficients for h as if examples on kinks of width `reach` stayed on them, and what they add up to."""
        here = _Sum.here(of)
        p = here.rounded(S, h).p
        if of.loss == "hinge":
            z = 1.0 - here.y * np.asarray(S, np.float64)
            p = np.where(np.abs(z) <= 0.5 * reach, z / h + 0.5, np.where(z > 0.0, 1.0, 0.0))
        coef = -here.y * here.weights * p
        return _single(coef), coef.sum(axis=0)

    def bent(self, of: ClassExamples, S: DeviceArray, h: Array, D: DeviceArray | None) -> DeviceArray:
        """H times the second derivatives of the risks rounded over h; times D."""
        here = _Sum.here(of)
        bend = here.weights * h * here.rounded(S, h).curvature
        return _single(bend if D is None else bend * np.asarray(D))

    def along(self, of: ClassExamples, S: DeviceArray, D: DeviceArray | None, t: Array, h: Array) -> Array:
        """Slopes and curvatures, a row each, of the rounded risks at S + t D (None: the constant 1)."""
        here = _Sum.here(of)
        direction = np.ones(S.shape) if D is None else np.asarray(D, np.float64)
        at = here.rounded(np.asarray(S) + t * direction, h)
        slope = (-here.y * here.weights * at.p * direction).sum(axis=0)
        return np.stack([slope, (here.weights * at.curvature * direction**2).sum(axis=0)])

    def mix(self, A: DeviceArray, B: DeviceArray | None, a: Array, b: Array) -> None:
        """A = a A + b B, column by column (None: the constant 1)."""
        A[:] = _single(a * np.asarray(A) + b * (1.0 if B is None else np.asarray(B)))

    def damp(self, A: DeviceArray, values: DeviceArray, a: Array) -> None:
        """Divide row j of A by 1 + a[k] values[j]."""
        A[:] = _single(np.asarray(A) / (1.0 + a * np.asarray(values)[:, None]))

    def dots(self, A: DeviceArray, B: DeviceArray) -> Array:
        """Sums of products, column by column, in double precision."""
        return np.asarray((np.asarray(A, np.float64) * np.asarray(B, np.float64)).sum(axis=0))

    def picked(self, A: DeviceArray, columns: NDArray[np.int32]) -> DeviceArray:
        """Some columns of a matrix, copied."""
        return on_twin(np.ascontiguousarray(np.asarray(A)[:, columns]))

    def eigen(self, A: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Eigenvalues and eigenvectors of a symmetric matrix."""
        values, vectors = np.linalg.eigh(np.asarray(A))
        return on_twin(values), on_twin(vectors)

    def solve(self, A: DeviceArray, b: DeviceArray) -> DeviceArray:
        """The solution of a positive definite system."""
        return on_twin(np.linalg.solve(np.asarray(A), np.asarray(b)))

    def weighted(self, X: DeviceArray, weights: DeviceArray) -> DeviceArray:
        """The rows of positive weight, times its root."""
        rows = np.flatnonzero(np.asarray(weights))
        return on_twin(np.asarray(X)[rows] * np.sqrt(np.asarray(weights)[rows])[:, None])

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
        here, loss = _Sum.here(of), make_loss(of.loss, {})
        scores = np.asarray(S) + b
        at = here.at(here.y * scores, h)
        p = at.p * np.where(here.y < 0.0, *factors)
        mass = here.weights * p
        if write:
            S[:] = on_twin(-here.y * mass)
        return ProvenSums(
            (here.weights * loss.value(scores, here.y)).sum(axis=0),
            (here.weights * _steepness(loss, scores, here.y, off)).sum(axis=0),
            (-here.weights * loss.conjugate(-here.y * p, here.y)).sum(axis=0),
            np.where(here.y < 0.0, mass, 0.0).sum(axis=0),
            np.where(here.y < 0.0, 0.0, mass).sum(axis=0),
        )


def _steepness(loss: ScoreLoss, scores: Array, y: Array, off: Array) -> Array:
    columns = (loss.steepness(scores[:, k], y[:, k], float(off[k])) for k in range(len(off)))
    return np.stack(list(columns), axis=1)

"""Many classes, each against the rest, on examples of a device: all of them take their steps together.

One product of matrices serves all classes. What shows the way is in single precision; what is proven of the weights
that come of it is in double precision, with products of their own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.deadline import time_is_up
from cutplane.device.class_sums import ClassExamples, ClassSums, RoundedSums
from cutplane.device.kernels import Array, DeviceArray
from cutplane.device.source import DenseRows, rows_at_once
from cutplane.solvers.newton.lockstep import Looks

# A system is solved until its residual has fallen to this fraction, with so many products at most.
_RESIDUAL_LEFT, _MOST_PRODUCTS = 0.2, 60
# Seconds that the factors of one class take, and that a product takes for each of its operations and each score. H200.
_FACTORS, _OPERATION, _SCORE, _FEWEST_PRODUCTS = 4e-3, 3e-15, 5e-12, 9
# Steps are searched until the slope has fallen to this fraction, with so many looks at most.
_SLOPE_LEFT, _MOST_LOOKS = 0.2, 10
# The same for the intercepts.
_LEAN_LEFT, _MOST_SHIFTS = 1e-5, 12


class _Moments(NamedTuple):
    """The second moments of all examples, around their mean where intercepts are free: eigenvalues and vectors."""

    values: DeviceArray
    vectors: DeviceArray


class _System(NamedTuple):
    """The system of a Newton step: identity plus `scale` times the curvature, which is centred by its `mean`.

    `mean` is the sum of examples times curvatures, `bend` that of the curvatures; without intercepts there is none.
    """

    width: Array
    scale: Array
    bend: Array
    mean: DeviceArray | None


class LockstepShard:
    """The classes that are under way: their weights and scores, on the device.

    Parameters
    ----------
    sums : ClassSums
    X : device array of shape (n, d)
        In single precision.
    of : ClassExamples
        Weights that sum to one.
    C : float
        Of the whole risk.
    intercept : bool
        Whether each class has one, free.
    rough : bool
        Whether factors of products may be rounded to ten bits.
    """

    def __init__(
        self, sums: ClassSums, X: DeviceArray, of: ClassExamples, C: float, *, intercept: bool, rough: bool
    ) -> None:
        self._sums, self._X, self._of, self._C = sums, X, of, C
        self._intercept, self._rough = intercept, rough
        (n, d), k = X.shape, len(of.classes)
        self._W, self._S = sums.xp.zeros((d, k), np.float32), sums.xp.zeros((n, k), np.float32)
        self._b = np.zeros(k)
        self._slope: DeviceArray = None
        self._rounded: RoundedSums | None = None
        self._known: _Moments | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and of classes."""
        d, k = self._W.shape
        return int(d), int(k)

    @property
    def first_width(self) -> float:
        """The width that has all examples on a kink at scores of zero."""
        return 2.0

    @property
    def has_kinks(self) -> bool:
        """Whether there is anything to round."""
        return self._of.loss == "hinge"

    @property
    def factors_cost(self) -> float:
        """What the factors of a class cost, in products of its own."""
        n, d = self._X.shape
        return float(max(_FEWEST_PRODUCTS, _FACTORS / (n * (4 * d * _OPERATION + _SCORE))))

    @property
    def weights(self) -> tuple[Array, Array]:
        """Weights, a column for each class, and intercepts."""
        return self._sums.to_host(self._W), self._b.copy()

    def begin(self, w: Array, intercept: Array, h: Array) -> None:
        """Go on from weights and, nearly, intercepts: the best of the risks rounded over h."""
        self._W, self._b = self._sums.in_single(np.ascontiguousarray(w)), intercept.copy()
        self._S = self._sums.multiply(self._X, self._W, rough=self._rough)
        self._sums.mix(self._S, None, np.ones_like(intercept), intercept)
        if self._intercept:
            self._rounded = self._sums.smoothed(self._of, self._S, h)._replace(coef=None)
            self._settle(h)

    def keep(self, columns: NDArray[np.int32]) -> None:
        """Go on with some of the classes."""
        self._of = self._of._replace(classes=np.ascontiguousarray(self._of.classes[columns]))
        self._W, self._S = self._sums.picked(self._W, columns), self._sums.picked(self._S, columns)
        self._b = self._b[columns]
        if self._rounded is not None:
            self._slope = self._sums.picked(self._slope, columns)
            self._rounded = RoundedSums(None, *(each[columns] for each in self._rounded[1:]))

    def look(self, h: Array) -> Looks:
        """Where the classes stand, their kinks rounded over h."""
        sums, C = self._sums, self._C
        found = sums.smoothed(self._of, self._S, h)
        self._slope = self._combined(found.coef)
        self._rounded = found._replace(coef=None)
        squares, planes = sums.dots(self._W, self._W), sums.dots(self._slope, self._slope)
        gradient = self._gradient(self._slope)
        upper, lower = 0.5 * squares + C * found.value, C * found.offset - 0.5 * C**2 * planes
        return Looks(upper, lower, 0.5 * sums.dots(gradient, gradient))

    def step(self, h: Array, reach: Array, going: NDArray[np.bool_], directly: NDArray[np.bool_]) -> NDArray[np.int64]:
        """A Newton step for width h, examples within `reach` thought to stay on their kinks; a look came before.

        Of the classes that are `going`, systems of those marked `directly` are factored. Returns how many products
        each class took.
        """
        assert self._rounded is not None
        sums, C, slope, lean = self._sums, self._C, self._slope, self._rounded.lean
        if (h != reach).any():
            coef, lean = sums.extrapolated(self._of, self._S, h, reach)
            slope = self._combined(coef)
            del coef
        right, system = self._gradient(slope), self._system(h, reach)
        if system.mean is not None:
            sums.mix(right, system.mean, np.ones_like(h), -C * lean / system.bend)
        P, taken = self._solved(system, right, going & ~directly)
        for k in np.flatnonzero(going & directly):
            if time_is_up():
                break
            self._solve_directly(system, right, int(k), P)
        shift = np.zeros_like(h)
        if system.mean is not None:
            shift = -(C * lean + system.scale * sums.dots(system.mean, P)) / (system.scale * system.bend)
        self._search(P, shift, h, -np.abs(sums.dots(right, P)))
        return taken

    def _combined(self, coef: DeviceArray) -> DeviceArray:
        return self._sums.multiply(self._X.T, coef, rough=self._rough)

    def _gradient(self, slope: DeviceArray) -> DeviceArray:
        """Of ½|w|² + C times the risk."""
        found = slope.copy()
        ones = np.ones(len(self._b))
        self._sums.mix(found, self._W, self._C * ones, ones)
        return found

    def _system(self, h: Array, reach: Array) -> _System:
        assert self._rounded is not None
        bend = np.maximum(self._rounded.bend, 1e-30)
        mean = None
        if self._intercept:
            mean = self._combined(self._sums.bent(self._of, self._S, reach, None))
        return _System(reach, self._C / h, bend, mean)

    def _times(self, system: _System, V: DeviceArray) -> DeviceArray:
        """The system times weights: two products over all examples."""
        sums = self._sums
        scores = sums.multiply(self._X, V, rough=self._rough)
        found = self._combined(sums.bent(self._of, self._S, system.width, scores))
        sums.mix(found, V, system.scale, np.ones_like(system.scale))
        if system.mean is not None:
            along = sums.dots(system.mean, V)
            sums.mix(found, system.mean, np.ones_like(along), -system.scale * along / system.bend)
        return found

    def _solved(
        self, system: _System, right: DeviceArray, wanted: NDArray[np.bool_]
    ) -> tuple[DeviceArray, NDArray[np.int64]]:
        """The solution for minus the right side by conjugate gradients, and the products that each class took."""
        sums, ones = self._sums, np.ones(len(self._b))
        P, taken = sums.xp.zeros(right.shape, np.float32), np.zeros(len(ones), np.int64)
        if not wanted.any():
            return P, taken
        rest = right.copy()
        Z = self._preconditioned(system, rest)
        V = Z.copy()
        before = sums.dots(rest, Z)
        left, aim = before, _RESIDUAL_LEFT**2 * before
        for _ in range(_MOST_PRODUCTS):
            going = wanted & (left > aim) & (left > 0.0)
            if not going.any() or time_is_up():
                break
            taken += going
            AV = self._times(system, V)
            bend = sums.dots(V, AV)
            a = np.where(going & (bend > 0.0), left / np.where(bend > 0.0, bend, 1.0), 0.0)
            sums.mix(P, V, ones, -a)
            sums.mix(rest, AV, ones, -a)
            Z = self._preconditioned(system, rest)
            now = sums.dots(rest, Z)
            sums.mix(V, Z, np.where(going, now / np.where(left > 0.0, left, 1.0), 0.0), ones)
            left = np.where(going, now, left)
        return P, taken

    @property
    def _moments(self) -> _Moments:
        if self._known is None:
            sums, X, of = self._sums, self._X, self._of
            n, d = X.shape
            weights = sums.xp.full((n, 1), of.each, np.float32) if of.weights is None else sums.in_single(of.weights)
            part = X if of.weights is None else sums.weighted(X, weights)
            moments = sums.multiply(part.T, part, rough=self._rough)
            if of.weights is None:
                moments *= np.float32(of.each)
            if self._intercept:
                mean = sums.multiply(X.T, weights.reshape(n, 1), rough=False)
                moments -= mean * mean.reshape(1, d)
            values, vectors = sums.eigen(moments)
            self._known = _Moments(sums.xp.maximum(values, np.float32(0.0)), vectors)
        return self._known

    def _preconditioned(self, system: _System, rest: DeviceArray) -> DeviceArray:
        """As if the examples on kinks were like all the others."""
        moments, sums = self._moments, self._sums
        inside = sums.multiply(moments.vectors.T, rest, rough=self._rough)
        sums.damp(inside, moments.values, system.scale * system.bend)
        return sums.multiply(moments.vectors, inside, rough=self._rough)

    def _solve_directly(self, system: _System, right: DeviceArray, k: int, P: DeviceArray) -> None:
        sums, d = self._sums, self._X.shape[1]
        one = np.array([k], np.int32)
        of = self._of._replace(classes=self._of.classes[one])
        weights = sums.bent(of, sums.picked(self._S, one), system.width[one], None)
        part = sums.weighted(self._X, weights[:, 0])
        A = sums.multiply(part.T, part, rough=False).astype(np.float64)
        if system.mean is not None:
            mean = sums.picked(system.mean, one).astype(np.float64)
            A -= (mean * mean.reshape(1, d)) * (1.0 / float(system.bend[k]))
        A *= float(system.scale[k])
        A += sums.xp.eye(d)
        P[:, k] = -sums.solve(A, right[:, k].astype(np.float64)).astype(np.float32)

    def _search(self, P: DeviceArray, shift: Array, h: Array, expected: Array) -> None:
        """Move along directions, as far as the objectives rounded over h fall."""
        sums, ones = self._sums, np.ones_like(h)
        D = sums.multiply(self._X, P, rough=self._rough)
        sums.mix(D, None, ones, shift)
        straight, square = sums.dots(self._W, P), sums.dots(P, P)
        t, low, high = ones.copy(), np.zeros_like(h), np.full_like(h, np.inf)
        allowed, found = np.abs(_SLOPE_LEFT * expected), np.zeros_like(h)
        for _ in range(_MOST_LOOKS):
            along, bend = sums.along(self._of, self._S, D, t, h)
            slope, bend = straight + t * square + self._C * along, square + self._C * bend
            good = np.abs(slope) <= allowed
            found = np.where(good & (found == 0.0), t, found)
            if (found > 0.0).all():
                break
            low, high = np.where(slope < 0.0, t, low), np.where(slope >= 0.0, t, high)
            t = _between(t - slope / np.maximum(bend, 1e-300), low, high)
        t = np.where(found > 0.0, found, low)
        t = np.where(np.isfinite(t), t, 0.0)
        sums.mix(self._W, P, ones, t)
        sums.mix(self._S, D, ones, t)
        self._b += t * shift
        if self._intercept:
            del D
            self._settle(h)

    def _settle(self, h: Array) -> None:
        """The best intercepts of the rounded risks, nearly."""
        sums = self._sums
        t, low, high = np.zeros_like(h), np.full_like(h, -np.inf), np.full_like(h, np.inf)
        for _ in range(_MOST_SHIFTS):
            slope, bend = sums.along(self._of, self._S, None, t, h)
            low, high = np.where(slope < 0.0, t, low), np.where(slope >= 0.0, t, high)
            if (np.abs(slope) <= _LEAN_LEFT * self._sides).all():
                break
            ahead = np.clip(-slope / np.maximum(bend, 1e-300), -1.0 - np.abs(t), 1.0 + np.abs(t))
            t = _between(t + ahead, low, high)
        sums.mix(self._S, None, np.ones_like(h), t)
        self._b += t

    @property
    def _sides(self) -> Array:
        """What the coefficients of a class add up to, in size: about as much as the rarer side has."""
        assert self._rounded is not None
        return np.maximum(np.abs(self._rounded.offset), 1e-12)


def _between(t: Array, low: Array, high: Array) -> Array:
    """Steps inside of their brackets: in the middle where they are not, or twice as far where there is no end."""
    near, far = np.where(np.isinf(low), 0.0, low), np.where(np.isinf(high), 0.0, high)
    wide = np.where(np.isinf(high), 2.0 * near + 1.0, np.where(np.isinf(low), 2.0 * far - 1.0, 0.5 * (near + far)))
    return np.where((t > low) & (t < high) & np.isfinite(t), t, wide)


class ProvenPlanes(NamedTuple):
    """The risks of weights, and planes below them: by class, in double precision.

    Attributes
    ----------
    value, steep : array
        The risks, and how steep they are.
    slope : array of shape (n_features, n_classes)
    offset, mass, lean : array
        Of the planes; sizes of coefficients added up, and their own sums.
    """

    value: Array
    steep: Array
    slope: Array
    offset: Array
    mass: Array
    lean: Array


def proven_planes(
    sums: ClassSums, rows: DenseRows, of: ClassExamples, w: Array, intercept: Array, h: Array, off: Array, *, free: bool
) -> ProvenPlanes:
    """What weights are worth, from these and the examples alone.

    Parameters
    ----------
    sums : ClassSums
    rows : DenseRows
    of : ClassExamples
    w : array of shape (n_features, n_classes)
    intercept, h : array
        Of each class; planes are those of the risk rounded over h.
    off : array
        How far scores can be off.
    free : bool
        Whether an intercept is free: planes are balanced.
    """
    n, d = rows.shape
    xp, size = sums.xp, rows_at_once(d)
    S, there = xp.empty((n, w.shape[1])), xp.asarray(np.ascontiguousarray(w))
    for begin in range(0, n, size):
        S[begin : begin + size] = rows.block(begin, begin + size, np.float64) @ there
    ones = np.ones(w.shape[1])
    factors = ones, ones
    if free:
        first = sums.proven(of, S, intercept, h, off, factors, write=False)
        least = np.minimum(first.rising, first.falling)
        factors = _share(least, first.rising), _share(least, first.falling)
    found = sums.proven(of, S, intercept, h, off, factors, write=True)
    slope = xp.zeros((d, w.shape[1]))
    for begin in range(0, n, size):
        slope += rows.block(begin, begin + size, np.float64).T @ S[begin : begin + size]
    mass = (found.rising + found.falling) * (1.0 + 1e-9)
    return ProvenPlanes(
        found.value, found.steep, sums.to_host(slope), found.offset, mass, np.abs(found.rising - found.falling)
    )


def _share(least: Array, side: Array) -> Array:
    return np.minimum(1.0, np.divide(least, side, out=np.ones_like(side), where=side > 0.0))


def depth_of(n: int, d: int) -> int:
    """The longest chain of additions in a sum over n rows, however a product of matrices takes it."""
    return n + math.ceil(n / rows_at_once(d)) + 8

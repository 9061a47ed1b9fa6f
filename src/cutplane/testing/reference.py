"""Readable NumPy twins of the kernels in core/: what they compute, without how they do it fast.

They are the oracle in tests, never a fallback. Matrices are dense; a sparse one is turned dense first.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Matrix

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


# --- passes over the data (core/matrix/matrix.hpp) ---


def dense(X: Matrix) -> Array:
    """X as a dense float64 array, whatever it is stored as."""
    full = X.toarray() if hasattr(X, "toarray") else X
    return np.array(full, dtype=np.float64)


def scores(X: Matrix, w: Array) -> Array:
    """X w."""
    return np.asarray(dense(X) @ w)


def combine(X: Matrix, coef: Array) -> Array:
    """X' coef."""
    return np.asarray(dense(X).T @ coef)


def curvature(X: Matrix, rows: Rows, weights: Array, v: Array) -> Array:
    """Sum over `rows` of weights[i] x_i <x_i, v>."""
    chosen = dense(X)[rows]
    return np.asarray(chosen.T @ (weights * (chosen @ v)))


def gram(X: Matrix, rows: Rows, weights: Array) -> Array:
    """Sum over `rows` of weights[i] x_i x_i'."""
    chosen = dense(X)[rows]
    return np.asarray((chosen.T * weights) @ chosen)


# --- the hinge (core/losses/hinge.hpp) ---


class Plane(NamedTuple):
    """A plane below a risk: <coef, scores> + offset, and the risk where it was taken."""

    coef: Array
    offset: float
    value: float


class RoundedHinge(NamedTuple):
    """The hinge rounded over a width, with the plane below the hinge itself that it gives."""

    coef: Array
    offset: float
    value: float
    error: float
    kinks: int


class HingeSample:
    """Labels and weights: the risk is the sum of c_i max(0, 1 - y_i s_i).

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 or +1.
    weights : array of shape (n,), optional
        The c_i themselves; 1 / n each if None.
    """

    def __init__(self, y: ArrayLike, weights: ArrayLike | None = None) -> None:
        self.y = np.asarray(y, dtype=np.float64)
        n = len(self.y)
        self.c = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=np.float64)

    def _margin_gap(self, s: Array) -> Array:
        """z_i = 1 - y_i s_i: how far an example is beyond its kink."""
        return np.asarray(1.0 - self.y * s)

    def _plane(self, s: Array, pi: Array) -> Plane:
        """The plane of weights pi in [0, 1]: any such plane is below the hinge."""
        return Plane(-self.c * self.y * pi, float(self.c @ pi), self.value(s))

    def value(self, s: Array) -> float:
        """The risk."""
        return float(self.c @ np.maximum(0.0, self._margin_gap(s)))

    def cut(self, s: Array) -> Plane:
        """The subgradient plane: pi_i = 1 iff the example is at or beyond its kink."""
        return self._plane(s, np.where(self._margin_gap(s) >= 0.0, 1.0, 0.0))

    def balanced_cut(self, s: Array, width: float) -> Plane:
        """As `cut`, the examples within `width` of their kinks weighted so that the coefficients sum to zero.

        Where they cannot, the heavier side is scaled down: below the risk all the same, and tight no more.
        """
        z = self._margin_gap(s)
        beyond, on, positive = z > width, np.abs(z) <= width, self.y > 0
        pi = np.where(beyond, 1.0, 0.0)
        excess = self.c[beyond & positive].sum() - self.c[beyond & ~positive].sum()
        lighter = ~positive if excess > 0.0 else positive
        to_share = self.c[on & lighter].sum()
        if to_share > 0.0:
            pi[on & lighter] = min(1.0, abs(excess) / to_share)
        light, heavy = (self.c * pi)[lighter].sum(), (self.c * pi)[~lighter].sum()
        if heavy > 0.0:
            pi[~lighter] *= min(1.0, light / heavy)
        return self._plane(s, pi)

    def _rounded_weights(self, z: Array, h: float) -> Array:
        return np.clip(z / h + 0.5, 0.0, 1.0)

    def smoothed(self, s: Array, h: float) -> RoundedHinge:
        """The plane of the rounded hinge's slope, with what rounding costs."""
        z = self._margin_gap(s)
        pi = self._rounded_weights(z, h)
        plane = self._plane(s, pi)
        error = float(self.c @ (np.maximum(0.0, z) - pi * z))
        return RoundedHinge(*plane, error, int(np.count_nonzero(np.abs(z) <= 0.5 * h)))

    def extrapolated(self, s: Array, h: float, reach: float) -> Array:
        """Coefficients for width h, without clipping the examples on the kink of width `reach`."""
        z = self._margin_gap(s)
        pi = np.where(np.abs(z) <= 0.5 * reach, z / h + 0.5, np.where(z > 0.0, 1.0, 0.0))
        return np.asarray(-self.c * self.y * pi)

    def kinks(self, s: Array, h: float) -> tuple[Rows, Array]:
        """The examples on the kink of width h, and their weights."""
        rows = np.flatnonzero(np.abs(self._margin_gap(s)) <= 0.5 * h)
        return rows, self.c[rows]

    def ray(self, s: Array, direction: ArrayLike, t: float, h: float = 0.0) -> tuple[float, float, float]:
        """Value, right derivative and curvature at s + t·direction, rounded over h (0: the hinge itself)."""
        fall = self.y * np.asarray(direction)
        z = self._margin_gap(s) - t * fall
        if h == 0.0:
            grows = (z > 0.0) | ((z == 0.0) & (fall < 0.0))
            return float(self.c @ np.maximum(0.0, z)), -float((self.c * fall)[grows].sum()), 0.0
        pi = self._rounded_weights(z, h)
        on = np.abs(z) <= 0.5 * h
        value = float(self.c @ np.where(on, 0.5 * h * pi**2, np.maximum(0.0, z)))
        return value, -float(self.c @ (pi * fall)), float((self.c * fall**2)[on].sum()) / h

    def ray_minimum(
        self, s: Array, direction: ArrayLike, quadratic: float, linear: float, C: float, start: float = 0.0
    ) -> float:
        """Argmin over t >= start of ½ quadratic t² + linear t + C·risk(s + t·direction).

        Goes through all breakpoints in order. -inf or inf where the function falls for ever.
        """
        fall = np.broadcast_to(self.y * np.asarray(direction), self.y.shape)
        moving = fall != 0.0
        points = self._margin_gap(s)[moving] / fall[moving]
        jumps = (self.c * np.abs(fall))[moving]
        order = np.argsort(points, kind="stable")
        points, jumps = points[order], jumps[order]
        past = points <= start
        # Before every breakpoint the examples that fall are beyond their kinks, those that rise are not yet.
        slope = linear + C * (jumps[past].sum() - (self.c * fall)[fall > 0.0].sum())
        left = start
        for point, jump in zip(points[~past], jumps[~past], strict=True):
            if np.isfinite(left) and quadratic * left + slope >= 0.0:
                return float(left)
            if quadratic * point + slope >= 0.0:
                return float(-slope / quadratic) if quadratic > 0.0 else float(left)
            slope += C * jump
            left = point
        if np.isfinite(left) and quadratic * left + slope >= 0.0:
            return float(left)
        return float(-slope / quadratic) if quadratic > 0.0 else float(left)

    def best_intercept(self, s: Array) -> float:
        """The constant that, added to every score, makes the risk least: one of the kinks."""
        candidates = self.y - s
        return float(candidates[np.argmin([self.value(s + b) for b in candidates])])


# --- dual coordinate ascent (core/ascent/dual_ascent.hpp) ---


def dual_ascent(X: Matrix, y: ArrayLike, upper: ArrayLike, epochs: int) -> tuple[Array, Array]:
    """The dual variables and v = sum alpha_i y_i x_i after so many sweeps in order, without an intercept."""
    signed = dense(X) * np.asarray(y, dtype=np.float64)[:, None]
    bounds = np.broadcast_to(np.asarray(upper, dtype=np.float64), len(signed))
    norms = (signed**2).sum(axis=1)
    alpha, v = np.zeros(len(signed)), np.zeros(signed.shape[1])
    for _ in range(epochs):
        for i, x in enumerate(signed):
            gain = 1.0 - float(x @ v)
            # An empty row's loss is 1 whatever the weights are: its variable belongs at the bound.
            step = gain / norms[i] if norms[i] > 0.0 else np.inf
            best = min(max(alpha[i] + step, 0.0), bounds[i])
            v += (best - alpha[i]) * x
            alpha[i] = best
    return alpha, v


# --- the reduced QP (core/bundle/reduced_qp.hpp) ---


def reduced_qp(slopes: Array, offsets: Array, C: float, lower_bound: float = 0.0) -> tuple[Array, float]:
    """Minimise ½|w|² + C·max(planes, lower_bound) by trying every set of planes that could carry weight.

    Returns w and the value. Exponential in the number of planes: for a handful.
    """
    count, dimension = slopes.shape
    all_slopes = np.vstack([np.zeros(dimension), slopes])
    all_offsets = np.concatenate([[lower_bound], offsets])

    def value(w: Array) -> float:
        return 0.5 * float(w @ w) + C * float((all_slopes @ w + all_offsets).max())

    best = np.zeros(dimension)
    for size in range(1, min(count, dimension) + 2):
        for support in combinations(range(count + 1), size):
            weights = _equal_heights(all_slopes[list(support)], all_offsets[list(support)], C)
            if weights.min() < -1e-9:
                continue
            w = -C * weights @ all_slopes[list(support)]
            if value(w) < value(best):
                best = w
    return best, value(best)


def _equal_heights(slopes: Array, offsets: Array, C: float) -> Array:
    """The weights, summing to one, whose w sees all these planes at one height."""
    n = len(offsets)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = C * slopes @ slopes.T
    system[n, n] = 0.0
    solution = np.linalg.lstsq(system, np.concatenate([offsets, [1.0]]), rcond=None)[0]
    return np.asarray(solution[:n])

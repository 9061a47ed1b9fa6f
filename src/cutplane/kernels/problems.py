"""Dual problems of kernel machines, all of one form that `cutplane.kernels.smo.solve` takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Signs = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class DualProblem:
    """Minimise ½ a'Qa + p'a subject to y'a = y'start, 0 <= a <= upper, where Q_ij = y_i y_j K_ij.

    There may be several variables to a row of the kernel matrix, as in regression: with n rows, variable t belongs to
    row t % n.

    Parameters
    ----------
    y : array of int8, -1 or +1
    p : array
    upper : array
        The C_i, finite and 0 or greater; a variable with C_i = 0 stays at zero.
    start : array, optional
        A feasible point; zero if None. It determines the constant of the equality.
    grouped : bool
        Whether y'a is fixed for each label by itself, as the nu-machines need: then e'a is fixed too.
    p_error : array, optional
        What each p may be off by, for its rounding: certificates are charged for it.
    start_error : float
        What the constant of each equality may be off by, for the same reason.

    The class methods make the problems of the usual machines. `f(x) = Σ y_i a_i K(x_i, x) - rho` throughout.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.kernels import DualProblem, Kernel, KernelMatrix, solve
    >>> X, y = np.array([[0.0], [1.0]]), np.array([-1, 1], np.int8)
    >>> matrix = KernelMatrix(X, Kernel("linear"))
    >>> solve(DualProblem.classification(y, np.full(2, 10.0)), matrix).alpha.round(3)
    array([2., 2.])
    """

    y: Signs
    p: Array
    upper: Array
    start: Array | None = None
    grouped: bool = False
    p_error: Array | None = None
    start_error: float = 0.0

    def __post_init__(self) -> None:
        for name, values in (("p", self.p), ("upper", self.upper), ("start", self.start)):
            if values is None:
                continue
            if values.shape != self.y.shape:
                raise ValueError(f"{name} has shape {values.shape}; y has shape {self.y.shape}, and they must agree.")
            if not math.isfinite(values @ values) and not np.isfinite(values).all():
                where = int(np.flatnonzero(~np.isfinite(values))[0])
                raise ValueError(f"{name}[{where}]={values[where]} must be finite.")
        if not (np.abs(self.y) == 1).all():
            where = int(np.flatnonzero(np.abs(self.y) != 1)[0])
            raise ValueError(f"y[{where}]={self.y[where]} must be -1 or +1.")
        if self.upper.size and self.upper.min() < 0:
            where = int(np.flatnonzero(self.upper < 0)[0])
            raise ValueError(f"upper[{where}]={self.upper[where]} must be 0 or greater.")
        if self.start is not None and np.any((self.start < 0) | (self.start > self.upper)):
            where = int(np.flatnonzero((self.start < 0) | (self.start > self.upper))[0])
            raise ValueError(f"start[{where}]={self.start[where]} must lie between 0 and upper={self.upper[where]}.")

    @classmethod
    def classification(cls, y: ArrayLike, C: ArrayLike) -> DualProblem:
        """C-SVC: minimise ½|w|² + Σ C_i max(0, 1 - y_i f(x_i)); y in {-1, +1}, C one number or one per example."""
        signs = np.ascontiguousarray(y, np.int8)
        return cls(signs, np.full(len(signs), -1.0), _per_example(C, len(signs)))

    @classmethod
    def classifications(cls, signs: Sequence[Signs], C: Sequence[Array]) -> list[DualProblem]:
        """`classification` of many, checked together."""
        together = cls.classification(np.concatenate(signs), np.concatenate(C))
        problems, begin = [], 0
        for own in signs:
            end, problem = begin + len(own), object.__new__(cls)
            for name in ("start", "p_error"):
                object.__setattr__(problem, name, None)
            for name in ("y", "p", "upper"):
                object.__setattr__(problem, name, getattr(together, name)[begin:end])
            for name in ("grouped", "start_error"):
                object.__setattr__(problem, name, getattr(together, name))
            problems.append(problem)
            begin = end
        return problems

    @classmethod
    def regression(cls, target: ArrayLike, C: ArrayLike, epsilon: float) -> DualProblem:
        """epsilon-SVR: variables a (y = +1) then a* (y = -1); the coefficients of f are a - a*."""
        z = np.asarray(target, np.float64)
        upper = _per_example(C, len(z))
        p = np.concatenate([epsilon - z, epsilon + z])
        lost = _lost(epsilon, np.concatenate([-z, z]), p)
        return cls(_both(len(z)), p, np.concatenate([upper, upper]), p_error=lost if lost.any() else None)

    @classmethod
    def one_class(cls, n: int, nu: float, weights: ArrayLike = 1.0) -> DualProblem:
        """One-class SVM as LIBSVM scales it: 0 <= a_i <= weight_i, Σ a_i = nu Σ weight_i; f = Σ a_i K - rho."""
        upper = _per_example(weights, n)
        start = _fill(upper, nu * float(upper.sum()))
        return cls(np.ones(n, np.int8), np.zeros(n), upper, start, start_error=_start_error(nu, upper, start))

    @classmethod
    def nu_classification(cls, y: ArrayLike, nu: float, weights: ArrayLike = 1.0) -> DualProblem:
        """nu-SVC: Σ a = nu Σ weight, half of it on either class.

        With `rho` the result's two thresholds, r = (rho[0] - rho[1]) / 2 is the margin and (rho[0] + rho[1]) / 2 the
        offset; LIBSVM divides the coefficients and the offset by r, and C = 1 / r is the C-SVC of the same solution.
        """
        signs = np.ascontiguousarray(y, np.int8)
        upper = _per_example(weights, len(signs))
        half = 0.5 * nu * float(upper.sum())
        start = np.zeros(len(signs))
        for label in (1, -1):
            of_label = signs == label
            if float(upper[of_label].sum()) < half * (1 - 1e-12):
                raise ValueError(f"nu={nu!r} is infeasible: it must be at most twice the weight of the smaller class.")
            start[of_label] = _fill(upper[of_label], half)
        error = max(_start_error(0.5 * nu, upper, start[signs == label]) for label in (1, -1))
        return cls(signs, np.zeros(len(signs)), upper, start, grouped=True, start_error=error)

    @classmethod
    def nu_regression(cls, target: ArrayLike, C: ArrayLike, nu: float) -> DualProblem:
        """nu-SVR: as `regression`, with Σ (a + a*) = nu Σ C_i in place of epsilon.

        The offset is (rho[0] + rho[1]) / 2 and the tube's half-width epsilon is -(rho[0] - rho[1]) / 2.
        """
        z = np.asarray(target, np.float64)
        upper = _per_example(C, len(z))
        half = _fill(upper, 0.5 * nu * float(upper.sum()))
        return cls(
            _both(len(z)),
            np.concatenate([-z, z]),
            np.concatenate([upper, upper]),
            np.concatenate([half, half]),
            grouped=True,
            start_error=_start_error(0.5 * nu, upper, half),
        )


def _per_example(value: ArrayLike, n: int) -> Array:
    values = np.asarray(value, np.float64)
    return np.ascontiguousarray(values if values.shape == (n,) else np.broadcast_to(values, (n,)))


def _lost(a: float, b: Array, total: Array) -> Array:
    """What the sum of a and b lost by its rounding, in size (Knuth)."""
    of_b = total - a
    return np.asarray(np.abs((a - (total - of_b)) + (b - of_b)))


def _both(n: int) -> Signs:
    return np.repeat(np.array([1, -1], np.int8), n)


def _start_error(nu: float, upper: Array, start: Array) -> float:
    """How far the sum of `start` can be from nu Σ upper."""
    total = nu * math.fsum(upper)
    return abs(math.fsum(start) - total) + 2.0 * float(np.finfo(np.float64).eps) * total


def _fill(upper: Array, total: float) -> Array:
    """As much as each may hold, in order, until `total` is spent."""
    before = np.concatenate([[0.0], np.cumsum(upper)[:-1]])
    filled: Array = np.clip(total - before, 0.0, upper)
    return filled

"""The systems of an interior point for classes that are one problem: by a factor, or by conjugate gradients.

A system is the penalty plus C Σ c_i x_i x_i' ⊗ (diag θ_i - θ_i θ_i' / Σ θ_i), θ being weights over slacks. Beside its
diagonal it is minus a sum over pairs of classes; every block on the diagonal is minus the sum of the others in its row.
"""

from __future__ import annotations

import numpy as np

from cutplane._runtime.deadline import time_is_up
from cutplane.device.class_sums import Array, ClassSums, DeviceArray
from cutplane.device.joint_sums import Interior, JointExamples, JointSums
from cutplane.device.source import rows_at_once

# Of a pair of classes, examples that weigh no more than this part of the mean are left out.
_LIGHT = 0.01
# Added to the diagonal, relative to it: single precision has rounded the sums. And where that was not enough.
_RIDGES = (1e-6, 1e-4, 1e-2)
# A system is solved until its residual has fallen to this fraction, with so many products at most.
_RESIDUAL_LEFT, _MOST_PRODUCTS = 0.1, 300
# What intercepts, which have no penalty, have for one where systems are solved roughly.
_INTERCEPT_PENALTY = 1e-3


class JointRows:
    """Rows of a device in single precision, and what the weights on each feature are penalised by.

    Parameters
    ----------
    sums : ClassSums
    X : device array of shape (n, d)
        In single precision; the last feature that is not zero is constant where intercepts are free.
    penalty : array of shape (d,)
        One, or zero for the constant feature.
    """

    def __init__(self, sums: ClassSums, X: DeviceArray, penalty: Array) -> None:
        self.sums, self.X, self.penalty = sums, X, penalty
        self.column = sums.in_single(penalty.reshape(-1, 1))
        found = np.flatnonzero(penalty == 0.0)
        self._free = int(found[0]) if len(found) else None

    @property
    def free(self) -> int | None:
        """The constant feature."""
        return self._free

    def scores(self, W: DeviceArray, *, rough: bool) -> DeviceArray:
        """X @ W."""
        return self.sums.multiply(self.X, W, rough=rough)

    def combined(self, coef: DeviceArray, *, rough: bool) -> DeviceArray:
        """X.T @ coef; what leans on intercepts is a difference of large numbers, which products would round."""
        found = self.sums.multiply(self.X.T, coef, rough=rough)
        if self._free is not None:
            found[self._free] = self.sums.xp.sum(coef, axis=0, dtype=np.float64)
        return found


class FactoredSystem:
    """Solved by a Cholesky factor: the sums over examples are made pair by pair of classes."""

    def __init__(self, joint: JointSums, rows: JointRows, of: JointExamples, C: float) -> None:
        self._joint, self._rows, self._of, self._C = joint, rows, of, C
        self._squares = self._lengths()

    def _lengths(self) -> DeviceArray:
        """Of the rows, squared."""
        X, xp = self._rows.X, self._joint.xp
        n, d = X.shape
        found, size = xp.empty((n, 1), np.float32), rows_at_once(d)
        for begin in range(0, n, size):
            part = X[begin : begin + size]
            found[begin : begin + size] = (part * part).sum(axis=1)[:, None]
        return found

    def solved(self, at: Interior, right: DeviceArray, *, rough: bool) -> DeviceArray:
        """The solution; not finite where there is none."""
        (d, columns), xp = right.shape, self._joint.xp
        A = self._matrix(at, rough=rough)
        b = xp.ascontiguousarray(right.T).reshape(d * columns, 1).astype(np.float64)
        diagonal = A.reshape(-1)[:: d * columns + 1]
        for ridge in _RIDGES:
            diagonal *= 1.0 + ridge
            found = self._joint.solved(self._joint.factor(A), b)
            if bool(np.isfinite(float((found * found).sum()))):
                break
        return xp.ascontiguousarray(found.reshape(columns, d).T.astype(np.float32))

    def _matrix(self, at: Interior, *, rough: bool) -> DeviceArray:
        """Features within classes; of the blocks beside the diagonal those below it."""
        sums, rows, xp = self._rows.sums, self._rows, self._joint.xp
        d, columns = rows.X.shape[1], at.p.shape[1]
        A = xp.zeros((columns, d, columns, d))
        shares = self._joint.shares(self._of, at)
        for a in range(columns - 1):
            weights = shares[:, a + 1 :] * shares[:, a : a + 1] * np.float32(self._C)
            sizes = weights * self._squares
            heavy = sizes > sizes.sum(axis=0) * np.float32(_LIGHT / len(sizes))
            for b in range(a + 1, columns):
                here = xp.flatnonzero(heavy[:, b - a - 1])
                part = rows.X[here]
                part *= xp.sqrt(weights[:, b - a - 1][here])[:, None]
                gram = sums.multiply(part.T, part, rough=rough)
                A[b, :, a, :] -= gram
                A[a, :, a, :] += gram
                A[b, :, b, :] += gram
        if rows.free is not None:  # all intercepts moved alike change nothing
            A[:, rows.free, :, rows.free] += 1.0
        diagonal = A.reshape(-1)[:: columns * d + 1]
        diagonal += xp.asarray(np.tile(rows.penalty, columns))
        return A.reshape(columns * d, columns * d)


class ProductSystem:
    """Solved by conjugate gradients, as if the examples between classes were like all the others."""

    def __init__(self, joint: JointSums, rows: JointRows, of: JointExamples, C: float) -> None:
        self._joint, self._rows, self._of, self._C = joint, rows, of, C
        sums, X = rows.sums, rows.X
        n, d = X.shape
        scale = 1.0 / np.sqrt(np.where(rows.penalty == 0.0, _INTERCEPT_PENALTY, 1.0))
        column = sums.in_single(scale.reshape(-1, 1))
        moments = sums.xp.zeros((d, d), np.float32)
        size = rows_at_once(d)
        for begin in range(0, n, size):
            part = X[begin : begin + size]
            moments += sums.multiply(part.T, part, rough=True)
        moments *= column * column.reshape(1, d) * np.float32(1.0 / n)
        values, vectors = sums.eigen(moments)
        self._values, self._vectors = (
            sums.xp.maximum(values, np.float32(0.0)),
            sums.xp.ascontiguousarray(vectors * column),
        )

    def solved(self, at: Interior, right: DeviceArray, *, rough: bool) -> DeviceArray:
        """The solution, nearly."""
        sums, columns = self._rows.sums, right.shape[1]
        ones = np.ones(columns)
        bend = self._C * sums.to_host(self._joint.bent(self._of, at, None).sum(axis=0))
        found, rest = sums.xp.zeros(right.shape, np.float32), right.copy()
        Z = self._preconditioned(rest, bend)
        V = Z.copy()
        left = float(sums.dots(rest, Z).sum())
        aim = _RESIDUAL_LEFT**2 * left
        for _ in range(_MOST_PRODUCTS):
            if not left > aim or time_is_up():
                break
            AV = self._times(at, V, rough=rough)
            along = float(sums.dots(V, AV).sum())
            if not along > 0.0:
                break
            a = left / along
            sums.mix(found, V, ones, a * ones)
            sums.mix(rest, AV, ones, -a * ones)
            Z = self._preconditioned(rest, bend)
            now = float(sums.dots(rest, Z).sum())
            sums.mix(V, Z, now / left * ones, ones)
            left = now
        return found

    def _times(self, at: Interior, V: DeviceArray, *, rough: bool) -> DeviceArray:
        bent = self._joint.bent(self._of, at, self._rows.scores(V, rough=rough))
        found = self._rows.combined(bent, rough=rough)
        found *= np.float32(self._C)
        found += self._rows.column * V
        return found

    def _preconditioned(self, rest: DeviceArray, bend: Array) -> DeviceArray:
        sums = self._rows.sums
        inside = sums.multiply(self._vectors.T, rest, rough=True)
        sums.damp(inside, self._values, bend)
        return sums.multiply(self._vectors, inside, rough=True)


System = FactoredSystem | ProductSystem

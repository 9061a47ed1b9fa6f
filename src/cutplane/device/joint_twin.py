"""Passes for classes that are one problem, in NumPy: the logic around them is tested with these."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl

from cutplane.device.class_sums import Array, DeviceArray
from cutplane.device.joint_sums import Interior, InteriorSums, JointExamples, JointPlane, JointSums
from cutplane.device.twin_arrays import TwinNumPy, on_twin

# What weights and slacks never fall below, and what the weights of a plane leave to one for their rounding.
LEAST_WEIGHT, LEAST_SLACK, LEFT_TO_ONE = 1e-20, 1e-12, 1e-12


class _Here(NamedTuple):
    """The examples and where they stand, on the host in double precision."""

    rows: Any
    codes: Any
    weights: Any
    p: Array
    s: Array

    @classmethod
    def of(cls, of: JointExamples, at: Interior) -> _Here:
        codes = np.asarray(of.codes)
        return cls(np.arange(len(codes)), codes, _weights(of), *(np.asarray(each, np.float64) for each in at))

    def spread(self, target: float) -> tuple[Array, Array, Array]:
        """P / s and its sum by example; what p lacks to the target at these slacks."""
        theta = self.p / self.s
        return theta, theta.sum(axis=1, keepdims=True), target / self.s - self.p


def _weights(of: JointExamples) -> Any:
    return of.each if of.weights is None else np.asarray(of.weights)[:, None]


def _single(values: Array) -> DeviceArray:
    return on_twin(np.ascontiguousarray(values, np.float32))


class TwinJointSums(JointSums):
    """Arrays of "the device" are NumPy's own, but for what they mix with."""

    xp = TwinNumPy()

    def plane(self, of: JointExamples, at: Interior) -> InteriorSums:
        """The plane of the weights, and where it stands."""
        here, cost = _Here.of(of, at), np.asarray(of.cost)
        coef = here.weights * here.p
        coef[here.rows, here.codes] = 0.0
        offset = float((coef * cost[here.codes]).sum())
        coef[here.rows, here.codes] = -coef.sum(axis=1)
        own = here.s[here.rows, here.codes][:, None]
        value = float((here.weights * (own - here.s.min(axis=1, keepdims=True))).sum())
        return InteriorSums(_single(coef), value, offset, float((here.weights * here.p * here.s).sum()))

    def aimed(self, of: JointExamples, at: Interior, target: float) -> DeviceArray:
        """Coefficients after a step that changes no score, towards weights times slacks of `target`."""
        here = _Here.of(of, at)
        theta, total, lack = here.spread(target)
        found = here.p + lack - theta * lack.sum(axis=1, keepdims=True) / total
        found[here.rows, here.codes] -= 1.0
        return _single(here.weights * found)

    def bent(self, of: JointExamples, at: Interior, D: DeviceArray | None) -> DeviceArray:
        """How coefficients change with scores that change by D; without D the diagonal of that."""
        here = _Here.of(of, at)
        theta, total, _ = here.spread(0.0)
        if D is None:
            return _single(here.weights * theta * (1.0 - theta / total))
        way = np.asarray(D, np.float64)
        return _single(here.weights * theta * (way - (theta * way).sum(axis=1, keepdims=True) / total))

    def shares(self, of: JointExamples, at: Interior) -> DeviceArray:
        """Numbers whose products, of two classes, are minus what `bent` has beside its diagonal."""
        here = _Here.of(of, at)
        theta, total, _ = here.spread(0.0)
        return _single(np.sqrt(here.weights / total) * theta)

    def move(self, of: JointExamples, at: Interior, D: DeviceArray, target: float, most: float) -> None:
        """Make the step whose scores change by D: every example as far as it goes, up to `most` of its way to zero."""
        here, way = _Here.of(of, at), np.asarray(D, np.float64)
        theta, total, lack = here.spread(target)
        rise = (lack.sum(axis=1, keepdims=True) + (theta * way).sum(axis=1, keepdims=True)) / total - way
        change = lack - theta * rise
        reach = np.where(change < 0.0, -here.p / np.where(change < 0.0, change, -1.0), np.inf).min(
            axis=1, keepdims=True
        )
        p = np.maximum(here.p + np.minimum(1.0, most * reach) * change, LEAST_WEIGHT)
        lift = np.maximum(((1.0 - most) * here.s - (here.s + rise)).max(axis=1, keepdims=True), 0.0)
        at.p[:] = _single(p / p.sum(axis=1, keepdims=True))
        at.s[:] = _single(np.maximum(here.s + rise + lift, LEAST_SLACK))

    def proven(
        self, of: JointExamples, p: DeviceArray, S: DeviceArray, b: DeviceArray, kept: DeviceArray | None
    ) -> JointPlane:
        """What scores S + b in double precision are worth, and the weights p; S becomes the plane's coefficients."""
        codes, weights, cost = np.asarray(of.codes), _weights(of), np.asarray(of.cost)
        rows, scores = np.arange(len(codes)), np.asarray(S) + np.asarray(b)
        lines = cost[codes] + (scores - scores[rows, codes][:, None])
        coef = np.where(np.asarray(p) > 0.0, np.asarray(p, np.float64), 0.0)  # none where there is no number
        coef[rows, codes] = 0.0
        total = coef.sum(axis=1, keepdims=True)
        coef *= weights * np.where(total > 1.0 - LEFT_TO_ONE, (1.0 - LEFT_TO_ONE) / np.maximum(total, 1e-300), 1.0)
        if kept is not None:
            coef *= np.asarray(kept)[codes]
        offset, mass = float((coef * cost[codes]).sum()), 2.0 * float(coef.sum())
        coef[rows, codes] = -coef.sum(axis=1)
        S[:] = on_twin(coef)
        return JointPlane(float((weights * lines.max(axis=1, keepdims=True)).sum()), offset, mass)

    def factor(self, A: DeviceArray) -> DeviceArray:
        """The Cholesky factor of a matrix; not finite where there is none."""
        try:
            return on_twin(np.linalg.cholesky(np.asarray(A)))
        except np.linalg.LinAlgError:
            return on_twin(np.full(A.shape, np.nan))

    def solved(self, factor: DeviceArray, b: DeviceArray) -> DeviceArray:
        """The solution of a system whose factor is known."""
        return on_twin(sl.cho_solve((np.asarray(factor), True), np.asarray(b), check_finite=False))

"""Passes for classes that are one problem, on a GPU through CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cutplane.device import text
from cutplane.device.class_sums import Array, DeviceArray
from cutplane.device.joint_sums import Interior, InteriorSums, JointExamples, JointPlane, JointSums
from cutplane.device.kernels import THREADS
from cutplane.device.programs import Kernel, kernel

# Blocks at most, of eight rows at a time: what their rows take stays in the second-level cache.
_MOST_BLOCKS, _ROWS = 1024, THREADS // 32


def _function(name: str) -> Kernel:
    return kernel(text.joint_text, name)


def _blocks(n: int) -> int:
    """By the number of rows alone, so that sums have the same bits every time."""
    return max(1, min(_MOST_BLOCKS, -(-n // _ROWS)))


class CudaJointSums(JointSums):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy
        from cupyx import errstate
        from cupyx.scipy.linalg import solve_triangular

        self.xp, self._errors, self._triangular = cupy, errstate, solve_triangular

    def _interior(self, of: JointExamples, at: Interior) -> tuple[Any, ...]:
        weights = np.uintp(0) if of.weights is None else of.weights.astype(np.float32)
        n, classes = at.p.shape
        return of.codes, weights, np.float32(of.each), np.int64(n), np.int64(classes), at.p, at.s

    def _run(self, name: str, n: int, arguments: Sequence[Any]) -> None:
        _function(name)((_blocks(n),), (THREADS,), tuple(arguments))

    def _sums(self, name: str, n: int, arguments: Sequence[Any]) -> list[float]:
        """What a kernel adds up, three numbers: the blocks' sums in order."""
        partial = self.xp.empty((_blocks(n), 3))
        self._run(name, n, (*arguments, partial))
        found: Array = self.xp.asnumpy(partial).sum(axis=0)
        return [float(each) for each in found]

    def plane(self, of: JointExamples, at: Interior) -> InteriorSums:
        """The plane of the weights, and where it stands."""
        coef = self.xp.empty_like(at.p)
        arguments = (*self._interior(of, at), of.cost.astype(np.float32), coef)
        return InteriorSums(coef, *self._sums("joint_plane", len(coef), arguments))

    def aimed(self, of: JointExamples, at: Interior, target: float) -> DeviceArray:
        """Coefficients after a step that changes no score, towards weights times slacks of `target`."""
        coef = self.xp.empty_like(at.p)
        self._run("joint_aimed", len(coef), (*self._interior(of, at), np.float32(target), coef))
        return coef

    def bent(self, of: JointExamples, at: Interior, D: DeviceArray | None) -> DeviceArray:
        """How coefficients change with scores that change by D, which is used up; without D the diagonal of that."""
        out = self.xp.empty_like(at.p) if D is None else D
        self._run("joint_bent", len(out), (*self._interior(of, at), np.uintp(0) if D is None else D, out))
        return out

    def shares(self, of: JointExamples, at: Interior) -> DeviceArray:
        """Numbers whose products, of two classes, are minus what `bent` has beside its diagonal."""
        out = self.xp.empty_like(at.p)
        self._run("joint_shares", len(out), (*self._interior(of, at), out))
        return out

    def move(self, of: JointExamples, at: Interior, D: DeviceArray, target: float, most: float) -> None:
        """Make the step whose scores change by D: every example as far as it goes, up to `most` of its way to zero."""
        n, classes = at.p.shape
        arguments = (np.int64(n), np.int64(classes), at.p, at.s, D, np.float32(target), np.float32(most))
        self._run("joint_moved", n, arguments)

    def proven(
        self, of: JointExamples, p: DeviceArray, S: DeviceArray, b: DeviceArray, kept: DeviceArray | None
    ) -> JointPlane:
        """What scores S + b in double precision are worth, and the weights p; S becomes the plane's coefficients."""
        weights = np.uintp(0) if of.weights is None else of.weights
        n, classes = p.shape
        examples = (of.codes, weights, np.float64(of.each), np.int64(n), np.int64(classes), of.cost)
        arguments = (*examples, p, S, b, np.uintp(0) if kept is None else kept)
        return JointPlane(*self._sums("joint_proven", n, arguments))

    def factor(self, A: DeviceArray) -> DeviceArray:
        """The Cholesky factor of a matrix; not finite where there is none."""
        # What is left of a matrix that has none is finite, unless that is asked for.
        with self._errors(linalg="raise"):
            try:
                return self.xp.linalg.cholesky(A)
            except np.linalg.LinAlgError:
                return self.xp.full(A.shape, np.nan)

    def solved(self, factor: DeviceArray, b: DeviceArray) -> DeviceArray:
        """The solution of a system whose factor is known."""
        half = self._triangular(factor, b, lower=True, check_finite=False)
        return self._triangular(factor, half, lower=True, trans=1, check_finite=False)

"""Sums over examples for many classes on a GPU, through CuPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane.device import text
from cutplane.device.class_sums import ClassExamples, ClassSums, ProvenSums, RoundedSums
from cutplane.device.kernels import THREADS, Array, DeviceArray
from cutplane.device.programs import Kernel, kernel

# Stretches of rows at most, and rows of one at least.
_MOST_STRETCHES, _FEWEST_ROWS = 2048, 64


@cache
def _function(name: str, loss: str | None = None) -> Kernel:
    if loss is None:
        return kernel(text.class_text, name)
    return kernel(text.class_text, f"{name}<{text.MARGINS[loss]}>", tuple(text.class_kernels(loss)))


class _Layout:
    """How a matrix is cut up: by its shape alone, so that sums have the same bits every time."""

    def __init__(self, n: int, columns: int) -> None:
        side = next(each for each in (8, 16, 32, 64, 128, 256) if columns <= each or each == 256)
        self.block = (side, THREADS // side)
        self.stretches = min(_MOST_STRETCHES, max(1, -(-n // max(_FEWEST_ROWS, THREADS // side))))
        self.grid = (self.stretches, -(-columns // side))


class CudaClassSums(ClassSums):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy
        from cupy._core import _routines_linalg
        from cupyx.scipy.linalg import solve_triangular

        self.xp, self._linalg, self._triangular = cupy, _routines_linalg, solve_triangular

    def in_single(self, array: Any) -> DeviceArray:
        """An array of the host or the device, on the device in single precision."""
        return self.xp.asarray(array, np.float32)

    def to_host(self, array: DeviceArray) -> Array:
        """An array of the device, on the host in double precision."""
        return np.asarray(self.xp.asnumpy(array), np.float64)

    @contextmanager
    def _rough(self) -> Iterator[None]:
        """Products of single precision with factors of ten bits: several times as fast."""
        before = self._linalg.get_compute_type(np.dtype(np.float32))
        self._linalg.set_compute_type(np.dtype(np.float32), self._linalg.COMPUTE_TYPE_TF32)
        try:
            yield
        finally:
            self._linalg.set_compute_type(np.dtype(np.float32), before)

    def multiply(self, a: DeviceArray, b: DeviceArray, *, rough: bool) -> DeviceArray:
        """A @ b; `rough`: factors in single precision may be rounded to ten bits."""
        if not rough:
            return a @ b
        with self._rough():
            return a @ b

    def _examples(self, of: ClassExamples, n: int, *, double: bool = False) -> tuple[Any, ...]:
        real: Any = np.float64 if double else np.float32
        weights = np.uintp(0) if of.weights is None else of.weights.astype(real, copy=False)
        classes = self.xp.asarray(of.classes)
        return of.codes, weights, real(of.each), classes, np.int64(n), np.int64(len(of.classes))

    def _by_class(self, values: Array) -> DeviceArray:
        return self.xp.asarray(np.ascontiguousarray(values, np.float32))

    def _sums(self, kernel: Any, shape: tuple[int, ...], width: int, arguments: Sequence[Any]) -> Array:
        """What a kernel adds up for each class, `width` rows."""
        n, columns = shape
        layout = _Layout(n, columns)
        partial, total = self.xp.empty((layout.stretches, columns * width)), self.xp.empty(columns * width)
        kernel(layout.grid, layout.block, (*arguments, partial), shared_mem=8 * THREADS * width)
        blocks = (-(-columns * width // 32),)
        _function("add_stretches")(
            blocks, (32, 32), (partial, np.int64(layout.stretches), np.int64(columns * width), total)
        )
        found: Array = self.xp.asnumpy(total).reshape(columns, width).T
        return found

    def _run(self, kernel: Any, shape: tuple[int, ...], arguments: Sequence[Any]) -> None:
        layout = _Layout(*shape)
        kernel(layout.grid, layout.block, tuple(arguments))

    def smoothed(self, of: ClassExamples, S: DeviceArray, h: Array) -> RoundedSums:
        """The risks rounded over h."""
        coef = self.xp.empty_like(S)
        arguments = (*self._examples(of, len(S)), S, self._by_class(h), coef)
        return RoundedSums(coef, *self._sums(_function("class_smoothed", of.loss), S.shape, 4, arguments))

    def extrapolated(self, of: ClassExamples, S: DeviceArray, h: Array, reach: Array) -> tuple[DeviceArray, Array]:
        """Coefficients for h as if examples on kinks of width `reach` stayed on them, and what they add up to."""
        coef = self.xp.empty_like(S)
        arguments = (*self._examples(of, len(S)), S, self._by_class(h), self._by_class(reach), coef)
        return coef, self._sums(_function("class_extrapolated", of.loss), S.shape, 1, arguments)[0]

    def bent(self, of: ClassExamples, S: DeviceArray, h: Array, D: DeviceArray | None) -> DeviceArray:
        """H times the second derivatives of the risks rounded over h; times D, which is used up."""
        out = self.xp.empty_like(S) if D is None else D
        arguments = (*self._examples(of, len(S)), S, self._by_class(h), np.uintp(0) if D is None else D, out)
        self._run(_function("class_bent", of.loss), S.shape, arguments)
        return out

    def along(self, of: ClassExamples, S: DeviceArray, D: DeviceArray | None, t: Array, h: Array) -> Array:
        """Slopes and curvatures, a row each, of the rounded risks at S + t D (None: the constant 1)."""
        line = (S, np.uintp(0) if D is None else D, self._by_class(t), self._by_class(h))
        return self._sums(_function("class_along", of.loss), S.shape, 2, (*self._examples(of, len(S)), *line))

    def mix(self, A: DeviceArray, B: DeviceArray | None, a: Array, b: Array) -> None:
        """A = a A + b B, column by column (None: the constant 1)."""
        n, columns = A.shape
        factors = (self._by_class(a), self._by_class(b), np.int64(n), np.int64(columns))
        self._run(_function("class_mixed"), A.shape, (A, np.uintp(0) if B is None else B, *factors))

    def damp(self, A: DeviceArray, values: DeviceArray, a: Array) -> None:
        """Divide row j of A by 1 + a[k] values[j]."""
        n, columns = A.shape
        self._run(_function("class_damped"), A.shape, (A, values, self._by_class(a), np.int64(n), np.int64(columns)))

    def dots(self, A: DeviceArray, B: DeviceArray) -> Array:
        """Sums of products, column by column, in double precision."""
        n, columns = A.shape
        (found,) = self._sums(_function("class_dots"), A.shape, 1, (A, B, np.int64(n), np.int64(columns)))
        return np.asarray(found)

    def picked(self, A: DeviceArray, columns: NDArray[np.int32]) -> DeviceArray:
        """Some columns of a matrix, copied."""
        n, every = A.shape
        out = self.xp.empty((n, len(columns)), np.float32)
        which = self.xp.asarray(np.ascontiguousarray(columns, np.int32))
        sizes = (np.int64(n), np.int64(every), np.int64(len(columns)))
        self._run(_function("class_picked"), out.shape, (A, which, *sizes, out))
        return out

    def eigen(self, A: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Eigenvalues and eigenvectors of a symmetric matrix."""
        values, vectors = self.xp.linalg.eigh(A)
        return values, self.xp.ascontiguousarray(vectors)

    def solve(self, A: DeviceArray, b: DeviceArray) -> DeviceArray:
        """The solution of a positive definite system; not finite where the matrix is not."""
        factor = self.xp.linalg.cholesky(A)
        half = self._triangular(factor, b, lower=True, check_finite=False)
        return self._triangular(factor, half, lower=True, trans=1, check_finite=False)

    def weighted(self, X: DeviceArray, weights: DeviceArray) -> DeviceArray:
        """The rows of positive weight, times its root."""
        rows = self.xp.flatnonzero(weights)
        return X[rows] * self.xp.sqrt(weights[rows])[:, None]

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
        by_class = (self.xp.asarray(np.ascontiguousarray(each, np.float64)) for each in (b, h, off, *factors))
        arguments = (*self._examples(of, len(S), double=True), S, *by_class, np.int32(write))
        return ProvenSums(*self._sums(_function("class_proven", of.loss), S.shape, 5, arguments))

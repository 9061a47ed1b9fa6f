"""The kernels on a GPU, through CuPy: compiled by NVRTC when first asked for, and kept on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from cutplane.device import text
from cutplane.device.class_cuda import CudaClassSums
from cutplane.device.class_sums import ClassSums
from cutplane.device.joint_cuda import CudaJointSums
from cutplane.device.joint_sums import JointSums
from cutplane.device.kernels import (
    LARGEST,
    THREADS,
    TILE,
    Array,
    CutSums,
    DeviceArray,
    Examples,
    Kernels,
    SmoothedSums,
    SparseRows,
    blocks_of,
    segments_of,
    stretches_of,
)
from cutplane.device.pair_steps import PairSteps
from cutplane.device.pair_steps_cuda import CudaPairSteps
from cutplane.device.programs import Kernel, kernel
from cutplane.device.rank_cuda import CudaRankSums
from cutplane.device.rank_sums import RankSums
from cutplane.device.string_cuda import CudaStrings
from cutplane.device.string_kernels import StringKernels
from cutplane.device.transfers import LONG, Seen, Transfers

# Blocks of passes over rows: enough to fill any device; what each writes does not depend on their number.
_ROW_BLOCKS = 4096
# Bytes of a row up to which it is narrow: a tile of rows is 44 KB at most.
_MOST_NARROW = 352
# Reads of a row up to which half a warp shares it.
_SHORT = 96
# Rows that lanes go through together: kAtOnce of the kernels.
_AT_ONCE = 4


def _plain(name: str) -> Kernel:
    return kernel(text.text, name)


def _of_loss(of: Examples, name: str, steps: int | None = None) -> Any:
    return _loss_function(of.loss, of.y.dtype.name, name, steps)


@cache
def _loss_function(loss: str, targets: str, name: str, steps: int | None) -> Any:
    kind = f"{text.LOSSES[loss][0]}, {text.TARGETS[targets]}" + (f", {steps}" if steps else "")
    return kernel(text.text, f"{name}<{kind}>", tuple(text.loss_kernels(loss, targets)))


@cache
def _of_entries(entries: str, name: str) -> Any:
    return kernel(text.text, f"{name}<{text.ENTRIES[entries]}>", tuple(text.dense_kernels(entries)))


@cache
def _passes(entries: str, layout: tuple[int, int, int]) -> tuple[Any, Any]:
    """Scores and sums of dense rows."""
    names = text.pass_kernels(entries, *layout)
    return kernel(text.text, names[0], names), kernel(text.text, names[1], names)


def _is_narrow(X: DeviceArray) -> bool:
    """Whether rows are gone through in shared memory: a tile of them fits, and begins where 16 bytes do.

    Not where each row begins there: these are as fast without, and would meet in the same banks of shared memory.
    """
    size = X.shape[1] * X.dtype.itemsize
    return bool(size <= _MOST_NARROW and size % 16 and X.data.ptr % 16 == 0)


@cache
def _narrow_passes(entries: str) -> tuple[Any, Any]:
    """Scores and sums of narrow rows."""
    names = text.narrow_kernels(entries)
    return kernel(text.text, names[0], names), kernel(text.text, names[1], names)


def _width(X: DeviceArray, most: int = 16) -> int:
    """Entries that can be read at once: up to so many bytes, where all rows lie so."""
    d, size = X.shape[1], X.dtype.itemsize
    fits = (v for v in text.WIDTHS if v * size <= most and d % v == 0 and X.data.ptr % (v * size) == 0)
    return next(fits)


@cache
def _of_sparse(entries: str, indices: str, name: str) -> Any:
    kind = f"{text.ENTRIES[entries]}, {text.INDICES[indices]}"
    return kernel(text.text, f"{name}<{kind}>", tuple(text.sparse_kernels(entries, indices)))


def _layout(X: DeviceArray) -> tuple[int, int, int]:
    """Lanes that share a row and what each of these reads at once, for scores; what is read at once, for sums."""
    # Of entries of one or two bytes, 16 bytes are more weights than a lane has registers for.
    size, wide = X.dtype.itemsize, _width(X)
    width = wide if size >= 4 else _width(X, 8)
    units = X.shape[1] // width
    most = 8 if size == 1 else 16 if units <= _SHORT else 32
    lanes = max(each for each in text.LANES if each <= max(text.LANES[0], min(most, units)))
    return lanes, width, wide


def _is_long(array: Any) -> bool:
    return bool(array.nbytes >= LONG and array.flags.c_contiguous)


class CudaKernels(Kernels):
    """On the GPU that is current when it is asked."""

    def __init__(self) -> None:
        import cupy
        import cupyx

        self.xp, self._transfers = cupy, Transfers(cupy, cupyx.empty_pinned)

    def class_sums(self) -> ClassSums:
        """The same for many classes at once."""
        return CudaClassSums()

    def joint_sums(self) -> JointSums:
        """Passes for classes that are one problem."""
        return CudaJointSums()

    def pair_steps(self) -> PairSteps:
        """Pair steps of kernel machines."""
        return CudaPairSteps()

    def strings(self) -> StringKernels:
        """Passes over strings."""
        return CudaStrings()

    def rank_sums(self) -> RankSums:
        """Sums over pairs of different rank."""
        return CudaRankSums()

    @property
    def free_bytes(self) -> int:
        """The memory that is left, blocks that CuPy keeps for later included."""
        return int(self.xp.cuda.runtime.memGetInfo()[0]) + int(self.xp.get_default_memory_pool().free_bytes())

    @property
    def devices(self) -> int:
        """How many GPUs CuPy finds."""
        return int(self.xp.cuda.runtime.getDeviceCount()) if self.xp.cuda.is_available() else 0

    @property
    def current(self) -> int:
        """Which of them this thread uses."""
        return int(self.xp.cuda.runtime.getDevice())

    def use(self, number: int) -> None:
        """Make one of them the current one of this thread."""
        self.xp.cuda.Device(number).use()

    def csr_to_device(self, parts: tuple[DeviceArray, DeviceArray, DeviceArray], shape: tuple[int, int]) -> Any:
        """A CSR matrix of entries, their columns and where rows begin, which lie on the device."""
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(parts, shape=shape)

    def to_device(self, array: Any, seen: Seen | None = None) -> DeviceArray:
        """An array of the host or of the device, on the device."""
        if isinstance(array, np.ndarray) and _is_long(array):
            return self._transfers.to_device(array, seen)
        found = self.xp.asarray(array)
        if seen is not None:
            seen(0, found)
        return found

    def to_host(self, array: DeviceArray) -> Any:
        """An array of the device, on the host."""
        return self._transfers.to_host(array) if _is_long(array) else self.xp.asnumpy(array)

    def _sums(self, kernel: Any, n: int, width: int, arguments: Iterable[Any]) -> Array:
        """What a kernel adds up, `width` numbers: the blocks' sums in order."""
        blocks = blocks_of(n)
        out = self.xp.empty((blocks, width))
        kernel((blocks,), (THREADS,), (*arguments, out))
        found: Array = self.xp.asnumpy(out).sum(axis=0)
        return found

    def _examples(self, of: Examples) -> tuple[Any, ...]:
        # A null pointer where all weights are the same.
        return (
            of.y,
            np.uintp(0) if of.weights is None else of.weights,
            np.float64(of.each),
            *map(np.float64, of.parameters),
        )

    def value(self, of: Examples, s: DeviceArray) -> float:
        """The risk."""
        (value,) = self._sums(_of_loss(of, "value"), s.size, 1, (*self._examples(of), s, np.int64(s.size)))
        return float(value)

    def cut(self, of: Examples, s: DeviceArray) -> CutSums:
        """The plane that touches the risk at scores."""
        coef = self.xp.empty(s.size)
        sums = self._sums(_of_loss(of, "cut"), s.size, 3, (*self._examples(of), s, np.int64(s.size), coef))
        return CutSums(coef, *sums.tolist())

    def smoothed(self, of: Examples, s: DeviceArray, h: float) -> SmoothedSums:
        """The risk rounded over h."""
        coef = self.xp.empty(s.size)
        arguments = (*self._examples(of), s, np.int64(s.size), np.float64(h), coef)
        value, offset, error, curved, mass = self._sums(_of_loss(of, "smoothed"), s.size, 5, arguments).tolist()
        return SmoothedSums(coef, value, offset, error, int(curved), mass)

    def extrapolated(self, of: Examples, s: DeviceArray, h: float, reach: float) -> DeviceArray:
        """Coefficients for width h as if examples on a kink of width `reach` stayed on it."""
        coef = self.xp.empty(s.size)
        arguments = (*self._examples(of), s, np.int64(s.size), np.float64(h), np.float64(reach), coef)
        _of_loss(of, "extrapolated")((blocks_of(s.size),), (THREADS,), arguments)
        return coef

    def curved(self, of: Examples, s: DeviceArray, h: float) -> DeviceArray:
        """H times the second derivatives of the risk rounded over h, of every example."""
        weights = self.xp.empty(s.size)
        arguments = (*self._examples(of), s, np.int64(s.size), np.float64(h), weights)
        _of_loss(of, "curved")((blocks_of(s.size),), (THREADS,), arguments)
        return weights

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
        found: list[tuple[float, float, float]] = []
        most = text.STEPS[-1]
        for begin in range(0, len(steps), most):
            some = list(steps[begin : begin + most])
            width = next(each for each in text.STEPS if len(some) <= each)
            padded = [np.float64(t) for t in some + [0.0] * (most - len(some))]
            line = (s, np.uintp(0) if other is None else other, np.int32(towards), np.int64(s.size), np.float64(h))
            arguments = (*self._examples(of), *line, *padded)
            sums = self._sums(_of_loss(of, "along", width), s.size, 3 * width, arguments)
            found += [(value, slope, bend) for value, slope, bend in sums.reshape(width, 3).tolist()[: len(some)]]
        return found

    def leans(self, of: Examples, s: DeviceArray, shifts: Sequence[float]) -> Array:
        """What the coefficients of `cut` add up to, each of these constants added to the scores."""
        found = []
        for begin in range(0, len(shifts), text.SHIFTS):
            some = np.zeros(text.SHIFTS)
            some[: len(shifts) - begin] = shifts[begin : begin + text.SHIFTS]
            arguments = (*self._examples(of), s, np.int64(s.size), self.xp.asarray(some))
            found.append(self._sums(_of_loss(of, "leans"), s.size, text.SHIFTS, arguments))
        return np.concatenate(found)[: len(shifts)]

    def offset(self, of: Examples, coef: DeviceArray) -> tuple[float, float]:
        """The offset of the highest plane with these coefficients, and their sizes added up."""
        arguments = (*self._examples(of), coef, np.int64(coef.size))
        offset, mass = self._sums(_of_loss(of, "offset"), coef.size, 2, arguments).tolist()
        return offset, mass

    def sides(self, coef: DeviceArray) -> tuple[float, float, float]:
        """The sum of all numbers, of the positive and of the negative ones."""
        total, above, below = self._sums(_plain("add_sides"), coef.size, 3, (coef, np.int64(coef.size))).tolist()
        return total, above, below

    def dense_scores(self, X: DeviceArray, entries: str, w: DeviceArray) -> DeviceArray:
        """X @ w, in double precision."""
        n, d = X.shape
        scores = self.xp.empty(n)
        if _is_narrow(X):
            blocks, memory = min(_ROW_BLOCKS, max(1, -(-n // TILE))), 8 * (d + 1) + TILE * d * X.dtype.itemsize
            arguments = (X, np.int64(n), np.int64(d), w, scores)
            _narrow_passes(entries)[0]((blocks,), (THREADS,), arguments, shared_mem=memory)
            return scores
        layout = _layout(X)
        blocks = min(_ROW_BLOCKS, max(1, -(-n * layout[0] // (THREADS * _AT_ONCE))))
        arguments = (X, np.int64(n), np.int64(d), w, scores)
        _passes(entries, layout)[0]((blocks,), (THREADS,), arguments)
        return scores

    def dense_combine(self, X: DeviceArray, entries: str, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, in double precision."""
        n, d = X.shape
        narrow = _is_narrow(X)
        width = 1 if narrow else _width(X)
        count, columns, lanes, tiles = stretches_of(n, d, width, whole=narrow)
        partial, total = self.xp.empty((count, d)), self.xp.empty(d)
        rows = (X, np.int64(n), np.int64(d), coef, partial)
        if narrow:
            memory = 8 * max(TILE, THREADS) + TILE * d * X.dtype.itemsize
            _narrow_passes(entries)[1]((count,), (columns, lanes), rows, shared_mem=memory)
        else:
            memory = 8 * columns * lanes * width
            _passes(entries, _layout(X))[1]((count, tiles), (columns, lanes), rows, shared_mem=memory)
        arguments = (partial, np.int64(count), np.int64(d), total)
        _plain("add_stretches")((-(-d // 32),), (32, 32), arguments)
        return total

    def dense_extent(self, X: DeviceArray, entries: str) -> tuple[DeviceArray, DeviceArray]:
        """The largest sum of the squares of a row, and the largest size in every column: not waited for."""
        n, d = X.shape
        count, columns, _, tiles = stretches_of(n, d)
        squares, partial = self.xp.empty(n), self.xp.empty((count, d))
        rows = (X, np.int64(n), np.int64(d))
        blocks = min(_ROW_BLOCKS, max(1, -(-n * 32 // THREADS)))
        _of_entries(entries, "dense_squares")((blocks,), (THREADS,), (*rows, squares))
        _of_entries(entries, "dense_sizes")((count, tiles), (columns,), (*rows, partial))
        return squares.max(), partial.max(axis=0)

    def dense_gather(self, X: DeviceArray, entries: str, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[k] times some rows, in double precision."""
        d = X.shape[1]
        found = self.xp.empty((rows.size, d))
        arguments = (X, np.int64(d), rows, scale, np.int64(rows.size), found)
        blocks = min(_ROW_BLOCKS, max(1, -(-found.size // THREADS)))
        _of_entries(entries, "dense_gather")((blocks,), (THREADS,), arguments)
        return found

    def csr_scores(self, X: SparseRows, w: DeviceArray) -> DeviceArray:
        """X @ w, in double precision."""
        rows = X.rows
        n = rows.shape[0]
        scores = self.xp.empty(n)
        blocks = min(_ROW_BLOCKS, max(1, -(-n * 32 // THREADS)))
        kernel = _of_sparse(rows.data.dtype.name, rows.indices.dtype.name, "csr_scores")
        kernel((blocks,), (THREADS,), (rows.data, rows.indices, rows.indptr, np.int64(n), w, scores))
        return scores

    def csr_combine(self, X: SparseRows, coef: DeviceArray, *, squared: bool = False) -> DeviceArray:
        """X.T @ coef, in double precision; `squared`: of the squares of the entries."""
        assert X.columns is not None
        data, rows, begins, first = X.columns
        segments, d = begins.size - 1, first.size - 1
        partial, total = self.xp.empty(segments), self.xp.empty(d)
        blocks = min(_ROW_BLOCKS, max(1, -(-segments * 32 // THREADS)))
        kernel = _of_sparse(data.dtype.name, rows.dtype.name, "csc_squared" if squared else "csc_segments")
        kernel((blocks,), (THREADS,), (data, rows, begins, np.int64(segments), coef, partial))
        _plain("add_segments")((-(-d // THREADS),), (THREADS,), (partial, first, np.int64(d), total))
        return total

    def csr_take(self, rows: Any, positions: DeviceArray) -> Any:
        """Some rows of a CSR matrix, copied."""
        return rows[positions]

    def csr_gather(self, rows: Any, positions: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[k] times some rows of a CSR matrix, dense and in double precision."""
        return scale[:, None] * rows[positions].toarray().astype(np.float64)

    def csr_columns(self, rows: Any) -> SparseRows:
        """A CSR matrix, and the same by columns."""
        by_columns = rows.tocsc()
        segments = segments_of(by_columns.indptr.astype(np.int64), self.xp)
        return SparseRows(rows, (by_columns.data, by_columns.indices, *segments))

    def largest(self, columns: DeviceArray, indices: DeviceArray, data: DeviceArray) -> None:
        """Of columns, the largest sizes of some more entries; those that are no numbers are passed over."""
        self.xp.maximum.at(columns, indices, self.xp.abs(data.astype(np.float64)))

    def csr_extent(self, rows: Any, columns: DeviceArray | None = None) -> tuple[float, int, Array]:
        """The largest sum of the squares of a row, the most entries of one, and the largest size in every column."""
        n, squares = rows.shape[0], self.xp.empty(rows.shape[0])
        blocks = min(_ROW_BLOCKS, max(1, -(-n * 32 // THREADS)))
        kernel = _of_sparse(rows.data.dtype.name, rows.indices.dtype.name, "csr_squares")
        kernel((blocks,), (THREADS,), (rows.data, rows.indptr, np.int64(n), squares))
        square, longest = float(squares.max()), int(self.xp.diff(rows.indptr).max())
        if not np.isfinite(square):  # the largest of a column passes over NaN
            wrong = self.xp.flatnonzero(~(self.xp.abs(rows.data.astype(np.float64)) <= LARGEST))
            sizes = np.zeros(rows.shape[1])
            sizes[self.xp.asnumpy(rows.indices[wrong])] = np.inf
            return float("inf"), longest, sizes
        if columns is None:
            columns = self.xp.zeros(rows.shape[1])
            self.largest(columns, rows.indices, rows.data)
        return square, longest, self.xp.asnumpy(columns)

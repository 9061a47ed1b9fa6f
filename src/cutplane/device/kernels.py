"""The sums over examples that a device is asked for, and who computes them: CUDA kernels, or NumPy in their place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.device.class_sums import ClassSums
from cutplane.device.joint_sums import JointSums
from cutplane.device.pair_steps import PairSteps
from cutplane.device.rank_sums import RankSums
from cutplane.device.string_kernels import StringKernels
from cutplane.device.transfers import Seen

Array = NDArray[np.float64]
#: An array that lies on the device.
DeviceArray = Any

#: Threads of a block, and blocks of a sum at most: they depend on nothing but the number of examples, so that sums
#: have the same bits on every device.
THREADS, MOST_BLOCKS = 256, 1024
#: The largest size of a value: sums of products of larger ones leave double precision.
LARGEST = 1e70
#: Examples that a thread adds up at least, so that short sums are not all blocks.
_FEWEST = 4


class Examples(NamedTuple):
    """A sum of losses, as kernels see it.

    Attributes
    ----------
    loss : str
        The name that the prover has for it.
    parameters : tuple of three floats
        The loss's own numbers; those it has not are zero.
    y : device array
        Targets, or labels as bytes.
    weights : device array or None
    each : float
        The weight of an example where `weights` is None.
    """

    loss: str
    parameters: tuple[float, float, float]
    y: DeviceArray
    weights: DeviceArray | None
    each: float


class CutSums(NamedTuple):
    """The plane that touches a risk: coefficients, and sums."""

    coef: DeviceArray
    value: float
    offset: float
    mass: float


class SmoothedSums(NamedTuple):
    """A risk with its kinks rounded: coefficients, and sums."""

    coef: DeviceArray
    value: float
    offset: float
    error: float
    curved: int
    mass: float


def blocks_of(n: int) -> int:
    """In how many blocks a sum over n examples is taken."""
    return min(MOST_BLOCKS, max(1, -(-n // (THREADS * _FEWEST))))


def sum_depth_of(n: int) -> int:
    """The longest chain of additions in such a sum: in a thread, a block, and over the blocks."""
    blocks = blocks_of(n)
    return -(-n // (blocks * THREADS)) + 5 + THREADS // 32 + blocks


class Stretches(NamedTuple):
    """How a sum over dense rows is laid out.

    Attributes
    ----------
    rows : int
        Stretches of rows, each summed up by itself.
    columns, lanes : int
        Threads of a block: side by side in the columns, and one below the other.
    tiles : int
        Blocks side by side.
    """

    rows: int
    columns: int
    lanes: int
    tiles: int

    def depth(self, n: int) -> int:
        """The longest chain of additions in a sum over n rows: in a thread, over the lanes, and over the stretches."""
        stretch = -(-n // self.rows) + TILE
        return -(-stretch // self.lanes) + self.lanes + -(-self.rows // _BELOW) + _BELOW


# Partial sums that are kept at most, and rows of a stretch at least.
_MOST_PARTIAL, _MOST_STRETCHES, _FEWEST_ROWS = 1 << 22, 4096, 32


#: Narrow rows that are read as they lie, to be gone through in shared memory.
TILE = 128
# Threads below each other that add up the stretches.
_BELOW = 32


def stretches_of(n: int, d: int, width: int = 1, *, whole: bool = True) -> Stretches:
    """The layout for n rows of d entries, so many of which are read at once; `whole`: with all threads of a block.

    Read one by one and with whole blocks, chains of additions are longest.
    """
    units = -(-d // width)
    columns = next((each for each in (32, 64, 128) if units <= each), 256)
    if not whole:  # one row goes on where the last ended, so that no thread has nothing to read
        columns = max(1, min(units, THREADS))
    count = min(_MOST_STRETCHES, max(64, _MOST_PARTIAL // max(d, 1)), -(-n // _FEWEST_ROWS))
    return Stretches(max(1, count), columns, THREADS // columns, -(-units // columns))


class SparseRows(NamedTuple):
    """A CSR matrix, and the same by columns in segments.

    Attributes
    ----------
    rows : CSR matrix of the device's library
    columns : tuple or None
        Data and row indices by column, the begins of segments, and the first segment of each column; None: not asked
        for yet.
    """

    rows: Any
    columns: tuple[DeviceArray, DeviceArray, DeviceArray, DeviceArray] | None


#: Entries that a warp adds up: longer columns have several segments.
SEGMENT = 4096


def segments_of(starts: DeviceArray, xp: Any = np) -> tuple[DeviceArray, DeviceArray]:
    """The begins of the segments of columns that start there, and the first segment of each column; by `xp`."""
    count = -(-(starts[1:] - starts[:-1]) // SEGMENT)
    first = xp.zeros(len(starts), np.int64)
    first[1:] = xp.cumsum(count)
    # From one begin to the next it is as far as a segment is long, but for the first of a column.
    filled = xp.flatnonzero(count)
    begin = starts[filled]
    further = xp.full(int(first[-1]) + 1, SEGMENT, np.int64)
    further[first[filled]] = begin
    further[first[filled[1:]]] -= begin[:-1] + SEGMENT * (count[filled[:-1]] - 1)
    begins = xp.cumsum(further)
    begins[-1:] = starts[-1:]
    return begins, first


class Kernels(ABC):
    """What a device can do. Vectors of examples stay there; weights, slopes and sums are arrays of the host.

    Attributes
    ----------
    xp : module
        NumPy, or what stands for it on the device.
    """

    xp: Any

    @abstractmethod
    def class_sums(self) -> ClassSums:
        """The same for many classes at once."""

    @abstractmethod
    def joint_sums(self) -> JointSums:
        """Passes for classes that are one problem."""

    @abstractmethod
    def pair_steps(self) -> PairSteps:
        """Pair steps of kernel machines."""

    @abstractmethod
    def strings(self) -> StringKernels:
        """Passes over strings."""

    @abstractmethod
    def rank_sums(self) -> RankSums:
        """Sums over pairs of different rank."""

    @property
    @abstractmethod
    def free_bytes(self) -> int:
        """The memory that is left."""

    @property
    @abstractmethod
    def devices(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def current(self) -> int:
        """Which of them this thread uses."""

    @abstractmethod
    def use(self, number: int) -> None:
        """Make one of them the current one of this thread."""

    @abstractmethod
    def csr_to_device(self, parts: tuple[DeviceArray, DeviceArray, DeviceArray], shape: tuple[int, int]) -> Any:
        """A CSR matrix of entries, their columns and where rows begin, which lie on the device."""

    @abstractmethod
    def to_device(self, array: Any, seen: Seen | None = None) -> DeviceArray:
        """An array of the host or of the device, on the device.

        Of one of the host in C order, stretches are `seen` as they arrive, others being on their way.
        """

    @abstractmethod
    def to_host(self, array: DeviceArray) -> Any:
        """An array of the device, on the host."""

    @abstractmethod
    def value(self, of: Examples, s: DeviceArray) -> float:
        """The risk."""

    @abstractmethod
    def cut(self, of: Examples, s: DeviceArray) -> CutSums:
        """The plane that touches the risk at scores."""

    @abstractmethod
    def smoothed(self, of: Examples, s: DeviceArray, h: float) -> SmoothedSums:
        """The risk rounded over h."""

    @abstractmethod
    def extrapolated(self, of: Examples, s: DeviceArray, h: float, reach: float) -> DeviceArray:
        """Coefficients for width h as if examples on a kink of width `reach` stayed on it."""

    @abstractmethod
    def curved(self, of: Examples, s: DeviceArray, h: float) -> DeviceArray:
        """H times the second derivatives of the risk rounded over h, of every example."""

    @abstractmethod
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
        """Value, slope and curvature of the risk rounded over h (0: itself) at several steps along a line.

        `other` is a direction, where to (`towards`), or None: the constant 1. With h = 0, slopes are derivatives to the
        right.
        """

    @abstractmethod
    def leans(self, of: Examples, s: DeviceArray, shifts: Sequence[float]) -> Array:
        """What the coefficients of `cut` add up to, each of these constants added to the scores."""

    @abstractmethod
    def offset(self, of: Examples, coef: DeviceArray) -> tuple[float, float]:
        """The offset of the highest plane with these coefficients, and their sizes added up."""

    @abstractmethod
    def sides(self, coef: DeviceArray) -> tuple[float, float, float]:
        """The sum of all numbers, of the positive and of the negative ones."""

    @abstractmethod
    def dense_scores(self, X: DeviceArray, entries: str, w: DeviceArray) -> DeviceArray:
        """X @ w, in double precision."""

    @abstractmethod
    def dense_combine(self, X: DeviceArray, entries: str, coef: DeviceArray) -> DeviceArray:
        """X.T @ coef, in double precision."""

    @abstractmethod
    def dense_extent(self, X: DeviceArray, entries: str) -> tuple[DeviceArray, DeviceArray]:
        """The largest sum of the squares of a row, and the largest size in every column: not waited for."""

    @abstractmethod
    def dense_gather(self, X: DeviceArray, entries: str, rows: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[k] times some rows, in double precision."""

    @abstractmethod
    def csr_scores(self, X: SparseRows, w: DeviceArray) -> DeviceArray:
        """X @ w, in double precision."""

    @abstractmethod
    def csr_combine(self, X: SparseRows, coef: DeviceArray, *, squared: bool = False) -> DeviceArray:
        """X.T @ coef, in double precision; `squared`: of the squares of the entries."""

    @abstractmethod
    def csr_take(self, rows: Any, positions: DeviceArray) -> Any:
        """Some rows of a CSR matrix, copied."""

    @abstractmethod
    def csr_gather(self, rows: Any, positions: DeviceArray, scale: DeviceArray) -> DeviceArray:
        """scale[k] times some rows of a CSR matrix, dense and in double precision."""

    @abstractmethod
    def csr_columns(self, rows: Any) -> SparseRows:
        """A CSR matrix, and the same by columns."""

    @abstractmethod
    def largest(self, columns: DeviceArray, indices: DeviceArray, data: DeviceArray) -> None:
        """Of columns, the largest sizes of some more entries; those that are no numbers are passed over."""

    @abstractmethod
    def csr_extent(self, rows: Any, columns: DeviceArray | None = None) -> tuple[float, int, Array]:
        """The largest sum of the squares of a row, the most entries of one, and the largest size in every column.

        `columns`: the last of these, where `largest` has seen all entries.
        """

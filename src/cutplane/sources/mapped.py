"""Numbers in files larger than memory, read a block of rows at a time."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from cutplane._types import Matrix
from cutplane.sources.base import Array, Extent, Rows, Source
from cutplane.sources.matrix import as_source
from cutplane.sources.narrow import is_read
from cutplane.sources.read_ahead import BinaryFile, read_ahead

# Bytes of a block: up to three are in memory, one being read while another is worked on.
_BLOCK = 16 << 20
# Rows that are taken out stay in the file if they are more bytes than this.
_TAKEN = 64 << 20
MANIFEST = "cutplane.json"


class RowBlocks(ABC):
    """Rows of a file, in blocks that fit into memory."""

    shape: tuple[int, int]
    #: Where blocks begin, and the number of rows at last.
    bounds: Sequence[int]
    #: Bytes of all rows, about.
    size: int

    @abstractmethod
    def load(self, block: int) -> Matrix:
        """A block as an array that `DenseSource` reads, or a CSR matrix of float32 or float64."""


class MappedSource(Source):
    """The rows of a file as a source. Every pass reads it once, the next block while one is worked on.

    Parameters
    ----------
    blocks : RowBlocks
        `open_rows` gives them for a file.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from cutplane.sources import MappedSource, open_rows
    >>> path = os.path.join(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, np.eye(3))
    >>> MappedSource(open_rows(path)).scores(np.arange(3.0))
    array([0., 1., 2.])
    """

    streamed = True

    def __init__(self, blocks: RowBlocks, *, n_threads: int = 0) -> None:
        self._blocks = blocks
        self._n_threads = n_threads

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of examples and features."""
        return self._blocks.shape

    @cached_property
    def extent(self) -> Extent:
        """The largest over all blocks: one pass, once."""
        blocks = range(len(self._blocks.bounds) - 1)
        each = [as_source(X, n_threads=self._n_threads).extent for _, X in self._read(blocks)]
        if not each:
            return Extent(0.0, 0, 0)
        reach, row_depth = max(part.reach for part in each), max(part.row_depth for part in each)
        sum_depth = max(part.sum_depth for part in each) + len(each) + 1
        sizes = [part.columns for part in each if part.columns is not None]
        columns = np.maximum.reduce(sizes) if len(sizes) == len(each) else None
        return Extent(reach, row_depth, sum_depth, columns)

    def scores(self, w: Array) -> Array:
        """X @ w."""
        out = np.empty((self.shape[0], *w.shape[1:]))
        for rows, X in self._read(range(len(self._blocks.bounds) - 1)):
            out[rows] = as_source(X, n_threads=self._n_threads).scores(w)
        return out

    def combine(self, coef: Array) -> Array:
        """X.T @ coef; blocks without a coefficient are not read."""
        bounds = self._blocks.bounds
        needed = [k for k in range(len(bounds) - 1) if coef[bounds[k] : bounds[k + 1]].any()]
        total = np.zeros((self.shape[1], *coef.shape[1:]))
        for rows, X in self._read(needed):
            total += as_source(X, n_threads=self._n_threads).combine(np.ascontiguousarray(coef[rows]))
        return total

    def take(self, rows: Rows) -> Source:
        """Some rows: in memory, or in the file where they are many and ascending."""
        wrong = rows[(rows < 0) | (rows >= self.shape[0])]
        if len(wrong):
            raise IndexError(f"There is no row {wrong[0]}; rows lie between 0 and {self.shape[0] - 1}.")
        blocks = self._blocks
        if len(rows) * blocks.size > _TAKEN * max(1, self.shape[0]) and (np.diff(rows) > 0).all():
            return MappedSource(ChosenRows(blocks, rows), n_threads=self._n_threads)
        ascending, places = np.unique(rows, return_inverse=True)
        at = np.searchsorted(np.asarray(self._blocks.bounds), ascending, side="right") - 1
        needed = np.unique(at).tolist()
        parts = [
            X[ascending[at == block] - part.start] for block, (part, X) in zip(needed, self._read(needed), strict=True)
        ]
        if not parts:
            whole: Matrix = np.zeros((1, self.shape[1]))  # of which none is taken
        else:
            whole = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
        return as_source(whole, n_threads=self._n_threads).take(places.astype(np.int64))

    def check_finite(self) -> None:
        """One pass; an error names the first row with a value that is not finite or far too large."""
        for rows, X in self._read(range(len(self._blocks.bounds) - 1)):
            core = getattr(as_source(X, n_threads=self._n_threads), "core", None)
            wrong = -1 if core is None else core.first_unusable_row(self._n_threads)
            if wrong >= 0:
                raise ValueError(f"Row {rows.start + wrong} of X has a value that is not finite, or beyond 1e70.")

    def _read(self, needed: Sequence[int]) -> Iterator[tuple[slice, Matrix]]:
        bounds = self._blocks.bounds
        loads = read_ahead(partial(self._blocks.load, block) for block in needed)
        return zip((slice(bounds[k], bounds[k + 1]) for k in needed), loads, strict=True)


class ChosenRows(RowBlocks):
    """Some rows of a file, ascending."""

    def __init__(self, blocks: RowBlocks, rows: Rows) -> None:
        cuts = np.searchsorted(rows, np.asarray(blocks.bounds))
        self._of = np.flatnonzero(np.diff(cuts))  # blocks that have any
        self._blocks, self._rows = blocks, rows
        self.bounds = [0, *cuts[self._of + 1].tolist()]
        self.shape = len(rows), blocks.shape[1]
        self.size = blocks.size * len(rows) // max(1, blocks.shape[0])

    def load(self, block: int) -> Matrix:
        """The chosen rows of a block."""
        home = int(self._of[block])
        rows = self._rows[self.bounds[block] : self.bounds[block + 1]]
        return self._blocks.load(home)[rows - self._blocks.bounds[home]]


class NpyRows(RowBlocks):
    """The rows of a .npy file: two-dimensional, C order, of values that `DenseSource` reads."""

    def __init__(self, path: str | os.PathLike[str], *, block_bytes: int = _BLOCK) -> None:
        name = os.fspath(path)
        with open(path, "rb") as file:
            try:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, by_columns, self._dtype = read(file)
            except ValueError as error:
                raise ValueError(f"{name} is no .npy file ({error}).") from None
            self._start = file.tell()
        if len(shape) != 2 or by_columns or not is_read(self._dtype):
            raise ValueError(
                f"{name} holds {self._dtype} of shape {shape}{' by columns' if by_columns else ''}; rows of "
                f"float64, float32, float16, int8, uint8 or booleans are needed."
            )
        self.shape = shape[0], shape[1]
        self._file = BinaryFile(path)
        size = self._dtype.itemsize * self.shape[1]
        if self._file.size < self._start + size * self.shape[0]:
            raise ValueError(f"{name} is truncated: {self.shape[0]} rows do not fit into its {self._file.size} bytes.")
        self.size = size * self.shape[0]
        step = max(1, block_bytes // max(size, 1))
        self.bounds = [*range(0, self.shape[0], step), self.shape[0]]

    def load(self, block: int) -> Matrix:
        """Some rows."""
        first, last = self.bounds[block], self.bounds[block + 1]
        d = self.shape[1]
        flat = self._file.read(self._start + first * d * self._dtype.itemsize, (last - first) * d, self._dtype)
        return flat.reshape(last - first, d)


class CsrRows(RowBlocks):
    """The rows of a folder that `cutplane convert` has written: entries, their columns, and where rows begin.

    Attributes
    ----------
    labels : array of shape (n,)
    """

    def __init__(self, folder: str | os.PathLike[str], *, block_bytes: int = _BLOCK) -> None:
        name = os.fspath(folder)
        try:
            fields = json.loads((Path(folder) / MANIFEST).read_text())
            self.shape = int(fields["rows"]), int(fields["columns"])
            entries, self._dtype = int(fields["entries"]), np.dtype(fields["dtype"])
        except FileNotFoundError:
            raise ValueError(f"{name} has no {MANIFEST}; 'cutplane convert' writes such folders.") from None
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{name}/{MANIFEST} is damaged ({error}); convert the data again.") from None
        self._values, self._columns = (BinaryFile(Path(folder) / file) for file in ("values.bin", "columns.bin"))
        rows = BinaryFile(Path(folder) / "rows.bin")
        self._begin = rows.read(0, self.shape[0] + 1, np.int64)
        self.labels = BinaryFile(Path(folder) / "labels.bin").read(0, self.shape[0], np.float64)
        rising = self._begin[0] == 0 and bool((np.diff(self._begin) >= 0).all()) and self._begin[-1] == entries
        if not rising or self._values.size != entries * self._dtype.itemsize or self._columns.size != 4 * entries:
            raise ValueError(f"{name} is truncated or damaged: its files do not fit together; convert the data again.")
        self.size = entries * (4 + self._dtype.itemsize)
        most = max(1, block_bytes // (4 + self._dtype.itemsize))
        self.bounds = [0]
        while self.bounds[-1] < self.shape[0]:
            stop = int(np.searchsorted(self._begin, self._begin[self.bounds[-1]] + most, side="right")) - 1
            self.bounds.append(min(max(stop, self.bounds[-1] + 1), self.shape[0]))

    def load(self, block: int) -> Matrix:
        """Some rows."""
        first, last = self.bounds[block], self.bounds[block + 1]
        begin = self._begin[first : last + 1]
        start, count = int(begin[0]), int(begin[-1] - begin[0])
        values = self._values.read(start * self._dtype.itemsize, count, self._dtype)
        columns = self._columns.read(4 * start, count, np.int32)
        if count and (columns.min() < 0 or columns.max() >= self.shape[1]):
            raise ValueError(f"{self._columns.path} has a column beyond {self.shape[1] - 1}; convert the data again.")
        return sp.csr_matrix((values, columns, (begin - start).astype(np.int32)), shape=(last - first, self.shape[1]))


class ParquetRows(RowBlocks):
    """The rows of a Parquet file, a row group at a time; columns of numbers, all of them features.

    Parameters
    ----------
    path : path-like
    columns : sequence of str, optional
        The features; all columns unless given.
    """

    def __init__(self, path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> None:
        try:
            from pyarrow import parquet
        except ImportError:
            raise ImportError("Parquet files need pyarrow; pip install pyarrow.") from None
        self._path, self._parquet = os.fspath(path), parquet
        file = parquet.ParquetFile(path)
        names = file.schema_arrow.names
        missing = [name for name in columns or () if name not in names]
        if missing:
            raise ValueError(f"{self._path} has no column {missing[0]!r}; its columns are {', '.join(names)}.")
        self._names = list(columns or names)
        for name in self._names:
            kind = str(file.schema_arrow.field(name).type)
            if not kind.startswith(("float", "double", "int", "uint", "bool")):
                raise ValueError(f"Column {name!r} of {self._path} holds {kind}; features are numbers.")
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
        self.bounds = [0, *np.cumsum(sizes).tolist()]
        self.shape = self.bounds[-1], len(self._names)
        self.size = 8 * self.shape[0] * self.shape[1]

    def load(self, block: int) -> Matrix:
        """One row group."""
        table = self._parquet.ParquetFile(self._path).read_row_group(block, columns=self._names)
        columns = [table.column(name).to_numpy() for name in self._names]
        single = all(column.dtype == np.float32 for column in columns)
        return np.stack(columns, axis=1, dtype=np.float32 if single else np.float64, casting="unsafe")


def open_rows(path: str | os.PathLike[str]) -> RowBlocks:
    """The rows of a .npy file, of a .parquet file, or of a folder that `cutplane convert` has written."""
    where = Path(path)
    if where.is_dir():
        return CsrRows(where)
    if where.suffix == ".parquet":
        return ParquetRows(where)
    return NpyRows(where)

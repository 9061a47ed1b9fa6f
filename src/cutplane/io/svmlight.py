"""Files in the svmlight format, which LIBSVM and LIBLINEAR use too.

One example per line: ``label [qid:N] index:value index:value ... [# comment]``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cutplane import _core
from cutplane._types import Floats, Indices, MatrixLike
from cutplane.io.atomic import replace_file
from cutplane.io.compression import CompressionError, compression_of_name, open_sink, read_blocks
from cutplane.io.svmlight_rows import as_block, as_labels, as_matrix, as_queries, row_blocks

__all__ = ["SvmlightData", "SvmlightError", "load_svmlight", "save_svmlight"]

# Small enough for the buffers and the parser's scratch to stay in the cache, large enough for all threads
# to have several chunks each.
_BLOCK_BYTES = 1 << 22
_BYTES_PER_THREAD = 1 << 20
_TOKEN_SHOWN = 40

#: What may be read: a path, the content, or a file opened in binary mode.
_Given: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
# Values, columns, where rows begin, labels, queries where there are any, and the number of features.
_Parsed: TypeAlias = tuple[Floats, Indices, Indices, npt.NDArray[np.float64], npt.NDArray[np.int64] | None, int]
# Line, column, what was found there and what was expected.
_Fault: TypeAlias = tuple[int, int, bytes, str]


class SvmlightData(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    X : scipy.sparse.csr_array of shape (n_samples, n_features)
        The features, with sorted columns. Values written as 0 are stored.
    y : ndarray of shape (n_samples,), float64
        The labels.
    qid : ndarray of shape (n_samples,), int64, or None
        The query of each example; None if the file names none.
    """

    X: sparse.csr_array
    y: npt.NDArray[np.float64]
    qid: npt.NDArray[np.int64] | None


class SvmlightError(ValueError):
    """A file that cannot be read as svmlight.

    Attributes
    ----------
    path : str
        The file.
    line, column : int or None
        The place, both from 1, the column in bytes; None where the file as a whole is at fault.
    """

    def __init__(self, message: str, path: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[type[SvmlightError], tuple[object, ...]]:
        return type(self), (self.args[0], self.path, self.line, self.column)


def load_svmlight(
    source: _Given,
    *,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    zero_based: bool | Literal["auto"] = "auto",
    n_jobs: int | None = None,
) -> SvmlightData:
    """Read an svmlight file.

    Parameters
    ----------
    source : path, bytes-like or binary file
        Plain or compressed with gzip, bzip2, xz or zstd, which is told from the first bytes.
    n_features : int, optional
        Number of columns of ``X``. By default the largest index decides; give it where several files
        must agree.
    dtype : {float64, float32}
        Type of the values; each is the nearest to the decimal number in the file. Labels are float64.
    zero_based : bool or "auto"
        Whether indices start at 0 or at 1. "auto" takes the file to start at 0 exactly if an index 0
        occurs in it.
    n_jobs : int, optional
        Threads; None leaves it to OpenMP, -1 uses all cores. The result does not depend on it.

    Returns
    -------
    SvmlightData
        ``X``, ``y`` and ``qid``. The columns of ``X`` are int32 where they, the rows and the stored
        values can be counted in 32 bits, and int64 otherwise.

    Raises
    ------
    SvmlightError
        A ValueError that names the first malformed line, column and token; or says that the file holds
        no example, or that its compressed stream is truncated.

    Examples
    --------
    >>> from cutplane.io.svmlight import load_svmlight
    >>> X, y, qid = load_svmlight(b"+1 1:0.5 3:2  # the first\\n-1 2:0.25\\n")
    >>> X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
    >>> y
    array([ 1., -1.])
    """
    n_threads = _count_threads(n_jobs)
    reader = _make_reader(n_features, dtype, zero_based, n_threads)
    name = _name_of(source)
    with _open(source) as stream:
        plain_bytes = max(_BLOCK_BYTES, _BYTES_PER_THREAD * (n_threads or os.cpu_count() or 1))
        try:
            _feed_all(reader, read_blocks(stream, name, _BLOCK_BYTES, plain_bytes), name)
        except CompressionError as error:
            raise SvmlightError(str(error), name) from None
    _raise_fault(reader.finish(), name)
    values, indices, indptr, y, qid, width = reader.take()
    if len(y) == 0:
        raise SvmlightError(f"{name} holds no example: at least one line 'label index:value ...' is needed.", name)
    X = sparse.csr_array((values, indices, indptr), shape=(len(y), width))
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return SvmlightData(X, y, qid)


def save_svmlight(
    path: str | os.PathLike[str],
    X: MatrixLike,
    y: npt.ArrayLike,
    *,
    qid: npt.ArrayLike | None = None,
    zero_based: bool = False,
    comment: str | None = None,
    n_jobs: int | None = None,
) -> None:
    """Write an svmlight file.

    Every number is written with the fewest digits that read back to the same bits. The file appears
    under its name once it is complete: until then, and if anything fails, a file that was there before
    stays as it was.

    Parameters
    ----------
    path : path
        ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` are compressed accordingly.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Dense zeros are left out, stored zeros are written. Numbers other than float32 are written as
        float64. Columns after the last one in use leave no trace: give `load_svmlight` their number.
    y : array-like of shape (n_samples,)
        Real labels.
    qid : array-like of shape (n_samples,), optional
        Whole numbers.
    zero_based : bool
        Whether to number the columns from 0 instead of 1.
    comment : str, optional
        Written before the first example.
    n_jobs : int, optional
        Threads; None leaves it to OpenMP, -1 uses all cores. The file does not depend on it.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from cutplane.io.svmlight import load_svmlight, save_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.svm.gz")
    ...     save_svmlight(path, np.array([[0.1, 0.0], [0.0, 2.0]]), [1, -1])
    ...     load_svmlight(path).X.toarray()
    array([[0.1, 0. ],
           [0. , 2. ]])
    """
    n_threads = _count_threads(n_jobs)
    rows = as_matrix(X)
    labels = as_labels(y, rows.shape[0])
    queries = None if qid is None else as_queries(qid, rows.shape[0])
    with replace_file(path) as file:
        sink = open_sink(file, compression_of_name(path))
        if comment is not None:
            sink.write("".join(f"# {line}\n" for line in comment.splitlines() or [""]).encode())
        for start, stop in row_blocks(rows):
            block = as_block(rows, start, stop)
            pieces = _core.svmlight_format_rows(
                block.values,
                block.indices,
                block.indptr,
                labels[start:stop],
                None if queries is None else queries[start:stop],
                0 if zero_based else 1,
                n_threads,
            )
            for piece in pieces:
                sink.write(piece)
        sink.close()


class _Reader(Protocol):
    """What both readers of the core offer."""

    def feed(self, block: npt.NDArray[np.uint8], /) -> _Fault | None: ...

    def finish(self) -> _Fault | None: ...

    def take(self) -> _Parsed: ...


def _make_reader(n_features: int | None, dtype: npt.DTypeLike, zero_based: bool | str, n_threads: int) -> _Reader:
    if n_features is not None:
        if isinstance(n_features, bool) or not isinstance(n_features, (int, np.integer)) or n_features < 0:
            raise ValueError(f"n_features must be a whole number, 0 or more, or None; got {n_features!r}.")
        n_features = int(n_features)
    # Not a lookup in a dict: 1 == True, but an array does not even hash.
    if isinstance(zero_based, (bool, np.bool_)):
        base = "zero" if zero_based else "one"
    elif isinstance(zero_based, str) and zero_based == "auto":
        base = "auto"
    else:
        raise ValueError(f'zero_based must be True, False or "auto"; got {zero_based!r}.')
    kind = np.dtype(dtype)
    if kind == np.float32:
        return cast(_Reader, _core.SvmlightReader32(base, n_features, n_threads))
    if kind == np.float64:
        return cast(_Reader, _core.SvmlightReader64(base, n_features, n_threads))
    raise ValueError(f"dtype must be float32 or float64; got {kind}.")


def _feed_all(reader: _Reader, blocks: Iterator[bytes | memoryview], name: str) -> None:
    # One block is read or decompressed while the one before is parsed.
    with ThreadPoolExecutor(1, thread_name_prefix="svmlight") as pool:
        coming = pool.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            _raise_fault(reader.feed(np.frombuffer(block, dtype=np.uint8)), name)


def _raise_fault(fault: _Fault | None, name: str) -> None:
    if fault is None:
        return
    line, column, token, wanted = fault
    shown = token[:_TOKEN_SHOWN].decode("ascii", "backslashreplace")
    shown = shown.encode("unicode_escape").decode() if not shown.isprintable() else shown
    if len(token) > _TOKEN_SHOWN:
        shown += "..."
    message = f"{name}, line {line}, column {column}: found '{shown}', expected {wanted}."
    raise SvmlightError(message, name, line, column)


class _Unbuffered(io.RawIOBase):
    """Anything with a `read` that returns bytes."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # what readers hand over
        content = self._source.read(len(buffer))
        if not isinstance(content, bytes):
            raise TypeError(f"source must give bytes, not {type(content).__name__}: open the file in binary mode.")
        buffer[: len(content)] = content
        return len(content)


def _open(source: _Given) -> io.BufferedReader:
    if isinstance(source, (str, os.PathLike)):
        return open(source, "rb")
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = io.BytesIO(source)
    elif not hasattr(source, "read"):
        raise TypeError(f"source must be a path, bytes or a file opened in binary mode; got {type(source).__name__}.")
    # Closing the wrapper leaves the caller's file open.
    return io.BufferedReader(_Unbuffered(source), _BLOCK_BYTES)


def _name_of(source: _Given) -> str:
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


def _count_threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 0
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}.")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))

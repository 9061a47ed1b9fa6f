"""svmlight files turned, once, into folders that are read a block at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane.io.atomic import replace_folder
from cutplane.io.compression import read_blocks
from cutplane.io.svmlight import SvmlightData, load_svmlight
from cutplane.sources.mapped import MANIFEST

_BLOCK = 1 << 25


def convert_svmlight(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    n_jobs: int | None = None,
    block_bytes: int = _BLOCK,
) -> tuple[int, int, int]:
    """Convert an svmlight file, a block at a time; what is in memory does not grow with the file.

    Parameters
    ----------
    path : path-like
        The file, plain or compressed.
    folder : path-like
        A new folder.
    zero_based : bool
        Whether features are numbered from 0.
    n_features : int, optional
        If more than the file mentions.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    rows, columns, entries : int
    """
    with replace_folder(folder) as where:
        rows, columns, entries = _write_parts(path, where, zero_based, n_jobs, block_bytes)
        if n_features is not None:
            if n_features < columns:
                raise ValueError(f"{os.fspath(path)} has {columns} features, more than n_features={n_features}.")
            columns = n_features
        if not rows:
            raise ValueError(f"{os.fspath(path)} has no examples.")
        described = {"rows": rows, "columns": columns, "entries": entries, "dtype": "float32"}
        (where / MANIFEST).write_text(json.dumps(described) + "\n")
    return rows, columns, entries


def _write_parts(
    path: str | os.PathLike[str], where: Path, zero_based: bool, n_jobs: int | None, block_bytes: int
) -> tuple[int, int, int]:
    """Write the examples in parts; returns how many rows, columns and entries there are."""
    rows = entries = columns = lines = 0
    names = ("values.bin", "columns.bin", "rows.bin", "labels.bin")
    values, indices, begins, labels = (open(where / name, "wb") for name in names)  # noqa: SIM115
    with values, indices, begins, labels:
        begins.write(np.zeros(1, np.int64).tobytes())
        for text in _whole_lines(path, block_bytes):
            X, y, _ = _load(text, path, lines, zero_based, n_jobs)
            values.write(_single(X, path, rows).tobytes())
            indices.write(X.indices.astype(np.int32).tobytes())
            begins.write((entries + X.indptr[1:].astype(np.int64)).tobytes())
            labels.write(np.asarray(y, np.float64).tobytes())
            rows, entries, columns = rows + X.shape[0], entries + X.nnz, max(columns, X.shape[1])
            lines += text.count(b"\n")
    return rows, columns, entries


def _single(X: sp.csr_array, path: str | os.PathLike[str], rows: int) -> NDArray[np.float32]:
    """The values in single precision and the columns in 32 bits, or a word where they do not fit."""
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(
            f"{os.fspath(path)} has {X.shape[1]} features; a converted file has at most {np.iinfo(np.int32).max}."
        )
    with np.errstate(over="ignore"):
        values = np.asarray(X.data, np.float32)
    if not np.isfinite(values).all():
        entry = int(np.argmin(np.isfinite(values)))
        row = rows + int(np.searchsorted(X.indptr, entry, side="right"))
        raise ValueError(
            f"{os.fspath(path)}, example {row}: the value {X.data[entry]:g} is beyond single precision, in which "
            "converted files are kept; values must be below 3.4e38 in size."
        )
    return values


def _load(text: bytes, path: str | os.PathLike[str], lines: int, zero_based: bool, n_jobs: int | None) -> SvmlightData:
    from cutplane.io.svmlight import SvmlightError

    try:
        return load_svmlight(text, zero_based=zero_based, n_jobs=n_jobs)
    except SvmlightError as error:
        place = "" if error.line is None else f", line {lines + error.line}"
        said = str(error).partition(": ")[2] or str(error)
        raise ValueError(f"{os.fspath(path)}{place}: {said}") from None


def _whole_lines(path: str | os.PathLike[str], block_bytes: int) -> Iterator[bytes]:
    rest = b""
    with open(path, "rb") as stream:
        for block in read_blocks(stream, os.fspath(path), block_bytes, block_bytes):
            text = rest + bytes(block)
            end = text.rfind(b"\n") + 1
            rest = text[end:]
            if end:
                yield text[:end]
    if rest.strip():
        yield rest

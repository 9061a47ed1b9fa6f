"""Examples of the host, copied to a device: what their extent is, is found in some while others are on their way."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.source import CsrRows, DenseRows
from cutplane.device.text import ENTRIES


def copied_dense(kernels: Kernels, X: Any) -> DenseRows:
    """A dense array, its rows in C order."""
    known: list[tuple[DeviceArray, DeviceArray]] = []
    rows, entries = _plain(X)
    if not rows.flags.c_contiguous and rows.flags.f_contiguous:  # turned where that is fast
        return DenseRows(kernels, kernels.xp.ascontiguousarray(kernels.to_device(rows.T).T), entries)

    def seen(begin: int, part: DeviceArray) -> None:
        known.append(kernels.dense_extent(part, entries))

    there = kernels.to_device(np.ascontiguousarray(rows), seen)
    return DenseRows(kernels, there, entries, known)


def copied_csr(kernels: Kernels, X: Any) -> CsrRows:
    """A CSR matrix of float32 or float64."""
    indices, indptr = kernels.to_device(X.indices), kernels.to_device(X.indptr)
    sizes = kernels.xp.zeros(X.shape[1])

    def seen(begin: int, part: DeviceArray) -> None:
        kernels.largest(sizes, indices[begin : begin + len(part)], part)

    rows = kernels.csr_to_device((kernels.to_device(X.data, seen), indices, indptr), X.shape)
    kept = canonical(rows)
    return CsrRows(kernels, kept, sizes if kept is rows else None)


def canonical(rows: Any) -> Any:
    """A CSR matrix of the device, its indices in order and no entry twice; itself where it is so already."""
    if rows.has_canonical_format:
        return rows
    found = rows.copy()
    found.sum_duplicates()
    return found


def _plain(X: Any) -> tuple[Any, str]:
    """A dense array of the host in a type that kernels read, and that type's name."""
    if X.dtype.name == "bfloat16":  # NumPy shares it as bits
        return X.view(np.uint16), "bfloat16"
    if X.dtype == bool:
        return X.view(np.uint8), "uint8"
    return (X, str(X.dtype.name)) if X.dtype.name in ENTRIES else (X.astype(np.float64), "float64")

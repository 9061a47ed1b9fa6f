"""Arrays that lie on a GPU: CuPy's, sparse ones too, and those of libraries that share their memory with it."""

from __future__ import annotations

from functools import cache
from typing import Any

from cutplane.device.kernels import Kernels
from cutplane.device.source import CsrRows, DenseRows, DeviceMatrix
from cutplane.device.text import ENTRIES


def is_on_device(values: object) -> bool:
    """Whether an array, or what a sparse matrix is made of, lies on a GPU."""
    data = values.data if hasattr(values, "indptr") else values
    return hasattr(data, "__cuda_array_interface__")


def device_matrix(X: Any) -> DeviceMatrix | None:
    """Examples on a GPU, used where they lie; None where X lies elsewhere."""
    if not is_on_device(X):
        return None
    kernels = cuda_kernels()
    return DeviceMatrix(_csr_rows(kernels, X) if hasattr(X, "indptr") else _dense_rows(kernels, X))


def on_host(values: Any) -> Any:
    """An array of a GPU, copied to the host; anything else as it is."""
    return cuda_kernels().to_host(cuda_kernels().to_device(values)) if is_on_device(values) else values


@cache
def cuda_kernels() -> Kernels:
    """The kernels of the GPU, through CuPy."""
    try:
        from cutplane.device.cuda import CudaKernels
    except ImportError as error:
        raise ImportError(
            "Arrays on a GPU need CuPy: pip install 'cutplane[cuda12]', or 'cutplane[cuda13]' for CUDA 13."
        ) from error
    return CudaKernels()


def _dense_rows(kernels: Kernels, X: Any) -> DenseRows:
    rows = kernels.xp.ascontiguousarray(kernels.to_device(X))
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} dimensions; examples are the rows of an array that has 2.")
    if rows.dtype == bool:
        rows = rows.view("uint8")
    return DenseRows(kernels, rows if rows.dtype.name in ENTRIES else rows.astype("float64"))


def _csr_rows(kernels: Kernels, X: Any) -> CsrRows:
    rows = X.tocsr() if X.format != "csr" else X
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return CsrRows(kernels, rows if rows.data.dtype.name in ("float32", "float64") else rows.astype("float64"))

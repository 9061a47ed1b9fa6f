"""Arrays that lie on a GPU: CuPy's, sparse ones too, and those of libraries that share their memory with it."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

import numpy as np

from cutplane.device.copies import canonical, copied_csr, copied_dense
from cutplane.device.kernels import DeviceArray, Kernels
from cutplane.device.matrix import DeviceMatrix
from cutplane.device.source import CsrRows, DenseRows
from cutplane.device.text import ENTRIES

# DLPack's numbers of NVIDIA's GPUs: their own memory, and memory that the processor shares.
_CUDA = (2, 13)
# NumPy has no such type.
_BFLOAT16 = "torch.bfloat16"
# What one of several GPUs is called.
_NAME = re.compile(r"cuda:([0-9]+)")
# Entries of CSR matrices that are used as they are.
_SPARSE = ("float32", "float64")


def is_on_device(values: Any) -> bool:
    """Whether an array, or what a sparse matrix is made of, lies on a GPU."""
    data = values.data if hasattr(values, "indptr") else values
    return hasattr(data, "__dlpack_device__") and int(data.__dlpack_device__()[0]) in _CUDA


def device_matrix(X: Any) -> DeviceMatrix | None:
    """Examples on a GPU, used where they lie; None where X lies elsewhere."""
    if not is_on_device(X):
        return None
    kernels = cuda_kernels()
    if place_of(X) != kernels.current:
        raise ValueError(
            f"X lies on GPU {place_of(X)}, and GPU {kernels.current} is the current one: "
            f"`with cupy.cuda.Device({place_of(X)}):` around the call makes that X's."
        )
    return DeviceMatrix(_csr_rows(kernels, X) if hasattr(X, "indptr") else _dense_rows(kernels, X))


def check_device(device: object) -> None:
    """Refuse devices that are not known, or not there, in one sentence; None is where examples lie."""
    if device is None:
        return
    wanted = several_devices(device)
    if wanted is None and device != "cuda":
        raise ValueError(f"device={device!r} must be 'cuda', a list such as ['cuda:0', 'cuda:1'], or None.")
    there = cuda_kernels().devices
    if not there:
        raise ValueError(f"device={device!r} needs a GPU of NVIDIA's and its driver, and CuPy finds none.")
    missing = [number for number in wanted or () if number >= there]
    if missing:
        raise ValueError(f"device={device!r} has 'cuda:{missing[0]}', and CuPy finds {there} GPUs, from 'cuda:0' on.")


def several_devices(device: object) -> list[int] | None:
    """The numbers of the GPUs of a list of their names; None where it is no such list."""
    if not isinstance(device, (list, tuple)):
        return None
    found = [_NAME.fullmatch(name) if isinstance(name, str) else None for name in device]
    return [int(each[1]) for each in found if each] if found and all(found) else None


def place_of(values: Any) -> int:
    """The number of the GPU that an array, or what a sparse matrix is made of, lies on."""
    data = values.data if hasattr(values, "indptr") else values
    return int(data.__dlpack_device__()[1])


def use_device(number: int) -> None:
    """Make a GPU the current one of this thread."""
    cuda_kernels().use(number)


def copied_to_device(X: Any) -> Any:
    """A dense array or CSR matrix of the host as examples on the GPU; examples that lie elsewhere as they are."""
    if hasattr(X, "indptr"):
        return DeviceMatrix(copied_csr(cuda_kernels(), X if X.data.dtype.name in _SPARSE else X.astype(np.float64)))
    return DeviceMatrix(copied_dense(cuda_kernels(), X)) if isinstance(X, np.ndarray) else X


def has_device() -> bool:
    """Whether this process has a GPU, and CuPy."""
    try:
        return cuda_kernels().devices > 0
    except ImportError:
        return False


def put_on_device(X: Any) -> DeviceMatrix | None:
    """An array or a CSR matrix of the host as examples on this process's GPU; None where it has none, or no CuPy."""
    found: DeviceMatrix | None = copied_to_device(X) if has_device() else None
    return found


def on_host(values: Any) -> Any:
    """An array of a GPU, copied to the host; anything else as it is."""
    return cuda_kernels().to_host(_there(cuda_kernels(), values)) if is_on_device(values) else values


def labels_on_host(y: Any) -> Any:
    """Labels or targets of a GPU, copied to the host: in the type that they are needed in, converted where it is fast.

    Whole numbers come in the least type that holds them, others in double precision.
    """
    if not is_on_device(y):
        return y
    kernels = cuda_kernels()
    there = _there(kernels, y.float() if str(y.dtype) == _BFLOAT16 else y)
    if there.dtype.kind in "iu" and there.size:
        low, high = int(there.min()), int(there.max())
        least = next((t for t in (np.int8, np.int32) if np.iinfo(t).min <= low and high <= np.iinfo(t).max), None)
        there = there if least is None else there.astype(least)
    elif there.dtype.kind == "f":
        there = there.astype(np.float64)
    return kernels.to_host(there)


def in_type_of(y: Any, classes: Any) -> Any:
    """Classes in the type that labels on a GPU have, if NumPy has it; others as they are."""
    if not is_on_device(y) or str(y.dtype) == _BFLOAT16:
        return classes
    return classes.astype(str(y.dtype).removeprefix("torch."))


def where_it_lies(X: Any, answer: Any) -> Any:
    """An answer of the host on the GPU, where X lies there; else as it is."""
    return as_given(X, answer) if is_on_device(X) else answer


def as_given(X: Any, answer: Any) -> Any:
    """An answer of the host as an array of X's library, on the GPU; words, which there are none of, as they are."""
    if isinstance(answer, tuple):
        return tuple(as_given(X, each) for each in answer)
    if answer.dtype.kind not in "biuf":
        return answer
    there = cuda_kernels().to_device(answer)
    library = sys.modules[type(X).__module__.partition(".")[0]]
    return library.from_dlpack(there) if library.__name__ == "torch" else there


@cache
def cuda_kernels() -> Kernels:
    """The kernels of the GPU, through CuPy."""
    try:
        from cutplane.device.cuda import CudaKernels

        return CudaKernels()
    except ImportError as error:
        raise ImportError(
            "Arrays on a GPU need CuPy: pip install 'cutplane[cuda12]', or 'cutplane[cuda13]' for CUDA 13."
        ) from error


def _there(kernels: Kernels, values: Any) -> DeviceArray:
    """An array of any library as one of the kernels' own, over the same memory."""
    if hasattr(values, "detach"):  # a tensor, perhaps of a network that is being trained
        values = values.detach()
    return kernels.to_device(values)


def _dense_rows(kernels: Kernels, X: Any) -> DenseRows:
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X has {X.ndim} dimensions; examples are the rows of an array that has 2.")
    if str(X.dtype) == _BFLOAT16:  # libraries do not share it by that name
        bits = kernels.xp.ascontiguousarray(_there(kernels, X.detach().view(sys.modules["torch"].int16)))
        return DenseRows(kernels, bits.view("uint16"), "bfloat16")
    rows = kernels.xp.ascontiguousarray(_there(kernels, X))
    if rows.dtype.name == "bfloat16":
        return DenseRows(kernels, rows.view("uint16"), "bfloat16")
    if rows.dtype == bool:
        rows = rows.view("uint8")
    return DenseRows(kernels, rows if rows.dtype.name in ENTRIES else rows.astype("float64"))


def _csr_rows(kernels: Kernels, X: Any) -> CsrRows:
    rows = canonical(X if X.format == "csr" else X.tocsr())
    return CsrRows(kernels, rows if rows.data.dtype.name in _SPARSE else rows.astype("float64"))

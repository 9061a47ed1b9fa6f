"""Everything about devices runs on NumPy's twin of the kernels, and on a GPU where there is one."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from cutplane.device.kernels import Kernels
from cutplane.device.twin import TwinKernels


def cuda_kernels() -> Kernels | None:
    if find_spec("cupy") is None:
        return None
    import cupy

    if not cupy.cuda.is_available():
        return None
    from cutplane.device.cuda import CudaKernels

    return CudaKernels()


@pytest.fixture(params=["twin", *(["cuda"] if cuda_kernels() is not None else [])])
def kernels(request: Any) -> Kernels:
    found = TwinKernels() if request.param == "twin" else cuda_kernels()
    assert found is not None
    return found

"""Everything about devices runs on NumPy's twin of the kernels, and on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from cutplane import _core
from cutplane.device import arrays
from cutplane.device.kernels import Kernels
from cutplane.device.twin import TwinKernels
from cutplane.device.twin_arrays import TwinArray


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


@pytest.fixture(autouse=True)
def guarded_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of the core refuse what lies on a device; the twin's arrays would be taken, for they lie here."""

    def guarded(name: str, function: Any) -> Any:
        def checked(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(each, TwinArray) for each in (*args, *kwargs.values())):
                raise TypeError(f"{name}(): an array of the device was handed to the core.")
            return function(*args, **kwargs)

        return checked

    for name, found in list(vars(_core).items()):
        if callable(found) and not isinstance(found, type):
            monkeypatch.setattr(_core, name, guarded(name, found))


class PretendArray(TwinArray):
    """An array of "the device" as a user has it: it says where it lies."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key).view(PretendArray)

    def __array_function__(self, *call: Any) -> Any:
        return super().__array_function__(*call).view(PretendArray)


@pytest.fixture
def put(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Puts an array on the device."""
    if not isinstance(kernels, TwinKernels):
        return kernels.to_device
    monkeypatch.setattr(arrays, "cuda_kernels", lambda: kernels)
    return lambda X: np.asarray(X).view(PretendArray)

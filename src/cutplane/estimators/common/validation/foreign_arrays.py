"""Arrays of other libraries, such as tensors of PyTorch: NumPy's, over the same memory (DLPack)."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

# DLPack's number of the processor's own memory.
_CPU = 1


def as_numpy(name: str, values: T) -> T:
    """An array of another library as one of NumPy, without a copy; anything else as it is.

    scikit-learn with ``array_api_dispatch`` would hand such an array on to a core that knows none.
    """
    if isinstance(values, (np.ndarray, np.generic)) or not _is_foreign(values):
        return values
    given: Any = values
    if int(given.__dlpack_device__()[0]) != _CPU:
        raise ValueError(f"{name} lies in the memory of another device; a copy in that of the processor is accepted.")
    try:
        return np.from_dlpack(given)  # type: ignore[return-value]
    except (BufferError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{name} is a {type(given).__name__} that NumPy cannot read: {reason.rstrip('.')}.") from error


def _is_foreign(values: object) -> bool:
    # Frames and series of Polars have a DLPack of theirs in some versions; scikit-learn reads those by name.
    return hasattr(values, "__dlpack__") and hasattr(values, "__dlpack_device__") and not hasattr(values, "to_numpy")

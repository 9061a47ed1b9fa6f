"""Arrays of other libraries, such as tensors of PyTorch: NumPy's, over the same memory (DLPack)."""

from __future__ import annotations

import sys
from typing import Any, TypeVar, cast

import numpy as np
from sklearn import get_config

from cutplane import _core

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
        found = _bfloat16(given)
        if found is not None:
            return cast(T, found)
        reason = " ".join(str(error).split())
        raise ValueError(f"{name} is a {type(given).__name__} that NumPy cannot read: {reason.rstrip('.')}.") from error


def answers_in_kind(X: object) -> bool:
    """Whether predictions are to be arrays of X's own library: asked for by scikit-learn's ``array_api_dispatch``."""
    return not isinstance(X, np.ndarray) and _is_foreign(X) and bool(get_config()["array_api_dispatch"])


def in_kind(X: Any, answer: Any) -> Any:
    """An answer as an array of X's library, over the same memory; of words, which few libraries have, as it is."""
    if isinstance(answer, tuple):
        return tuple(in_kind(X, each) for each in answer)
    if answer.dtype.kind not in "biuf":
        return answer
    # PyTorch has no namespace of the standard's kind: its module serves.
    named = hasattr(X, "__array_namespace__")
    library = X.__array_namespace__() if named else sys.modules[type(X).__module__.partition(".")[0]]
    return library.from_dlpack(answer)


def _bfloat16(values: Any) -> Any:
    """An array of bfloat16, of which NumPy knows none: in the type of ml_dtypes, else copied as float32; or None."""
    try:
        bits = _core.bfloat16_bits(values)
    except (TypeError, ValueError):
        return None
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(bfloat16)


def _is_foreign(values: object) -> bool:
    # Frames and series of Polars have a DLPack of theirs in some versions; scikit-learn reads those by name.
    return hasattr(values, "__dlpack__") and hasattr(values, "__dlpack_device__") and not hasattr(values, "to_numpy")

"""Arrays of values of one or two bytes: what the core calls them, and the same as floats.

Every float16, bfloat16, int8, uint8 and boolean is a float32, so that nothing is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutplane import _core

# By NumPy's name: bfloat16 is that of ml_dtypes, which need not be installed.
_TYPES = {
    "float16": _core.NarrowType.float16,
    "bfloat16": _core.NarrowType.bfloat16,
    "int8": _core.NarrowType.int8,
    "uint8": _core.NarrowType.uint8,
    "bool": _core.NarrowType.uint8,
}
_WIDEST = 2  # bytes, which are asked for first: NumPy takes long to make names


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether these are values of one or two bytes that the core reads where they lie."""
    return dtype.itemsize <= _WIDEST and dtype.name in _TYPES and dtype.isnative


def is_read(dtype: np.dtype[Any]) -> bool:
    """Whether the core reads dense arrays of these values where they lie."""
    return dtype in (np.float32, np.float64) or is_narrow(dtype)


def narrow_matrix(X: NDArray[Any], rows: NDArray[np.int64] | None) -> _core.Matrix:
    """Such an array, rows or columns contiguous, as a matrix of the core."""
    return _core.Matrix.narrow(bits(X), _TYPES[X.dtype.name], rows)


def bits(X: NDArray[Any]) -> NDArray[Any]:
    """The same memory as unsigned integers."""
    return X.view(np.uint16 if X.dtype.itemsize == 2 else np.uint8)


def precision(X: NDArray[Any]) -> type[np.float32 | np.float64]:
    """What a BLAS multiplies these values in."""
    return np.float64 if X.dtype == np.float64 else np.float32


def floats(X: NDArray[Any]) -> NDArray[Any]:
    """A copy of such an array in single precision; any other array as it is."""
    return _core.widened(bits(X), _TYPES[X.dtype.name]) if is_narrow(X.dtype) else X

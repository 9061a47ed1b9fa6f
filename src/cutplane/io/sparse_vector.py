"""A vector with many zeros as arrays of a file: its other entries and where they are, if that is shorter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def vector_to_arrays(name: str, vector: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """`vector` under its name, or its entries other than zero as `name`.values and `name`.places."""
    places = np.flatnonzero(vector)
    narrow = places.astype(np.int32 if len(vector) < 2**31 else np.int64)
    if narrow.nbytes + 8 * len(places) >= vector.nbytes:
        return {name: vector}
    return {f"{name}.values": vector[places], f"{name}.places": narrow}


def vector_from_arrays(name: str, arrays: Mapping[str, NDArray[Any]], size: int) -> NDArray[np.float64]:
    """What `vector_to_arrays` stored, of `size` finite numbers; `ValueError` if it is anything else."""
    if name in arrays:
        vector = arrays[name]
    else:
        values, places = arrays[f"{name}.values"], arrays[f"{name}.places"]
        if places.dtype.kind != "i" or places.ndim != 1 or values.shape != places.shape:
            raise ValueError(f"{name} has not one place for each value")
        if len(places) and (places[0] < 0 or places[-1] >= size or np.any(np.diff(places) <= 0)):
            raise ValueError(f"{name} has places that are not in order, or beyond its {size} entries")
        vector = np.zeros(size, values.dtype)
        vector[places] = values
    if vector.shape != (size,) or vector.dtype != np.float64 or not np.isfinite(vector).all():
        raise ValueError(f"{name} should have {size} finite numbers")
    return vector

"""Feature vectors of one example: dense arrays, or pairs of indices and values."""

from __future__ import annotations

from collections.abc import Sized
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cutplane._types import Array, Matrix, MatrixLike, is_sparse


class SparseVector(NamedTuple):
    """Sorted indices without duplicates, and the values there."""

    size: int
    indices: NDArray[np.int64]
    values: Array


Vector = Array | SparseVector
# Features as a user's model gives them: a vector, or a sparse matrix of one row.
VectorLike: TypeAlias = ArrayLike | sp.sparray


def as_vector(features: VectorLike) -> Vector:
    """What a user's joint_feature gave, as one of the two kinds; ValueError if it is no vector."""
    if is_sparse(features):
        if features.ndim == 2 and features.shape[0] != 1:
            raise ValueError(f"a sparse matrix of shape {features.shape}; it must have one row")
        row = sp.csr_array(features.reshape(1, -1), copy=True)
        row.sum_duplicates()
        return SparseVector(row.shape[1], row.indices.astype(np.int64), row.data.astype(np.float64))
    dense = np.array(features, dtype=np.float64)
    if dense.ndim != 1 or not dense.size:
        raise ValueError(f"an array of shape {dense.shape}; it must be a vector")
    return dense


def size(v: Vector) -> int:
    """The length of the vector, zeros included."""
    return v.size


def first_nonfinite(v: Vector) -> tuple[int, float] | None:
    """Place and value of the first entry that is no finite number."""
    values = v.values if isinstance(v, SparseVector) else v
    bad = np.flatnonzero(~np.isfinite(values))
    if not len(bad):
        return None
    place = int(v.indices[bad[0]]) if isinstance(v, SparseVector) else int(bad[0])
    return place, float(values[bad[0]])


def length(v: Vector) -> float:
    """Its Euclidean length."""
    return float(np.linalg.norm(v.values if isinstance(v, SparseVector) else v))


def dot(v: Vector, w: Array) -> float:
    """<v, w>."""
    return float(v.values @ w[v.indices]) if isinstance(v, SparseVector) else float(v @ w)


def row_squares(X: Matrix) -> Array:
    """The squared length of each row of a matrix."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.square(np.asarray(X, dtype=np.float64)).sum(axis=1))


def rows_in(x: MatrixLike | Sized) -> int:
    """How many rows there are in a matrix, or in a list of them."""
    return int(x.shape[0]) if hasattr(x, "shape") else len(cast(Sized, x))


def add(v: Vector, coef: float, out: Array) -> None:
    """Add coef·v to `out`."""
    if isinstance(v, SparseVector):
        out[v.indices] += coef * v.values
    else:
        out += coef * v


def times(v: Vector, factor: float) -> Vector:
    """factor·v."""
    if isinstance(v, SparseVector):
        return SparseVector(v.size, v.indices, factor * v.values)
    return factor * v


def combination(a: Vector, b: Vector, scale: float) -> Vector:
    """scale·(a - b); sparse if both are."""
    if isinstance(a, SparseVector) and isinstance(b, SparseVector):
        indices, place = np.unique(np.concatenate([a.indices, b.indices]), return_inverse=True)
        values = np.bincount(place, np.concatenate([scale * a.values, -scale * b.values]), len(indices))
        kept = values != 0.0
        return SparseVector(a.size, indices[kept], values[kept])
    return scale * (to_dense(a) - to_dense(b))


def inner(a: Vector, b: Vector) -> float:
    """<a, b>."""
    if isinstance(a, SparseVector) and isinstance(b, SparseVector):
        _, in_a, in_b = np.intersect1d(a.indices, b.indices, assume_unique=True, return_indices=True)
        return float(a.values[in_a] @ b.values[in_b])
    return dot(a, b) if isinstance(b, np.ndarray) else dot(b, to_dense(a))


def compact(v: Vector) -> Vector:
    """The vector as a sparse one where that takes less memory."""
    if isinstance(v, SparseVector):
        return v
    indices = np.flatnonzero(v)
    return SparseVector(v.size, indices, v[indices]) if 2 * len(indices) < v.size else v


def zeros(size: int) -> SparseVector:
    """A vector of zeros."""
    return SparseVector(size, np.zeros(0, np.int64), np.zeros(0))


def to_dense(v: Vector) -> Array:
    """The vector as an array."""
    if isinstance(v, np.ndarray):
        return v
    out = np.zeros(v.size)
    out[v.indices] = v.values
    return out


def key(v: Vector, offset: float) -> bytes:
    """Equal for equal planes."""
    if isinstance(v, SparseVector):
        return b"".join((np.float64(offset).tobytes(), v.indices.tobytes(), v.values.tobytes()))
    return np.float64(offset).tobytes() + v.tobytes()

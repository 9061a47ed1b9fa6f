"""Types that the whole package shares, each said once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

#: Numbers in double precision: weights, scores, slopes.
Array: TypeAlias = NDArray[np.float64]
#: Whole numbers: positions of examples, codes of classes, queries.
Integers: TypeAlias = NDArray[np.int64]
#: The number of each example's class, in any type that holds it.
Codes: TypeAlias = NDArray[np.signedinteger]
#: An array of any dtype that is compared, counted and indexed, and never calculated with: labels, mostly.
Labels: TypeAlias = NDArray[np.generic]
#: The two precisions of the core.
Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
#: Columns and beginnings of rows in compressed matrices.
Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
#: Examples in memory once they are checked: rows of numbers, dense or compressed.
Matrix: TypeAlias = NDArray[np.floating] | sp.csr_array
#: A model's weights, which `sparsify` compresses.
Weights: TypeAlias = Array | sp.csr_matrix


class Shaped(Protocol):
    """Whatever knows how many rows and columns it has: a sparse matrix, a table, a `Source`."""

    @property
    def shape(self) -> tuple[int, ...]: ...


#: Examples as users hand them over, before any check.
MatrixLike: TypeAlias = ArrayLike | Shaped


class Listed(Protocol):
    """Whatever has one entry for each example: a list, an array, a column of a table, a list of sequences."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


#: A plain label, as files and messages show it.
Label: TypeAlias = str | int | float | bool

#: scikit-learn's `random_state`.
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
#: scikit-learn's `class_weight`. A mapping's key type is invariant: no type but `Any` takes labels of every type.
ClassWeight: TypeAlias = Mapping[Any, float] | str | None
#: Where examples of the host are trained on: a GPU, or several by their names.
Device: TypeAlias = str | Sequence[str] | None
#: An estimator's parameters by name. Each has a type of its own, which `**` cannot tell apart.
Params: TypeAlias = dict[str, Any]
#: What JSON can hold of a model or a proof. It may come from a damaged file: whoever reads it checks what it finds.
Document: TypeAlias = dict[str, Any]
#: Arrays by name, as files hold them: of any dtype, which whoever reads them checks.
Arrays: TypeAlias = dict[str, NDArray[Any]]


def is_sparse(X: object) -> TypeGuard[sp.csr_array]:
    """`scipy.sparse.issparse`, for whoever checks types."""
    return bool(sp.issparse(X))

"""Kernel expansions as plain data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Matrix
from cutplane.kernels.functions import Kernel
from cutplane.plain.scores import KernelScores, PrecomputedScores


class Support(NamedTuple):
    """The support vectors, by position among the training examples and as rows."""

    positions: NDArray[np.signedinteger]
    vectors: Matrix
    n_training: int


def plain_scores(
    kernel: Kernel, support: Support, coef: Array, intercept: Array, n_support: NDArray[np.int32] | None = None
) -> KernelScores | PrecomputedScores:
    """Scores by a kernel that has a name; `ValueError` for a function."""
    if kernel.name == "precomputed":
        positions = support.positions.astype(np.int64)
        return PrecomputedScores(support.n_training, positions, coef, intercept, n_support)
    if kernel.name == "callable":
        raise ValueError(f"kernel={kernel.function!r} is a function, which is code and no data.")
    return KernelScores(
        kernel.name,
        float(kernel.gamma),
        int(kernel.degree),
        float(kernel.coef0),
        support.vectors,
        coef,
        intercept,
        n_support,
    )

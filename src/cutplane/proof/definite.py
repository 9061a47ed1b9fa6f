"""Whether a matrix of kernel values is positive semi-definite: what every lower bound of a kernel machine rests on.

Where Cholesky's method runs to its end on A, in any order of its sums, A + E is positive semi-definite for some E of
norm at most gamma(n + 1) / (1 - gamma(n + 1)) · trace(A) (Higham, Accuracy and Stability of Numerical Algorithms,
theorems 10.3 and 10.5). So a matrix that is definite but for rounding becomes so, provably, by a little on its
diagonal, and a certificate that is charged for it is one of that matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutplane._types import Matrix
from cutplane.proof.kernel_values import KernelFunction
from cutplane.proof.rounding import gamma

#: Matrices of more rows are not looked at: the factor takes n³/3 operations.
MOST_ROWS = 5000
# What is put on the diagonal before Cholesky's method, in units of the largest value, for each row.
_PER_ROW = 8.0


class Definite(NamedTuple):
    """What is known of a kernel matrix.

    `diagonal` on its diagonal and `elsewhere` on any of its values make it positive semi-definite; None where nothing
    small does. `premise` says in words what bounds take for granted; nothing, where the kernel is so by construction.
    """

    diagonal: float | None = 0.0
    elsewhere: float = 0.0
    premise: str = ""


def definite(kernel: KernelFunction, X: Matrix) -> Definite:
    """By construction, by Cholesky's method, or, where there are many rows, assumed."""
    n = X.shape[0]
    if kernel.definite:
        return Definite()
    if n > MOST_ROWS:
        return Definite(premise=f"the kernel matrix of {n:,} rows is positive semi-definite; it was not checked")
    values, errors = np.zeros((2, n, n))
    for rows, block, off in kernel.blocks(X, np.arange(n)):
        values[rows], errors[rows] = block, off
    given = X.dtype if kernel.name == "precomputed" and X.dtype.kind == "f" else np.dtype(np.float64)
    allowed = _PER_ROW * n * float(np.finfo(given).eps) * float(np.abs(values).max(initial=0.0))
    elsewhere = 0.5 * float(np.abs(values - values.T).max(initial=0.0))
    symmetric = 0.5 * (values + values.T)
    symmetric[np.diag_indices(n)] += allowed
    try:
        np.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:
        return Definite(None)
    share = gamma(n + 1)
    more = share / (1.0 - share) * float(np.trace(symmetric)) + float(
        np.maximum(errors, errors.T).sum(axis=1).max(initial=0.0)
    )
    diagonal = (allowed + more) * (1.0 + 1e-9)
    asymmetric = f" and up to {elsewhere:.1g} elsewhere" if elsewhere else ""
    premise = (
        f"of the kernel matrix with {diagonal:.1g} more on its diagonal{asymmetric}: that is positive semi-definite"
    )
    return Definite(diagonal, elsewhere * (1.0 + 1e-9), premise)

"""Whether a kernel matrix is positive semi-definite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

# Matrices with more rows are not looked at: the factor takes n³/3 operations, training about n² for each feature.
MOST_ROWS = 2000
# Rounding errors that a positive semi-definite matrix and its factor may have, in units of its type and its largest
# value, for each row: the values themselves, sums of as many terms as there are rows, and a margin for both.
_PER_ROW = 8.0
# A negative eigenvalue, or squared length, beyond this share of the largest is the kernel's own. By hand: kernel values
# in single precision explain no more.
NEGATIVE_SHARE = 1e-4


def distance_to_definite(K: NDArray[np.floating | np.integer]) -> float | None:
    """The distance of K's values from those of a positive semi-definite matrix, at most; None if rounding is no excuse.

    The other matrix is L L', where L is the factor of K by Cholesky's method with pivots; the distance is evaluated,
    not estimated, and a certificate that is charged for it holds for L L'.
    """
    values = np.asarray(K, np.float64)
    symmetric = (values + values.T) / 2.0
    largest = float(np.abs(symmetric).max(initial=0.0))
    if largest == 0.0:
        return float(np.abs(values).max(initial=0.0))
    symmetric /= largest
    n = len(symmetric)
    unit = float(np.finfo(K.dtype.name if K.dtype.kind == "f" else np.float64).eps)
    allowed = _PER_ROW * n * unit
    factor, pivots, rank, _ = dpstrf(symmetric, tol=allowed / 8.0, lower=1)
    order = pivots - 1
    lower = np.tril(factor)[:, :rank]
    left = np.abs(symmetric[np.ix_(order, order)] - lower @ lower.T).max()
    # Two more charges: the rounding of the product above, and the asymmetry of K, which the factor does not have.
    distance = float(left) + (rank + 4) * 2.0**-52 + float(np.abs(values - values.T).max()) / largest
    return distance * largest if distance <= allowed + (rank + 4) * 2.0**-52 else None

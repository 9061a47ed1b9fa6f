"""The squared hinge: the mean of max(0, 1 - y·score)², weighted or not."""

from __future__ import annotations

from numpy.typing import ArrayLike

from cutplane.risks.separable import SmoothRisk
from cutplane.risks.visited import QuadraticDual


class SquaredHinge(SmoothRisk):
    """Sum of c_i max(0, 1 - y_i s_i)², the c_i proportional to the sample weights and summing to one.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, -1 or +1.
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.squared_hinge import SquaredHinge
    >>> SquaredHinge(np.array([1, -1])).value(np.array([0.5, 1.0]))
    2.125
    """

    _loss = "squared_hinge"
    _proof = ("squared_hinge", ())
    _dual = QuadraticDual(ridge=0.5, one_sided=True)

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        super().__init__(y, sample_weight, n_threads)

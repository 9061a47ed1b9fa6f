"""The logistic loss: the mean of log(1 + exp(-y·score)), weighted or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cutplane import _core
from cutplane.risks.base import Array
from cutplane.risks.separable import SmoothRisk
from cutplane.risks.visited import AscentExamples


class Logistic(SmoothRisk):
    """Sum of c_i log(1 + exp(-y_i s_i)), the c_i proportional to the sample weights and summing to one.

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
    >>> from cutplane.risks.logistic import Logistic
    >>> round(Logistic(np.array([1, -1])).value(np.zeros(2)), 6)
    0.693147
    """

    _loss = "logistic"
    _proof = ("logistic", ())
    has_interior = False

    def __init__(self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, n_threads: int = 0) -> None:
        super().__init__(y, sample_weight, n_threads)

    @property
    def dual_range(self) -> tuple[Array, Array]:
        """From 0 to 1, times the label."""
        return np.minimum(self.y, 0.0), np.maximum(self.y, 0.0)

    def ascent(self, examples: AscentExamples, C: float, seed: int, base: Array | None = None) -> _core.DualAscent:
        """Dual coordinate ascent over examples."""
        each = None if self.weights is None else C * self.weights
        return _core.DualAscent.logistic(*examples[:2], self.y, base, each, C * self.each, *examples[2:], seed)

"""The quantile (pinball) loss: what its minimiser predicts is exceeded by a given share of the targets."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cutplane.risks.base import Array
from cutplane.risks.separable import TubeRisk, check_number


class Quantile(TubeRisk):
    """Sum of c_i (quantile · max(0, y_i - s_i) + (1 - quantile) · max(0, s_i - y_i)).

    The c_i are proportional to the sample weights and sum to one.

    Parameters
    ----------
    y : array of shape (n,)
        Targets.
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    quantile : float
        The share of the targets that lie below what is predicted; 0.5 is half the absolute error.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.quantile import Quantile
    >>> Quantile(np.array([1.0, 2.0]), quantile=0.75).value(np.array([2.0, 0.0]))
    0.875
    """

    def __init__(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, quantile: float = 0.5, n_threads: int = 0
    ) -> None:
        self.quantile = check_number("quantile", quantile, below=1.0, strict=True)
        super().__init__(y, sample_weight, n_threads)

    def _parameters(self) -> list[float]:
        return [1.0 - self.quantile, self.quantile, 0.0]

    def decide(self, scores: Array) -> Any:
        """The scores themselves."""
        return scores

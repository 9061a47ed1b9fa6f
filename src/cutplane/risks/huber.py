"""Huber's loss: half the squared error up to delta, and in proportion to the error beyond."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cutplane.risks.base import Array
from cutplane.risks.separable import SmoothRisk, check_number
from cutplane.risks.visited import QuadraticDual


class Huber(SmoothRisk):
    """Sum of c_i (½ u_i² where |u_i| <= delta, else delta |u_i| - ½ delta²), u_i = s_i - y_i.

    The c_i are proportional to the sample weights and sum to one.

    Parameters
    ----------
    y : array of shape (n,)
        Targets.
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    delta : float
        Where the loss turns from a square into a line.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.huber import Huber
    >>> Huber(np.array([1.0, 2.0])).value(np.array([1.5, 5.0]))
    1.3125
    """

    _loss = "huber"
    _proof = ("huber", ("delta",))

    def __init__(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, delta: float = 1.0, n_threads: int = 0
    ) -> None:
        self.delta = check_number("delta", delta, strict=True)
        super().__init__(y, sample_weight, n_threads)

    @property
    def _dual(self) -> QuadraticDual:
        return QuadraticDual(self.delta, self.delta, ridge=1.0)

    def _parameters(self) -> list[float]:
        return [self.delta]

    def decide(self, scores: Array) -> Any:
        """The scores themselves."""
        return scores

"""The squared epsilon-insensitive loss: the mean of max(0, |score - y| - epsilon)², weighted or not."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cutplane.risks.base import Array
from cutplane.risks.separable import SmoothRisk, check_number
from cutplane.risks.visited import QuadraticDual


class SquaredEpsilonInsensitive(SmoothRisk):
    """Sum of c_i max(0, |s_i - y_i| - epsilon)², the c_i proportional to the sample weights and summing to one.

    Parameters
    ----------
    y : array of shape (n,)
        Targets.
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    epsilon : float
        Errors up to this cost nothing; 0 is the squared error.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.squared_epsilon_insensitive import SquaredEpsilonInsensitive
    >>> SquaredEpsilonInsensitive(np.array([1.0, 2.0]), epsilon=0.5).value(np.array([1.25, 4.0]))
    1.125
    """

    _loss = "squared_epsilon"
    _proof = ("squared_tube", ("epsilon",))

    def __init__(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, epsilon: float = 0.0, n_threads: int = 0
    ) -> None:
        self.epsilon = check_number("epsilon", epsilon)
        super().__init__(y, sample_weight, n_threads)

    @property
    def _dual(self) -> QuadraticDual:
        return QuadraticDual(epsilon=self.epsilon, ridge=0.5)

    def _parameters(self) -> list[float]:
        return [self.epsilon]

    def decide(self, scores: Array) -> Any:
        """The scores themselves."""
        return scores

"""The one-class risk: minus the mean of the lowest scores, for telling what is like the examples from what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cutplane import _core
from cutplane.risks.base import Array, Risk, ScoreCut
from cutplane.risks.separable import check_number

# Sums of weights that add up to one are this close to it.
_ROUNDING = 1e-12


class OneClass(Risk):
    """The least over rho of Σ c_i max(0, rho - s_i) / nu - rho, the c_i summing to one.

    It is minus the mean of the lowest scores, which make up a share nu of the weight; the best rho is the highest of
    these. Its planes have the offset zero: R(s) = max of -<pi, s> over weights pi that sum to one, none above c_i / nu.

    Parameters
    ----------
    n_examples : int
    sample_weight : array of shape (n,), optional
        Non-negative, not all zero.
    nu : float
        The share of the examples that may lie below rho, between 0 and 1.
    lower_bound : float
        Any number that the risk does not fall below at the minimiser sought: scores have no least value.
    n_threads : int
        0 leaves it to OpenMP.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane.risks.one_class import OneClass
    >>> OneClass(4, nu=0.5).value(np.array([1.0, 4.0, 2.0, 3.0]))
    -1.5
    """

    name = "the loss of LinearOneClassSVM"
    total_weight = 1.0
    scale = 0.0  # offsets are zero

    def __init__(
        self,
        n_examples: int,
        sample_weight: ArrayLike | None = None,
        *,
        nu: float = 0.5,
        lower_bound: float = -1e6,
        n_threads: int = 0,
    ) -> None:
        self.nu = check_number("nu", nu, below=np.nextafter(1.0, 2.0), strict=True)
        self.lower_bound = lower_bound
        raw = np.ones(n_examples) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._weights = np.ascontiguousarray(raw / raw.sum())
        self._n_threads = n_threads
        self._core = _core.Hinge(np.ones(n_examples, dtype=np.int8), self._weights, 0.0)

    def threshold(self, scores: Array) -> float:
        """The best rho: a weighted quantile of the scores, by selection in O(n)."""
        # As a hinge of labels +1 whose intercept, minus rho, is charged nu.
        shift = self._core.ray_minimum(scores + 1.0, None, False, 0.0, self.nu, 1.0, -np.inf, self._n_threads)
        # With nu = 1 every score counts, whatever rho is from the highest on.
        return float(np.clip(-shift, scores.min(), scores.max()))

    def value(self, scores: Array) -> float:
        """The risk."""
        rho = self.threshold(scores)
        return float(self._weights @ np.maximum(0.0, rho - scores)) / self.nu - rho

    def cut(self, scores: Array) -> ScoreCut:
        """The plane at `scores`: full weight below the threshold, and on it what is left."""
        rho = self.threshold(scores)
        # A threshold is a score up to rounding: wide enough, the examples on it are those whose weight is divided.
        width = 4.0 * np.finfo(np.float64).eps * max(1.0, float(np.abs(scores).max()))
        while True:
            below, on = scores < rho - width, np.abs(scores - rho) <= width
            coef = np.where(below, self._weights, 0.0) / self.nu
            left, at = 1.0 - float(coef.sum()), float(self._weights[on].sum())
            if -_ROUNDING <= left <= at / self.nu + _ROUNDING:
                break
            width *= 4.0
        if at > 0.0:
            coef[on] = self._weights[on] * min(max(left, 0.0) / at, 1.0 / self.nu)
        return ScoreCut(np.asarray(-coef / coef.sum()), 0.0, self.value(scores))

    def decide(self, scores: Array) -> Any:
        """+1 from the threshold on, else -1."""
        return np.where(scores >= self.threshold(scores), 1, -1)

"""Risks that are sums over examples of a loss of one score each: dual ascent visits the examples one by one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from cutplane import _core
from cutplane.risks.base import Array, RoundedRisk


class AscentExamples(NamedTuple):
    """What dual ascent runs over.

    Attributes
    ----------
    matrix : Matrix
        The examples.
    scale : AscentScale
        Their lengths.
    intercept : bool
        Whether an intercept is free.
    constant : float
        The value of a constant last feature that the matrix does not hold; 0: there is none.
    """

    matrix: _core.Matrix
    scale: _core.AscentScale
    intercept: bool
    constant: float = 0.0

    @property
    def features(self) -> int:
        """How many the matrix holds."""
        return self.matrix.shape[1]


class InteriorExamples(NamedTuple):
    """What an interior point runs over: as `AscentExamples`, without their lengths."""

    matrix: _core.Matrix
    intercept: bool
    constant: float
    n_threads: int


class VisitedRisk(RoundedRisk):
    """Sum of c_i loss(s_i, y_i).

    Attributes
    ----------
    y : array of shape (n,)
        Targets, or labels of -1 and +1.
    weights : array of shape (n,) or None
        The c_i.
    each : float
        The c_i where `weights` is None.
    """

    #: Whether the loss is made of lines: dual variables then end at bounds or at kinks.
    has_kinks: bool = True
    #: Whether the conjugate of the loss is a parabola in pieces: an interior point over all examples knows no other.
    has_interior: bool = True
    #: The size of the loss's own parameters, as far as scores are compared with them.
    own_scale: float = 0.0

    y: Any
    weights: Array | None
    each: float

    @property
    @abstractmethod
    def dual_range(self) -> tuple[Any, Any]:
        """Between what minus the slope of the loss lies: the bounds of dual variables, per C and weight."""

    @abstractmethod
    def ascent(self, examples: AscentExamples, C: float, seed: int, base: Array | None = None) -> _core.DualAscent:
        """Dual coordinate ascent over examples; `base`: scores that are there whatever the weights are."""

    def interior(self, examples: InteriorExamples, C: float, base: Array | None = None) -> _core.InteriorPoint:
        """An interior point over all examples, where `has_interior`."""
        raise NotImplementedError


class QuadraticDual(NamedTuple):
    """A loss whose conjugate is a parabola in pieces: y·a - epsilon·|a| - ½·ridge·a², -above <= a <= below.

    `one_sided`: a has the sign of the label.
    """

    above: float = np.inf
    below: float = np.inf
    epsilon: float = 0.0
    ridge: float = 0.0
    one_sided: bool = False

    def range(self, y: Any) -> tuple[Any, Any]:
        """Where a may lie."""
        if not self.one_sided:
            return -self.above, self.below
        return np.where(y > 0, 0.0, -self.above), np.where(y > 0, self.below, 0.0)

    def ascent(
        self,
        risk: VisitedRisk,
        examples: AscentExamples,
        C: float,
        seed: int,
        base: Array | None,
    ) -> _core.DualAscent:
        """Dual coordinate ascent for a risk of this loss."""
        each = None if risk.weights is None else C * risk.weights
        y = np.ascontiguousarray(risk.y, np.float64)
        matrix, scale, intercept, constant = examples
        return _core.DualAscent.quadratic(
            matrix, scale, y, base, each, C * risk.each, *self, intercept=intercept, constant=constant, seed=seed
        )

    def interior(
        self, risk: VisitedRisk, examples: InteriorExamples, C: float, base: Array | None
    ) -> _core.InteriorPoint:
        """An interior point for a risk of this loss."""
        each = None if risk.weights is None else C * risk.weights
        y = np.ascontiguousarray(risk.y, np.float64)
        matrix, intercept, constant, n_threads = examples
        return _core.InteriorPoint(
            matrix, y, base, each, C * risk.each, *self, intercept=intercept, constant=constant, n_threads=n_threads
        )

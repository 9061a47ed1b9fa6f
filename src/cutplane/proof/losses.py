"""The losses of one score, once more: in NumPy, as their definitions have them.

The prover and `verify` evaluate models by these, not by the compiled sums that the solvers minimise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.rounding import LEAST_NUMBER, UNIT

Array = NDArray[np.float64]


class ScoreLoss(ABC):
    """A convex loss of a score s against a target y, and its conjugate.

    For any slope p that some tangent has, p·s - conjugate(p) is below the loss: that is what a dual variable proves.
    Values are as good as a few roundings of numbers of the size of s and y.
    """

    @abstractmethod
    def value(self, s: Array, y: Array) -> Array:
        """The loss."""

    @abstractmethod
    def conjugate(self, p: Array, y: Array) -> Array:
        """The most that p·s exceeds the loss by; inf where no plane of slope p is below it."""

    @abstractmethod
    def slopes(self, y: Array) -> tuple[Array, Array]:
        """The least and the greatest slope of any tangent, by target."""

    @abstractmethod
    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """The slopes to the left and to the right of s, each but for a few roundings of itself."""

    def own_rounding(self, s: Array, y: Array) -> float:
        """How far off scores would have to be for what rounding inside of the loss does, beyond a relative error."""
        return 0.0

    @abstractmethod
    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """How steep the loss is at most within delta of s."""


@dataclass(frozen=True)
class Hinge(ScoreLoss):
    """max(0, 1 - y s)."""

    def value(self, s: Array, y: Array) -> Array:
        """The loss."""
        return np.maximum(0.0, 1.0 - y * s)

    def conjugate(self, p: Array, y: Array) -> Array:
        """p·y, for p·y between -1 and 0."""
        q = p * y
        return np.where((q <= 0.0) & (q >= -1.0), q, np.inf)

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Between -y and 0."""
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """-y below the margin, 0 beyond."""
        m = y * s
        up, down = np.where(m < 1.0, -y, 0.0), np.where(m <= 1.0, -y, 0.0)
        return np.minimum(up, down), np.maximum(up, down)

    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """1, but for examples well beyond the margin."""
        return np.where(y * s < 1.0 + delta, 1.0, 0.0)


@dataclass(frozen=True)
class SquaredHinge(ScoreLoss):
    """max(0, 1 - y s)²."""

    def value(self, s: Array, y: Array) -> Array:
        """The loss."""
        return np.square(np.maximum(0.0, 1.0 - y * s))

    def conjugate(self, p: Array, y: Array) -> Array:
        """q + q²/4 with q = p·y at most 0."""
        q = p * y
        return np.where(q <= 0.0, q * (1.0 + 0.25 * q), np.inf)

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Every slope of the sign opposite to y."""
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)

    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """-2y times the violation."""
        slope = -2.0 * y * np.maximum(0.0, 1.0 - y * s)
        return slope, slope

    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """Twice the largest violation near s."""
        return 2.0 * np.maximum(0.0, 1.0 - y * s + delta)


@dataclass(frozen=True)
class Logistic(ScoreLoss):
    """log(1 + exp(-y s))."""

    def value(self, s: Array, y: Array) -> Array:
        """The loss."""
        m = y * s
        return np.maximum(0.0, -m) + np.log1p(np.exp(-np.abs(m)))

    def conjugate(self, p: Array, y: Array) -> Array:
        """Minus the entropy of -p·y."""
        q = -p * y
        inside = (q >= 0.0) & (q <= 1.0)
        safe = np.where(inside, q, 0.5)
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.where(safe > 0.0, safe * np.log(safe), 0.0)
            second = np.where(safe < 1.0, (1.0 - safe) * np.log1p(-safe), 0.0)
        return np.where(inside, first + second, np.inf)

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Between -y and 0."""
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """-y over 1 + exp(y s)."""
        with np.errstate(over="ignore"):
            share = 1.0 / (1.0 + np.exp(y * s))
        slope = -y * np.clip(share, LEAST_NUMBER, 1.0 - UNIT)  # never quite 0 or 1, whatever rounding makes of it
        return slope, slope

    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """At most exp(delta - y s), and at most 1."""
        return np.exp(np.minimum(0.0, delta - y * s))


class _OfResidual(ScoreLoss):
    """A loss of s - y, which is rounded before anything is taken from it."""

    def own_rounding(self, s: Array, y: Array) -> float:
        """A few units of the largest residual."""
        return 4.0 * UNIT * float(np.abs(s - y).max()) if len(s) else 0.0


@dataclass(frozen=True)
class Tube(_OfResidual):
    """`above`·max(0, s - y - epsilon) + `below`·max(0, y - s - epsilon): epsilon-insensitive and quantile losses."""

    epsilon: float = 0.0
    above: float = 1.0
    below: float = 1.0

    def value(self, s: Array, y: Array) -> Array:
        """The loss."""
        r = s - y
        return self.above * np.maximum(0.0, r - self.epsilon) + self.below * np.maximum(0.0, -r - self.epsilon)

    def conjugate(self, p: Array, y: Array) -> Array:
        """p·y + epsilon |p| between the prices."""
        inside = (p <= self.above) & (p >= -self.below)
        return np.where(inside, p * y + self.epsilon * np.abs(p), np.inf)

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Between minus one price and the other."""
        return np.full(np.shape(y), -self.below), np.full(np.shape(y), self.above)

    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """A price outside of the tube, 0 inside."""
        r, epsilon = s - y, self.epsilon
        left = np.where(r > epsilon, self.above, np.where(r <= -epsilon, -self.below, 0.0))
        right = np.where(r >= epsilon, self.above, np.where(r < -epsilon, -self.below, 0.0))
        return left, right

    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """The dearer side's price, but for examples well inside of the tube."""
        return np.where(np.abs(s - y) > self.epsilon - delta, max(self.above, self.below), 0.0)


@dataclass(frozen=True)
class SquaredTube(_OfResidual):
    """max(0, |s - y| - epsilon)²."""

    epsilon: float = 0.0

    def value(self, s: Array, y: Array) -> Array:
        """The loss."""
        return np.square(np.maximum(0.0, np.abs(s - y) - self.epsilon))

    def conjugate(self, p: Array, y: Array) -> Array:
        """p·y + epsilon |p| + p²/4."""
        return p * y + np.abs(p) * (self.epsilon + 0.25 * np.abs(p))

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Every slope."""
        return np.full(np.shape(y), -np.inf), np.full(np.shape(y), np.inf)

    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """Twice the violation."""
        r = s - y
        slope = 2.0 * np.copysign(np.maximum(0.0, np.abs(r) - self.epsilon), r)
        return slope, slope

    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """Twice the largest violation near s."""
        return 2.0 * np.maximum(0.0, np.abs(s - y) - self.epsilon + delta)


@dataclass(frozen=True)
class Huber(_OfResidual):
    """½r² for residuals r up to delta, delta·(|r| - ½delta) beyond."""

    delta: float = 1.0

    def value(self, s: Array, y: Array) -> Array:
        """The loss."""
        r = np.abs(s - y)
        near = np.minimum(r, self.delta)
        return near * (r - 0.5 * near)

    def conjugate(self, p: Array, y: Array) -> Array:
        """p·y + ½p² for |p| up to delta."""
        return np.where(np.abs(p) <= self.delta, p * y + 0.5 * np.square(p), np.inf)

    def slopes(self, y: Array) -> tuple[Array, Array]:
        """Between -delta and delta."""
        return np.full(np.shape(y), -self.delta), np.full(np.shape(y), self.delta)

    def tangents(self, s: Array, y: Array) -> tuple[Array, Array]:
        """The residual, as far as the arms."""
        slope = np.clip(s - y, -self.delta, self.delta)
        return slope, slope

    def steepness(self, s: Array, y: Array, delta: float) -> Array:
        """The residual, as far as the arms."""
        return np.minimum(np.abs(s - y) + delta, self.delta)


#: Losses by the names that proof files have for them.
LOSSES: Mapping[str, type[ScoreLoss]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "tube": Tube,
    "squared_tube": SquaredTube,
    "huber": Huber,
}


def make_loss(name: str, parameters: Mapping[str, float]) -> ScoreLoss:
    """The loss of a name."""
    if name not in LOSSES:
        raise ValueError(f"There is no loss {name!r}; those known are {', '.join(LOSSES)}.")
    return LOSSES[name](**{key: float(value) for key, value in parameters.items()})


@dataclass(frozen=True)
class Terms:
    """A risk that is a sum over examples: Σ weight[i]·loss(s_i, y_i), the weights None where they are `each`."""

    name: str
    parameters: Mapping[str, float]
    y: NDArray[np.number]
    weights: Array | None
    each: float

    @property
    def loss(self) -> ScoreLoss:
        """The loss."""
        return make_loss(self.name, self.parameters)

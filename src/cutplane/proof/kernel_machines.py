"""What kernel machines minimise, and which coefficients are dual variables of it.

Every machine minimises ½|w|² + risk(s, b, width) over w, whose scores are s = K·coef for some coefficients, over b and,
where `total` is not None, over the width. Coefficients beta that obey the machine's limits and sums prove

    least value >= linear(beta) - ½ beta'K beta        (K positive semi-definite),

for the risk lies above its planes: risk(s, b, width) >= linear(beta) - <beta, s> for every s, b and width. Put in
s = Kv, and ½v'Kv - beta'Kv >= -½ beta'K beta.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane.proof.losses import Terms
from cutplane.proof.rounding import UNIT, exact_sum

Array = NDArray[np.float64]


class Group(NamedTuple):
    """Coefficients of these examples must sum to `target`."""

    rows: NDArray[np.bool_]
    target: float


class KernelRisk(ABC):
    """The risk of a machine, as a function of scores, and the limits of its dual variables."""

    #: Examples' C, and what the width is multiplied by, None where the width is fixed.
    weight: Array
    total: float | None

    @abstractmethod
    def violation(self, s: Array, b: float, width: float) -> Array:
        """What each example is charged for, where it is above zero."""

    @abstractmethod
    def size(self, s: Array, b: float, width: float) -> Array:
        """The sizes of the numbers that `violation` adds up."""

    @abstractmethod
    def planes(self, beta: Array) -> Array:
        """What each example adds to the dual value besides -½ beta'K beta."""

    @abstractmethod
    def steepness(self) -> Array:
        """How much of `planes` an example's coefficient changes at most, by one."""

    @abstractmethod
    def feasible(self, coef: Array) -> Array:
        """The nearest coefficients, about, that obey limits and sums but for rounding."""

    @abstractmethod
    def groups(self) -> Sequence[Group]:
        """The sums that must hold."""

    @abstractmethod
    def within(self, beta: Array) -> bool:
        """Whether every limit holds, exactly."""

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The losses of the examples, where the width is fixed."""

    @abstractmethod
    def best_width(self, coef: Array, decisions: Array) -> float:
        """The width that goes with coefficients and their decisions s + b, where it is free."""

    def value(self, s: Array, errors: Array, b: float, width: float) -> float:
        """The risk at scores that are each up to `errors` off, or a little more."""
        off = errors + 4.0 * UNIT * self.size(s, b, width)
        beyond = np.maximum(0.0, self.violation(s, b, width) + off)
        losses = exact_sum(self.weight * beyond) * (1.0 + 8.0 * UNIT)
        fixed = 0.0 if self.total is None else self.sign * self.total * width
        return losses + fixed + 4.0 * UNIT * (losses + abs(fixed))

    #: Of `total`·width in the risk.
    sign: float = 1.0

    def moves(self, beta: Array) -> float:
        """What coefficients must move by in all until every sum holds; inf if that cannot be."""
        moved = 0.0
        for group in self.groups():
            excess = exact_sum([*beta[group.rows].tolist(), -group.target])
            if not exact_sum([abs(group.target), *(-self.weight[group.rows]).tolist()]) <= 0.0:
                return math.inf
            moved += abs(excess) * (1.0 + 2.0 * UNIT)
        return moved


@dataclass(frozen=True)
class Sided(KernelRisk):
    """Σ weight_i·max(0, width - y_i(s_i + b)) - total·width: labels y of -1 and +1.

    With total None the width is one: the classifier of C. Otherwise the nu-classifier, its total nu·Σ weight; with
    `intercept` False the one-class machine, whose labels are all +1.
    """

    y: Array
    weight: Array
    total: float | None = None
    intercept: bool = True
    sign = -1.0

    def violation(self, s: Array, b: float, width: float) -> Array:
        """By how much an example misses the margin."""
        return width - self.y * (s + b)

    def size(self, s: Array, b: float, width: float) -> Array:
        """Of the terms."""
        return np.abs(s) + abs(b) + abs(width)

    def planes(self, beta: Array) -> Array:
        """max(0, 1 - m) >= pi·(1 - m); with a free width the constant is gone."""
        return self.y * beta if self.total is None else np.zeros_like(beta)

    def steepness(self) -> Array:
        """One, or none."""
        return np.full(len(self.y), 1.0 if self.total is None else 0.0)

    @property
    def terms(self) -> Terms:
        """Hinges."""
        return Terms("hinge", {}, self.y, self.weight, 1.0)

    def feasible(self, coef: Array) -> Array:
        """Each between 0 and its weight; the sides as heavy as each other, or as heavy as they must be."""
        alpha = np.clip(self.y * coef, 0.0, self.weight)
        sides = [self.y > 0, self.y < 0] if self.intercept else [self.y > 0]
        sums = [exact_sum(alpha[side]) for side in sides]
        target = min(sums) if self.total is None else self.total / len(sides)
        for side, whole in zip(sides, sums, strict=True):
            if whole > 0.0:
                alpha[side] = np.minimum(alpha[side] * (target / whole), self.weight[side])
        return self.y * alpha

    def best_width(self, coef: Array, decisions: Array) -> float:
        """The margin that nu-classifiers divide coefficients by: times it, they sum to the total."""
        mass = exact_sum(np.abs(coef))
        return self.total / mass if self.total is not None and mass > 0.0 else 0.0

    def groups(self) -> Sequence[Group]:
        """Σ beta = 0; with a free width half of the total on either side."""
        if self.total is None:
            return [Group(np.ones(len(self.y), bool), 0.0)]
        if not self.intercept:
            return [Group(self.y > 0, self.total)]
        return [Group(self.y == side, side * 0.5 * self.total) for side in (1.0, -1.0)]

    def within(self, beta: Array) -> bool:
        """Of the label's sign, and no larger than the weight."""
        return bool(((self.y * beta >= 0.0) & (np.abs(beta) <= self.weight)).all())


@dataclass(frozen=True)
class Tubed(KernelRisk):
    """Σ weight_i·max(0, |s_i + b - z_i| - width) + total·width: targets z.

    With total None the width is `epsilon`. Otherwise the nu-regression, its total nu·Σ weight, over widths >= 0.
    """

    z: Array
    weight: Array
    epsilon: float = 0.0
    total: float | None = None

    def violation(self, s: Array, b: float, width: float) -> Array:
        """By how much an example lies outside of the tube."""
        return np.abs(s + b - self.z) - width

    def size(self, s: Array, b: float, width: float) -> Array:
        """Of the terms."""
        return np.abs(s) + abs(b) + np.abs(self.z) + abs(width)

    def planes(self, beta: Array) -> Array:
        """max(0, |r| - epsilon) >= p·r - epsilon·|p| for |p| <= 1, with weight·p = -beta."""
        return self.z * beta - self.epsilon * np.abs(beta)

    def steepness(self) -> Array:
        """The target and the tube."""
        return np.abs(self.z) + self.epsilon

    @property
    def terms(self) -> Terms:
        """Tubes."""
        return Terms("tube", {"epsilon": self.epsilon}, self.z, self.weight, 1.0)

    def feasible(self, coef: Array) -> Array:
        """Each no larger than its weight, those of either sign as much in all, and no more than half of the total."""
        beta = np.clip(coef, -self.weight, self.weight)
        sides = [beta > 0.0, beta < 0.0]
        sums = [abs(exact_sum(beta[side])) for side in sides]
        target = min(sums) if self.total is None else min(*sums, 0.5 * self.total * (1.0 - 2.0**-50))
        for side, whole in zip(sides, sums, strict=True):
            if whole > 0.0:
                beta[side] *= min(1.0, target / whole)
        return beta

    def best_width(self, coef: Array, decisions: Array) -> float:
        """The smallest tube that leaves no more than the total outside of it."""
        off = np.abs(decisions - self.z)
        order = np.argsort(-off, kind="stable")
        outside = np.cumsum(self.weight[order])
        return float(off[order[min(int(np.searchsorted(outside, self.total or 0.0)), len(off) - 1)]])

    def groups(self) -> Sequence[Group]:
        """Σ beta = 0: what is too much shrinks."""
        return [Group(np.ones(len(self.z), bool), 0.0)]

    def within(self, beta: Array) -> bool:
        """No larger than the weight; in all no more than the total, which a width of zero or more asks for."""
        whole = self.total is None or exact_sum([*np.abs(beta).tolist(), -self.total]) <= 0.0
        return whole and bool((np.abs(beta) <= self.weight).all())


def share_of(nu: float, weight: Array) -> float:
    """nu·Σ weight as a number that is not above Σ weight, which rounding could make it."""
    total = min(nu, 1.0) * exact_sum(weight)
    while exact_sum([total, *(-weight).tolist()]) > 0.0:
        total = math.nextafter(total, 0.0)
    return total

"""How far sums in floating point can be from the real numbers they stand for.

A sum of k rounded terms, in any order, is off by at most gamma(k) times the sum of their sizes (Higham, Accuracy and
Stability of Numerical Algorithms, section 3.1). A certificate is charged by that much, so that its bounds hold as
inequalities of real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane import _core

Array = NDArray[np.float64]

#: Half the distance from one to the next number: the relative error of one operation in double precision.
UNIT = 2.0**-53
#: The same in single precision.
SINGLE_UNIT = 2.0**-24
# NumPy adds up pairs of blocks of 128 numbers, each in eight sums: no chain of additions is longer than this and the
# number of halvings.
_PAIRWISE_BLOCK = 24
# Coefficients that are balanced sum to zero up to this many units of the sum of their sizes.
_BALANCED = 64.0
# Vectors from this many entries on are long: they are summed up by all threads, without an array of the terms. There,
# no chain of roundings is longer than this (core/base/vectors.hpp).
_LONG, _GROUPED = 1 << 16, 72
# The least number there is, and sums of squares so small that it matters.
LEAST_NUMBER, _LOST_BELOW = 5e-324, 1e-290


def gamma(k: float, unit: float = UNIT) -> float:
    """The relative error of a sum of k rounded terms."""
    if k * unit >= 0.5:
        return math.inf
    return k * unit / (1.0 - k * unit)


def pairwise_depth(size: int) -> int:
    """The longest chain of additions in `np.sum` over so many contiguous numbers."""
    return _PAIRWISE_BLOCK + max(size, 1).bit_length()


def summed(values: Array) -> tuple[float, float]:
    """The sum of an array, and how far off it can be."""
    flat = np.ascontiguousarray(values).ravel()
    error = gamma(pairwise_depth(flat.size)) * float(np.abs(flat).sum())
    return float(flat.sum()), error


def close_products(X: Array, w: Array, b: float) -> tuple[Array, Array]:
    """X @ w + b, rounded about once, and how far off each number can be.

    Products and sums keep what they are rounded by: Ogita, Rump and Oishi, Accurate sum and dot product (2005). Not
    finite beyond 1e290.
    """
    (high, low), (w_high, w_low) = _halves(X), _halves(w)
    terms = X * w
    rest = low * w_low - (((terms - high * w_high) - low * w_high) - high * w_low)
    total, sizes = rest.sum(axis=1), np.abs(rest).sum(axis=1)
    terms = np.column_stack([terms, np.full(len(X), b)])
    while terms.shape[1] > 1:
        middle = terms.shape[1] // 2
        a, c, odd = terms[:, :middle], terms[:, middle : 2 * middle], terms[:, 2 * middle :]
        both = a + c
        moved = both - a
        rest = (a - (both - moved)) + (c - moved)
        total, sizes = total + rest.sum(axis=1), sizes + np.abs(rest).sum(axis=1)
        terms = np.column_stack([both, odd])
    found = terms[:, 0] + total
    lost = 16.0 * LEAST_NUMBER * X.shape[1]  # of products that underflow
    return found, UNIT * np.abs(found) + gamma(X.shape[1] + 64) * sizes * (1.0 + 1e-9) + lost


def _halves(values: Array) -> tuple[Array, Array]:
    """Numbers of half the digits each that add up to the values: their products are exact (Dekker 1971)."""
    spread = 134217729.0 * values
    high = spread - (spread - values)
    return high, values - high


def exact_sum(values: Iterable[float]) -> float:
    """The sum, rounded once; not a number where it is too large, or its terms are none."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan


def _sum_of_squares(w: Array, factor: float) -> tuple[float, float]:
    """|factor·w|², and how far off it can be, but for squares that underflow."""
    if w.size < _LONG:
        value = float(np.square(w if factor == 1.0 else factor * w).ravel().sum())
        return value, gamma(pairwise_depth(w.size)) * value
    value = _core.square(w.ravel(), factor)
    return value, gamma(_GROUPED) * value


def half_square(w: Array, factor: float = 1.0) -> tuple[float, float]:
    """½|factor·w|², and how far off it can be."""
    value, error = _sum_of_squares(w, factor)
    # Squares below the least number are lost; of larger ones, that is less than their rounding.
    lost = np.count_nonzero(w) * LEAST_NUMBER if value < _LOST_BELOW else 0.0
    return 0.5 * value, 0.5 * error + 4.0 * UNIT * value + lost


class Around(NamedTuple):
    """What long sums say of all weights within a radius of some: their length, and sizes of features times weights."""

    length: float
    reach: float
    products: float = math.inf
    columns: float = 0.0

    def spread(self, radius: float) -> float:
        """The most that sizes of an example's features times those of weights add up to."""
        return min(self.reach * (self.length + radius), self.products + radius * self.columns) * (1.0 + 1e-9)

    def longest(self, radius: float) -> float:
        """The same in units of the longest example: at most the length of the weights."""
        return self.length + radius if self.reach == 0.0 else self.spread(radius) / self.reach


@dataclass(frozen=True, slots=True)
class Rounding:
    """What rounding does to passes over a sample.

    Parameters
    ----------
    reach : float
        The length of the longest example.
    row_depth : int
        The longest chain of additions in a score.
    sum_depth : int
        The longest chain of additions in a sum over examples.
    columns : array, optional
        The largest size of each feature: with scales that differ, they say more than the length of examples. Where
        weights are more, each feature has as many of them, one after the other.
    scale : float
        The size of targets: offsets of planes are sums of coefficients times these.
    unit : float
        Of the precision that scores are kept in.
    least_mass : float
        What planes and values are charged for at least, whatever their coefficients are.
    """

    reach: float = 0.0
    row_depth: int = 0
    sum_depth: int = 0
    columns: Array | None = field(default=None, repr=False)
    scale: float = 1.0
    unit: float = UNIT
    least_mass: float = 0.0

    def after(self, sums: int) -> Rounding:
        """The same where so many sums over examples are added up."""
        return replace(self, sum_depth=self.sum_depth + sums)

    def spread(self, w: Array, radius: float = 0.0) -> float:
        """The most that sizes of an example's features times those of weights add up to, within a radius of w."""
        return self.around(w).spread(radius)

    def spread_of(self, length: float) -> float:
        """The same of weights that are no longer than this, whichever they are."""
        return Around(length, self.reach).spread(0.0)

    def around(self, w: Array) -> Around:
        """What is asked about weights near w, for one radius after the other."""
        if self.columns is None:
            return Around(length(w), self.reach)
        each = math.sqrt(w.size / max(self.columns.size, 1))
        return Around(length(w), self.reach, _core.sized(self.columns, w.ravel()), each * length(self.columns))

    def slope(self, mass: float) -> float:
        """How far a plane's slope can be from the sum of examples it stands for; `mass` is the sum of |coef|."""
        return gamma(self.sum_depth + 4) * self.reach * mass

    def offset(self, offset: float, mass: float, value: float) -> float:
        """How far a plane's offset can be above the highest that its coefficients allow."""
        size = abs(offset) + self.scale * mass + (abs(value) if math.isfinite(value) else 0.0)
        return gamma(self.sum_depth + 16) * size

    def score(self, spread: float, intercept: float) -> float:
        """How far a score can be off."""
        if spread == 0.0:
            return 0.0
        stored = self.unit if self.unit > UNIT else 0.0
        return gamma(self.row_depth + 2) * spread + (2.0 * UNIT + stored) * (spread + intercept)

    def value(self, spread: float, intercept: float, mass: float) -> float:
        """About how far a risk can be off."""
        size = self.scale + spread + intercept
        return mass * (self.score(spread, intercept) + gamma(pairwise_depth(self.sum_depth), self.unit) * size)

    def imbalance(self, mass: float) -> float:
        """How far the coefficients of a balanced plane can be from a sum of zero."""
        return _BALANCED * UNIT * mass


def balanced_mass(coef: Array) -> float:
    """The mass of coefficients that should be in balance: as much as what they lack of it is charged by."""
    return leaning_mass(float(np.abs(coef).sum()) * (1.0 + 1e-9), coef.sum(axis=0))


def leaning_mass(mass: float, lean: float | Array) -> float:
    """The same, of coefficients whose sizes and whose own sums, one for each intercept, are known.

    Intercepts within D of zero, or of each other, move a plane by at most D times the sizes of these sums, added up.
    """
    return max(mass, 2.0 * float(np.abs(lean).sum()) / (_BALANCED * UNIT))


def largest(values: float | Array) -> float:
    """The largest size of some numbers, or of one."""
    return abs(values) if isinstance(values, float) else float(np.max(np.abs(values), initial=0.0))


def length(w: Array, factor: float = 1.0) -> float:
    """|factor·w|, or a little more."""
    if w.size < _LONG:
        flat = w.ravel() if factor == 1.0 else factor * w.ravel()
        square = float(flat @ flat)
    else:
        square = _core.square(w.ravel(), factor)
    return math.sqrt(square) * (1.0 + 1e-9)


def distance(a: Array, b: Array, factor: float) -> float:
    """|a + factor·b|, or a little more; sums of two numbers may be rounded."""
    if a.size < _LONG:
        return length(a + factor * b)
    return math.sqrt(_core.square_of_sum(a.ravel(), b.ravel(), factor)) * (1.0 + 1e-9)

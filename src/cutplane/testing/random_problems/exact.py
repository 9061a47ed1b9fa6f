"""Arithmetic without rounding on the floats of a model and its data: whole numbers over one power of two."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Digits of the logarithms, and what their sums may be off by, relative to themselves.
_DIGITS = 50
LOGARITHM_ERROR = Fraction(1, 10**40)

Index: TypeAlias = int | slice | NDArray[np.integer] | NDArray[np.bool_] | None


class Exact:
    """An array of numbers n·2^-exponent, the n being Python's integers of any size."""

    __slots__ = ("exponent", "numerators")

    def __init__(self, numerators: NDArray[np.object_], exponent: int) -> None:
        self.numerators = numerators
        self.exponent = exponent

    @classmethod
    def of(cls, values: ArrayLike) -> Exact:
        """The floats as they are; they must be finite."""
        array = np.asarray(values, dtype=np.float64)
        ratios = [value.as_integer_ratio() for value in array.ravel().tolist()]
        exponent = max((bottom.bit_length() - 1 for _, bottom in ratios), default=0)
        whole = np.empty(len(ratios), dtype=object)
        whole[:] = [top << (exponent - bottom.bit_length() + 1) for top, bottom in ratios]
        return cls(whole.reshape(array.shape), exponent)

    def _aligned(self, other: Exact) -> tuple[NDArray[np.object_], NDArray[np.object_], int]:
        exponent = max(self.exponent, other.exponent)
        mine = self.numerators * (1 << (exponent - self.exponent))
        theirs = other.numerators * (1 << (exponent - other.exponent))
        return mine, theirs, exponent

    def __add__(self, other: Exact) -> Exact:
        mine, theirs, exponent = self._aligned(other)
        return Exact(np.asarray(mine + theirs, dtype=object), exponent)

    def __sub__(self, other: Exact) -> Exact:
        return self + (-other)

    def __neg__(self) -> Exact:
        return Exact(np.asarray(-self.numerators, dtype=object), self.exponent)

    def __mul__(self, other: Exact) -> Exact:
        return Exact(np.asarray(self.numerators * other.numerators, dtype=object), self.exponent + other.exponent)

    def __matmul__(self, other: Exact) -> Exact:
        return Exact(np.asarray(self.numerators.dot(other.numerators), dtype=object), self.exponent + other.exponent)

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Exact:
        return Exact(np.asarray(self.numerators[index], dtype=object), self.exponent)

    def __len__(self) -> int:
        return len(self.numerators)

    def positive(self) -> Exact:
        """Max(0, each)."""
        return Exact(np.maximum(self.numerators, 0), self.exponent)

    def size(self) -> Exact:
        """The absolute value of each."""
        return Exact(np.abs(self.numerators), self.exponent)

    def sorted(self) -> Exact:
        """In ascending order."""
        return Exact(np.array(sorted(self.numerators.tolist()), dtype=object), self.exponent)

    def sums(self) -> list[Fraction]:
        """0 and the sums of the first one, the first two, and so on."""
        total, found = 0, [Fraction(0)]
        for number in self.numerators.tolist():
            total += number
            found.append(Fraction(total, 1 << self.exponent))
        return found

    def total(self) -> Fraction:
        """The sum of all."""
        return Fraction(sum(self.numerators.ravel().tolist()), 1 << self.exponent)

    def fractions(self) -> list[Fraction]:
        """Each as a fraction."""
        return [Fraction(number, 1 << self.exponent) for number in self.numerators.ravel().tolist()]


def log1p_exp(z: Fraction) -> Fraction:
    """Log(1 + exp(z)), up to `LOGARITHM_ERROR`."""
    with localcontext() as context:
        context.prec = _DIGITS
        context.Emin, context.Emax = -(10**15), 10**15
        size = -abs(Decimal(z.numerator) / Decimal(z.denominator))
        tail = size.exp()
        # Below the last digit of 1 + tail the logarithm is tail itself.
        small = tail if tail < Decimal(10) ** -(_DIGITS - 5) else (1 + tail).ln()
        return max(z, Fraction(0)) + Fraction(small) if tail > Decimal(10) ** -400 else max(z, Fraction(0))

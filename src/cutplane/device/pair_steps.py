"""What kernel machines are asked of on a device: pair steps on sets of variables of many machines at once.

Arrays of sets have a row for each machine and a column for each place in its set; the first `sizes` places are taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

#: An array that lies on the device.
DeviceArray = Any
#: Variables that a set has at most.
MOST_IN_SET = 2048


class KernelRows(NamedTuple):
    """Rows of a kernel matrix in single precision, and which of them belongs to each place of the sets.

    Attributes
    ----------
    values : device array of shape (rows, n)
    at : device array of int32, of the shape of the sets
    """

    values: DeviceArray
    at: DeviceArray


class Variables(NamedTuple):
    """All variables of the machines.

    Attributes
    ----------
    begins : device array of int64
        Variables of machine m lie from begins[m] to begins[m + 1].
    longest : int
        What the machine with most has.
    column : device array of int32
        Of the kernel matrix, for each variable.
    """

    begins: DeviceArray
    longest: int
    column: DeviceArray


class Machines(NamedTuple):
    """All variables of machines that are under way, one machine after the other.

    A machine has parts, next to each other: those of its variables that pairs are made of, which are all or those of a
    label.

    Attributes
    ----------
    y, upper, alpha, pull, column : device arrays
        As of `Sets`.
    before : device array of bool
        Whether a variable was in the set before.
    machine, part : device array of uint64
        What each belongs to, above 32 bits that are zero.
    start : device array of int64
        Where the part of each begins.
    firsts : device array of int64
        Where each part begins, or the last variable.
    filled : device array of bool
        Whether a part has variables.
    """

    y: DeviceArray
    upper: DeviceArray
    alpha: DeviceArray
    pull: DeviceArray
    column: DeviceArray
    before: DeviceArray
    machine: DeviceArray
    part: DeviceArray
    start: DeviceArray
    firsts: DeviceArray
    filled: DeviceArray


class Sets(NamedTuple):
    """Variables that are worked on.

    Attributes
    ----------
    column : device array of int32
        Of the kernel matrix, for each variable.
    y : device array of int8
    upper, alpha, pull : device array
        Upper bounds, multipliers, and -y times the gradient; the last two are changed.
    sizes : device array of int32
    eps : device array
        Violations that are left.
    """

    column: DeviceArray
    y: DeviceArray
    upper: DeviceArray
    alpha: DeviceArray
    pull: DeviceArray
    sizes: DeviceArray
    eps: DeviceArray


class Transform(NamedTuple):
    """What a product p of two examples becomes.

    Attributes
    ----------
    name : str
        "identity": p; "exponential": exp(min(0, p - left - right)); "power": (p + add)^degree; "tangent":
        tanh(p + add).
    add, degree : float
    """

    name: str
    add: float = 0.0
    degree: float = 1.0


class Coefficients(NamedTuple):
    """What kernel values are multiplied by.

    Attributes
    ----------
    values : device array of shape (n, k)
    ends : device array of int32
        Where groups of the n end.
    """

    values: DeviceArray
    ends: DeviceArray


class PairSteps(ABC):
    """Pair steps and what follows from them, wherever the arrays lie."""

    @abstractmethod
    def choose(self, of: Machines, q: int) -> tuple[DeviceArray, DeviceArray]:
        """Variables by machine, in the order in which a set of q takes them; how much each part violates.

        First those that violate most, a quarter of a set on either side; then those of the set before; then others.
        """

    @abstractmethod
    def gather(self, of: Machines, at: DeviceArray, sizes: DeviceArray, eps: DeviceArray) -> Sets:
        """The variables at some places, copied."""

    @abstractmethod
    def settle(self, of: Machines, at: DeviceArray, sets: Sets) -> tuple[DeviceArray, DeviceArray]:
        """Note the multipliers of sets and who was in them; changes of coefficients, and what each machine gained.

        The gain is by pulls as they were and as they are in the sets.
        """

    @abstractmethod
    def falling(self, products: DeviceArray, left: DeviceArray, right: DeviceArray) -> DeviceArray:
        """exp(min(0, product - left_i - right_j)), where the products lay."""

    @abstractmethod
    def sums(
        self,
        products: DeviceArray,
        transform: Transform,
        halves: tuple[DeviceArray, DeviceArray] | None,
        coef: Coefficients,
    ) -> DeviceArray:
        """Kernel values of these products times coefficients, summed by group: of shape (rows, groups, k).

        `halves`: the left and right of an exponential.
        """

    @abstractmethod
    def take(self, rows: KernelRows, sets: Sets, most: int, *, grouped: bool = False) -> DeviceArray:
        """Make pair steps, at most so many, in each set by itself; how many each made. `grouped`: within labels."""

    @abstractmethod
    def update(self, rows: KernelRows, coef: DeviceArray, of: Variables, pull: DeviceArray) -> None:
        """Subtract the sum of coef[k] K[at[k]][column[t]] from pull[t], for all variables t of each machine."""

    @abstractmethod
    def inverse_root(self, square: DeviceArray) -> DeviceArray | None:
        """The inverse of the lower Cholesky factor; None where the matrix is not positive definite."""

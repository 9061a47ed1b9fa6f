"""What the labellings behind sampled cuts prove: planes of the whole sample, below the risk as cuts of samples are not.

A sampled cut is drawn from the labellings that violated their margins most, of all examples. With all of these, or with
those of any part of the examples (the others' losses are at least 0), they make a plane that holds. Which planes and
examples are taken, and how planes are weighted, changes how much is proven and never whether it is: so one QP over
products in single precision chooses the weights, when the run has ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cutplane._runtime.deadline import time_is_up
from cutplane._types import Array
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import Expansion, KernelRows, Rows
from cutplane.solvers.bundle.gram import GramBundle
from cutplane.structured.factored import Choices, FactoredRisk, Violations


class Labelling(NamedTuple):
    """Labels of all examples in as few bytes as hold them, and losses: what these are, or a rounding less."""

    labels: Choices
    losses: NDArray[np.int8 | np.float32]
    kind: DTypeLike

    @classmethod
    def of(cls, found: Violations) -> Labelling:
        """The labels and losses that were found."""
        return cls(_narrow(found.labels), _below(found.losses), found.labels.dtype)


class Proof(NamedTuple):
    """Planes that hold, their weights, and what they prove together of the kernel matrix in single precision."""

    planes: list[Expansion]
    offsets: Array
    weights: Array
    value: float


def proof_by(
    risk: FactoredRisk, rows: KernelRows, found: Sequence[Labelling], C: float, *, upper: float, most_values: float
) -> Proof:
    """The best mixture of the labellings' planes, and of more where there is time for them.

    Parameters
    ----------
    risk : FactoredRisk
    rows : KernelRows
    found : sequence of Labelling
        At least one.
    C : float
        Of the mean.
    upper : float
        The least objective known: planes that raise the bound by little of what is missing are not waited for.
    most_values : float
        The cost allowed, in kernel values with one product each. It decides how many examples are looked at.
    """
    first = 1.0 + len(found) * risk.columns / TUNING.products_a_value  # the cost of a value for all planes at once
    most_rows = math.sqrt(0.5 * most_values / first)
    examples = _most_often_wrong(found, int(most_rows * risk.examples / rows.size))
    if not len(examples):
        return Proof([], np.zeros(0), np.zeros(0), 0.0)
    planes = _Planes(risk, rows, examples, C)
    planes.add([planes.of(each) for each in found])
    square = float(len(planes.rows)) ** 2
    spare, value = most_values - square * first, -math.inf
    least = rows.off * abs(upper)  # what rounding to single precision may hide
    while spare >= square and not time_is_up():
        missing, gained = upper - planes.solution.value, planes.solution.value - value
        if missing <= least or gained <= TUNING.proof_gain * missing:
            break
        value = planes.solution.value
        planes.add([planes.at_minimiser()])
        spare -= square
    return planes.proof()


class _Plane(NamedTuple):
    coef: Array
    explicit: Array
    offset: float


class _Planes:
    """Planes of some examples, the others' losses being at least 0, and the QP over them."""

    def __init__(self, risk: FactoredRisk, rows: KernelRows, examples: Rows, C: float) -> None:
        self._risk, self._kernel_rows, self._examples, self._C = risk, rows, examples, C
        self.rows = risk.rows(examples)
        self._prepared = rows.prepare(self.rows)
        self._planes: list[_Plane] = []
        self._scores: Array = np.zeros((len(self.rows) * risk.columns, 0))
        self._bundle = GramBundle()
        self.solution = self._bundle.solve(C)

    def of(self, labelling: Labelling) -> _Plane:
        """The plane of labels that were found for all examples."""
        labels = self._risk.choose(labelling.labels.astype(labelling.kind), self._examples)
        return self._plane(labels, labelling.losses[self._examples].astype(np.float64))

    def at_minimiser(self) -> _Plane:
        """The plane that touches the losses of these examples at the minimiser of the model."""
        weights = -self._C * self.solution.weights
        scores = (self._scores @ weights).reshape(-1, self._risk.columns)
        explicit = np.asarray(weights @ np.stack([plane.explicit for plane in self._planes]))
        found = self._risk.violations(self._examples, scores, explicit)
        return self._plane(found.labels, found.losses)

    def _plane(self, labels: Choices, losses: Array) -> _Plane:
        n = self._risk.examples
        coef, explicit = self._risk.direction(self._examples, labels)
        return _Plane(coef / n, explicit / n, float(losses.sum()) / n)

    def add(self, planes: list[_Plane]) -> None:
        """Add planes, with one look at the kernel matrix, and solve the QP."""
        coef = np.stack([plane.coef for plane in planes], axis=2)
        together = Expansion(self.rows, coef.reshape(len(coef), -1), np.zeros(0), self._prepared)
        scores = self._kernel_rows.products(self._prepared, together, len(self.rows)).reshape(-1, len(planes))
        self._scores = np.column_stack([self._scores, scores])
        for plane in planes:
            self._planes.append(plane)
            products = plane.coef.ravel() @ self._scores[:, : len(self._planes)]
            products += np.stack([each.explicit for each in self._planes]) @ plane.explicit
            self._bundle.add(np.append(products[:-1], max(0.0, products[-1])), plane.offset)
        self.solution = self._bundle.solve(self._C)

    def proof(self) -> Proof:
        """What the planes prove together."""
        expansions = []
        for plane in self._planes:
            used = np.flatnonzero(plane.coef.any(axis=1))
            expansions.append(Expansion(self.rows[used], plane.coef[used], plane.explicit, None))
        return Proof(expansions, self._bundle.offsets, self.solution.weights, self.solution.value)


def _most_often_wrong(found: Sequence[Labelling], most: int) -> Rows:
    """The examples with a loss in the most labellings, and in some part of all at least."""
    times = np.zeros(len(found[0].losses), dtype=np.int64)
    for each in found:
        times += each.losses > 0
    wrong = np.flatnonzero(times > TUNING.often_wrong * len(found))
    if len(wrong) > most:
        wrong = wrong[np.argsort(-times[wrong], kind="stable")[: max(1, most)]]
    return np.sort(wrong).astype(np.int64)


def _narrow(labels: Choices) -> Choices:
    fits = labels.dtype.kind == "b" or not labels.size or (labels.min() >= -128 and labels.max() <= 127)
    return labels.astype(np.bool_ if labels.dtype.kind == "b" else np.int8) if fits else labels.copy()


def _below(losses: Array) -> NDArray[np.int8 | np.float32]:
    """The losses in single precision, rounded down; whole numbers in a byte."""
    if losses.max(initial=0.0) <= 127.0 and not np.any(losses % 1.0):
        return losses.astype(np.int8)
    rounded = losses.astype(np.float32)
    return np.where(rounded > losses, np.nextafter(rounded, np.float32(0.0)), rounded)

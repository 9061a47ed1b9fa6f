"""The examples that each machine of a classifier is trained on, whole or in folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from cutplane._types import Array, RandomState
from cutplane.estimators.kernel.machines import Machine
from cutplane.kernels import DualProblem, SMOResult

Codes = NDArray[np.intp]

_FOLDS = 5


@dataclass(frozen=True)
class Split:
    """The examples of one machine: positions among those kept, their sides, and their weights."""

    name: str
    rows: Codes
    signs: NDArray[np.int8]
    weights: Array
    left_out: bool = False  # whether some have weight zero for the time being, to be judged by the others' machine


@dataclass(frozen=True)
class Kept:
    """The examples that take part in training: their weights, and their places in the kernel matrix."""

    weights: Array
    positions: NDArray[np.int64]

    def machines(self, problems: Sequence[DualProblem], splits: Sequence[Split]) -> list[Machine]:
        """Each problem with the rows of the kernel matrix it is about."""
        return [Machine(p, self.positions[split.rows]) for p, split in zip(problems, splits, strict=True)]


@dataclass(frozen=True)
class Folds:
    """The fold of each example; every class is spread evenly over all, and so is every pair of classes."""

    fold: Codes
    count: int

    @classmethod
    def of(cls, codes: Codes, labels: Sequence[object], random_state: RandomState) -> Self:
        """Five folds, or as many as the smallest class has examples."""
        sizes = np.bincount(codes)
        if sizes.min() < 2:
            only = labels[int(np.argmin(sizes))]
            raise ValueError(f"Class {only!r} has one example; probabilities need at least two of each class.")
        count = min(_FOLDS, int(sizes.min()))
        rng = check_random_state(0 if random_state is None else random_state)
        fold = np.empty(len(codes), np.intp)
        for code in range(len(sizes)):
            of_class = rng.permutation(np.flatnonzero(codes == code))
            fold[of_class] = np.arange(len(of_class)) % count
        return cls(fold, count)

    def without(self, split: Split, number: int) -> Split:
        """The split with one fold left out of training.

        Left out by a weight of zero, and so by a bound of zero on its coefficients: its scores then come with the
        solution, and all trainings share the kernel matrix.
        """
        weights = np.where(self.fold[split.rows] == number, 0.0, split.weights)
        return replace(split, weights=weights, left_out=True)

    def joined(self, split: Split, decisions: Sequence[Array], number: int) -> Array:
        """The decision value of each example of machine `number` by the training that it was left out of."""
        fold = self.fold[split.rows]
        own = decisions[number * self.count : (number + 1) * self.count]
        return np.choose(fold, own)


def warn_if_cut_short(results: Sequence[SMOResult]) -> None:
    """One sentence on folds that ended before they should."""
    reasons = {result.stop_reason for result in results}
    for reason, words in (("interrupted", "interrupted"), ("time_limit", "cut short by time_limit")):
        if reason in reasons:
            warnings.warn(
                f"The cross-validation for probabilities was {words}; they are rougher than they could be.",
                ConvergenceWarning,
                stacklevel=4,
            )
            return


def warn_of_haste() -> None:
    """One sentence on probabilities of a training that was interrupted, or took all the time there was."""
    warnings.warn(
        "Training was cut short, and no cross-validation begun: probabilities are learned from the decisions on the "
        "training examples themselves, and too sure.",
        ConvergenceWarning,
        stacklevel=3,
    )

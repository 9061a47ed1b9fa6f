"""The examples that each machine of a classifier is trained on, whole or in folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array
from cutplane.estimators.common.calibration_folds import StratifiedFolds
from cutplane.estimators.kernel.machines import Machine
from cutplane.kernels import DualProblem

Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Split:
    """The examples of one machine: positions among those kept, their sides, and their weights."""

    name: str
    rows: Codes
    signs: NDArray[np.int8]
    weights: Array
    positives: int = 0  # of a pair of several classes: so many examples come first, which are those of its first class
    left_out: bool = False  # whether some have weight zero for the time being, to be judged by the others' machine


@dataclass(frozen=True)
class Kept:
    """The examples that take part in training: their weights, and their places in the kernel matrix."""

    weights: Array
    positions: NDArray[np.int64]

    def machines(self, problems: Sequence[DualProblem], splits: Sequence[Split]) -> list[Machine]:
        """Each problem with the rows of the kernel matrix it is about."""
        return [Machine(p, self.positions[split.rows]) for p, split in zip(problems, splits, strict=True)]


class Folds(StratifiedFolds):
    """Folds of the examples kept."""

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

"""Folds for calibration: every example is scored by a model that was trained without it."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from cutplane._runtime.warned import users_line
from cutplane._types import Codes, Labels, RandomState
from cutplane.estimators.common import validation

_FOLDS = 5


@dataclass(frozen=True)
class StratifiedFolds:
    """The fold of each example; every class is spread evenly over all, and so is every pair of classes."""

    fold: NDArray[np.intp]
    count: int

    @classmethod
    def of(cls, codes: Codes, classes: Labels, random_state: RandomState) -> Self:
        """Five folds, or as many as the smallest class has examples."""
        sizes = np.bincount(codes, minlength=len(classes))
        if sizes.min() < 2:
            only = validation.shown_label(classes[int(np.argmin(sizes))])
            raise ValueError(f"Class {only!r} has one example; probabilities need at least two of each class.")
        count = min(_FOLDS, int(sizes.min()))
        rng = check_random_state(0 if random_state is None else random_state)
        fold = np.empty(len(codes), np.intp)
        for code in range(len(sizes)):
            of_class = rng.permutation(np.flatnonzero(codes == code))
            fold[of_class] = np.arange(len(of_class)) % count
        return cls(fold, count)


def warn_if_cut_short(reasons: Collection[str]) -> None:
    """One sentence on folds that ended before they should."""
    for reason, words in (("interrupted", "interrupted"), ("time_limit", "cut short by time_limit")):
        if reason in reasons:
            warnings.warn(
                f"The cross-validation for probabilities was {words}; they are rougher than they could be.",
                ConvergenceWarning,
                stacklevel=users_line(),
            )
            return


def warn_of_haste() -> None:
    """One sentence on probabilities of a training that was interrupted, or took all the time there was."""
    warnings.warn(
        "Training was cut short, and no cross-validation begun: probabilities are learned from the decisions on the "
        "training examples themselves, and too sure.",
        ConvergenceWarning,
        stacklevel=users_line(),
    )

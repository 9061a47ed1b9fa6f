"""Slopes of planes that choose one class for each example, each from the one before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane import _core
from cutplane.risks.base import Array
from cutplane.risks.multiclass import Multiclass

# After so many changes a slope is summed up afresh: rounding errors of a few sums are no more than that of one.
_MOST_CHANGES = 16


class ChoiceSlopes:
    """The sum over i of c_i·factor(y_i, y)·x_i (e_y - e_y_i)', for choices y of classes, one after the other.

    From one of OCA's planes to the next, fewer examples change their choice than are chosen wrongly, often by far: the
    sum is kept, and only these are added to it.

    Parameters
    ----------
    risk : Multiclass
    """

    def __init__(self, risk: Multiclass) -> None:
        self._risk = risk
        self._chosen: NDArray[np.int32] | None = None
        self._slope: Array | None = None
        self._changes = 0

    def slope(self, matrix: _core.Matrix, chosen: NDArray[np.int32]) -> Array:
        """The slope of the plane with these choices, row by row; the next call overwrites it."""
        kept = self._slope
        if kept is None or self._chosen is None or not self._few_changes(chosen):
            kept = self._slope = np.zeros((matrix.shape[1], self._risk.n_classes)) if kept is None else kept
            kept[...] = 0.0
            self._chosen = None
            self._changes = 0
        self._risk.change_choices(matrix, kept, self._chosen, chosen)
        self._chosen = chosen
        self._changes += 1
        return kept.ravel()

    @property
    def last(self) -> Array:
        """The slope that was asked for last."""
        assert self._slope is not None
        return self._slope.ravel()

    @property
    def mass(self) -> float:
        """The sizes of all coefficients that went into the last slope, added up: at most these."""
        return 2.0 * self._risk.largest_factor * (2.0 * self._changes + 1.0)

    def _few_changes(self, chosen: NDArray[np.int32]) -> bool:
        """Whether the last slope is worth changing."""
        if self._changes >= _MOST_CHANGES:
            return False
        changed = np.count_nonzero(chosen != self._chosen)
        return bool(changed < np.count_nonzero(chosen != self._risk.y))

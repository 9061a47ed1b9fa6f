"""The mean of a model's minimisers over the last part of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import Expansion


class MeanMinimiser:
    """The mean over the last third to half of all minimisers so far.

    The minimiser of a model of sampled cuts is as noisy as the samples. The noise of successive ones is nearly
    independent, so that their mean has less of it; by convexity its objective is at most the mean of theirs.
    """

    def __init__(self) -> None:
        self._length = 0
        self._start_anew = 2.0
        self._cuts: dict[int, Expansion] = {}
        self._named = 0
        # Of the sums before and now, in rows: scales by the numbers of cuts; counts, squared lengths and violations.
        self._scales = np.zeros((2, 64))
        self._totals = np.zeros((2, 3))

    def __len__(self) -> int:
        return int(self._totals[:, 0].sum())

    def number(self, cut: Expansion) -> int:
        """A number for a cut, by which to name it."""
        number = self._named
        self._named += 1
        if number >= self._scales.shape[1]:
            self._scales = np.concatenate([self._scales, np.zeros_like(self._scales)], axis=1)
        self._cuts[number] = cut
        return number

    def add(self, cuts: NDArray[np.int64], scales: Array, square: float, violation: float) -> None:
        """Take in Σ scales[k]·(cut k), its squared length, and how far its loss in a sample was above the model.

        Cuts that are not named, and not part of the mean, are forgotten now and then.
        """
        self._length += 1
        if self._length >= self._start_anew:
            self._start_anew *= TUNING.longer
            for sums in (self._scales, self._totals):
                sums[0], sums[1] = sums[1], 0.0
            used = set(np.flatnonzero(self._scales[0]).tolist()) | set(cuts.tolist())
            self._cuts = {number: cut for number, cut in self._cuts.items() if number in used}
        self._scales[1, cuts] += scales
        self._totals[1] += 1.0, square, violation

    @property
    def parts(self) -> list[tuple[Expansion, float]]:
        """The cuts of the mean, and their scales."""
        scales = self._scales.sum(axis=0) / len(self)
        return [(self._cuts[number], float(scales[number])) for number in np.flatnonzero(scales).tolist()]

    @property
    def square(self) -> float:
        """The mean of the minimisers' squared lengths: at least that of their mean."""
        return float(self._totals[:, 1].sum()) / len(self)

    @property
    def violation(self) -> float:
        """The mean of the violations."""
        return float(self._totals[:, 2].sum()) / len(self)

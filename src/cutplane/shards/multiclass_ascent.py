"""Dual ascent on the multi-class risk, as planes and points of an objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutplane import _core
from cutplane._runtime.deadline import seconds_left
from cutplane.proof.rounding import balanced_mass
from cutplane.risks.base import Array
from cutplane.risks.multiclass import Multiclass
from cutplane.solvers.base import AscentStart, Climb, Cut, ScoredPoint
from cutplane.sources.matrix import MatrixSource

# Sweeps by the Gram matrix are faster where a visit to an example by its entries takes as many products as a row of the
# matrix for each class that a step changes, which are two at least; and, of few examples, where weights are nearly as
# many: then most of them can be told apart, and what large C asks for is far from where small steps lead. The matrix is
# formed once so many epochs have not been enough. Its size, and that of the examples as a dense array, are bounded.
_FEWEST_CHANGED = 2.0
_FEW_EXAMPLES, _MANY_WEIGHTS = 4096, 0.3
_EPOCHS_BEFORE = 8
# An epoch that leaves less than this of the gap is fast: while they are, the matrix would come too late.
_FAST = 0.8
_MOST_PAIRS, _MOST_ENTRIES = 1 << 26, 1 << 26
# Epochs after which each begins where the last ones lead. Where fewer are enough, that costs more than it gains.
_EXTRAPOLATE_FROM = 8
# Squared lengths that are at home in single precision.
_SHORTEST, _LONGEST = 1e-25, 1e25


def gram_pays(source: MatrixSource, n_classes: int, changed: float = _FEWEST_CHANGED) -> bool:
    """Whether dual ascent will go by the Gram matrix, should it take long, and a step change so many classes."""
    n, d = source.shape
    long = source.per_row * n_classes >= max(changed, _FEWEST_CHANGED) * n
    wide = n <= _FEW_EXAMPLES and d * n_classes >= _MANY_WEIGHTS * n
    return (long or wide) and n * n <= _MOST_PAIRS and n * d <= _MOST_ENTRIES


# Dual variables are scaled by this before they prove anything.
_WITHIN = 1.0 - 2.0**-50


class MulticlassAscent:
    """Epochs of dual ascent over the examples' blocks, as planes and points of an objective.

    Examples are visited one by one; later on, where `gram_pays`, those furthest from their best by the Gram matrix.
    """

    def __init__(self, source: MatrixSource, risk: Multiclass, C: float, *, intercept: bool, seed: int) -> None:
        self._source = source
        self._risk = risk
        self._C = C
        self._intercept = intercept
        self._dual_value: float | None = None
        self._epochs = 0
        self._last_met = float("inf")  # the gap that the epoch before the last has met
        self._judged = False  # whether it has been decided if sweeps go by the Gram matrix
        self.by_gram = False  # whether sweeps go by the Gram matrix by now
        upper = None if risk.weights is None else C * risk.weights
        self._ascent = _core.BlockAscent(
            source.core, risk.y, risk.cost, upper, C * risk.each, intercept, seed, source.n_threads
        )

    @property
    def mean_square(self) -> float:
        """The mean squared length of an example."""
        return self._ascent.mean_square

    @property
    def can_start(self) -> bool:
        """Blocks begin at their true classes: the plane at zero, where all other classes tie, is no better."""
        return False

    def start(self, zero: ScoredPoint, least: float) -> AscentStart:
        """Not for blocks."""
        raise NotImplementedError("Blocks begin at their true classes.")

    def resume(self, duals: Any, nearby: Any = None) -> bool:
        """Blocks always begin at their true classes."""
        return False

    @property
    def duals(self) -> None:
        """Nothing to go on from."""

    @property
    def sweeps(self) -> int:
        """How many an epoch has."""
        return 1

    def epoch(self) -> None:
        """One sweep over the examples that have not settled, as far as time allows."""
        self._dual_value = None
        met, self._last_met = self._last_met, self.open_gap
        slow = self._last_met > _FAST * met
        if not self._judged and self._epochs >= _EPOCHS_BEFORE and slow:
            self._judged = True
            pays = gram_pays(self._source, self._risk.n_classes, self._ascent.classes_changed)
            self.by_gram = pays and _SHORTEST < self.mean_square < _LONGEST
            if self.by_gram:
                self._ascent.use_gram(self._source.products())
        if self._epochs >= _EXTRAPOLATE_FROM and not self.by_gram:
            self._ascent.extrapolate()
        self._epochs += 1
        self._ascent.epoch(seconds_left())

    def extrapolate(self) -> None:
        """Epochs do so by themselves."""

    def climb(self, products: int, gap: float) -> Climb:
        """Not for blocks."""
        return Climb(0, 0.0, stands=False)

    def unshrink(self, point: Any = None) -> None:
        """Look at every example again; those that must not rest are not told apart."""
        if point is None:
            self._ascent.unshrink()

    def renew(self) -> None:
        """Nothing to do: weights stay what the dual variables add up to."""

    @property
    def weights(self) -> tuple[Array, Array]:
        """The weights and the intercepts reached."""
        return self._ascent.v.ravel(), self._ascent.intercepts

    @property
    def estimate(self) -> float:
        """The dual value by the running sums: what `plane` would prove but for rounding and the balance."""
        if self._dual_value is None:
            self._dual_value = self._ascent.dual_value
        return self._dual_value

    @property
    def last_gain(self) -> float:
        """Not counted."""
        return 0.0

    @property
    def open_gap(self) -> float:
        """What the last epoch met of the gap; by the Gram matrix, what it has left."""
        return self._ascent.open_gap

    @property
    def share_active(self) -> float:
        """Not counted: as if all were."""
        return 1.0

    @property
    def share_at_bounds(self) -> float:
        """Not counted: as if all were."""
        return 1.0

    @property
    def first_gap(self) -> float:
        """About the gap that the first epoch leaves: measured, on text and images, within a factor of four."""
        return 0.6 * self._C / self._source.shape[0] * self.mean_square

    def plane(self, room: float = 0.0) -> Cut:
        """The plane that the dual variables stand for, summed up afresh; value is not the risk anywhere."""
        # A little less than it takes: so that rounding leaves no block above its bound.
        coef = self._ascent.coefficients(_WITHIN / self._C)[0]
        offset, mass = self._risk.make_feasible(coef)
        mass *= 1.0 + 1e-9
        if self._intercept:
            coef, offset = self._risk.balanced(coef)
            mass = balanced_mass(coef)
        return Cut(self._source.combine(coef).ravel(), offset, np.nan, exact=False, mass=mass, coef=coef)

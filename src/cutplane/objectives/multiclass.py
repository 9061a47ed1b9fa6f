"""The multi-class risk as a function of the weights of all classes, or of the features that classes share."""

from __future__ import annotations

import numpy as np

from cutplane.objectives.intercepts import MakeRoundedIntercepts, NoIntercept
from cutplane.objectives.rounded import RoundedObjective
from cutplane.shards.base import Array, ClassShard
from cutplane.solvers.base import Cut, Intercept, Point, ScoredPoint
from cutplane.solvers.newton.system import LARGEST_FACTOR

# With so many weights for each example most examples can be told apart, and dual ascent mostly arrives before OCA.
_TOLD_APART = 0.3


class MulticlassObjective(RoundedObjective):
    """The multi-class risk of a sample as a function of the weights, laid out in a vector row by row of W.

    With free intercepts, one for each class, what is minimised is R(w) = min over b of the risk of X W Phi' + b.

    Parameters
    ----------
    shard : ClassShard
    intercept : callable
    origin : array, optional
        Weights that those of points count from.
    rest : Cut, optional
        The plane of the examples left out.
    rest_balance : array, optional
        How that rises with the intercepts.
    """

    shard: ClassShard

    def __init__(
        self,
        shard: ClassShard,
        *,
        intercept: MakeRoundedIntercepts = NoIntercept,
        origin: Array | None = None,
        rest: Cut | None = None,
        rest_balance: Intercept | None = None,
    ) -> None:
        balance = np.zeros(shard.n_classes) if rest_balance is None else rest_balance
        super().__init__(shard, intercept=intercept, origin=origin, rest=rest, rest_balance=balance)

    @property
    def newton_pays(self) -> bool:
        """Only with a factor of the curvature: without, conjugate gradients need hundreds of products a step."""
        return self.dimension <= LARGEST_FACTOR

    @property
    def ascent_epochs(self) -> tuple[float, float] | None:
        """Systems are larger than those of two classes.

        Where they are too large, OCA comes next, which is slow at large C: the first epochs need promise nothing.
        By the Gram matrix ascent arrives first, and where Newton's method does not: raw pixels, C = 1 to 100. Where
        most of them can be, OCA mostly arrives last.
        """
        if self.shard.goes_by_gram:
            return float("inf"), 2000.0
        if self.newton_pays:
            return 50.0, 150.0
        return (float("inf"), 1000.0) if self.dimension < _TOLD_APART * self.examples else None

    def as_returned(self, point: Point) -> Point:
        """Of two classes models keep the difference, which is rounded: so weights are made to be opposite."""
        if self.shard.n_classes != 2 or self.shard.classes_share:
            return point
        pairs = point.w.reshape(-1, 2)
        intercepts = np.zeros(2) + point.intercept
        signs = np.array([-0.5, 0.5])
        w = np.outer(pairs[:, 1] - pairs[:, 0], signs).ravel()
        return Point(w, (intercepts[1] - intercepts[0]) * signs)

    def at(self, w: Array, nearby: ScoredPoint | None = None) -> ScoredPoint:
        """The point w with nearly its best intercepts, looked for from those of a point nearby: one pass."""
        return self.fit_intercept(self.score(w, 0.0 if nearby is None else nearby.intercept))

    def score(self, w: Array, intercept: Intercept) -> ScoredPoint:
        """The point with these weights and these intercepts: one pass."""
        return super().score(w, self._of_each_class(intercept))

    def direction(self, p: Array, shift: Intercept) -> ScoredPoint:
        """A change of weights and intercepts: one pass."""
        return super().direction(p, self._of_each_class(shift))

    def _of_each_class(self, intercept: Intercept) -> Array:
        return np.broadcast_to(np.asarray(intercept, dtype=np.float64), (self.shard.n_classes,))

    @property
    def proves_by_parts(self) -> bool:
        """Not looked into."""
        return False

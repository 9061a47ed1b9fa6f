"""The hinges near their kinks as a problem of their own, every other example replaced by its tangent."""

from __future__ import annotations

import numpy as np

from cutplane.risks.base import Array
from cutplane.risks.hinge import Hinge
from cutplane.risks.intercept import balanced
from cutplane.shards.curvature import RowCurvature
from cutplane.solvers.base import Cut
from cutplane.sources.matrix import MatrixSource


class NearHinges:
    """Sum over the near examples of weights[i] max(0, 1 - signs[i] score), plus <rest_slope, w> + rest_balance b.

    Whatever dual variables the near examples are given, together with the tangents of the others they make a plane
    below the whole risk: what is proven of this problem is proven of that one.

    Parameters
    ----------
    source : MatrixSource
        All examples.
    risk : Hinge
        Of all examples.
    scores : array of shape (n,)
        Where the tangents are taken.
    radius : float
        How far from its kink an example may be to count as near.
    most : int
        Of more examples than this, the nearest are taken.
    intercept : bool
        Whether an unpenalised intercept is free.

    Attributes
    ----------
    radius : float
        As given, or where the `most` nearest end.
    """

    def __init__(
        self, source: MatrixSource, risk: Hinge, scores: Array, radius: float, *, most: int, intercept: bool
    ) -> None:
        rows, weights = risk.kinks(scores, 2.0 * radius)
        if not weights.all():
            rows, weights = rows[weights > 0.0], weights[weights > 0.0]
        if len(rows) > most:
            distances = np.abs(1.0 - risk.y[rows] * scores[rows])
            radius = float(np.partition(distances, most)[most])
            nearest = distances < radius
            rows, weights = rows[nearest], weights[nearest]
        self.radius = radius
        self._source, self._risk, self._rows = source, risk, rows
        self._near = source.take(rows)
        self._all = np.arange(len(rows), dtype=np.int64)
        self._coef = risk.cut(scores).coef
        self._coef[rows] = 0.0
        self.intercept = intercept
        self.signs = risk.y[rows].astype(np.float64)
        self.weights = weights
        self.margins = self.signs * scores[rows]
        self.rest_slope = source.combine(self._coef)
        self.rest_balance = float(self._coef.sum())

    def scores(self, w: Array) -> Array:
        """Of the near examples."""
        return self._near.scores(w)

    def combine(self, coef: Array) -> Array:
        """The near examples, weighted and summed."""
        return self._near.combine(coef)

    def curvature(self, weights: Array) -> RowCurvature:
        """The sum of weights[i] x_i x_i', as a system of Newton's method takes it."""
        mean = self._near.combine(weights) / np.sqrt(weights.sum()) if self.intercept else None
        return RowCurvature(self._near, self._all, weights, mean)

    def plane(self, shares: Array) -> Cut:
        """The plane below the whole risk that gives each near example this share, between 0 and 1, of its weight."""
        coef = self._coef
        coef[self._rows] = -self.signs * self.weights * shares
        if self.intercept:
            coef = balanced(coef)
        offset = self._risk.plane_offset(coef)
        return Cut(self._source.combine(coef), offset, np.nan, exact=False, mass=offset * (1.0 + 1e-9), coef=coef)

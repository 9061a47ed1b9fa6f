"""Intervals of a linear model's scores: the ball that the optimum lies in, times the lengths of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutplane._types import Array, Matrix, MatrixLike
from cutplane.cluster.collections import is_collection
from cutplane.estimators.common import validation
from cutplane.estimators.common.certain import CertainScores, Intervals
from cutplane.estimators.common.lazy import bounds_lazily
from cutplane.estimators.linear.dense_weights import dense
from cutplane.estimators.linear.dual_search import plain
from cutplane.estimators.linear.linear_model import LinearModel
from cutplane.proof.ball import Scored, interval, scored
from cutplane.proof.rounding import UNIT


class Balls(NamedTuple):
    """For each row of weights how far the optimum's is from it at most, and how far it was rounded when stored."""

    radii: Array
    rounded: Array


class LinearCertain(CertainScores, LinearModel):
    """A linear model that knows between what the exact optimum's scores lie."""

    @property
    def _intercept_is_free(self) -> bool:
        return bool(self.fit_intercept) and self.intercept_scaling is None

    def _balls(self) -> Balls:
        """One for each problem, with weights of its own."""
        radii = [each.ball for each in self.certificates_]
        return Balls(np.array(radii), np.zeros(len(radii)))

    def _scored(self, X: Matrix) -> Scored:
        """Scores without free intercepts; lengths of rows with the constant feature of a penalised one."""
        balls = self._balls()
        found = scored(plain(X), np.atleast_2d(dense(self.coef_)))
        errors = found.errors + np.outer(found.lengths, balls.rounded)
        scores, lengths = found.scores, found.lengths
        if not self._intercept_is_free:
            b = np.asarray(getattr(self, "intercept_", 0.0), np.float64)
            scores = scores + b
            errors = errors + 4.0 * UNIT * (np.abs(scores) + np.abs(b))
            scaling = float(self.intercept_scaling or 0.0) if self.fit_intercept else 0.0
            lengths = np.hypot(lengths, scaling) * (1.0 + 4.0 * UNIT)
        return Scored(scores, errors, lengths)

    def decision_bounds(self, X: MatrixLike) -> tuple[Array, Array]:
        """Between what the scores of the exact optimum lie.

        Around the model's own, up to sqrt(2·gap) in absolute terms times the length of a row: the tighter the gap, the
        narrower. They hold as inequalities of real numbers, and for every optimal intercept. See docs/certain.md.

        Parameters
        ----------
        X : matrix of shape (n, n_features)
            Of a collection of Dask the bounds are lazy ones, too.

        Returns
        -------
        low, high : array of shape (n,) or (n, problems)
            One column for each problem in `certificates_`, or class where these are trained together.
        """
        return bounds_lazily(self, X) if is_collection(X) else self._bounds_here(X)

    def _intervals(self, X: MatrixLike) -> Intervals:
        return self._intervals_of(validation.check_new_rows(self, X), self._free_ends())

    def _intervals_of(self, rows: Matrix, ends: Array) -> Intervals:
        found = self._scored(rows)
        low, high = interval(found.scores, found.errors, reach(found.lengths, self._balls().radii))
        return Intervals(low, high, ends)

    def _free_ends(self) -> Array:
        """Between what free intercepts lie: of shape (problems, 2)."""
        return np.zeros((len(self._balls().radii), 2))


def reach(lengths: Array, radii: Array) -> Array:
    """By how much scores of the optimum can differ from those of the model, of shape (n, problems)."""
    finite = np.where(np.isfinite(radii), radii, 0.0)
    return np.where(np.isfinite(radii), np.outer(lengths, finite), np.inf)

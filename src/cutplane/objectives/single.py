"""The hinge's objective with scores in single precision: half the memory, and half of what line searches read.

Planes lie below the risk whatever their coefficients are, so rounded scores cost the lower bound nothing. The upper one
they do: bounds on the way allow for it, and in the end the prover evaluates the risk in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cutplane import _core
from cutplane.objectives.generic import Objective, ScoredPoint, SmoothObjective
from cutplane.proof.rounding import SINGLE_UNIT, Rounding
from cutplane.risks.base import Array
from cutplane.risks.hinge import Hinge
from cutplane.solvers.base import Cut
from cutplane.sources.matrix import MatrixSource

# Scores are worth it where examples are many and have few entries each; to tell bounds apart that are closer than this,
# single precision is too coarse.
_MANY_EXAMPLES = 1 << 16
_FEW_ENTRIES = 128
_COARSE = 1e-5


class ScoresTooLargeError(OverflowError):
    """Scores that single precision cannot hold."""


class SingleObjective(SmoothObjective):
    """A `SmoothObjective` of the hinge, without intercept, whose points carry scores in single precision.

    The values of points are close to the risk, not the risk itself.

    Parameters
    ----------
    source : MatrixSource
        The examples.
    risk : Hinge
        The risk of their scores.
    """

    source: MatrixSource
    risk: Hinge

    def __init__(self, source: MatrixSource, risk: Hinge) -> None:
        super().__init__(source, risk)

    def in_double(self) -> SmoothObjective:
        """The same with scores in double precision."""
        return SmoothObjective(self.source, self.risk)

    @property
    def rounding(self) -> Rounding:
        """Scores are kept in single precision."""
        return replace(super().rounding, unit=SINGLE_UNIT)

    def _scores(self, w: Array) -> Any:
        if not w.any():
            return np.zeros(self.examples, np.float32)
        scores, held = self._matrix.single_scores(np.ascontiguousarray(w), self._n_threads)
        if not held:
            raise ScoresTooLargeError
        return scores

    def _scored_plane(self, w: Array, base: Any, h: float) -> tuple[Any, Array, Any]:
        scores, slope, s = self._sums.single_scored_plane(self._matrix, w, base, h, self._n_threads)
        if s.value == float("inf"):
            raise ScoresTooLargeError
        return scores, slope, s

    def at(self, w: Array) -> ScoredPoint:
        """The point w: one pass over the data."""
        return ScoredPoint(w, 0.0, self._scores(w))

    def score(self, w: Array, intercept: float) -> ScoredPoint:
        """The same."""
        return ScoredPoint(w, intercept, self._scores(w))

    def _mix_into(self, scores: Array, a: ScoredPoint, b: ScoredPoint, t: float) -> ScoredPoint:
        np.copyto(scores, a.scores + t * (b.scores - a.scores))
        return ScoredPoint(_core.mix(a.w, b.w, t), (1.0 - t) * a.intercept + t * b.intercept, scores)

    def cut(self, point: ScoredPoint) -> Cut:
        """The plane that touches the risk at the point's weights, but for rounding."""
        return self._cut_towards(point.scores, point.scores, 0.0)

    def _cut_towards(self, scores: Array, end: Array, mu: float) -> Cut:
        """The plane at scores + mu·(end - scores)."""
        slope, offset, value = self._sums.cut_plane(self._matrix, scores, end, mu, self._n_threads)
        return Cut(slope, offset, value, mass=offset * (1.0 + 1e-9))

    def advance(
        self, a: ScoredPoint, b: ScoredPoint, step: float, mu: float, C: float
    ) -> tuple[ScoredPoint, float, Callable[[], Cut]]:
        """As `Objective.advance`; a is used up, b is not."""
        value = self._sums.move(a.scores, b.scores, step, self._n_threads)
        moved = ScoredPoint(_core.mix(a.w, b.w, step), 0.0, a.scores)
        return moved, value, lambda: self._cut_towards(moved.scores, b.scores, mu)

    def extrapolated_slope(self, point: ScoredPoint, h: float, reach: float) -> Array:
        """The slope for width h if the examples within `reach` stayed on their kinks."""
        slope: Array = self._sums.extrapolated_slope(self._matrix, point.scores, h, reach, self._n_threads)
        return slope


def in_single(objective: Objective, relative_gap: float) -> Objective:
    """The objective with scores in single precision, where these matter and the gap allows it."""
    source, risk = objective.source, objective.risk
    if type(objective) is not SmoothObjective or objective.intercept or relative_gap < _COARSE:
        return objective
    if not isinstance(source, MatrixSource) or not isinstance(risk, Hinge):
        return objective
    many = source.shape[0] >= _MANY_EXAMPLES and source.per_row <= _FEW_ENTRIES
    return SingleObjective(source, risk) if many else objective

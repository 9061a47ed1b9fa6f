"""The hinges near their kinks as a problem of their own, every other example replaced by its tangent."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cutplane.risks.hinge import Hinge
from cutplane.risks.intercept import balanced
from cutplane.shards.base import Array, Handle, ShardPlane
from cutplane.shards.curvature import RowCurvature
from cutplane.solvers.base import Cut
from cutplane.solvers.protocols import Pull, Stiffness
from cutplane.sources.base import Source

# An interior point starts this far from every bound, as a fraction of the radius: a twentieth of its box for a dual
# variable.
_FROM_KINK = 0.1
_FROM_BOUND = 0.05


class NearIterate(NamedTuple):
    """Dual variables, losses and surpluses, all positive, and the bounds of the dual variables."""

    dual: Array
    loss: Array
    surplus: Array
    bound: Array

    @property
    def left(self) -> Array:
        """What dual variables may still grow by."""
        return self.bound - self.dual


class NearSteps(NamedTuple):
    """Changes of dual variables, losses and surpluses."""

    dual: Array
    loss: Array
    surplus: Array


def _iterate(handle: Handle) -> NearIterate:
    return cast(NearIterate, handle)


def _steps(handle: Handle) -> NearSteps:
    return cast(NearSteps, handle)


class NearHinges:
    """Sum over the near examples of weights[i] max(0, 1 - signs[i] score), plus <rest_slope, w> + rest_balance b.

    Whatever dual variables the near examples are given, together with the tangents of the others they make a plane
    below the whole risk: what is proven of this problem is proven of that one.

    Parameters
    ----------
    source : Source
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
        self, source: Source, risk: Hinge, scores: Array, radius: float, *, most: int, intercept: bool
    ) -> None:
        rows, weights = risk.kinks(scores, 2.0 * radius)
        heavy = np.flatnonzero(weights > 0.0)
        if len(heavy) < len(rows):
            rows, weights = rows[heavy], weights[heavy]
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

    @property
    def examples(self) -> int:
        """The number of near examples."""
        return len(self.signs)

    def scores(self, w: Array) -> Array:
        """Of the near examples."""
        return self._near.scores(w)

    def start(self, C: float) -> Handle:
        """Dual variables by how far beyond its kink an example is; losses and surpluses off zero."""
        bound = C * self.weights
        beyond = 1.0 - self.margins
        share = 0.5 + 0.5 * beyond / self.radius
        dual = bound * np.clip(share, _FROM_BOUND, 1.0 - _FROM_BOUND)
        loss = np.maximum(beyond, 0.0) + _FROM_KINK * self.radius
        surplus = np.maximum(-beyond, 0.0) + _FROM_KINK * self.radius
        return NearIterate(dual, loss, surplus, bound)

    def dual_sums(self, at: Handle) -> tuple[Array, float]:
        """The weights that the dual variables stand for, and what they sum to, signed: zero is balance."""
        dual = _iterate(at).dual
        return self._near.combine(self.signs * dual), float(self.signs @ dual) if self.intercept else 0.0

    def disagreement(self, at: Handle) -> float:
        """What losses and dual variables add to the gap of the small problem."""
        here = _iterate(at)
        beyond = here.loss - here.surplus
        return float(here.bound @ np.maximum(beyond, 0.0)) - float(here.dual @ beyond)

    def stiffness(self, at: Handle) -> Stiffness:
        """How the losses bend: one over the widths that the products leave them."""
        found = self.bend(at)
        if found.moments is None:
            return found
        weight, slope = found.moments
        centred = RowCurvature(self._near, self._all, cast(Array, found.each), slope / np.sqrt(weight))
        return found._replace(curvature=centred)

    def bend(self, at: Handle) -> Stiffness:
        """As `stiffness`, before an intercept moves along."""
        here = _iterate(at)
        each = 1.0 / (here.surplus / here.dual + here.loss / here.left)
        moments = (float(each.sum()), self._near.combine(each)) if self.intercept else None
        return Stiffness(RowCurvature(self._near, self._all, each, None), moments, each)

    def pull(self, at: Handle, stiffness: Handle, target: float, ahead: Handle | None) -> Pull:
        """The change of margins that takes products to `target`, less what the step `ahead` says they bend."""
        here, stiff = _iterate(at), cast(Array, stiffness)
        curved_surplus: Array | float = 0.0
        curved_loss: Array | float = 0.0
        if ahead is not None:
            steps = _steps(ahead)
            curved_surplus, curved_loss = steps.dual * steps.surplus, -steps.dual * steps.loss
        to_loss = (target - curved_loss) / here.left - here.loss
        pull = (target - curved_surplus) / here.dual - here.surplus - to_loss
        weighted = self.signs * stiff * pull
        return Pull(self._near.combine(weighted), float(weighted.sum()), (pull, to_loss))

    def steps(self, at: Handle, stiffness: Handle, pull: Handle, w: Array, intercept: float) -> Handle:
        """What a step of weights and intercept changes for each example."""
        here, stiff = _iterate(at), cast(Array, stiffness)
        pulled, to_loss = cast(tuple[Array, Array], pull)
        margin = self.signs * (self.scores(w) + intercept)
        dual = stiff * (pulled - margin)
        loss = to_loss + here.loss * dual / here.left
        return NearSteps(dual, loss, margin + loss)

    def complementarity(self, at: Handle) -> float:
        """The sum of all products."""
        here = _iterate(at)
        return float(here.dual @ here.surplus) + float(here.left @ here.loss)

    def fastest(self, at: Handle, steps: Handle) -> float:
        """One over the fraction of a step at which the first of all would vanish; below one where none would."""
        here, change = _iterate(at), _steps(steps)
        pairs = (
            (here.dual, change.dual),
            (here.left, -change.dual),
            (here.loss, change.loss),
            (here.surplus, change.surplus),
        )
        most = max(float(np.max(-step / value)) for value, step in pairs) if self.examples else 0.0
        return 0.0 if most < 0.0 else most

    def moved(self, at: Handle, steps: Handle, t: float) -> Handle:
        """A fraction t of a step on."""
        here, change = _iterate(at), _steps(steps)
        return NearIterate(
            here.dual + t * change.dual,
            here.loss + t * change.loss,
            here.surplus + t * change.surplus,
            here.bound,
        )

    def is_finite(self, at: Handle) -> bool:
        """Whether all dual variables are numbers."""
        return not len(np.flatnonzero(~np.isfinite(_iterate(at).dual)))

    def plane(self, at: Handle) -> Cut:
        """The plane below the whole risk that gives each near example its dual variable."""
        coef = self._coefficients(at)
        if self.intercept:
            coef = balanced(coef)
        offset = self._risk.plane_offset(coef)
        return Cut(self._source.combine(coef), offset, np.nan, exact=False, mass=offset * (1.0 + 1e-9), coef=coef)

    def sides(self, at: Handle) -> Array:
        """What the positive and the negative coefficients of the plane add up to, before they are balanced."""
        coef = self._coefficients(at)
        return np.array([coef[coef > 0.0].sum(), coef[coef < 0.0].sum()])

    def leaning_plane(self, at: Handle, factors: Array) -> ShardPlane:
        """As `plane`, positive and negative coefficients scaled by factors at most 1; with what they sum to."""
        coef = self._coefficients(at)
        coef = coef * np.where(coef > 0.0, *factors)
        offset = self._risk.plane_offset(coef)
        lean = float(coef.sum())
        return ShardPlane(self._source.combine(coef), offset, np.nan, mass=offset * (1.0 + 1e-9), lean=lean)

    def _coefficients(self, at: Handle) -> Array:
        """Of all examples: the near ones by their dual variables, the others by their tangents."""
        here = _iterate(at)
        self._coef[self._rows] = -self.signs * self.weights * (here.dual / here.bound)
        return self._coef

"""The hinges near their kinks as a problem of their own, every other example replaced by its tangent."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any, NamedTuple, cast

import numpy as np

from cutplane.risks.base import ScoreCut
from cutplane.risks.intercept import balanced
from cutplane.shards.base import Array, Handle, ShardPlane
from cutplane.shards.curvature import RowCurvature
from cutplane.shards.hinges import Hinges, hinges_of
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
    """Sum over the near hinges of weights[i] max(0, levels[i] - signs[i] score), plus <rest_slope, w> + rest_balance b.

    A hinge is a kink of an example's loss: of a tube around the target, there are two. Whatever dual variables the near
    ones are given, together with the tangents of the others they make a plane below the whole risk: what is proven of
    this problem is proven of that one.

    Parameters
    ----------
    source : Source
        All examples.
    risk : VisitedRisk or DeviceRisk
        Of all examples, by a loss that is a sum of hinges.
    scores : array of shape (n,)
        Where the tangents are taken.
    radius : float
        How far from the scores a kink may be to count as near.
    most : int
        Of more kinks than this, the nearest are taken.
    intercept : bool
        Whether an unpenalised intercept is free.

    Attributes
    ----------
    radius : float
        As given, or where the `most` nearest end.
    """

    def __init__(self, source: Source, risk: Any, scores: Array, radius: float, *, most: int, intercept: bool) -> None:
        self._source, self._risk, terms = source, risk, risk.terms
        self._examples = rows = risk.kinks(scores, 2.0 * radius)[0]
        here = scores[rows].astype(np.float64)
        each = terms.each * np.ones_like(here) if terms.weights is None else terms.weights[rows]
        kinks = hinges_of(terms, rows)
        beyond = [kink.beyond(here) for kink in kinks]
        self.radius, chosen = _nearest(beyond, each, radius, most)
        self._far = _tangents(kinks, beyond, each, chosen)
        # What kinks that are near have in common: where they are among these, and their examples' weights.
        self._sides = [_Side(kink.take(near), rows[near], each[near]) for kink, near in zip(kinks, chosen, strict=True)]
        self.intercept = intercept
        self.signs = np.concatenate([side.hinges.signs for side in self._sides])
        self.levels = np.concatenate([side.hinges.levels for side in self._sides])
        self.weights = np.concatenate([side.hinges.jump * side.each for side in self._sides])
        self.beyond = np.concatenate([t[near] for t, near in zip(beyond, chosen, strict=True)])
        self._near = source.take(np.concatenate([side.rows for side in self._sides])).exactly()
        self._all = np.arange(len(self.signs), dtype=np.int64)
        self._coef = risk.cut(scores).coef
        rest = self._with_shares([np.zeros_like(side.each) for side in self._sides])
        self.rest_slope = source.combine(rest)
        self.rest_balance = float(rest.sum())

    @property
    def examples(self) -> int:
        """The number of near hinges."""
        return len(self.signs)

    def scores(self, w: Array) -> Array:
        """Of the near examples."""
        return self._near.scores(w)

    def start(self, C: float) -> Handle:
        """Dual variables by how far beyond its kink an example is; losses and surpluses off zero."""
        bound = C * self.weights
        beyond = self.beyond
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
        plane = self._below_risk(coef)
        return Cut(plane.slope, plane.offset, np.nan, exact=False, mass=plane.mass, coef=coef)

    def sides(self, at: Handle) -> Array:
        """What the positive and the negative coefficients of the plane add up to, before they are balanced."""
        return self._sides_of(self._coefficients(at))

    @staticmethod
    def _sides_of(coef: Array) -> Array:
        return np.array([float(coef[coef > 0.0].sum()), float(coef[coef < 0.0].sum())])

    def leaning_plane(self, at: Handle, factors: Array) -> ShardPlane:
        """As `plane`, positive and negative coefficients scaled by factors at most 1; with what they sum to."""
        coef = self._coefficients(at)
        coef = coef * np.where(coef > 0.0, *factors.tolist())
        return self._below_risk(coef)._replace(lean=float(coef.sum()))

    def _below_risk(self, coef: Array) -> ShardPlane:
        """The highest plane with these coefficients that is below the risk."""
        offset = self._risk.plane_offset(coef)
        mass = self._risk.mass(ScoreCut(coef, offset, np.nan))
        return ShardPlane(self._source.combine(coef), offset, np.nan, mass=mass)

    def _coefficients(self, at: Handle) -> Array:
        """Of all examples: the near ones by their dual variables, the others by their tangents."""
        here = _iterate(at)
        shares, ends = here.dual / here.bound, accumulate((len(side.rows) for side in self._sides), initial=0)
        return self._with_shares([shares[begin:end] for begin, end in pairwise(ends)])

    def _with_shares(self, shares: list[Array]) -> Array:
        """Coefficients of all examples where the near hinges, side by side, have these shares."""
        coef: Array = self._coef
        coef[self._examples] = self._far
        for side, share in zip(self._sides, shares, strict=True):
            coef[side.rows] += side.each * side.hinges.slopes(share)
        return coef


class _Side(NamedTuple):
    """The near ones of one kink of the loss: the hinges, the examples, and what these weigh."""

    hinges: Hinges
    rows: Any
    each: Array


def _nearest(beyond: list[Array], each: Array, radius: float, most: int) -> tuple[float, list[Any]]:
    """Which examples are near each kink; of more than `most` in all, the nearest, and where these end."""
    distances = [np.abs(t) for t in beyond]
    near = [np.flatnonzero((t <= radius) & (each > 0.0)) for t in distances]
    if sum(map(len, near)) > most:
        together = np.concatenate([t[chosen] for t, chosen in zip(distances, near, strict=True)])
        radius = float(np.partition(together, most)[most])
        near = [np.flatnonzero((t < radius) & (each > 0.0)) for t in distances]
    return radius, near


def _tangents(kinks: list[Hinges], beyond: list[Array], each: Array, near: list[Any]) -> Array:
    """The coefficients of the kinks that are not near."""
    total = np.zeros_like(each)
    for kink, t, chosen in zip(kinks, beyond, near, strict=True):
        slopes = kink.slopes(1.0 * (t > 0.0))
        slopes[chosen] = 0.0
        total += each * slopes
    return total

"""The problem of the hinges near their kinks where these lie in several shards: sums of the parts' sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from cutplane.proof.rounding import exact_sum
from cutplane.shards.base import Array, Handle, NearPart, ShardPlane, answers
from cutplane.shards.sum_parts import CurvatureSum, Moments, added
from cutplane.shards.sum_planes import balancing_factors, plane_sum, without_lean
from cutplane.solvers.base import Cut
from cutplane.solvers.protocols import Pull, Stiffness


class NearSum:
    """The sum of the problems of several parts. A handle holds one of each part.

    Parameters
    ----------
    parts : sequence of NearPart
        All with or all without an intercept, which is the same for all.
    radius : float
        How far from its kink an example may be to count as near: the same for all.
    """

    def __init__(self, parts: Sequence[NearPart], radius: float) -> None:
        self._parts = tuple(parts)
        self.radius = radius
        self.intercept = parts[0].intercept
        self.examples = sum(part.examples for part in parts)
        self.rest_slope = added([part.rest_slope for part in parts])
        self.rest_balance = exact_sum(part.rest_balance for part in parts)

    def _of(self, *handles: Handle) -> Any:
        """Each part, with its part of each handle."""
        return zip(self._parts, *(cast(tuple[Handle, ...], handle) for handle in handles), strict=True)

    def start(self, C: float) -> Handle:
        """Dual variables, losses and surpluses to begin with."""
        return tuple(part.start(C) for part in self._parts)

    def dual_sums(self, at: Handle) -> tuple[Array, float]:
        """The weights that the dual variables stand for, and what they sum to, signed: zero is balance."""
        found = answers(part.dual_sums(each) for part, each in self._of(at))
        return added([weights for weights, _ in found]), exact_sum(balance for _, balance in found)

    def disagreement(self, at: Handle) -> float:
        """What losses and dual variables add to the gap of the small problem."""
        return exact_sum(answers(part.disagreement(each) for part, each in self._of(at)))

    def stiffness(self, at: Handle) -> Stiffness:
        """How the losses bend, an intercept moving along where one is free."""
        found = self.bend(at)
        if found.moments is None:
            return found
        return found._replace(curvature=CurvatureSum((found.curvature,), Moments([found.moments])))

    def bend(self, at: Handle) -> Stiffness:
        """As `stiffness`, before an intercept moves along."""
        found: list[Stiffness] = answers(part.bend(each) for part, each in self._of(at))
        curvature = CurvatureSum(tuple(part.curvature for part in found))
        moments = [part.moments for part in found if part.moments is not None]
        handle = tuple(part.each for part in found)
        if not moments:
            return Stiffness(curvature, None, handle)
        sums = exact_sum(weight for weight, _ in moments), added([slope for _, slope in moments])
        return Stiffness(curvature, sums, handle)

    def pull(self, at: Handle, stiffness: Handle, target: float, ahead: Handle | None) -> Pull:
        """The change of margins that takes products to `target`, less what the step `ahead` says they bend."""
        steps = (None,) * len(self._parts) if ahead is None else ahead
        found: list[Pull] = answers(
            part.pull(x, s, target, step) for part, x, s, step in self._of(at, stiffness, steps)
        )
        weight = exact_sum(part.weight for part in found)
        return Pull(added([part.slope for part in found]), weight, tuple(part.each for part in found))

    def steps(self, at: Handle, stiffness: Handle, pull: Handle, w: Array, intercept: float) -> Handle:
        """What a step of weights and intercept changes for each example."""
        return tuple(part.steps(x, s, p, w, intercept) for part, x, s, p in self._of(at, stiffness, pull))

    def complementarity(self, at: Handle) -> float:
        """The sum of all products."""
        return exact_sum(answers(part.complementarity(each) for part, each in self._of(at)))

    def fastest(self, at: Handle, steps: Handle) -> float:
        """One over the fraction of a step at which the first of all would vanish; below one where none would."""
        return float(np.max(answers(part.fastest(x, step) for part, x, step in self._of(at, steps))))

    def moved(self, at: Handle, steps: Handle, t: float) -> Handle:
        """A fraction t of a step on."""
        return tuple(part.moved(x, step, t) for part, x, step in self._of(at, steps))

    def is_finite(self, at: Handle) -> bool:
        """Whether all dual variables are numbers."""
        return all(answers(part.is_finite(each) for part, each in self._of(at)))

    def plane(self, at: Handle) -> Cut:
        """The plane below the whole risk that gives each near example its dual variable."""
        factors = balancing_factors(self.sides(at)) if self.intercept else np.ones(2)
        plane = self.leaning_plane(at, factors)
        mass = without_lean(plane).mass if self.intercept else plane.mass
        return Cut(plane.slope, plane.offset, np.nan, exact=False, mass=mass)

    def sides(self, at: Handle) -> Array:
        """What the positive and the negative coefficients of the plane add up to, before they are balanced."""
        return added(answers(part.sides(each) for part, each in self._of(at)))

    def leaning_plane(self, at: Handle, factors: Array) -> ShardPlane:
        """As `plane`, positive and negative coefficients scaled by factors at most 1; with what they sum to."""
        return plane_sum(answers(part.leaning_plane(each, factors) for part, each in self._of(at)))

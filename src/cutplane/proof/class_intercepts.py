"""Between what the free intercepts of classes that are trained together lie, at an optimum whose weights are in a ball.

What is minimised is P(W, b) = ½|W - origin|² + Σ_i c_i·loss_i(W'x_i + b) over a column of weights and an intercept for
each class. Scores do not change if every x_i is counted from a centre z and b becomes β = b + W'z. Take any plane below
the risk, <G, W> + <m, β> + o, that is `below` it at the model (W, β). The optimum (W*, β*) is no worse than the model,
so that with D = W* - W and Q = G + W - origin

    <m, β* - β> <= below - <Q, D> - ½|D|² <= below + |Q|·r - ½r²,    r = min(|Q|, radius).

Each plane that leans (m is not 0) is a half-space that β* - β lies in. Several of them, each times a number of zero or
more, add up to a bound for one class. docs/proofs.md has the proof in short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Array, Integers, Matrix
from cutplane.proof.ball import Scored
from cutplane.proof.checker import BLOCK, blocks
from cutplane.proof.class_losses import ClassLoss
from cutplane.proof.rounding import UNIT, gamma, length

# Planes are taken where intercepts are moved by so many times what scores can move: one of these is about the best.
_STEPS = (0.01, 0.1, 1.0, 10.0)
# Where the model is the optimum itself, they are moved by this share of the sizes of scores: less is lost in rounding.
_LEAST_STEP = 3e-7
# Beyond so many times the sizes of scores and one, no plane that leans is looked for.
_FURTHEST = 1e4
# Numbers in the slopes of planes that are found in one pass, and in what a look at directions goes through.
_AT_ONCE, _LOOKED_AT = 1 << 24, 1 << 25
# For the few roundings in a height.
_OUTWARD = 1.0 + 1e-12


class ClassEnds(NamedTuple):
    """Between what the optimum's intercepts of centred rows lie, counted from the model's and from their own mean.

    Attributes
    ----------
    centre : array of shape (d,)
        What rows are counted from.
    low, high : array of shape (k,)
    """

    centre: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class ClassProblem:
    """What is minimised, and the model.

    Parameters
    ----------
    X : matrix of shape (n, d)
    y : array of int of shape (n,)
        Classes, 0 to k - 1.
    weight : array of shape (n,)
        C times the weights of the examples.
    loss : ClassLoss
    weights : array of shape (d, k)
        The model's.
    intercept : array of shape (k,)
    origin : array of shape (d, k), optional
        What weights count from.
    bounded : array of bool of shape (d,), optional
        The features whose weights must not be negative.
    """

    X: Matrix
    y: Integers
    weight: Array
    loss: ClassLoss
    weights: Array
    intercept: Array
    origin: Array | None = None
    bounded: NDArray[np.bool_] | None = None


class HalfSpaces(NamedTuple):
    """<normal, β* - β> <= height, but for normals that are `errors` off, entries added up."""

    normals: Array
    errors: Array
    heights: Array

    def plus(self, other: HalfSpaces) -> HalfSpaces:
        """These and others."""
        return HalfSpaces(*(np.concatenate(parts) for parts in zip(self, other, strict=True)))

    def scaled(self) -> HalfSpaces:
        """Those that say something, with normals whose largest entries are 1."""
        size = np.abs(self.normals).max(axis=1)
        known = np.isfinite(self.heights) & np.isfinite(self.errors) & (self.errors < 0.5 * size)
        size = size[known]
        return HalfSpaces(self.normals[known] / size[:, None], self.errors[known] / size, self.heights[known] / size)


def class_ends(problem: ClassProblem, found: Scored, radius: float) -> ClassEnds:
    """The ends of every class; infinite where nothing is proven.

    Parameters
    ----------
    problem : ClassProblem
    found : Scored
        The scores of its rows by the model's weights, without intercepts.
    radius : float
        How far the optimum's weights are from the model's at most.
    """
    k = len(problem.intercept)
    centre = _mean(problem.X)
    nothing = ClassEnds(centre, np.full(k, -math.inf), np.full(k, math.inf))
    if not math.isfinite(radius) or not np.isfinite(found.scores).all():
        return nothing
    leaning = _Leaning(problem, found, centre, radius)
    spaces = leaning.half_spaces([move for step in leaning.steps() for move in _moves(leaning, step)])
    ends = _enclosed(spaces)
    for step in leaning.further_steps():
        if ends is not None:
            break
        one = step * (np.eye(k) - 1.0 / k)
        spaces = spaces.plus(leaning.half_spaces([*one, *-one]))
        ends = _enclosed(spaces)
    return nothing if ends is None else ClassEnds(centre, *ends)


def _mean(X: Matrix) -> Array:
    """About the mean of the rows: any centre will do."""
    total = np.zeros(X.shape[1])
    for _, rows in blocks(X):
        total += np.asarray(rows.sum(axis=0)).ravel()
    return np.asarray(total / X.shape[0])


class _Leaning:
    """Planes that touch the risk where intercepts are others than the model's."""

    def __init__(self, problem: ClassProblem, found: Scored, centre: Array, radius: float) -> None:
        self.problem, self._lengths, self._centre, self._radius = problem, found.lengths, centre, radius
        b = problem.intercept
        self.scores = found.scores + b
        self._errors = (found.errors + 4.0 * UNIT * (np.abs(found.scores) + np.abs(b))).max(axis=1)
        self._origin = np.zeros_like(problem.weights) if problem.origin is None else problem.origin
        free = np.ones(len(centre), bool) if problem.bounded is None else ~problem.bounded
        # A weight at its bound can only rise: where that makes the objective higher, it takes nothing from a plane.
        self._rises_only = ~free[:, None] & (problem.weights == 0.0)

    def steps(self) -> list[float]:
        """By how much to move intercepts."""
        spread = float(np.mean(np.square(self._lengths))) - length(self._centre) ** 2
        usual = self._radius * math.sqrt(max(spread, 0.0))
        least = _LEAST_STEP * (1.0 + float(np.abs(self.scores).max(initial=0.0)))
        return sorted({max(step * usual, least) for step in _STEPS})

    def further_steps(self) -> list[float]:
        """Where these do not lean enough: up to where every example is of the class that is moved."""
        size = 1.0 + float(np.abs(self.scores).max(initial=0.0))
        step, steps = 10.0 * self.steps()[-1], []
        while step < _FURTHEST * size:
            steps.append(step)
            step *= 10.0
        return [*steps, _FURTHEST * size]

    def normals(self, moves: Array) -> Array:
        """About the normals of planes that touch where intercepts are moved, by some of the examples."""
        n, k = self.scores.shape
        some = slice(None, None, max(1, n * k * len(moves) // _LOOKED_AT))
        examples = self.problem.loss.of(self.scores[some], self._errors[some], self.problem.y[some])
        return np.nan_to_num([self.problem.weight[some] @ examples.touching(move).coef for move in moves])

    def half_spaces(self, moves: Sequence[Array]) -> HalfSpaces:
        """What planes prove that touch where intercepts are moved: passes over the data."""
        d, k = self.problem.weights.shape
        count = max(1, _AT_ONCE // (max(d, BLOCK) * k))
        with np.errstate(all="ignore"):  # planes that overflow prove nothing
            found = [self._pass(moves[begin : begin + count]) for begin in range(0, len(moves), count)]
        return HalfSpaces(*(np.concatenate(parts) for parts in zip(*found, strict=True))).scaled()

    def _pass(self, moves: Sequence[Array]) -> HalfSpaces:
        problem, (d, k), count = self.problem, self.problem.weights.shape, len(moves)
        slopes, normals = np.zeros((d, count * k)), np.zeros((count, k))
        below, slope_errors, normal_errors = np.zeros((3, count))
        rounded = gamma(len(problem.y) + 32)
        for part, rows in blocks(problem.X):
            lengths, weight = self._lengths[part], problem.weight[part]
            examples = problem.loss.of(self.scores[part], self._errors[part], problem.y[part])
            coef = np.empty((len(weight), count, k))
            for j, move in enumerate(moves):
                plane = examples.touching(move)
                coef[:, j] = weight[:, None] * plane.coef
                sizes = np.abs(plane.coef).sum(axis=1)
                off = weight * (plane.off + rounded * sizes)
                normal_errors[j] += off.sum()
                slope_errors[j] += off @ lengths
                below[j] += weight @ (plane.below * (1.0 + rounded) + plane.below_off)
            slopes += rows.T @ coef.reshape(len(weight), -1)
            normals += coef.sum(axis=0)
        slopes = slopes.reshape(d, count, k)
        heights = [
            self._height(slopes[:, j], normals[j], slope_errors[j], normal_errors[j], below[j]) for j in range(count)
        ]
        return HalfSpaces(normals, normal_errors * _OUTWARD, np.array(heights))

    def _height(self, slope: Array, normal: Array, slope_error: float, normal_error: float, below: float) -> float:
        problem = self.problem
        off = slope - np.outer(self._centre, normal) + problem.weights - self._origin
        off = np.where(self._rises_only, np.minimum(off, 0.0), off)
        far = length(self._centre)
        sizes = length(slope) + far * length(normal) + length(problem.weights) + length(self._origin)
        q = length(off) + (slope_error + far * normal_error) * _OUTWARD + 8.0 * UNIT * sizes
        r = min(q, self._radius)
        return (below + r * (q - 0.5 * r)) * (1.0 + gamma(len(problem.y) + 32))


def _moves(leaning: _Leaning, step: float) -> Array:
    """Of intercepts: those that make planes lean towards one class, or away from it, and no other.

    How planes lean when one intercept moves is the second derivative of the risk; what its inverse makes of a class
    leans towards that class alone, about.
    """
    k = leaning.scores.shape[1]
    one = step * np.eye(k)
    with np.errstate(all="ignore"):
        second = leaning.normals(one) - leaning.normals(-one)
    towards = np.linalg.pinv(second + second.T, rcond=1e-9, hermitian=True) @ (np.eye(k) - 1.0 / k)
    size = np.abs(towards).max(axis=0, keepdims=True)
    moves = step * np.divide(towards, size, out=np.zeros_like(towards), where=size > 0.0).T
    return np.concatenate([moves, -moves])


def _enclosed(spaces: HalfSpaces) -> tuple[Array, Array] | None:
    """The lowest and the highest that each entry of a vector in these half-spaces can be, if its entries sum to zero.

    For numbers of zero or more, times which the normals add up to a class's own direction less a rest, the vector's
    entry is at most their sum of heights plus the rest's sizes times the vector's largest entry D. That holds for D
    itself: it is at most the largest sum plus the largest rest times D. None where nothing is proven.
    """
    k = spaces.normals.shape[1]
    if not len(spaces.heights):
        return None
    directions = np.eye(k) - 1.0 / k
    ends = [_reached(spaces, side * direction) for side in (-1.0, 1.0) for direction in directions]
    if any(end is None for end in ends):
        return None
    sums, rests = np.array([end for end in ends if end is not None]).T
    rest = float(rests.max())
    if not rest < 0.5:
        return None
    furthest = float(sums.max()) / (1.0 - rest)
    reached = (sums + rests * furthest) * _OUTWARD
    return -reached[:k], reached[k:]


def _reached(spaces: HalfSpaces, direction: Array) -> tuple[float, float] | None:
    """The least sum of heights that is found for a direction, and the size of the rest."""
    from scipy.optimize import linprog  # imported where it is needed: most models have no use for it

    scale = float(spaces.heights.max()) or 1.0
    # Entries of normals and of directions sum to zero: the last ones follow from the others.
    found = linprog(spaces.heights / scale, A_eq=spaces.normals.T[:-1], b_eq=direction[:-1], method="highs")
    if found.x is None:
        return None
    times = np.maximum(found.x, 0.0)
    parts = times[:, None] * spaces.normals
    rest = direction - parts.sum(axis=0)
    # A number that all entries have in common makes no difference, for those of the vector sum to zero.
    size = float(np.abs(rest - rest.mean()).sum()) + float(times @ spaces.errors)
    size += gamma(len(times) + 16) * (2.0 * len(direction) + float(np.abs(parts).sum()))
    return float(times @ spaces.heights) * (1.0 + gamma(len(times) + 8)), size * _OUTWARD

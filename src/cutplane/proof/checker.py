"""What dual variables prove of a linear model, checked in one pass, without a solver.

The problem is to minimise, over weights w (not negative where `nonnegative` says so) and an intercept b,

    ½|w - prior|² + Σ_i weight_i·loss(<w, x_i> + b, y_i).

A slope p_i that the loss has somewhere is below it everywhere: loss(s, y) >= p_i·s - conjugate(p_i, y). Put in for
every example, with g = Σ_i weight_i·p_i·x_i, that leaves

    least value >= -Σ_i weight_i·conjugate(p_i, y_i) + min over w of ½|w - prior|² + <g, w>,

if Σ_i weight_i·p_i = 0 where the intercept is free. Whatever the p_i are, and wherever they come from, this holds; good
ones make it tight. A penalised intercept is the weight of one more feature that is `scaling` for every example.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Matrix
from cutplane.proof.certificate import Certificate
from cutplane.proof.losses import ScoreLoss
from cutplane.proof.rounding import UNIT, exact_sum, gamma, half_square, summed

Array = NDArray[np.float64]
Bounds = Certificate  # what a checker finds

# Rows looked at together.
BLOCK = 4096
# Roundings in the terms of a sum, at most.
_OPERATIONS = 32.0
# So often the distance of the optimum is taken from the bound that the last distance gave.
_ROUNDS = 4


@dataclass(frozen=True)
class Problem:
    """What one set of weights minimises.

    Parameters
    ----------
    loss : ScoreLoss
    y : array of shape (n,)
        Labels of -1 and +1, or targets.
    weight : array of shape (n,)
        C times the weights of the examples.
    intercept : {"none", "free", "penalised"}
    scaling : float
        Of a penalised intercept.
    prior : array of shape (d,), optional
    nonnegative : array of bool of shape (d,), optional
    """

    loss: ScoreLoss
    y: Array
    weight: Array
    intercept: str = "none"
    scaling: float = 1.0
    prior: Array | None = None
    nonnegative: NDArray[np.bool_] | None = None


class _Sums(NamedTuple):
    """What one pass over the examples adds up."""

    losses: float
    losses_error: float
    slope: Array
    slope_error: Array
    largest_row: float


def blocks(X: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Some rows after the other, in double precision."""
    for begin in range(0, X.shape[0], BLOCK):
        part = slice(begin, min(begin + BLOCK, X.shape[0]))
        yield part, X[part].astype(np.float64)


def check(X: Matrix, problem: Problem, w: Array, b: float, p: Array) -> Bounds:
    """The bounds that a model (w, b) and slopes p, one for each example, prove.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    problem : Problem
    w, b
        The model.
    p : array of shape (n,)
        Slopes that no tangent has prove nothing: the lower bound is then -inf.
    """
    alpha = problem.weight * p
    sums = _pass(X, problem, w, b, alpha)
    prior = np.zeros_like(w) if problem.prior is None else problem.prior
    quadratic, error = half_square(w - prior)
    if problem.intercept == "penalised":
        quadratic += 0.5 * (b / problem.scaling) ** 2
        error += 8.0 * UNIT * quadratic
    objective = quadratic + sums.losses + (error + sums.losses_error) * (1.0 + 1e-9)
    if problem.nonnegative is not None and (w[problem.nonnegative] < 0.0).any():
        objective = math.inf  # of no model that may be
    return Bounds(objective, _lower(problem, w, p, alpha, prior, sums, objective))


def _pass(X: Matrix, problem: Problem, w: Array, b: float, alpha: Array) -> _Sums:
    """Scores of the model and the sum of the examples weighted by alpha, with what rounding can do to both."""
    n, d = X.shape
    values, errors, largest = [], [], 0.0
    slope, sizes = np.zeros(d), np.zeros(d)
    for part, rows in blocks(X):
        size = abs(rows)
        s, y, c = rows @ w + b, problem.y[part], problem.weight[part]
        delta = gamma(d + 4) * (size @ np.abs(w) + abs(b)) + problem.loss.own_rounding(s, y)
        value, error = summed(c * problem.loss.value(s, y))
        values.append(value)
        moved = float((c * problem.loss.steepness(s, y, delta) * delta).sum())
        errors.append(error + _OPERATIONS * UNIT * value + moved)
        slope += rows.T @ alpha[part]
        sizes += size.T @ np.abs(alpha[part])
        largest = max(largest, float(np.sqrt((size * size).sum(axis=1).max())))
    depth = BLOCK + n // BLOCK + 4
    return _Sums(exact_sum(values), exact_sum(errors), slope, gamma(depth) * sizes, largest)


def _lower(problem: Problem, w: Array, p: Array, alpha: Array, prior: Array, sums: _Sums, objective: float) -> float:
    conjugates = problem.loss.conjugate(p, problem.y)
    if not np.isfinite(conjugates).all():
        return -math.inf
    offset, error = summed(problem.weight * conjugates)
    sizes = np.abs(conjugates) + np.abs(p) * (1.0 + np.abs(problem.y))
    error += _OPERATIONS * UNIT * float((problem.weight * sizes).sum())
    least, more = least_quadratic(sums.slope, prior, problem.nonnegative)
    total = exact_sum(alpha.tolist())
    if problem.intercept == "penalised":
        least -= 0.5 * (problem.scaling * total) ** 2
        more += _OPERATIONS * UNIT * (problem.scaling * float(np.abs(alpha).sum())) ** 2
    # The optimum is within sqrt(2·(objective - lower bound)) of w: a bound gives a distance, that a better bound.
    radius = math.sqrt(2.0 * objective) * (1.0 + 1e-9) + float(np.linalg.norm(w - prior))
    bound = -math.inf
    for _ in range(_ROUNDS):
        charge = float(sums.slope_error @ np.abs(w)) + float(np.linalg.norm(sums.slope_error)) * radius
        if problem.intercept == "free":
            spread = sums.largest_row * (float(np.linalg.norm(w)) + radius)
            leaning = abs(total) + UNIT * 4.0 * float(np.abs(alpha).sum())
            charge += leaning * furthest_intercept(problem, objective, spread)
        if not math.isfinite(charge):
            break
        bound = max(bound, least - offset - (error + more + charge) * (1.0 + 1e-9))
        radius = min(radius, math.sqrt(max(0.0, 2.0 * (objective - bound))) * (1.0 + 1e-9))
    return bound


def least_quadratic(g: Array, prior: Array, nonnegative: NDArray[np.bool_] | None) -> tuple[float, float]:
    """The least ½|w - prior|² + <g, w>, weight by weight, and how far off it can be."""
    w = prior - g
    if nonnegative is not None:
        w = np.where(nonnegative, np.maximum(w, 0.0), w)
    first, second = 0.5 * np.square(w - prior), g * w
    value, error = summed(first + second)
    return value, error + _OPERATIONS * UNIT * float((first + np.abs(second)).sum())


def furthest_intercept(problem: Problem, objective: float, spread: float) -> float:
    """How large the intercept of an optimum can be, if scores without it are at most `spread`.

    All examples at their steepest slopes of one sign make a plane that rises with the intercept: at the optimum it is
    below the objective.
    """
    low, high = problem.loss.slopes(problem.y)
    furthest = 0.0
    for slopes in (np.minimum(high, 1.0), np.maximum(low, -1.0)):
        alpha = problem.weight * slopes
        rise = abs(float(alpha.sum()))
        if rise == 0.0:
            return math.inf
        offset = -float((problem.weight * problem.loss.conjugate(slopes, problem.y)).sum())
        furthest = max(furthest, (objective - offset + spread * float(np.abs(alpha).sum())) / rise)
    return furthest * (1.0 + 1e-6)

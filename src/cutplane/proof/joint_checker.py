"""What dual variables prove of classes trained together (Crammer and Singer), checked in one pass, without a solver.

The problem is to minimise, over a column of weights w_k and an intercept b_k for each class,

    ½Σ_k |w_k - prior_k|² + Σ_i weight_i·max over k of [cost(y_i, k) + factor(y_i, k)·(s_ik - s_iy_i)],

s_ik = <w_k, x_i> + b_k; the factor is 1, or with slack re-scaling the cost. The cost of y_i itself is zero. A maximum
is above every mean: for shares p_ik >= 0 of the wrong classes, together at most one, with a_ik = weight_i·factor·p_ik
for these, a_iy = -Σ_k a_ik for the true one, and g_k = Σ_i a_ik·x_i,

    least value >= Σ_i weight_i Σ_k p_ik·cost(y_i, k) + Σ_k min over w_k of ½|w_k - prior_k|² + <g_k, w_k>,

if Σ_i a_ik = 0 for every class where intercepts are free. A penalised intercept is the weight of one more feature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cutplane._types import Integers, Matrix
from cutplane.proof.checker import Bounds, least_quadratic
from cutplane.proof.rounding import UNIT, exact_sum, gamma, half_square

Array = NDArray[np.float64]

# Numbers, a row for each example and a column for each class, looked at together.
_BLOCK = 1 << 21
# Rows looked at together at most.
_MOST_ROWS = 4096
# Roundings in the terms of a sum, at most.
_OPERATIONS = 32.0
# So often the distance of the optimum is taken from the bound that the last distance gave.
_ROUNDS = 4


@dataclass(frozen=True)
class JointProblem:
    """What the weights of all classes minimise.

    Parameters
    ----------
    y : array of int of shape (n,)
        Classes, 0 to n_classes - 1.
    weight : array of shape (n,)
        C times the weights of the examples.
    cost : array of shape (n_classes, n_classes)
        Zero on the diagonal, positive elsewhere.
    slack : bool
        Whether margins are multiplied by the cost.
    intercept : {"none", "free", "penalised"}
    scaling : float
        Of penalised intercepts.
    prior : array of shape (d, n_classes), optional
    nonnegative : array of bool of shape (d,), optional
    """

    y: Integers
    weight: Array
    cost: Array
    slack: bool = False
    intercept: str = "none"
    scaling: float = 1.0
    prior: Array | None = None
    nonnegative: NDArray[np.bool_] | None = None

    @property
    def factors(self) -> Array:
        """What margins between two classes are multiplied by."""
        return self.cost if self.slack else 1.0 - np.eye(len(self.cost))


class _Sums(NamedTuple):
    """What one pass over the examples adds up."""

    losses: float
    losses_error: float
    offset: float
    slope: Array
    slope_error: Array
    totals: Array
    totals_error: Array
    largest_row: float
    feasible: bool


def check_joint(X: Matrix, problem: JointProblem, W: Array, b: Array, shares: sp.csr_array) -> Bounds:
    """The bounds that a model and shares of the wrong classes prove.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    problem : JointProblem
    W, b : arrays of shapes (d, n_classes) and (n_classes,)
        The model.
    shares : CSR matrix of shape (n, n_classes)
        Where a row has a negative share, one of its own class, or more than one in all, the lower bound is -inf.
    """
    sums = _pass(X, problem, W, b, shares)
    prior = np.zeros_like(W) if problem.prior is None else problem.prior
    quadratic, error = half_square(W - prior)
    if problem.intercept == "penalised":
        quadratic += 0.5 * float(np.square(b / problem.scaling).sum())
        error += _OPERATIONS * UNIT * len(b) * quadratic
    objective = quadratic + sums.losses + (error + sums.losses_error) * (1.0 + 1e-9)
    if problem.nonnegative is not None and (W[problem.nonnegative] < 0.0).any():
        objective = math.inf  # of no model that may be
    return Bounds(objective, _lower(problem, W, prior, sums, objective) if sums.feasible else -math.inf)


def _pass(X: Matrix, problem: JointProblem, W: Array, b: Array, shares: sp.csr_array) -> _Sums:
    (n, d), k = X.shape, len(problem.cost)
    size = max(1, min(_MOST_ROWS, _BLOCK // k))
    losses, losses_error, offsets, largest, feasible = [], [], [], 0.0, True
    slope, sizes, totals, masses = np.zeros((d, k)), np.zeros((d, k)), np.zeros(k), np.zeros(k)
    for begin in range(0, n, size):
        part = slice(begin, min(begin + size, n))
        rows, y, c = X[part].astype(np.float64), problem.y[part], problem.weight[part]
        at = np.arange(len(y)), y
        cost, factor, p = problem.cost[y], problem.factors[y], np.asarray(shares[part].toarray())
        scores = rows @ W + b
        worst = (cost + factor * (scores - scores[at][:, None])).max(axis=1)
        delta = gamma(d + 4) * (abs(rows) @ np.abs(W) + np.abs(b)).max(axis=1)
        steep = 2.0 * factor.max(axis=1)
        rounded = _OPERATIONS * UNIT * (cost.max(axis=1) + steep * np.abs(scores).max(axis=1))
        losses.extend((c * worst).tolist())
        losses_error.append(float((c * (steep * delta + rounded)).sum()))
        feasible = feasible and bool((p >= 0.0).all() and not p[at].any())
        feasible = feasible and bool((p.sum(axis=1) * (1.0 + gamma(k + 4)) <= 1.0).all())
        a = c[:, None] * factor * p
        a[at] = -a.sum(axis=1)
        offsets.extend((c * (p * cost).sum(axis=1)).tolist())
        slope += rows.T @ a
        sizes += abs(rows).T @ np.abs(a)
        totals += a.sum(axis=0)
        masses += np.abs(a).sum(axis=0)
        largest = max(largest, float(np.sqrt((abs(rows) ** 2).sum(axis=1).max())))
    off = gamma(size + n // size + k + 16) * (1.0 + 1e-9)
    value = exact_sum(losses)
    error = exact_sum(losses_error) + _OPERATIONS * UNIT * value
    return _Sums(value, error, exact_sum(offsets), slope, off * sizes, totals, off * masses, largest, feasible)


def _lower(problem: JointProblem, W: Array, prior: Array, sums: _Sums, objective: float) -> float:
    k = len(problem.cost)
    mask = None if problem.nonnegative is None else np.repeat(problem.nonnegative, k)
    least, error = least_quadratic(sums.slope.ravel(), prior.ravel(), mask)
    error += gamma(k + 16) * sums.offset
    leaning = np.abs(sums.totals) + sums.totals_error
    if problem.intercept == "penalised":
        least -= 0.5 * problem.scaling**2 * float(np.square(sums.totals).sum())
        apart = np.square(leaning).sum() - np.square(sums.totals).sum() + gamma(k + 16) * np.square(leaning).sum()
        error += problem.scaling**2 * float(apart)
    radius = math.sqrt(2.0 * objective) * (1.0 + 1e-9) + float(np.linalg.norm(W - prior))
    bound = -math.inf
    for _ in range(_ROUNDS):
        charge = float((sums.slope_error * np.abs(W)).sum()) + float(np.linalg.norm(sums.slope_error)) * radius
        if problem.intercept == "free":
            spread = sums.largest_row * (float(np.linalg.norm(W, axis=0).max()) + radius)
            charge += float(leaning.sum()) * furthest_apart(problem, objective, spread)
        if not math.isfinite(charge):
            break
        bound = max(bound, least + sums.offset - (error + charge) * (1.0 + 1e-9))
        radius = min(radius, math.sqrt(max(0.0, 2.0 * (objective - bound))) * (1.0 + 1e-9))
    return bound


def furthest_apart(problem: JointProblem, objective: float, spread: float) -> float:
    """How far apart two intercepts of an optimum can be, if scores without them are at most `spread`.

    Every example of the class with the lowest intercept costs as much as they are apart, less what scores make up for.
    """
    of_class = np.bincount(problem.y, problem.weight, len(problem.cost))
    steep = float(problem.factors[~np.eye(len(problem.cost), dtype=bool)].min())
    rarest = float(of_class.min()) * steep
    return (objective / rarest + 2.0 * spread) * (1.0 + 1e-6) if rarest > 0.0 else math.inf

"""Weights from a general solver of convex programs, whose true objective no lower bound may exceed.

Nothing is taken from the solver but its weights: their objective is recomputed exactly, so that its own accuracy does
not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Integers
from cutplane.testing.random_problems.judge import Truth
from cutplane.testing.random_problems.problem import Problem
from cutplane.testing.random_problems.recomputed import (
    Array,
    Classification,
    JointClassification,
    OneClass,
    Ordinal,
    Ranking,
    Recomputed,
    Regression,
    recomputed,
)

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression

# More contingency tables or pairs than this are left to the other checks.
_MOST_TERMS = 150


class Reference(NamedTuple):
    """Weights from elsewhere: of which part of the problem, their true objective, and what the solver said it was."""

    part: int
    truth: Truth
    said: float


def reference_truths(problem: Problem) -> list[tuple[int, Truth]]:
    """The part and the true objective of weights that CVXPY finds; none where it finds none."""
    return [(each.part, each.truth) for each in references(problem)]


def references(problem: Problem) -> list[Reference]:
    """What CVXPY finds for each part of the problem; nothing where it is not installed."""
    if find_spec("cvxpy") is None:
        return []
    true = recomputed(problem)
    if isinstance(true, JointClassification):
        joint = _solved_jointly(true)
        return [] if joint is None else [Reference(0, true.truths(*joint[:2])[0], joint[2])]
    found = []
    for k in range(true.rows()):
        row = _solved(true, k)
        if row is not None:
            coef, intercept = np.tile(row[0], (true.rows(), 1)), np.full(true.rows(), row[1])
            found.append(Reference(k, true.truths(coef, intercept)[k], row[2]))
    return found


def _solved(true: Recomputed, k: int) -> tuple[Array, float, float] | None:
    """Weights and intercept of one problem, and the objective."""
    cp: ModuleType = import_module("cvxpy")  # for tests alone

    d = true.floats.shape[1]
    w, b = cp.Variable(d), cp.Variable()
    free = true.trains_intercept() or true.scaling is not None
    scores = true.floats @ w + (b if free else 0.0)
    risk = _RISKS[type(true)](cp, true, k, scores, b)
    if risk is None:
        return None
    prior = true.settings.get("prior")
    origin = np.zeros(d) if prior is None else np.atleast_2d(prior)[k]
    objective = 0.5 * cp.sum_squares(w - origin) + float(true.settings.get("C", 1.0)) * risk
    if true.scaling is not None:
        objective = objective + 0.5 * cp.square(b / true.scaling)
    bounded = np.flatnonzero(true.bounded())
    constraints = [w[bounded] >= 0] if len(bounded) else []
    if not _minimised(cp, objective, constraints):
        return None
    weights = np.where(true.bounded(), np.maximum(w.value, 0.0), w.value) + 0.0
    level = 0.0 if b.value is None else float(b.value)
    finite = np.isfinite(weights).all() and np.isfinite(level)
    return (weights, level, float(objective.value)) if finite else None


def _solved_jointly(true: JointClassification) -> tuple[Array, Array, float] | None:
    cp: ModuleType = import_module("cvxpy")  # for tests alone

    (n, d), count = true.floats.shape, len(true.classes)
    W, b = cp.Variable((count, d)), cp.Variable(count)
    free = true.trains_intercept() or true.scaling is not None
    scores = true.floats @ W.T + (np.ones((n, 1)) @ cp.reshape(b, (1, count), order="C") if free else 0.0)
    right = cp.sum(cp.multiply(np.eye(count)[true.codes], scores), axis=1, keepdims=True)
    differences = scores - right @ np.ones((1, count))
    prices = true.cost[true.codes]
    slack = true.settings.get("rescaling") == "slack"
    violations = cp.multiply(prices, 1.0 + differences) if slack else prices + differences
    risk = true.weights @ cp.max(violations, axis=1)
    prior = true.settings.get("prior")
    origin = np.zeros((count, d)) if prior is None else np.atleast_2d(prior)
    if count == 2 and prior is not None:
        origin = np.vstack([-0.5 * origin, 0.5 * origin])
    objective = 0.5 * cp.sum_squares(W - origin) + float(true.settings["C"]) * risk
    if true.scaling is not None:
        objective = objective + 0.5 * cp.sum_squares(b / true.scaling)
    bounded = np.flatnonzero(true.bounded())
    if not _minimised(cp, objective, [W[:, bounded] >= 0] if len(bounded) else []):
        return None
    coef = np.where(true.bounded(), np.maximum(W.value, 0.0), W.value) + 0.0
    intercept = np.zeros(count) if b.value is None else np.asarray(b.value)
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        return None
    if count == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return coef, intercept, float(objective.value)


def _minimised(cp: ModuleType, objective: Expression, constraints: list[Constraint]) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
            cp.Problem(cp.Minimize(objective), constraints).solve(solver="CLARABEL", **tight)
    except (cp.SolverError, cp.DCPError, ValueError, ArithmeticError):
        return False
    return all(v.value is not None for v in objective.variables())


def _binary(cp: ModuleType, true: Classification, k: int, scores: Expression, b: Expression) -> Expression:
    y = true.signs(k)
    beyond = cp.pos(1.0 - cp.multiply(y, scores))
    simple = {
        "hinge": lambda: true.weights @ beyond,
        "squared_hinge": lambda: true.weights @ cp.square(beyond),
        "logistic": lambda: true.weights @ cp.logistic(-cp.multiply(y, scores)),
        "error_cost": lambda: cp.sum(cp.pos(true.weights - cp.multiply(y, scores))),
        "roc_area": lambda: _mean_over_pairs(cp, y, scores, true.weights, float(true.weights.sum())),
    }
    return simple[true.loss]() if true.loss in simple else _of_tables(cp, true, y, scores)


def _of_tables(cp: ModuleType, true: Classification, y: Integers, scores: Expression) -> Expression | None:
    """The highest of the bounds of all contingency tables."""
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    n, n_positive = len(y), len(positive)
    if true.loss == "f1":
        tables = [
            (missed, added, 1.0 - 2.0 * (n_positive - missed) / (2.0 * n_positive - missed + added))
            for missed in range(n_positive + 1)
            for added in range(len(negative) + 1)
        ]
    else:
        default = n_positive if true.loss == "prbep" else max(1, n_positive // 2)
        among = (true.settings.get("loss_options") or {}).get("k", default)
        tables = [
            (n_positive - found, among - found, 1.0 - found / among)
            for found in range(min(n_positive, among) + 1)
            if among - found <= len(negative)
        ]
    if len(tables) > _MOST_TERMS:
        return None

    def bound(missed: int, added: int, loss: float) -> Expression:
        lost = cp.sum_largest(-scores[positive], missed) if missed else 0.0
        gained = cp.sum_largest(scores[negative], added) if added else 0.0
        return cp.Constant(n * loss) + lost + gained

    return cp.max(cp.hstack([cp.Constant(0.0), *(bound(*table) for table in tables)]))


def _mean_over_pairs(
    cp: ModuleType, ranks: NDArray[np.number], scores: Expression, weights: Array, factor: float
) -> Expression:
    above, below = np.nonzero((ranks[:, None] > ranks[None, :]) & (np.outer(weights, weights) > 0.0))
    if not 0 < len(above) <= _MOST_TERMS:
        return None
    pair_weights = weights[above] * weights[below]
    losses = cp.pos(1.0 - scores[above] + scores[below])
    return factor * (pair_weights / pair_weights.sum()) @ losses


def _targets(cp: ModuleType, true: Regression, k: int, scores: Expression, b: Expression) -> Expression:
    errors = scores - np.asarray(true.y, dtype=np.float64)
    options = true.settings.get("loss_options") or {}
    beyond = cp.pos(cp.abs(errors) - float(true.settings.get("epsilon", 0.0)))
    if true.loss == "epsilon_insensitive":
        return true.weights @ beyond
    if true.loss == "squared_epsilon_insensitive":
        return true.weights @ cp.square(beyond)
    if true.loss == "huber":
        return true.weights @ (0.5 * cp.huber(errors, options.get("delta", 1.0)))
    share = options.get("quantile", 0.5)
    return true.weights @ (share * cp.pos(-errors) + (1.0 - share) * cp.pos(errors))


def _one_class(cp: ModuleType, true: OneClass, k: int, scores: Expression, b: Expression) -> Expression:
    share = true.weights / (true.weights.sum() * float(true.settings.get("nu", 0.5)))
    return share @ cp.pos(-b - scores) + b


def _ordinal(cp: ModuleType, true: Ordinal, k: int, scores: Expression, b: Expression) -> Expression:
    return _mean_over_pairs(cp, np.asarray(true.y), scores, true.weights, float(true.weights.sum()))


def _ranking(cp: ModuleType, true: Ranking, k: int, scores: Expression, b: Expression) -> Expression:
    if true.queries is not None and len(np.unique(true.queries)) > 1:
        return None
    return _mean_over_pairs(cp, np.asarray(true.y), scores, true.weights, 1.0)


_RISKS: Mapping[type, Callable[..., Expression]] = {
    Classification: _binary,
    Regression: _targets,
    OneClass: _one_class,
    Ordinal: _ordinal,
    Ranking: _ranking,
}

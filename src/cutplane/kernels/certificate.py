"""The certificate of a kernel machine, from its multipliers and scores alone: nothing of how they were found.

Every machine minimises, over w and its thresholds rho,

    P = ½|w|² + Σ_t upper_t max(0, y_t (rho_t - s_t) - p_t) - Σ_t rho_t y_t start_t,   s = the scores of w,

and for every a with 0 <= a <= upper and, for each threshold, Σ y_t a_t = Σ y_t start_t,

    D(a) = -(½ a'Qa + p'a) <= P,                                                        Q_ij = y_i y_j K_ij,

if K is positive semi-definite. `prove` evaluates both at the a and rho it is given, from scores that are known up to
an error. Each sum is charged for its rounding, so that lower bound <= optimum <= objective hold as inequalities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._runtime.blas import one_blas_thread
from cutplane._runtime.deadline import time_is_up
from cutplane._types import Array, Matrix
from cutplane.kernels.definite import MOST_ROWS, distance_to_definite
from cutplane.kernels.exact import UNIT, ExactKernel, Rows, exact_matrix, exact_products
from cutplane.kernels.functions import Kernel
from cutplane.kernels.problems import DualProblem, Signs
from cutplane.proof.certificate import Certificate


@dataclass(frozen=True, slots=True)
class Definite:
    """What is known of a kernel matrix: `distance` is how far it is from a positive semi-definite one.

    `distance` is None if rounding does not explain it. `assumed` says that nobody has looked.
    """

    distance: float | None = 0.0
    assumed: bool = False

    @classmethod
    def of(cls, kernel: Kernel, X: Matrix, rows: Rows) -> Definite:
        """By construction; else by looking at the rows. Where they are many, or the time is up, it is assumed."""
        if kernel.definite:
            return cls()
        if len(rows) > MOST_ROWS or time_is_up():
            return cls(assumed=True)
        with one_blas_thread():
            return cls(distance_to_definite(exact_matrix(kernel, X, rows)))


def certify(
    kernel: Kernel,
    X: Matrix,
    problem: DualProblem,
    support: Rows,
    dual_coef: Array,
    rho: tuple[float, float],
    *,
    definite: Definite | None = None,
) -> Certificate:
    """The certificate of a fitted machine for the kernel itself, evaluated in double precision.

    Parameters
    ----------
    kernel : Kernel
    X : array or CSR matrix
        The training examples, or their kernel matrix for a precomputed kernel.
    problem : DualProblem
        What was minimised: `DualProblem.classification(y, C * sample_weight)`, say, with a row for each of X.
    support : array of int
        Positions of the support vectors in X.
    dual_coef : array
        Their coefficients in the decision function, in units of the problem: those of a nu-classifier times its margin.
    rho : tuple of two floats
        The thresholds, see `DualProblem`; minus the intercept, twice, unless the problem is grouped.
    definite : Definite, optional
        What is known of the kernel matrix; looked into if None.

    Examples
    --------
    >>> import numpy as np
    >>> from cutplane import SVC
    >>> from cutplane.kernels import DualProblem, Kernel
    >>> from cutplane.kernels.certificate import certify
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> model = SVC(kernel="linear", C=10.0).fit(X, y)
    >>> rho = -float(model.intercept_[0])
    >>> problem = DualProblem.classification(y, 10.0)
    >>> proof = certify(Kernel("linear"), X, problem, model.support_, model.dual_coef_[0], (rho, rho))
    >>> round(proof.objective, 6), round(proof.lower_bound, 6)
    (0.5, 0.5)
    """
    support = np.asarray(support)
    definite = definite or Definite.of(kernel, X, np.arange(X.shape[0]))
    scores, errors = exact_products(kernel, X, support, np.asarray(dual_coef, np.float64)[:, None])
    coef = np.zeros(X.shape[0])
    coef[support] = dual_coef
    if definite.distance:
        errors += definite.distance * float(np.abs(coef).sum()) * (1.0 + 1e-9)
    largest = largest_own_value(kernel, X)
    proof = prove(problem, multipliers(problem, coef), rho, scores[:, 0], errors[:, 0], largest)
    return proof if definite.distance is not None else proof._replace(lower_bound=-math.inf)


def multipliers(problem: DualProblem, coef: Array) -> Array:
    """The best multipliers of these coefficients of rows: of a row's two at most one is not 0.

    A grouped problem of two to a row fixes their sum: what it lacks is added to both, which changes no coefficient.
    """
    if len(problem.y) == len(coef):
        return np.asarray(problem.y * coef)
    alpha = np.concatenate([np.maximum(coef, 0.0), np.maximum(-coef, 0.0)])
    if not problem.grouped:
        return alpha
    assert problem.start is not None
    lacking = float(problem.start[: len(coef)].sum() - alpha[: len(coef)].sum())
    room = problem.upper[: len(coef)] - np.abs(coef)
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    added = np.clip(lacking - before, 0.0, room)
    return np.asarray(alpha + np.concatenate([added, added]))


def largest_own_value(kernel: Kernel, X: Matrix) -> float:
    """No K(x, x) of these examples is larger."""
    if kernel.name == "precomputed":
        return float(np.abs(X.diagonal()).max(initial=0.0))
    if kernel.name == "callable":
        return float(np.abs(kernel.diagonal(X)).max(initial=0.0)) * 1.0001
    return ExactKernel.of(kernel, X).largest_own_value(X)


def prove(
    problem: DualProblem,
    alpha: Array,
    rho: tuple[float, float],
    scores: Array,
    errors: Array,
    largest_value: float,
) -> Certificate:
    """Both bounds at a point.

    Parameters
    ----------
    problem : DualProblem
    alpha : array
        The multipliers. What lies beyond a bound is put on it; what the equalities lack is charged.
    rho : tuple of two floats
        The thresholds of labels +1 and -1; twice the same unless the problem is grouped.
    scores, errors : arrays of shape (n_rows,)
        The score Σ_j y_j a_j K_ij of each row, and what it may be off by.
    largest_value : float
        At least every K_ii.
    """
    copies = len(problem.y) // len(scores)
    alpha = np.clip(alpha, 0.0, problem.upper)
    b = problem.y * alpha
    coef = np.abs(b.reshape(copies, -1).sum(axis=0))
    signed = b.reshape(copies, -1).sum(axis=0)
    square, square_error = _sum(signed * scores)
    square_error += _above(float(coef @ errors), len(coef))
    linear, linear_error = _sum(problem.p * alpha)
    p_error = np.zeros_like(alpha) if problem.p_error is None else problem.p_error
    linear_error += _above(float(p_error @ alpha), len(alpha))

    s, e = np.tile(scores, copies), np.tile(errors, copies)
    # Where zero is feasible, so is any part of a, and the best part is a better bound.
    part = 1.0 if problem.start is not None else _best_part(square, linear)
    rounding = 0.5 * part**2 * square_error + part * linear_error + 8.0 * UNIT * (part**2 * abs(square) + abs(linear))
    lower = -(0.5 * part**2 * square + part * linear) - rounding * (1.0 + 8.0 * UNIT)
    lower -= part * _repair(problem, alpha, s, e, largest_value)

    thresholds = np.where(problem.y > 0, rho[0], rho[1])
    margin, first = _difference(thresholds, s)
    violation, second = _difference(problem.y * margin, problem.p)
    off = e + np.abs(first) + np.abs(second) + p_error
    beyond = np.maximum(violation + off * (1.0 + 8.0 * UNIT), 0.0)
    losses, losses_error = _sum(problem.upper * beyond)
    fixed, fixed_error = (0.0, 0.0) if problem.start is None else _sum(thresholds * problem.y * problem.start)
    fixed_error += 2.0 * problem.start_error * max(abs(rho[0]), abs(rho[1]))
    rounding = 0.5 * square_error + losses_error + fixed_error
    rounding += 4.0 * UNIT * (abs(square) + losses + abs(fixed))
    return _finite(0.5 * square + losses - fixed + rounding, lower)


class Flat(NamedTuple):
    """Problems of one variable a row, all of whose starts are zero, one after the other."""

    y: Signs
    p: Array
    upper: Array
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, problems: Sequence[DualProblem]) -> Flat:
        """Put the arrays of problems together."""
        lengths = np.array([len(problem.y) for problem in problems])
        y, p = np.concatenate([each.y for each in problems]), np.concatenate([each.p for each in problems])
        return cls(y, p, np.concatenate([each.upper for each in problems]), np.cumsum(lengths) - lengths, lengths)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where each problem begins and ends."""
        return list(zip(self.starts.tolist(), (self.starts + self.lengths).tolist(), strict=True))

    def largest(self, values: Array) -> Array:
        """The largest value of each problem."""
        return np.asarray(np.maximum.reduceat(values, self.starts))

    def spread(self, values: Array) -> Array:
        """A value of each problem, for each of its variables."""
        return np.repeat(values, self.lengths)

    def sums(self, terms: Array) -> tuple[Array, Array]:
        """As `_sum`, for each problem; sums are rounded as often as there are terms."""
        return np.add.reduceat(terms, self.starts), (self.lengths + 4) * UNIT * self.above(np.abs(terms))

    def above(self, terms: Array) -> Array:
        """Upper bounds on the sums of nonnegative terms."""
        return np.asarray(np.add.reduceat(terms, self.starts) * (1.0 + 4.0 * (self.lengths + 2) * UNIT))


def prove_together(
    flat: Flat, alpha: Array, rho: Array, scores: Array, errors: Array, largest_value: float
) -> list[Certificate]:
    """What `prove` says of each of many small problems: bounds that are a little wider, for sums are rounded more."""
    alpha = np.clip(alpha, 0.0, flat.upper)
    b = flat.y * alpha
    square, square_error = flat.sums(b * scores)
    square_error += flat.above(np.abs(b) * errors)
    linear, linear_error = flat.sums(flat.p * alpha)
    some = (square > 0.0) & (-linear < square)
    part = np.where(some, np.maximum(0.0, -linear) / np.where(some, square, 1.0), 1.0)
    rounding = 0.5 * part**2 * square_error + part * linear_error
    rounding += 8.0 * UNIT * (part**2 * np.abs(square) + np.abs(linear))
    lower = -(0.5 * part**2 * square + part * linear) - rounding * (1.0 + 8.0 * UNIT)
    # Multipliers of the side that has too much shrink until the equality holds: as in `_repair`, at the steepest slope.
    surplus, surplus_error = flat.sums(b)
    moved = np.abs(surplus) + surplus_error
    slope = flat.largest(np.abs(scores) + np.abs(flat.p) + errors)
    lower -= part * (moved * slope + 0.5 * moved**2 * largest_value) * (1.0 + 1e-9)

    thresholds = np.where(flat.y > 0, flat.spread(rho[:, 0]), flat.spread(rho[:, 1]))
    margin, first = _difference(thresholds, scores)
    violation, second = _difference(flat.y * margin, flat.p)
    off = errors + np.abs(first) + np.abs(second)
    losses, losses_error = flat.sums(flat.upper * np.maximum(violation + off * (1.0 + 8.0 * UNIT), 0.0))
    rounding = 0.5 * square_error + losses_error + 4.0 * UNIT * (np.abs(square) + losses)
    objective = 0.5 * square + losses + rounding * (1.0 + 8.0 * UNIT)
    return [_finite(*pair) for pair in zip(objective.tolist(), lower.tolist(), strict=True)]


def _best_part(square: float, linear: float) -> float:
    """The t in [0, 1] at which -(½ t² square + t linear) is largest."""
    if not square > 0.0 or -linear >= square:
        return 1.0
    return max(0.0, -linear / square)


def _finite(objective: float, lower: float) -> Certificate:
    """What is not a number proves nothing."""
    return Certificate(
        math.inf if math.isnan(objective) else float(objective), -math.inf if math.isnan(lower) else float(lower)
    )


def _difference(a: Array, b: Array) -> tuple[Array, Array]:
    """a - b, and what its rounding took off (Knuth): so an optimum of exactly 0 is seen to be 0."""
    result = a - b
    of_b = a - result
    return result, (a - (result + of_b)) + (of_b - b)


def _sum(terms: Array) -> tuple[float, float]:
    """The sum of products, and what it may be off by: each product is rounded once or twice, their sum once."""
    plain = _plain(terms)
    return math.fsum(plain), 4.0 * UNIT * math.fsum(map(abs, plain))


def _plain(terms: Array) -> list[float]:
    """Those that are not zero, which are few, as numbers that are gone through fast."""
    found: list[float] = terms[terms != 0.0].tolist()
    return found


def _above(value: float, terms: int) -> float:
    """An upper bound on the exact sum: `value` is that sum of `terms` nonnegative terms, rounded."""
    return float(value) * (1.0 + 2.0 * (terms + 2) * UNIT)


def _repair(problem: DualProblem, alpha: Array, scores: Array, errors: Array, largest_value: float) -> float:
    """What the dual loses, at most, by moving multipliers until the equalities hold exactly.

    The objective of the dual falls by its slope times the move, and by half the square of the move times K_ii.
    """
    start = np.zeros_like(alpha) if problem.start is None else problem.start
    groups = (problem.y > 0, problem.y < 0) if problem.grouped else (np.ones(len(alpha), dtype=bool),)
    slope = np.abs(scores) + np.abs(problem.p) + errors
    loss = moved = 0.0
    if problem.start_error > 0.0:  # on which side is not known, nor who will have to move
        moved = problem.start_error * len(groups)
        loss = moved * float(slope.max())
    for group in groups:
        signs = problem.y[group].astype(np.float64)
        surplus = math.fsum(_plain(np.concatenate([signs * alpha[group], -signs * start[group]])))
        if surplus == 0.0:
            continue
        shrinks = signs * surplus > 0.0  # multipliers that become smaller
        room = np.where(shrinks, alpha[group], problem.upper[group] - alpha[group]) * (1.0 - 4.0 * UNIT)
        left = abs(surplus) * (1.0 + 2.0 * UNIT)
        for at in np.argsort(-room, kind="stable"):
            step = min(left, float(room[at]))
            loss += step * float(slope[group][at])
            moved += step
            left -= step
            if left <= 0.0 or room[at] <= 0.0:
                break
        if left > 0.0:
            return math.inf
    return (loss + 0.5 * moved * moved * largest_value) * (1.0 + 1e-9)

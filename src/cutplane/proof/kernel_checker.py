"""What the coefficients of kernel machines prove, checked without a solver: the whole certificate, in blocks of rows.

A machine is a function Σ_j coef_j K(x_j, ·) + b. With s = K·coef, its objective is ½ coef's + risk(s, b, width). The
coefficients put in their limits, beta, are dual variables, and no machine's objective is below

    linear(beta) - ½ beta'K beta

(`cutplane.proof.kernel_machines` says what these are for each machine, and why). That needs kernel values of all
examples with the support vectors, once; they are computed from the definition of the kernel, each with its error. Every
sum is charged for its rounding, so that both bounds are inequalities of real numbers if the kernel is positive
semi-definite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutplane._types import Integers, Matrix
from cutplane.proof.checker import Bounds
from cutplane.proof.definite import Definite, definite
from cutplane.proof.kernel_machines import KernelRisk
from cutplane.proof.kernel_values import KernelFunction, products
from cutplane.proof.rounding import UNIT, exact_sum

Array = NDArray[np.float64]


class KernelCase(NamedTuple):
    """One machine: what it minimises, on which examples, and its coefficients there, threshold and width."""

    risk: KernelRisk
    rows: Integers
    coef: Array
    b: float
    width: float
    which: str = ""


def check_kernel(kernel: KernelFunction, X: Matrix, cases: Sequence[KernelCase]) -> list[Bounds]:
    """The bounds of each machine.

    Parameters
    ----------
    kernel : KernelFunction
    X : array or CSR matrix of shape (n, d)
        The examples that take part; for a precomputed kernel its values, of shape (n, n).
    cases : sequence of KernelCase
    """
    n, m = X.shape[0], len(cases)
    columns = np.zeros((n, 2 * m))  # of each machine the model's coefficients, and the dual variables
    for k, case in enumerate(cases):
        columns[case.rows, k] = case.coef
        columns[case.rows, m + k] = case.risk.feasible(case.coef)
    support = np.flatnonzero(columns.any(axis=1))
    scores, errors = products(kernel, X, support, columns[support])
    known = definite(kernel, X)
    largest = kernel.own_values(X) + (known.diagonal or 0.0)
    # What makes the matrix positive semi-definite is as if scores were off by as much.
    sizes = np.abs(columns)
    errors += ((known.diagonal or 0.0) * sizes + known.elsewhere * sizes.sum(axis=0)) * (1.0 + 1e-9)
    found = []
    for k, case in enumerate(cases):
        own, dual = ((columns[case.rows, j], scores[case.rows, j], errors[case.rows, j]) for j in (k, m + k))
        found.append(Bounds(_objective(case, *own), _lower(case.risk, *dual, largest, known), known.premise))
    return found


def _objective(case: KernelCase, coef: Array, s: Array, errors: Array) -> float:
    square, off = _square(coef, s, errors)
    value = 0.5 * square + case.risk.value(s, errors, case.b, case.width)
    objective = value + (0.5 * off + 4.0 * UNIT * (abs(square) + abs(value))) * (1.0 + 1e-9)
    return math.inf if math.isnan(objective) else objective


def _lower(risk: KernelRisk, beta: Array, s: Array, errors: Array, largest: float, known: Definite) -> float:
    """The dual value, less all that rounding can have added to it; -inf where nothing is proven."""
    if known.diagonal is None or not risk.within(beta):
        return -math.inf
    square, square_off = _square(beta, s, errors)
    planes = risk.planes(beta)
    linear = exact_sum(planes)
    linear_off = 8.0 * UNIT * exact_sum(risk.steepness() * np.abs(beta))
    # Where sums of zero are asked for any part of beta will do, and the best part is best.
    part = 1.0
    if risk.total is None and square > 0.0:
        part = min(1.0, max(0.0, linear / square))
    value = part * linear - 0.5 * part**2 * square
    charge = part * linear_off + 0.5 * part**2 * square_off + 8.0 * UNIT * (abs(linear) + abs(square))
    # Moving coefficients until their sums hold costs slope times move, and half the square of the move.
    moved = risk.moves(beta)
    if moved != 0.0:
        slope = float((risk.steepness() + np.abs(s) + errors).max())
        charge += part * moved * slope + 0.5 * moved**2 * largest
    bound = value - charge * (1.0 + 1e-9)
    return bound if math.isfinite(bound) else -math.inf


def _square(coef: Array, s: Array, errors: Array) -> tuple[float, float]:
    """coef's, and how far off it can be."""
    terms = coef * s
    return exact_sum(terms), (exact_sum(np.abs(coef) * errors) + 4.0 * UNIT * exact_sum(np.abs(terms))) * (1.0 + 1e-9)

"""The certificate of a machine found by cuts, in double precision: from the model and one plane alone.

The model is w = Σ coef[j] phi(x_rows[j]) with weights of explicit features, its objective ½|w|² + C·R(w). A plane below
R is the mean of what some labellings of the examples say; it proves

    least value >= C·offset - ½|C·slope|²,

and any share of it, from 0 to 1, proves as much of itself, for R is at least 0. Labellings are discrete: planes found
with kernel values in single precision hold all the same, once the lengths of their slopes are known.
"""

from __future__ import annotations

import math

import numpy as np

from cutplane._types import Array
from cutplane.kernels.certificate import Definite, largest_own_value
from cutplane.kernels.cut_finders import Answer, CutPlane
from cutplane.kernels.exact import UNIT
from cutplane.kernels.expansions import KernelRows, Rows
from cutplane.proof.certificate import Certificate
from cutplane.proof.rounding import gamma, summed
from cutplane.structured.factored import FactoredRisk

# Roundings of a value beyond the sums it is made of.
_ROUNDINGS_OF_CUTS = 64


def certify_cuts(
    risk: FactoredRisk, rows: KernelRows, C: float, answer: Answer, plane: CutPlane, definite: Definite
) -> Certificate:
    """The objective of a model and what a plane proves, for the kernel itself.

    Parameters
    ----------
    risk : FactoredRisk
        A mean, of all rows.
    rows : KernelRows
    C : float
        Of the mean.
    answer : Answer
        The model.
    plane : CutPlane
    definite : Definite
        What is known of the kernel matrix.
    """
    distance = definite.distance or 0.0
    objective = _objective(risk, rows, C, answer, distance)
    if definite.distance is None:
        return Certificate(objective, -math.inf)
    return Certificate(objective, _proven_by(rows, C, plane, distance))


def _scores(
    of: KernelRows, support: Rows, coef: Array, distance: float, rows: Rows | None = None
) -> tuple[Array, Array]:
    """Scores of rows (None: of all), and their error. The `distance` of the kernel from a definite one adds to it."""
    if not len(support):
        return np.zeros((2, of.size if rows is None else len(rows), coef.shape[1]))  # type: ignore[return-value]
    scores, errors = of.exact_products(support, coef, rows)
    return scores, errors + distance * np.abs(coef).sum(axis=0) * (1.0 + 1e-9)


def _square(coef: Array, explicit: Array, scores: Array, errors: Array) -> tuple[float, float]:
    """|w|², and what it may be off by."""
    value, error = summed(coef * scores)
    own, own_error = summed(np.square(explicit))
    error += own_error + float((np.abs(coef) * errors).sum()) * (1.0 + 1e-9)
    return value + own, error + 8.0 * UNIT * (float(np.abs(coef * scores).sum()) + own)


def _objective(risk: FactoredRisk, rows: KernelRows, C: float, answer: Answer, distance: float) -> float:
    scores, errors = _scores(rows, answer.rows, answer.coef, distance)
    square, square_error = _square(answer.coef, answer.explicit, scores[answer.rows], errors[answer.rows])
    n = risk.examples
    found = risk.violations(np.arange(n, dtype=np.int64), scores, answer.explicit)
    total, total_error = summed(found.values)
    # A labelling and the truth each use a row once a column. Every other example owns a row at least.
    terms = _ROUNDINGS_OF_CUTS + 4 * risk.columns * (len(scores) - n + 1)
    explicit = risk.explicit_scale * float(np.abs(answer.explicit).max(initial=0.0))
    sizes = 2.0 * (risk.heaviest * float(np.abs(scores).sum()) + len(scores) * (explicit + risk.largest_loss)) + total
    off = 2.0 * risk.heaviest * float(errors.sum()) * (1.0 + 1e-9) + total_error + 2.0 * gamma(terms) * sizes
    value, charge = 0.5 * square + C * total / n, 0.5 * square_error + C * off / n
    return value + (charge + 16.0 * UNIT * (abs(square) + C * total / n)) * (1.0 + 1e-9)


def _proven_by(rows: KernelRows, C: float, plane: CutPlane, distance: float) -> float:
    scores, errors = _scores(rows, plane.rows, plane.coef, distance, plane.rows)
    square, error = _square(plane.coef, plane.explicit, scores, errors)
    # How far coefficients are from those of a plane that holds. It is charged to first and to second order.
    off, explicit_off = gamma(plane.terms) * plane.size, gamma(plane.terms) * plane.explicit_size
    error += 2.0 * float((off * (np.abs(scores) + errors)).sum()) + 2.0 * float(explicit_off @ np.abs(plane.explicit))
    if len(plane.rows):
        error += float(off.sum()) ** 2 * largest_own_value(rows.kernel, rows.X)
    error += float(explicit_off @ explicit_off)
    most = max(0.0, C * C * (square + error * (1.0 + 1e-9)) * (1.0 + 8.0 * UNIT))
    gain = C * plane.offset * (1.0 - gamma(plane.terms + 8))
    if not math.isfinite(most):
        return 0.0
    share = 1.0 if most <= gain else gain / most
    lower = share * gain - 0.5 * share * share * most
    return max(0.0, lower - 8.0 * UNIT * (share * gain + share * share * most))

"""A risk evaluated from the scores of a model alone, by its definition, and how far off the value can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cutplane.proof.losses import Terms
from cutplane.proof.rounding import UNIT, Array, exact_sum, gamma, pairwise_depth, summed

# Examples evaluated at a time: they stay in the second cache.
_PART = 1 << 14
# Roundings in one evaluation of a loss, and in the weights and the C that stand before it.
OPERATIONS = 16.0


class Evaluation(NamedTuple):
    """The risk is within `error` of `value`."""

    value: float
    error: float


class Tangent(Protocol):
    """A plane below a risk of scores, as far as an evaluation asks."""

    @property
    def coef(self) -> Array: ...  # noqa: D102

    @property
    def offset(self) -> float: ...  # noqa: D102

    @property
    def value(self) -> float: ...  # noqa: D102


T = TypeVar("T", bound=Tangent)


class ScoredRisk(Protocol[T]):
    """A risk of scores, as far as an evaluation asks: see `cutplane.risks.base.Risk`."""

    @property
    def terms(self) -> Terms | None: ...  # noqa: D102

    @property
    def steepest(self) -> float: ...  # noqa: D102

    @property
    def scale(self) -> float: ...  # noqa: D102

    @property
    def inexact(self) -> float: ...  # noqa: D102

    def cut(self, scores: Array) -> T: ...  # noqa: D102

    def mass(self, cut: T) -> float: ...  # noqa: D102

    def resolution(self, scores: Array) -> float: ...  # noqa: D102


def risk_at(risk: ScoredRisk[T], scores: Array, delta: float) -> Evaluation:
    """A risk at scores that are each up to delta off."""
    terms: Terms | None = risk.terms
    if terms is not None:
        return _sum_of_terms(terms, scores, delta)
    # The plane at the scores has the risk's own height there, and says how steep the risk is.
    cut = risk.cut(scores)
    along, error = summed(cut.coef * scores)
    mass = max(float(risk.mass(cut)), risk.steepest)  # a steeper plane may lie next to this one
    size = mass * (risk.scale + float(np.abs(scores).max(initial=0.0))) + abs(cut.offset)
    error += 2.0 * mass * (delta + risk.resolution(scores)) + OPERATIONS * UNIT * size
    return Evaluation(max(along + cut.offset, cut.value if risk.inexact == 0.0 else -math.inf), error)


def _sum_of_terms(terms: Terms, scores: Array, delta: float) -> Evaluation:
    loss, total, errors = terms.loss, [], []
    for begin in range(0, len(scores), _PART):
        part = slice(begin, begin + _PART)
        s, y = scores[part], np.asarray(terms.y[part], np.float64)
        off = delta + float(loss.own_rounding(s, y))
        values, steepness = loss.value(s, y), loss.steepness(s, y, off)
        if terms.weights is not None:
            values, steepness = terms.weights[part] * values, terms.weights[part] * steepness
        total.append(float(values.sum()))
        errors.append(float(steepness.sum()) * off * (1.0 + 1e-9))
    each = terms.each if terms.weights is None else 1.0
    value = each * math.fsum(total)
    relative = gamma(pairwise_depth(_PART)) + OPERATIONS * UNIT
    return Evaluation(value, relative * value + each * math.fsum(errors))


def evaluation_sum(parts: Sequence[Evaluation]) -> Evaluation:
    """The sum of risks; one that is too large for a number is infinite, and proves nothing."""
    if len(parts) == 1:
        return parts[0]
    value = exact_sum(part.value for part in parts)
    if math.isnan(value):
        return Evaluation(math.inf, math.inf)
    # Either sum is rounded once.
    error = exact_sum(part.error for part in parts) * (1.0 + 2.0 * UNIT)
    return Evaluation(value, error + UNIT * abs(value))

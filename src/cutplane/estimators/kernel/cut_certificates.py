"""Certificates of machines found by exact cuts: of the kernel itself, where that costs little beside the training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cutplane._types import Matrix
from cutplane.estimators.kernel.kernel_certificates import (
    ASSUMED,
    INDEFINITE,
    OF_KERNEL,
    OF_SINGLE,
    affordable,
    trained_cost,
)
from cutplane.kernels.certificate import Definite
from cutplane.kernels.cut_certificate import certify_cuts
from cutplane.kernels.cut_finders import Answer, CutFinder
from cutplane.kernels.functions import SINGLE_PRECISION, Kernel
from cutplane.kernels.sampled_cuts import Outcome, Reason
from cutplane.proof.certificate import Certificate
from cutplane.solvers.result import Estimate
from cutplane.structured.factored import FactoredRisk


def certified(
    finder: CutFinder, risk: FactoredRisk, kernel: Kernel, X: Matrix, C: float, outcome: Outcome, risk_tol: float
) -> tuple[Outcome, str]:
    """The outcome with the bounds of its certificate, and what that is a certificate of.

    Where double precision would cost too much, the bounds are those of the run, with an allowance for single precision.
    """
    answer = Answer(outcome.rows, outcome.coef, outcome.explicit, outcome.objective, outcome.violation)
    plane = finder.plane
    try:
        definite = Definite.of(kernel, X, np.arange(X.shape[0]))
        n = float(X.shape[0])
        trained = trained_cost(X, n * len(plane.rows) * len(outcome.history))
        exact = affordable(kernel, X, n * (len(answer.rows) + len(plane.rows)), trained, [outcome.reason])
        proof = certify_cuts(risk, kernel, X, C, answer, plane, definite) if exact else _of_single(outcome, definite)
    except KeyboardInterrupt:
        definite, exact = Definite(assumed=True), False
        proof = _of_single(outcome, definite)
    of = OF_KERNEL if exact else OF_SINGLE
    if definite.distance is None:
        of += INDEFINITE
    elif definite.assumed or not exact:
        of += ASSUMED
    return _with(outcome, proof, C, risk_tol), of


def _of_single(outcome: Outcome, definite: Definite) -> Certificate:
    """The bounds of the run; its sums are as good as values and products in single precision."""
    lower = outcome.lower_bound
    off = SINGLE_PRECISION * (abs(outcome.objective) + outcome.scores_size)
    if lower is None or definite.distance is None:
        return Certificate(outcome.objective + off, -np.inf)
    return Certificate(outcome.objective + off, max(0.0, lower - off))


def _with(outcome: Outcome, proof: Certificate, C: float, risk_tol: float) -> Outcome:
    """The outcome, its last step and why it ended, by its certificate."""
    if not np.isfinite(proof.lower_bound):
        return replace(outcome, objective=proof.objective, lower_bound=None, bound=np.inf)
    violation = (proof.objective - proof.lower_bound) / C
    last = replace(
        outcome.history[-1],
        upper=proof.objective,
        lower=proof.lower_bound,
        violation=violation,
        estimate=Estimate(proof.objective, proof.lower_bound),
    )
    reason: Reason = "stalled" if outcome.reason == "risk_tol" and violation > risk_tol else outcome.reason
    return replace(
        outcome,
        objective=proof.objective,
        lower_bound=proof.lower_bound,
        violation=violation,
        bound=C * violation,
        history=[*outcome.history[:-1], last],
        reason=reason,
    )

"""Certificates of machines found by cuts: of the kernel itself, where that costs little beside the training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cutplane._runtime.deadline import seconds_left
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
from cutplane.kernels.cut_tuning import TUNING
from cutplane.kernels.expansions import KernelRows
from cutplane.kernels.sampled_cuts import Outcome, Reason
from cutplane.kernels.whole_sample_cuts import LinearTimeCuts
from cutplane.proof.certificate import Certificate
from cutplane.solvers.result import Estimate
from cutplane.structured.factored import FactoredRisk


def certified(
    finder: CutFinder, risk: FactoredRisk, rows: KernelRows, C: float, outcome: Outcome, risk_tol: float
) -> tuple[Outcome, str]:
    """The outcome of exact cuts with the bounds of its certificate, and what that is a certificate of.

    Where double precision would cost too much, the bounds are those of the run, with an allowance for single precision.
    """
    trained = float(rows.size) * len(finder.plane.rows) * len(outcome.history)
    proof, of = _proof(finder, risk, rows, C, outcome, trained)
    return _with(outcome, proof, C, risk_tol), of


def certified_sample(
    finder: LinearTimeCuts, risk: FactoredRisk, rows: KernelRows, C: float, outcome: Outcome
) -> tuple[Outcome, str]:
    """The same for linear-time cuts, whose bound is that of planes of the whole sample.

    `violation` and `bound` stay what the paper makes of them.
    """
    trained = finder.values_for(len(outcome.history))
    share = min(1.0, seconds_left() / max(outcome.history[-1].seconds, 1e-9))  # of what the run took, in the time left
    most_values = max(TUNING.proof_values, 0.0 if outcome.reason == "interrupted" else share * trained)
    lower: float | None = None
    try:
        if not finder.indefinite:
            lower = finder.prove(C, outcome.objective, most_values)
    except KeyboardInterrupt:  # nothing is proven then but that losses are not negative
        lower = 0.0
    proof, of = _proof(finder, risk, rows, C, replace(outcome, lower_bound=lower), trained)
    last = replace(outcome.history[-1], upper=proof.objective, lower=proof.lower_bound)
    history = [*outcome.history[:-1], last]
    proven = proof.lower_bound if np.isfinite(proof.lower_bound) else None
    return replace(outcome, objective=proof.objective, lower_bound=proven, history=history), of


def _proof(
    finder: CutFinder, risk: FactoredRisk, rows: KernelRows, C: float, outcome: Outcome, values: float
) -> tuple[Certificate, str]:
    """The certificate of an outcome whose training took so many kernel values, and what it is a certificate of."""
    answer = Answer(outcome.rows, outcome.coef, outcome.explicit, outcome.objective, outcome.violation)
    plane = finder.plane
    try:
        definite = Definite(None) if finder.indefinite else Definite.of(rows.kernel, rows.X, np.arange(rows.size))
        needed = float(rows.size) * len(answer.rows) + float(len(plane.rows)) ** 2
        cost = trained_cost(rows.X, values)
        exact = rows.proves_the_kernel or affordable(rows.kernel, rows.X, needed, cost, [outcome.reason])
        if exact:
            proof = certify_cuts(risk, rows, C, answer, plane, definite)
        else:
            proof = _of_single(outcome, definite, rows.off)
    except KeyboardInterrupt:
        definite, exact = Definite(assumed=True), False
        proof = _of_single(outcome, definite, rows.off)
    of = OF_KERNEL if exact else OF_SINGLE
    if definite.distance is None:
        of += INDEFINITE
    elif definite.assumed or not exact:
        of += ASSUMED
    return proof, of


def _of_single(outcome: Outcome, definite: Definite, each_off: float) -> Certificate:
    """The bounds of the run; its sums are as good as values and products in single precision."""
    lower = outcome.lower_bound
    off = each_off * (abs(outcome.objective) + outcome.scores_size)
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

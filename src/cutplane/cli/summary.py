"""What there is to say about a fitted model: for people as lines, for machines as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane.cli.output import plain_label
from cutplane.report.certificate import proven_within
from cutplane.report.sampled import by_samples, proven
from cutplane.solvers.certificates import AnyStopReason, ProblemCertificate

_REASONS: dict[AnyStopReason, str] = {
    "interrupted": "interrupted",
    "time_limit": "the time limit came first",
    "max_iter": "the iteration limit came first",
    "stalled": "no further progress was possible in double precision",
    "pair": "the pair of variables that was chosen violates less than tol, which proves nothing",
    "gap": "the tolerance is proven",
    "certain": "as many predictions are proven as were asked for",
    "kkt": "the optimality conditions hold within the tolerance",
    "risk_tol": "the mean loss is within the tolerance of the cuts' model",
}
# The tolerance that was asked for is met: the relative gap, or the violation of the optimality conditions.
PROVEN = ("gap", "kkt", "certain")
# Or the violation of sampled cuts, which proves no gap.
REACHED = (*PROVEN, "risk_tol")


def certificate_facts(model: BaseEstimator) -> list[tuple[str, str]]:
    """The certificate in words; of several problems the worst gap, and bounds on the sum."""
    if by_samples(model):
        return _sampled_facts(model)
    several = len(model.certificates_) > 1
    pairs = several and getattr(model, "multi_class", "ovr") == "ovo"
    each = (" for each pair of classes" if pairs else " for each class against the rest") if several else ""
    total = (", summed over pairs" if pairs else ", summed over classes") if several else ""
    n_iter = sum(each.n_iter for each in model.certificates_)
    iterations = f"{n_iter:,} iteration{'' if n_iter == 1 else 's'}"
    return [
        ("certificate", f"{proven_within(model.gap_)}{each}"),
        ("objective", f"{model.lower_bound_:.8g} ≤ optimum ≤ {model.objective_:.8g} (this model){total}"),
        ("stopped", f"{_REASONS[model.stop_reason_]}, after {iterations}"),
    ]


def _sampled_facts(model: BaseEstimator) -> list[tuple[str, str]]:
    """Of a model by sampled cuts, which have no gap."""
    sampled = model.method == "constant"
    mean = " on average over the iterations that the model is the mean of" if sampled and model.stabilised else ""
    side = "below" if model.violation_ < 0.0 else "above"
    reason = _REASONS[model.stop_reason_]
    if sampled and model.stop_reason_ == "risk_tol":
        reason = "the mean losses of four samples in a row were within the tolerance of the cuts' model"
    return [
        ("certificate", proven(model)),
        ("objective", f"{model.objective_:.8g} (this model{', estimated from samples' if sampled else ''})"),
        ("mean loss", f"{abs(model.violation_):.2g} {side} the cuts' model of it{mean}"),
        ("stopped", f"{reason}, after {model.n_iter_:,} iterations"),
    ]


def certificate_json(model: BaseEstimator) -> dict[str, object]:
    """The certificate as numbers: of the whole model, and of each of its problems."""
    return {
        "n_features": getattr(model, "n_features_in_", None),
        **({"classes": [plain_label(label) for label in model.classes_]} if hasattr(model, "classes_") else {}),
        "objective": model.objective_,
        "lower_bound": model.lower_bound_,
        "gap": model.gap_,
        **_tolerance(model),
        "stop_reason": model.stop_reason_,
        "n_iter": model.n_iter_,
        "problems": [_problem_json(each) for each in model.certificates_],
    }


def _problem_json(certificate: ProblemCertificate) -> dict[str, object]:
    problem = certificate.problem
    named = [plain_label(label) for label in problem] if isinstance(problem, tuple) else problem
    return {
        "problem": named if named is None or isinstance(named, list) else plain_label(named),
        "objective": certificate.objective,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.gap,
        "stop_reason": certificate.stop_reason,
        "n_iter": certificate.n_iter,
        "seconds": certificate.seconds,
    }


def _tolerance(model: BaseEstimator) -> dict[str, object]:
    if hasattr(model, "tol"):
        return {"tol": model.tol, "proven": model.stop_reason_ in PROVEN}
    return {
        "risk_tol": model.risk_tol,
        "proven": model.method == "exact" and not by_samples(model) and model.stop_reason_ == "risk_tol",
        "violation": model.violation_,
        "bound": model.bound_,
        "bound_probability": model.bound_probability_,
    }


def label_list(labels: Sequence[object] | NDArray[np.generic], most: int = 10) -> str:
    """Labels for a sentence, the rest counted when there are many."""
    shown = ", ".join(str(plain_label(label)) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown} and {len(labels) - most} more"

"""What there is to say about a fitted model: for people as lines, for machines as JSON."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cutplane.cli.output import plain_label
from cutplane.report.certificate import proven_within
from cutplane.report.sections.sampled_cuts import proven

_REASONS = {
    "interrupted": "interrupted",
    "time_limit": "the time limit came first",
    "max_iter": "the iteration limit came first",
    "stalled": "no further progress was possible in double precision",
    "pair": "the pair of variables that was chosen violates less than tol, which proves nothing",
    "gap": "the tolerance is proven",
    "kkt": "the optimality conditions hold within the tolerance",
    "epsilon": "the mean loss is within the tolerance of the cuts' model",
}
# The tolerance that was asked for is met: the relative gap, or the violation of the optimality conditions.
PROVEN = ("gap", "kkt")
# Or the violation of sampled cuts, which proves no gap.
REACHED = (*PROVEN, "epsilon")


def stop_reason(model: BaseEstimator) -> str:
    """Why training ended; of several classes' reasons the first in the order above."""
    reasons = np.atleast_1d(model.stop_reason_)
    return next(reason for reason in _REASONS if reason in reasons)


def certificate_facts(model: BaseEstimator) -> list[tuple[str, str]]:
    """The certificate in words; of more than two classes the worst gap, and bounds on the sum."""
    if not hasattr(model, "gap_"):
        return _sampled_facts(model)
    several = np.ndim(model.gap_) > 0
    pairs = several and getattr(model, "multi_class", "ovr") == "ovo"
    each = (" for each pair of classes" if pairs else " for each class against the rest") if several else ""
    total = (", summed over pairs" if pairs else ", summed over classes") if several else ""
    lower, upper = np.sum(model.lower_bound_), np.sum(model.objective_)
    n_iter = int(np.sum(model.n_iter_))
    iterations = f"{n_iter:,} iteration{'' if n_iter == 1 else 's'}"
    return [
        ("certificate", f"{proven_within(float(np.max(model.gap_)))}{each}"),
        ("objective", f"{lower:.8g} ≤ optimum ≤ {upper:.8g} (this model){total}"),
        ("stopped", f"{_REASONS[stop_reason(model)]}, after {iterations}"),
    ]


def _sampled_facts(model: BaseEstimator) -> list[tuple[str, str]]:
    """Of a model by sampled cuts, which have no gap."""
    sampled = model.algorithm == "constant"
    mean = " on average over the iterations that the model is the mean of" if sampled and model.stabilised else ""
    side = "below" if model.violation_ < 0.0 else "above"
    reason = _REASONS[stop_reason(model)]
    if sampled and model.stop_reason_ == "epsilon":
        reason = "the mean losses of four samples in a row were within the tolerance of the cuts' model"
    return [
        ("certificate", proven(model)),
        ("objective", f"{model.objective_:.8g} (this model{', estimated from samples' if sampled else ''})"),
        ("mean loss", f"{abs(model.violation_):.2g} {side} the cuts' model of it{mean}"),
        ("stopped", f"{reason}, after {model.n_iter_:,} iterations"),
    ]


def certificate_json(model: BaseEstimator) -> dict[str, object]:
    """The certificate as numbers; lists, one entry per class, where there are more than two classes."""
    return {
        "n_features": getattr(model, "n_features_in_", None),
        **({"classes": [plain_label(label) for label in model.classes_]} if hasattr(model, "classes_") else {}),
        "objective": model.objective_,
        "lower_bound": getattr(model, "lower_bound_", None),
        "gap": getattr(model, "gap_", None),
        **_tolerance(model),
        "stop_reason": model.stop_reason_,
        "n_iter": model.n_iter_,
    }


def _tolerance(model: BaseEstimator) -> dict[str, object]:
    if hasattr(model, "tol"):
        return {"tol": model.tol, "proven": stop_reason(model) in PROVEN}
    return {
        "tol": model.epsilon,
        "proven": hasattr(model, "gap_") and stop_reason(model) == "epsilon",
        "violation": model.violation_,
        "bound": model.bound_,
        "bound_probability": model.bound_probability_,
    }


def label_list(labels: Sequence[object] | NDArray[np.generic], most: int = 10) -> str:
    """Labels for a sentence, the rest counted when there are many."""
    shown = ", ".join(str(plain_label(label)) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown} and {len(labels) - most} more"

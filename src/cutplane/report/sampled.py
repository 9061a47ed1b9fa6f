"""What is proven of models by cuts: a gap, or without one a bound with a probability."""

from __future__ import annotations

import math

from sklearn.base import BaseEstimator

from cutplane.report.markup import number


def by_samples(model: BaseEstimator) -> bool:
    """Whether a model is of cuts without a gap: of samples alone, or of a kernel that is not positive semi-definite."""
    return hasattr(model, "bound_probability_") and not math.isfinite(model.gap_)


def proven(model: BaseEstimator) -> str:
    """What is proven of a model by sampled cuts, in words."""
    if not by_samples(model) and model.method == "linear":
        return (
            "Cuts were made of sampled examples and prove nothing by themselves. The lower bound on the optimum is "
            "that of planes of all examples, made of the labellings the samples were drawn from."
        )
    if not by_samples(model):
        return "Every cut was made of all examples, so the value of their model is a proven lower bound on the optimum."
    if model.bound_ == float("inf"):
        return "The kernel is not positive semi-definite: what was found need not be a minimum."
    estimate = "The objective itself is an estimate from samples. " if model.method == "constant" else ""
    return (
        f"Cuts of sampled examples prove no gap. {estimate}With a probability of at least "
        f"{model.bound_probability_:.0%} the objective is at most {number(model.bound_)} above the optimum, which is "
        "the general bound of Yu and Joachims and far from tight."
    )

"""How good a model is on labelled examples, said as soon as it is trained: a useless one must look useless."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from cutplane._types import Labels
from cutplane.cli.data import Examples, Sentences
from cutplane.cli.output import plain_label, warn
from cutplane.cli.thresholds import predicted
from cutplane.report.commonest import commonest_is_as_good

# Fewer examples say nothing.
_FEWEST = 20
# Kernel machines compare every example with every support vector: a sample says enough.
_MOST_BY_KERNEL = 2000


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of right predictions on some examples, and of their commonest class."""

    name: str
    n_examples: int
    accuracy: float
    balanced_accuracy: float
    commonest: float
    commonest_label: object
    n_classes: int
    is_useless: bool
    advice: str

    @classmethod
    def counted(cls, name: str, truth: Labels, predicted: Labels, model: Any) -> Found:
        """Compare the predictions of a model with the truth."""
        labels, codes, counts = np.unique(truth, return_inverse=True, return_counts=True)
        right = np.bincount(codes, weights=np.asarray(truth == predicted, dtype=np.float64), minlength=len(labels))
        most = int(counts.argmax())
        useless = len(truth) >= _FEWEST and commonest_is_as_good(truth, predicted)
        return cls(
            name,
            len(truth),
            float(right.sum()) / len(truth),
            float(np.mean(right / counts)),
            float(counts[most]) / len(truth),
            labels[most],
            len(labels),
            useless,
            _advice(model) if useless else "",
        )

    def sentence(self) -> str:
        """What is wrong with a useless model, and what to try."""
        return (
            f"this model is no better than always saying {plain_label(self.commonest_label)}: of each class it finds "
            f"{100 * self.balanced_accuracy:.1f} % in the mean on the {self.name} examples, where chance finds "
            f"{100 / self.n_classes:.1f} %. Try {self.advice}."
        )


def _advice(model: Any) -> str:
    """What may help a useless model, of the options that its task takes."""
    from cutplane.report.usefulness import takes_class_weight

    weights = ["--class-weight balanced"] if takes_class_weight(model) else []
    two = len(getattr(model, "classes_", ())) == 2 and hasattr(model, "decision_function")
    threshold = ["another threshold (cutplane evaluate --threshold f1)"] if two else []
    ways = [*weights, "a larger --C", *threshold]
    return " or ".join([", ".join(ways[:-1])] * (len(ways) > 1) + ways[-1:])


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found on the held-out examples, if there are some, else on those trained on; or nothing."""

    found: Found | None = None
    bounds: tuple[float, float] | None = None
    threshold: float | None = None
    figures: dict[str, float] | None = None

    def warn(self) -> None:
        """Say it before anything else where the model is useless."""
        if self.found is not None and self.found.is_useless:
            warn(self.found.sentence())

    def facts(self) -> list[tuple[str, str]]:
        """The figures for people."""
        if self.found is None:
            return [(f"held-out {name}", f"{value:.4f}") for name, value in (self.figures or {}).items()]
        found = self.found
        figures = (
            f"{100 * found.accuracy:.2f} % of {found.n_examples:,} {found.name} examples "
            f"(commonest class: {100 * found.commonest:.2f} %)"
        )
        chosen = [] if self.threshold is None else [("threshold", f"{self.threshold:.6g}, chosen on these examples")]
        return [("accuracy", figures), *bounds_facts(self.bounds), *chosen]

    def as_json(self) -> dict[str, object]:
        """The figures for machines."""
        if self.found is None:
            return {} if self.figures is None else {"judgement": {"examples": "held-out", **self.figures}}
        found = self.found
        figures = {
            "examples": found.name,
            "n_examples": found.n_examples,
            "accuracy": found.accuracy,
            "balanced_accuracy": found.balanced_accuracy,
            "commonest_class": plain_label(found.commonest_label),
            "commonest_share": found.commonest,
            "useless": found.is_useless,
        }
        return {"judgement": figures | ({} if self.bounds is None else {"accuracy_bounds": list(self.bounds)})}


def certify(model: Any, train: Examples) -> None:
    """Bound a free intercept, by one pass over the examples: then predictions have bounds, also from the model file."""
    if not hasattr(model, "certify_intercept") or hasattr(model, "intercept_bounds_"):
        return
    with contextlib.suppress(ValueError):  # models of which nothing is proven say why
        model.certify_intercept(train.X, train.y)


def judged(
    model: Any,
    train: Examples | Sentences | None,
    held_out: Examples | Sentences | None,
    threshold: object = None,
) -> Judgement:
    """Look at the held-out examples, or, of classifiers, at those trained on."""
    examples = train if held_out is None else held_out
    if not is_classifier(model) or not isinstance(examples, Examples):
        return Judgement(figures=None if held_out is None else _figures(model, held_out))
    X, y = examples.X, np.asarray(examples.y)
    if held_out is None and hasattr(model, "kernel") and len(y) > _MOST_BY_KERNEL:
        some = np.linspace(0, len(y) - 1, _MOST_BY_KERNEL).astype(np.int64)
        X, y = X[some], y[some]
    at = threshold if isinstance(threshold, float) else None
    found = Found.counted("training" if held_out is None else "held-out", y, predicted(model, X, at), model)
    # A threshold of ours is not the optimum's, which says the second class above 0.
    bounds = None if held_out is None or at is not None else accuracy_bounds(model, X, y)
    return Judgement(found, bounds, at)


def _figures(model: Any, held_out: Examples | Sentences) -> dict[str, float]:
    """What there is to say of models that are no classifiers."""
    if isinstance(held_out, Sentences):
        scores = model.evaluate(held_out.X, held_out.y)
        return {"token accuracy": scores.accuracy, "token F1": scores.token_f1}
    if is_regressor(model):
        return {"R²": float(model.score(held_out.X, np.asarray(held_out.y, dtype=np.float64)))}
    from cutplane.report.ranking import evaluate_ranking

    ranking = evaluate_ranking(held_out.y, model.predict(held_out.X), held_out.qid)
    return {**{f"NDCG@{k}": value for k, value in ranking.ndcg.items()}, "pair accuracy": ranking.pair_accuracy}


def accuracy_bounds(model: Any, X: Any, y: Labels) -> tuple[float, float] | None:
    """Between what the accuracy of the exact optimum lies; None of models of which that is not known."""
    if not hasattr(model, "score_bounds"):
        return None
    try:
        low, high = model.score_bounds(X, y)["accuracy"]
    except ValueError:  # a free intercept that is not certified, a kernel without a space: nothing is proven
        return None
    return (float(low), float(high))


def bounds_facts(bounds: tuple[float, float] | None) -> list[tuple[str, str]]:
    """The interval for people."""
    if bounds is None:
        return []
    low, high = bounds
    if high - low >= 1.0:
        return [("", "a smaller --tol tells between what that of the exact optimum lies")]
    # Rounded outward: what is said must be proven too.
    least, most = np.floor(1e4 * low) / 100, np.ceil(1e4 * high) / 100
    return [("", f"the exact optimum has between {least:.2f} % and {most:.2f} %")]

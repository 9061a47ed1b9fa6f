"""Whether a model has learned anything: a proven optimum that finds nothing is no success."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from cutplane._types import Array, Labels, Listed, is_sparse
from cutplane.metrics import pair_accuracy
from cutplane.report.commonest import commonest_is_as_good
from cutplane.report.trained import Examples, Trained, label
from cutplane.risks.multivariate import MultivariateRisk
from cutplane.risks.registry import BINARY
from cutplane.sources.packed import StringCollection

# Above this, scores order the classes well enough for another threshold to find some.
_ORDERED = 0.6


class Useless(NamedTuple):
    """Why a model is of no use, and what to try."""

    headline: str
    explained: str
    advice: list[str]


def useless(trained: Trained) -> Useless | None:
    """What is to be said first of a model that is no better than a constant answer; None of any other.

    Judged on the held-out examples, or else on those of the training.
    """
    examples, which = _judged_on(trained)
    if examples is None:
        return None
    if trained.labels_tokens:
        return _useless_labeller(trained, examples, which)
    if is_classifier(trained.model) and hasattr(trained.model, "classes_") and np.asarray(examples.y).ndim == 1:
        return _useless_classifier(trained, examples, which)
    if is_regressor(trained.model) and examples.qid is None:
        return _useless_regression(trained, examples, which)
    if examples.qid is not None and hasattr(trained.model, "predict"):
        return _useless_ranking(trained, examples, which)
    return None


def _judged_on(trained: Trained) -> tuple[Examples | None, str]:
    if trained.held_out is not None:
        return trained.held_out, "held-out"
    train = trained.train
    # Training data may also be a file that is read a chunk at a time, which no model predicts.
    known = train is not None and (isinstance(train.X, (list, np.ndarray, StringCollection)) or is_sparse(train.X))
    return (train if known else None), "training"


def _useless_classifier(trained: Trained, examples: Examples, which: str) -> Useless | None:
    truth, predicted = np.asarray(examples.y), np.asarray(trained.model.predict(examples.X))
    if not commonest_is_as_good(truth, predicted):
        return None
    advice = [*_weights(trained), *_threshold(trained, examples, truth), *_larger_C(trained)]
    return _commonest(truth, predicted, f"{which} examples", advice)


def _useless_labeller(trained: Trained, examples: Examples, which: str) -> Useless | None:
    truth = np.array([label for labels in examples.y for label in labels])
    said = [label for labels in trained.model.predict(examples.X) for label in labels]
    predicted = np.array(said, dtype=truth.dtype)
    if not commonest_is_as_good(truth, predicted):
        return None
    return _commonest(truth, predicted, f"{which} tokens", [*_larger_C(trained), "features that tell the labels apart"])


def _commonest(truth: Labels, predicted: Labels, what: str, advice: list[str]) -> Useless:
    labels, sizes = np.unique(truth, return_counts=True)
    top = int(sizes.argmax())
    share, right = sizes[top] / len(truth), float(np.mean(predicted == truth))
    others = truth != labels[top]
    found = int(np.count_nonzero(others & (predicted == truth)))
    return Useless(
        "No better than always the commonest class",
        f"It labels {100 * right:.2f} % of the {what} rightly; always saying {label(labels[top])} labels "
        f"{100 * share:.2f} %. Of the {np.count_nonzero(others):,} others it finds {found:,}.",
        advice,
    )


def _useless_regression(trained: Trained, examples: Examples, which: str) -> Useless | None:
    truth = _numbers(examples.y)
    if truth is None or not np.var(truth) > 0.0:
        return None
    off = truth - np.asarray(trained.model.predict(examples.X), np.float64)
    r2 = 1.0 - float(np.mean(off**2) / np.var(truth))
    if r2 > 0.0:
        return None
    return Useless(
        "No better than always the mean",
        f"R² on the {which} examples is {r2:.3f}; always predicting their mean has 0.",
        [*_larger_C(trained), "features of the same scale", "other features, or a kernel"],
    )


def _useless_ranking(trained: Trained, examples: Examples, which: str) -> Useless | None:
    grades = _numbers(examples.y)
    if grades is None or examples.qid is None:
        return None
    share = pair_accuracy(
        grades, np.asarray(trained.model.predict(examples.X), np.float64), qid=np.asarray(examples.qid)
    )
    if math.isnan(share) or share > 0.5:
        return None
    return Useless(
        "No better than a random order",
        f"It puts {100 * share:.1f} % of the pairs of {which} examples in order; a random order has 50 %.",
        [*_larger_C(trained), "features of the same scale", "other features"],
    )


def _numbers(y: Listed) -> Array | None:
    values = np.asarray(y, np.float64)
    return values if values.ndim == 1 else None


def takes_class_weight(model: BaseEstimator) -> bool:
    """True if a model was trained without weights of classes, which its loss could have had."""
    known = BINARY.get(str(getattr(model, "loss", "")))
    counts = isinstance(known, type) and issubclass(known, MultivariateRisk)
    return getattr(model, "class_weight", "none") is None and not counts


def _weights(trained: Trained) -> list[str]:
    if not takes_class_weight(trained.model):
        return []
    return ['class_weight="balanced" (--class-weight balanced), so that rare classes count as much as common ones']


def _threshold(trained: Trained, examples: Examples, truth: Labels) -> list[str]:
    """Where the scores of two classes are in order, it is only their zero that is in the wrong place."""
    classes = np.asarray(trained.model.classes_)
    if len(classes) != 2 or not hasattr(trained.model, "decision_function") or len(np.unique(truth)) != 2:
        return []
    from sklearn.metrics import roc_auc_score  # the command asks this module before anything is judged

    area = float(roc_auc_score(truth == classes[1], trained.model.decision_function(examples.X)))
    if area < _ORDERED:
        return []
    return [f"another threshold: the scores order the classes (area under ROC {area:.3f}), only their zero is off"]


def _larger_C(trained: Trained) -> list[str]:
    C = getattr(trained.model, "C", None)
    return [] if C is None else [f"a larger C (this one is {C:g})"]

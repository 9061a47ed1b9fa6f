"""How well predictions fit known labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from cutplane._types import Array, Labels


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of merit of a classifier on labelled examples.

    Attributes
    ----------
    n_examples : int
        How many examples there were.
    accuracy : float
        Share of right predictions.
    balanced_accuracy : float
        Mean over the classes in the data of the share of their examples that was found.
    f1 : float
        F1 of the second class where there are two, the mean of all classes' F1 where there are more.
    roc_area : float or None
        Area under the ROC curve (more than two classes: mean of each class against the rest); None
        where it has no meaning because the data has one class only, or there are no scores.
    pr_area : float or None
        Area under the precision-recall curve (average precision), where there are two classes.
    labels : ndarray
        Labels of the rows and columns of `confusion`.
    confusion : ndarray
        Number of examples by true label (row) and predicted label (column).
    """

    n_examples: int
    accuracy: float
    balanced_accuracy: float
    f1: float
    roc_area: float | None
    pr_area: float | None
    labels: Labels
    confusion: NDArray[np.int64]


def evaluate(
    truth: Labels,
    predicted: Labels,
    scores: Array | None,
    classes: Labels,
) -> Evaluation:
    """Compare predictions with the truth.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n,)
        True and predicted labels.
    scores : ndarray of shape (n,) or (n, k), or None
        Decision values; without them there are no areas under curves.
    classes : ndarray
        The labels the classifier knows, in the order of its scores; `truth` may have others.

    Returns
    -------
    Evaluation
    """
    labels = np.union1d(classes, truth)
    confusion = confusion_matrix(truth, predicted, labels=labels)
    right = np.diag(confusion)
    true_counts, predicted_counts = confusion.sum(axis=1), confusion.sum(axis=0)
    present = true_counts > 0
    f1_by_label = 2.0 * right / np.maximum(true_counts + predicted_counts, 1)
    two = len(labels) == 2
    return Evaluation(
        n_examples=len(truth),
        accuracy=float(right.sum() / len(truth)),
        balanced_accuracy=float(np.mean(right[present] / true_counts[present])),
        f1=float(f1_by_label[1] if two else np.mean(f1_by_label)),
        roc_area=None if scores is None else _roc_area(truth, scores, classes),
        pr_area=None if scores is None else _pr_area(truth, scores, classes),
        labels=labels,
        confusion=confusion,
    )


def _roc_area(truth: Labels, scores: Array, classes: Labels) -> float | None:
    if scores.ndim == 1:
        scores, classes = scores[:, None], classes[1:]
    areas = [
        float(roc_auc_score(truth == label, scores[:, column]))
        for column, label in enumerate(classes)
        if 0 < np.count_nonzero(truth == label) < len(truth)
    ]
    return float(np.mean(areas)) if areas else None


def _pr_area(truth: Labels, scores: Array, classes: Labels) -> float | None:
    positive = truth == classes[-1]
    if scores.ndim != 1 or not positive.any():
        return None
    return float(average_precision_score(positive, scores))

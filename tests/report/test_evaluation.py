"""Figures of merit equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from cutplane.report.evaluation import evaluate


@pytest.mark.parametrize("k", [2, 4])
def test_as_scikit_learn_has_it(k: int) -> None:
    rng = np.random.default_rng(0)
    classes = np.arange(k) * 3 - 1
    truth, predicted = rng.choice(classes, 200), rng.choice(classes, 200)
    scores = rng.normal(size=200 if k == 2 else (200, k))
    result = evaluate(truth, predicted, scores, classes)
    assert result.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert result.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, predicted))
    average = {"average": "macro"} if k > 2 else {"pos_label": classes[1]}
    assert result.f1 == pytest.approx(metrics.f1_score(truth, predicted, **average))
    np.testing.assert_array_equal(result.confusion, metrics.confusion_matrix(truth, predicted))
    columns = [scores] if k == 2 else scores.T
    positives = classes[1:] if k == 2 else classes
    areas = [metrics.roc_auc_score(truth == c, s) for c, s in zip(positives, columns, strict=True)]
    assert result.roc_area == pytest.approx(np.mean(areas))


def test_one_class_has_no_roc_area() -> None:
    result = evaluate(np.array([1, 1]), np.array([1, -1]), np.array([1.0, -1.0]), np.array([-1, 1]))
    assert result.roc_area is None
    assert result.balanced_accuracy == 0.5


def test_labels_the_model_does_not_know_are_errors() -> None:
    result = evaluate(np.array([1, 2]), np.array([1, 1]), np.array([1.0, 1.0]), np.array([-1, 1]))
    assert result.accuracy == 0.5
    assert result.labels.tolist() == [-1, 1, 2]
    assert result.confusion.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_three_classes_without_scores_have_no_areas():
    truth, said = np.array(["a", "b", "c", "c"]), np.array(["a", "c", "c", "c"])
    result = evaluate(truth, said, None, np.array(["a", "b", "c"]))
    assert (result.accuracy, result.roc_area, result.pr_area) == (0.75, None, None)
    assert result.confusion.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 2]]

"""Each class by itself."""

from __future__ import annotations

import numpy as np
import pytest

from cutplane.report.per_class import per_class

CLASSES = np.array(["cat", "dog", "fish"])


def test_figures_of_each_class() -> None:
    truth = ["cat", "cat", "cat", "dog", "dog", "cat"]
    predicted = ["cat", "dog", "dog", "dog", "cat", "fish"]
    cat, dog, fish = per_class(truth, predicted, CLASSES, [[0, 1, 5], [2, 0, 5], [5, 5, 0]])
    assert (cat.examples, cat.predicted, cat.precision, cat.recall) == (4, 2, 0.5, 0.25)
    assert cat.cost == pytest.approx((1 + 1 + 5) / 4)
    assert cat.mostly_taken_for == "dog"
    assert dog.cost == pytest.approx(1.0)
    assert np.isnan(fish.recall)
    assert fish.precision == 0.0
    assert fish.mostly_taken_for is None


def test_unknown_labels_are_named() -> None:
    with pytest.raises(ValueError, match="Row 1 has the label 'horse', which the classifier does not know; it knows"):
        per_class(["cat", "horse"], ["cat", "cat"], CLASSES)

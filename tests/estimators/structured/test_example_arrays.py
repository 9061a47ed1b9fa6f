"""Examples that are no arrays of numbers: one sentence, in `fit` and in `predict`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutplane import KernelStructuralSVM, StructuralSVM
from cutplane.structured.chain import ChainModel
from cutplane.structured.classes import HierarchyModel, MulticlassModel
from cutplane.structured.matching import MatchingModel
from cutplane.structured.multilabel import MultilabelModel

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(4, 3))
MODELS = {
    "classes": (MulticlassModel(["a", "b"]), ROWS, ["a", "b", "a", "b"], "a vector of numbers"),
    "tree": (HierarchyModel({"a": "c", "b": "c"}), list(ROWS), ["a", "b", "a", "b"], "a vector of numbers"),
    "labels": (MultilabelModel(2), ROWS, [[1, 0], [0, 1], [1, 1], [0, 0]], "a vector of numbers"),
    "chains": (ChainModel(2, 3), [ROWS, ROWS[:2]], [[0, 1, 0, 1], [0, 1]], "a row of numbers for each token"),
    "matchings": (MatchingModel(), [RNG.normal(size=(2, 2, 3))] * 2, [[0, 1], [1, 0]], "by item, place and feature"),
}


@pytest.mark.parametrize("kind", [StructuralSVM, KernelStructuralSVM])
@pytest.mark.parametrize("name", MODELS)
def test_words_and_other_shapes(kind: Any, name: str) -> None:
    model, X, y, wanted = MODELS[name]
    fitted = kind(model).fit(X, y)
    for wrong in (["a plain text", "another"], [b"text"] * 2, np.array(["a", "b"]), [["a", "b"]] * 2, [1.0, 2.0]):
        for call in (fitted.predict, lambda X: kind(model).fit(X, y[:2])):
            with pytest.raises(ValueError, match=rf"^X\[0\] is .*; .*{wanted}.* is needed\.$"):
                call(wrong)
    for nothing in (None, 3):
        with pytest.raises(ValueError, match=r"^X is a \w+; a list or an array of examples is needed\.$"):
            fitted.predict(nothing)
    with pytest.raises(ValueError, match=r"^X='rows.svm' is a word or the name of a file"):
        fitted.predict("rows.svm")
    assert fitted.predict([]) == []


@pytest.mark.parametrize("kind", [StructuralSVM, KernelStructuralSVM])
@pytest.mark.parametrize("name", MODELS)
def test_features_and_values(kind: Any, name: str) -> None:
    model, X, y, _ = MODELS[name]
    fitted = kind(model).fit(X, y)
    wider = [np.concatenate([x, x[..., :1]], axis=-1) for x in X]
    with pytest.raises(ValueError, match=r"has 4 features, but the model is for 3\.$"):
        fitted.predict(wider if isinstance(X, list) else np.array(wider))
    broken = [np.array(x) for x in X]
    broken[1].flat[1] = np.nan
    with pytest.raises(ValueError, match=r"nan; every value must be finite\.$"):
        fitted.predict(broken if isinstance(X, list) else np.array(broken))


@pytest.mark.parametrize("kind", [StructuralSVM, KernelStructuralSVM])
@pytest.mark.parametrize("name", MODELS)
def test_features_too_large_to_calculate_with(kind: Any, name: str) -> None:
    model, X, y, _ = MODELS[name]
    huge = [1e200 * np.ones_like(x) for x in X]
    with pytest.raises(ValueError, match=r"is 1e\+200; every value must be below 1e\+70 in size; scale the feature\.$"):
        kind(model).fit(huge if isinstance(X, list) else np.array(huge), y)


@pytest.mark.parametrize("wrong", [["A", "B", "A", "B"], [0, 0.5, 1, 0], [0, None, 1, 0], [0, 2, 1, 0]])
def test_labels_of_chains_are_numbers(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^Example 0: the label ('A'|0.5|None|2) is none of 0, ..., 1\.$"):
        StructuralSVM(ChainModel(2, 3)).fit([ROWS], [wrong])
    with pytest.raises(ValueError, match=r"must be numbers 0, 1, ..., one for each token\.$"):
        StructuralSVM(ChainModel(2, 3)).fit([ROWS], [[0, 1, 0, 1]]).score([ROWS], [["A", "B", "A", "B"]])


def test_a_model_of_ones_own_takes_what_it_likes() -> None:
    class Longest(MulticlassModel):
        """Texts, by their length."""

        axes = None

        def argmax(self, x: Any, w: Any) -> Any:
            return super().argmax([len(x), 1.0], w)

        def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
            return super().loss_augmented_argmax([len(x), 1.0], y, w)

        def joint_feature(self, x: Any, y: Any) -> Any:
            return super().joint_feature([len(x), 1.0], y)

        def bind(self, X: Any, y: Any, **how: Any) -> None:
            return None

    texts = ["a", "ab", "a longer one", "the longest of all"]
    model = StructuralSVM(Longest(["short", "long"]), C=100.0).fit(texts, ["short", "short", "long", "long"])
    assert model.predict(["b", "another long one"]) == ["short", "long"]

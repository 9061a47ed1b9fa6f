"""A saved model is the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from cutplane import LinearSVC, LinearSVCCV
from cutplane.estimators.common.persistence import save
from cutplane.estimators.loading import load
from cutplane.io.model_file import ModelFileError, read_model, write_model
from cutplane.risks.base import Risk, ScoreCut
from cutplane.risks.hinge import Hinge

TWO = [
    np.array([-1, 1]),
    np.array([0, 1], dtype=np.uint8),
    np.array([-1.0, 1.0]),
    np.array([1.0, 2.0], dtype=np.float32),
    np.array([False, True]),
    np.array(["no", "yes"]),
    np.array(["non", "oui, été"], dtype=object),
    np.array([3, 2**62 + 1]),
]


def data(classes: Any, n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    index = np.arange(n) % len(classes)
    return rng.normal(size=(n, 4)) + 2.0 * np.eye(len(classes), 4)[index], np.asarray(classes)[index]


def assert_same(loaded: LinearSVC, model: LinearSVC, X: Any) -> None:
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype == model.classes_.dtype
    for name in (
        "objective_",
        "lower_bound_",
        "gap_",
        "n_iter_",
        "stop_reason_",
        "history_",
        "n_features_in_",
    ):
        np.testing.assert_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize("classes", TWO, ids=lambda classes: f"{classes.dtype}")
def test_labels_of_any_type_come_back(tmp_path: Path, classes: Any) -> None:
    X, y = data(classes)
    model = LinearSVC().fit(X, y)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, X)


def test_more_than_two_classes_come_back(tmp_path: Path) -> None:
    X, y = data(["a", "b", "c"])
    model = LinearSVC(tol=1e-2).fit(X, y)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, X)


def test_parameters_come_back(tmp_path: Path) -> None:
    X, y = data([-1, 1])
    model = LinearSVC(
        0.25, tol=1e-2, class_weight={-1: 2.0, 1: 1.0}, fit_intercept=False, n_jobs=np.int64(1), time_limit=60
    ).fit(X, y)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, X)


def test_functions_and_generators_are_left_out(tmp_path: Path) -> None:
    X, y = data([-1, 1])
    model = LinearSVC(on_step=lambda step: None, random_state=np.random.RandomState(0)).fit(X, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.on_step is None
    assert loaded.random_state is None


class TwiceTheHinge(Risk):
    """A loss of the user's own."""

    def __init__(self, y: Any, sample_weight: Any = None) -> None:
        self._hinge = Hinge(y, sample_weight)

    def value(self, scores: Any) -> float:
        return 2.0 * self._hinge.value(scores)

    def cut(self, scores: Any) -> Any:
        return ScoreCut(*(2.0 * part for part in self._hinge.cut(scores)))


def test_a_loss_of_ones_own_is_named_and_asked_for(tmp_path: Path) -> None:
    """A model that was not trained by the hinge loss must not come back as if it had been."""
    X, y = data([-1, 1])
    model = LinearSVC(loss=TwiceTheHinge).fit(X, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert "TwiceTheHinge, left out of the model file" in repr(loaded.get_params()["loss"])
    for again in (loaded, clone(loaded)):
        with pytest.raises(
            ValueError, match=r"^loss was .*TwiceTheHinge, which a model file does not hold; set_params"
        ):
            again.fit(X, y)
    save(loaded, tmp_path / "again")
    assert load(tmp_path / "again").get_params()["loss"] == loaded.get_params()["loss"]
    assert loaded.set_params(loss=TwiceTheHinge).fit(X, y).objective_ == model.objective_


def test_folds_and_scorers_of_ones_own_are_named_and_asked_for(tmp_path: Path) -> None:
    X, y = data([-1, 1])
    model = LinearSVCCV([1.0], cv=KFold(3), scoring=lambda model, X, y: 1.0).fit(X, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"sklearn\.model_selection\._split\.KFold, left out of the model file"):
        loaded.fit(X, y)
    with pytest.raises(ValueError, match=r"scoring was .*, which a model file does not hold"):
        loaded.set_params(cv=3).fit(X, y)


def test_feature_names_come_back(tmp_path: Path) -> None:
    import pandas

    X, y = data([-1, 1])
    frame = pandas.DataFrame(X, columns=["age", "größe", "[b]", ""])
    model = LinearSVC().fit(frame, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_a_loaded_model_can_be_trained_and_saved_again(tmp_path: Path) -> None:
    X, y = data([-1, 1])
    save(LinearSVC(tol=1e-2).fit(X, y), tmp_path / "m")
    again = load(tmp_path / "m").set_params(tol=1e-4).fit(X, y)
    save(again, tmp_path / "m")
    assert_same(load(tmp_path / "m"), again, X)


def test_an_unfitted_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        save(LinearSVC(), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("coef", np.ones((2, 4))),
        ("coef", np.ones(4)),
        ("coef", np.full((1, 4), np.nan)),
        ("coef", np.ones((1, 4), dtype=np.int64)),
        ("coef", None),
        ("intercept", np.ones((1, 1))),
        ("classes", np.array([1])),
        ("classes", np.array([[1, 2]])),
        ("history.upper", np.ones(10_000)),
        ("history.iteration", None),
        ("history.planes", np.ones(1)),
    ],
)
def test_arrays_that_do_not_fit_are_one_sentence(tmp_path: Path, array: str, value: Any) -> None:
    file = _saved(tmp_path)
    arrays = {**file.arrays, array: value}
    if value is None:
        del arrays[array]
    write_model(tmp_path / "bad", kind="LinearSVC", arrays=arrays, metadata=file.metadata)
    _assert_refused(tmp_path / "bad", "damaged LinearSVC model file")


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"colour": "red"}},
        {"params": 3},
        {"classes": {"stored": "text", "values": [1, 2]}},
        {"classes": {"stored": "pickle"}},
        {"certificates": {}},
        {
            "certificates": {
                "objective": [1.0, 2.0],
                "lower_bound": [1.0],
                "n_iter": [1],
                "seconds": [1.0],
                "stop_reason": ["gap"],
                "history": {"phases": [], "estimated": False},
            }
        },
        {"certificates": None},
        {"n_features_in": 5},
        {"n_features_in": "4"},
        {"feature_names_in": ["a"]},
    ],
)
def test_descriptions_that_do_not_fit_are_one_sentence(tmp_path: Path, change: dict[str, Any]) -> None:
    file = _saved(tmp_path)
    write_model(tmp_path / "bad", kind="LinearSVC", arrays=file.arrays, metadata={**file.metadata, **change})
    _assert_refused(tmp_path / "bad", "damaged LinearSVC model file")


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    write_model(tmp_path / "bad", kind="DeepForest", arrays={}, metadata={})
    _assert_refused(tmp_path / "bad", "a model of the kind 'DeepForest'; this version knows LinearSVC")


def _saved(tmp_path: Path) -> Any:
    save(LinearSVC().fit(*data([-1, 1])), tmp_path / "good")
    return read_model(tmp_path / "good")


def _assert_refused(path: Path, words: str) -> None:
    with pytest.raises(ModelFileError, match=words) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(".")

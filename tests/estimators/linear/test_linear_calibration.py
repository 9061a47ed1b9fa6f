"""Calibrated probabilities of linear models: they never contradict `predict`, and are those of any calibration."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, train_test_split
from sklearn.preprocessing import scale

import cutplane
from cutplane import LinearSVC, LinearSVCCV
from cutplane.estimators.common.calibration_folds import StratifiedFolds
from cutplane.estimators.linear import held_out
from cutplane.risks.hinge import Hinge
from cutplane.sources import as_source

KINDS = ["sigmoid", "isotonic"]


def classes_of(k: int, n: int = 200) -> tuple[Any, Any]:
    return make_classification(n, 6, n_informative=5, n_redundant=0, n_classes=k, flip_y=0.3, random_state=k)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"loss": "squared_hinge"},
        {"loss": "logistic"},
        {"class_weight": "balanced"},
        {"intercept_scaling": 2.0},
        {"fit_intercept": False, "method": "oca"},
    ],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_never_contradict_predictions(classes: int, kind: str, params: Any) -> None:
    X, y = classes_of(classes)
    model = LinearSVC(calibration=kind, **params).fit(X, y)
    rows = np.random.default_rng(0).normal(size=(1000, 6)) * 2
    p = model.predict_proba(rows)
    np.testing.assert_array_equal(model.classes_[np.argmax(p, axis=1)], model.predict(rows))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.all(p >= 0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), p, atol=1e-12)
    # And the model is that without them.
    np.testing.assert_array_equal(LinearSVC(**params).fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("params", [{"calibration": "sigmoid"}, {"calibration": "isotonic"}, {"loss": "logistic"}])
@pytest.mark.parametrize("classes", [2, 4])
def test_ties_are_broken_as_predictions_break_them(classes: int, params: Any) -> None:
    y = np.arange(40) % classes
    model = LinearSVC(**params).fit(np.zeros((40, 2)), y)  # nothing to tell the classes apart by
    assert np.all(model.coef_ == 0.0)
    X, y = classes_of(classes)
    sure = LinearSVC(**params).fit(X, y)
    for each, rows in ((model, np.ones((3, 2))), (sure, X * 1e6), (sure, X * 1e-30)):  # all certain, all the same
        p = each.predict_proba(rows)
        np.testing.assert_array_equal(each.classes_[np.argmax(p, axis=1)], each.predict(rows))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_curves_are_those_of_scikit_learn_on_the_same_folds(load: Any, kind: str) -> None:
    X, y = load(return_X_y=True)
    X = scale(X)[:, :4]
    folds = StratifiedFolds.of(y, np.unique(y), None)
    ours = LinearSVC(calibration=kind, tol=1e-7).fit(X, y)
    theirs = CalibratedClassifierCV(LinearSVC(tol=1e-7), method=kind, cv=PredefinedSplit(folds.fold), ensemble=False)
    p, wanted = ours.predict_proba(X), theirs.fit(X, y).predict_proba(X)
    agreeing = ours.classes_[np.argmax(wanted, axis=1)] == ours.predict(X)
    assert agreeing.mean() > 0.7
    np.testing.assert_allclose(p[agreeing], wanted[agreeing], atol=2e-3)


@pytest.mark.parametrize(("load", "most"), [(load_iris, 0.4), (load_digits, 0.5), (load_breast_cancer, 0.2)])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_probabilities_predict(load: Any, most: float, loss: str) -> None:
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(scale(X[:900]), y[:900], random_state=0)
    model = LinearSVC(C=0.1, loss=loss, calibration="sigmoid").fit(X, y)
    assert log_loss(y_test, model.predict_proba(X_test)) < most


def test_models_of_a_path_are_calibrated_like_models_of_a_fit() -> None:
    X, y = classes_of(3)
    grid = [0.01, 1.0]
    for C, model in zip(grid, LinearSVC(calibration="sigmoid", tol=1e-7).path(X, y, grid), strict=True):
        alone = LinearSVC(C, calibration="sigmoid", tol=1e-7).fit(X, y)
        decisions = np.linspace(-3.0, 3.0, 50)
        for found, wanted in zip(model._curves, alone._curves, strict=True):
            np.testing.assert_allclose(found(decisions), wanted(decisions), atol=1e-3)


def test_the_chosen_model_is_calibrated() -> None:
    X, y = classes_of(2)
    model = LinearSVCCV([0.01, 1.0], cv=3, calibration="isotonic").fit(X, y)
    alone = LinearSVC(model.C_, calibration="isotonic").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(model.scores_, LinearSVCCV([0.01, 1.0], cv=3).fit(X, y).scores_)


def test_examples_of_no_weight_teach_nothing() -> None:
    X, y = classes_of(3)
    weights = np.where(np.arange(len(y)) % 4, 1.0, 0.0)
    there = weights > 0
    whole = LinearSVC(calibration="sigmoid", tol=1e-8).fit(X, y, weights)
    part = LinearSVC(calibration="sigmoid", tol=1e-8).fit(X[there], y[there])
    decisions = np.linspace(-3.0, 3.0, 50)
    for found, wanted in zip(whole._curves, part._curves, strict=True):
        np.testing.assert_allclose(found(decisions), wanted(decisions), atol=1e-3)


def test_sample_weights_move_probabilities_and_class_weights_do_not() -> None:
    X, y = classes_of(2)
    plain, heavy = LinearSVC(calibration="sigmoid"), np.where(y == 1, 20.0, 1.0)
    base = plain.fit(X, y).predict_proba(X)[:, 1].mean()
    assert plain.fit(X, y, heavy).predict_proba(X)[:, 1].mean() > base + 0.1
    moved = LinearSVC(calibration="sigmoid", class_weight={1: 3.0}).fit(X, y)
    scores = moved.decision_function(X)
    assert np.mean(scores > 0) > y.mean() + 0.1
    free = moved._curves[0](scores)  # before they are made to agree with predictions
    assert abs(free.mean() - y.mean()) < 0.05


def test_folds_are_seeded_and_threads_change_nothing() -> None:
    X, y = classes_of(3)
    first, second, third = (LinearSVC(calibration="sigmoid", random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    assert np.any(first.predict_proba(X) != third.predict_proba(X))
    alone = LinearSVC(calibration="sigmoid", n_jobs=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(first.predict_proba(X), alone.predict_proba(X))


def test_sources_are_calibrated_where_they_lie() -> None:
    X, y = classes_of(2)
    model = LinearSVC(calibration="sigmoid").fit(as_source(X), y)
    np.testing.assert_allclose(
        model.predict_proba(X), LinearSVC(calibration="sigmoid").fit(X, y).predict_proba(X), atol=1e-6
    )


def test_nobody_is_told_of_folds() -> None:
    X, y = classes_of(2)
    with_folds: list[Any] = []
    without: list[Any] = []
    LinearSVC(calibration="sigmoid", on_step=with_folds.append).fit(X, y)
    LinearSVC(on_step=without.append).fit(X, y)
    assert len(with_folds) == len(without)


def test_a_fit_that_was_interrupted_is_calibrated_in_haste() -> None:
    X, y = classes_of(2)
    with pytest.warns(ConvergenceWarning, match="no cross-validation begun"):
        model = LinearSVC(calibration="sigmoid", method="oca", on_step=lambda step: True, tol=1e-9).fit(X, y)
    assert model.predict_proba(X).shape == (200, 2)


@pytest.mark.parametrize("lost", [1, 5])
@pytest.mark.parametrize("how", ["time", "ctrl-c"])
def test_folds_that_are_cut_short_leave_the_curves_to_the_others(
    how: str, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = classes_of(2)
    whole, calls = held_out.runs_in_time, []

    def cut_short(*arguments: Any) -> Any:
        calls.append(how)
        if len(calls) > lost:
            return whole(*arguments)
        if how == "ctrl-c":
            raise KeyboardInterrupt
        return [{}]

    monkeypatch.setattr(held_out, "runs_in_time", cut_short)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = LinearSVC(calibration="sigmoid").fit(X, y)
    words = " ".join(str(each.message) for each in said)
    assert ("was interrupted" in words) == (how == "ctrl-c")
    assert ("no cross-validation begun" in words) == (lost == 5)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[np.argmax(p, axis=1)], model.predict(X))


def test_no_time_for_folds_is_said() -> None:
    X, y = classes_of(2)
    with pytest.warns(ConvergenceWarning, match="no cross-validation begun"):
        LinearSVC(calibration="sigmoid", time_limit=1e-6).fit(X, y)


def test_a_refit_without_calibration_forgets_the_curves() -> None:
    X, y = classes_of(2)
    model = LinearSVC(calibration="sigmoid").fit(X, y)
    model.set_params(calibration=None).fit(X, y)
    assert not hasattr(model, "predict_proba")
    model.set_params(calibration="sigmoid")
    with pytest.raises(NotFittedError, match="calibration=None"):
        model.predict_proba(X)


@pytest.mark.parametrize("kind", KINDS)
def test_files_hold_the_curves(kind: str, tmp_path: Any) -> None:
    X, y = classes_of(3)
    model = LinearSVC(calibration=kind).fit(X, np.array(["a", "b", "c"])[y])
    path = tmp_path / "model.safetensors"
    model.save(path)
    for read in (cutplane.load(path), cutplane.load(path, plain=True)):
        np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))


class Backwards(Hinge):
    """Decides against the sign."""

    def decide(self, scores: Any) -> Any:
        return -super().decide(scores)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"calibration": "platt"}, "calibration='platt' must be None, 'sigmoid' or 'isotonic'"),
        ({"calibration": True}, "calibration=True must be None, 'sigmoid' or 'isotonic'"),
        ({"calibration": "sigmoid", "multi_class": "crammer_singer"}, "multi_class='ovr' can be calibrated"),
        ({"calibration": "sigmoid", "loss": Backwards}, "has a `decide` of its own"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(params: Any, words: str) -> None:
    X, y = classes_of(2)
    with pytest.raises(ValueError, match=words):
        LinearSVC(**params).fit(X, y)


def test_a_class_of_one_example_is_refused() -> None:
    X, y = classes_of(2)
    y[0] = 7
    with pytest.raises(ValueError, match="Class 7 has one example"):
        LinearSVC(calibration="sigmoid").fit(X, y)


def test_scores_are_not_called_probabilities_before_they_are() -> None:
    X, y = classes_of(2)
    with pytest.raises(AttributeError) as refused:
        LinearSVC().fit(X, y).predict_proba(X)
    assert "needs calibration='sigmoid' or 'isotonic', or loss='logistic'" in str(refused.value.__cause__)
    with pytest.raises(ValueError, match="scoring='neg_log_loss' judges probabilities"):
        LinearSVCCV([0.1, 1.0], calibration="sigmoid", scoring="neg_log_loss").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVCCV([0.1, 1.0], loss="logistic", calibration="sigmoid", scoring="neg_log_loss").fit(X, y)

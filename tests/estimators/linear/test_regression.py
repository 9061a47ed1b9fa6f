"""`LinearSVR` and `LinearOneClassSVM` as users meet them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import cutplane
from cutplane import LinearOneClassSVM, LinearSVC, LinearSVR
from cutplane.sources import as_source

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0 + 0.1 * RNG.normal(size=300)


def test_targets_of_any_scale():
    small = LinearSVR(C=1e3, tol=1e-5).fit(X, Y)
    for scale in (1e-6, 1e6):
        # ½|w|² + C·Σ|errors|: with errors times `scale`, the same problem has C divided by it and times it.
        model = LinearSVR(C=1e3 * scale, tol=1e-5).fit(X, scale * Y)
        assert model.coef_ / scale == pytest.approx(small.coef_, abs=2e-3)
        assert model.stop_reason_ == "gap"


def test_constant_targets():
    model = LinearSVR().fit(X, np.full(300, 7.0))
    assert model.predict(X) == pytest.approx(np.full(300, 7.0))
    assert model.objective_ == 0.0


@pytest.mark.parametrize("model", [LinearSVR(loss="huber"), LinearSVR(epsilon=0.1), LinearOneClassSVM(0.2)])
def test_models_survive_files_and_pickles(model, tmp_path):
    model = clone(model).fit(X + 3.0, Y)
    model.save(tmp_path / "model")
    for copy in (cutplane.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(copy.predict(X), model.predict(X))
        assert copy.get_params() == model.get_params()
        assert copy.gap_ == model.gap_
        assert len(copy.history_) == len(model.history_)


def test_warm_starts_go_on_from_the_planes():
    model = LinearSVR(C=1.0, tol=1e-4, method="oca", warm_start=True).fit(X, Y)
    again = model.set_params(C=1.1).fit(X, Y)
    assert again.n_iter_ <= LinearSVR(C=1.1, tol=1e-4, method="oca").fit(X, Y).n_iter_
    assert again.gap_ <= 1e-4
    other = model.set_params(epsilon=0.3).fit(X, Y)
    assert other.objective_ == pytest.approx(LinearSVR(C=1.1, epsilon=0.3, tol=1e-4).fit(X, Y).objective_, rel=1e-4)


def test_sparsify():
    model = LinearSVR().fit(X, Y)
    expected = model.predict(X)
    assert model.sparsify().predict(X) == pytest.approx(expected)


def test_probabilities_of_several_classes_sum_to_one():
    y = np.digitize(Y, [1.0, 3.0, 5.0])
    model = LinearSVC(loss="logistic").fit(X, y)
    found = model.predict_proba(X)
    assert found.shape == (300, 4)
    assert found.sum(axis=1) == pytest.approx(np.ones(300))
    assert np.array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))


def test_only_the_logistic_loss_has_probabilities():
    assert hasattr(LinearSVC(loss="logistic"), "predict_proba")
    assert not hasattr(LinearSVC(), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        LinearSVC(loss="squared_hinge").predict_proba(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "hinge"}, r"loss='hinge' must be one of 'epsilon_insensitive', "),
        ({"epsilon": -1.0}, "epsilon=-1.0 must be a finite number, 0 or greater"),
        ({"epsilon": 0.1, "loss": "huber"}, "epsilon=0.1 is for epsilon-insensitive losses; with 'huber' it must be 0"),
        ({"loss": "huber", "loss_options": {"quantile": 0.5}}, "'quantile', but loss='huber' has only 'delta'"),
        ({"loss": "quantile", "loss_options": {"quantile": 2}}, "quantile=2 must be a number"),
        ({"C": 0.0}, "C=0.0 must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ValueError, match=words):
        LinearSVR(**parameters).fit(X, Y)


def test_bad_targets_are_refused():
    wrong = Y.copy()
    wrong[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LinearSVR().fit(X, wrong)
    with pytest.raises(ValueError, match=r"y has the dtype .*; targets must be numbers"):
        LinearSVR().fit(X, np.array(["a", "b"] * 150))
    with pytest.raises(ValueError, match=r"sample_weight\[2\]=-1.0 is negative"):
        LinearSVR().fit(X, Y, np.where(np.arange(300) == 2, -1.0, 1.0))


@pytest.mark.parametrize("nu", [0.0, 1.5, True, "x", np.nan])
def test_bad_nu_is_refused(nu):
    with pytest.raises(ValueError, match=r"nu=.* must be a number greater than 0, at most 1"):
        LinearOneClassSVM(nu).fit(X)


def test_newton_is_refused_where_there_is_none():
    with pytest.raises(ValueError, match=r"method='newton' needs a loss that is smooth .* LinearOneClassSVM cannot"):
        LinearOneClassSVM(method="newton").fit(X)


def test_targets_within_the_tube_but_for_rounding() -> None:
    """The optimum is zero, and a little more is proven of the model: no step divides by the gap that a run believes."""
    X = np.array([[0.0, 1.0], [2.0, -1.0], [0.0, -1.0], [-1.0, 2.0], [1.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match="made no more progress"):
        model = LinearSVR(C=0.03, epsilon=2.0, max_iter=1000).fit(X, [-0.8, 2.4, 0.2, -1.6, 0.0])
    assert model.lower_bound_ == 0.0
    assert 0.0 < model.objective_ < 1e-12


def test_a_first_epoch_that_leaves_nothing_to_gain_warns_of_nothing() -> None:
    X, y = np.array([[0.0], [1000.0]]), np.array([4.6, 3.1])
    model = LinearSVR(C=0.04, loss="squared_epsilon_insensitive", epsilon=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(X, y, sample_weight=np.array([3.7, 2.0]))
    assert model.lower_bound_ <= model.objective_


@pytest.mark.parametrize("weighted", [False, True])
def test_a_source_trains_the_one_class_machine_of_its_matrix(weighted: bool) -> None:
    weights = np.random.default_rng(1).random(len(X)) if weighted else None
    matrix, source = (LinearOneClassSVM(0.3).fit(each, sample_weight=weights) for each in (X, as_source(X)))
    assert np.array_equal(matrix.coef_, source.coef_)
    assert np.array_equal(matrix.predict(X), source.predict(as_source(X)))
    with pytest.raises(ValueError, match=r"^X is a source, and a proof is of rows"):
        source.proof(as_source(X))

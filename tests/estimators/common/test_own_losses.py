"""Losses and models of the user's own survive files: by name, by the class given back, and never as something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutplane import LinearSVC, LinearSVR, SampledCutSVC, StructuralSVM, load
from cutplane.estimators.common.left_out import same_name
from cutplane.io.model_file import ModelFileError, read_model
from cutplane.risks.base import Risk, ScoreCut
from cutplane.risks.epsilon_insensitive import EpsilonInsensitive
from cutplane.risks.squared_hinge import SquaredHinge
from cutplane.structured.base import StructuredModel
from cutplane.structured.classes import MulticlassModel

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 3))
SIGNS = np.where(X[:, 0] + 0.5 * rng.standard_normal(80) > 0.0, 1, -1)


class Own(SquaredHinge):
    """A loss of one's own."""


class Another(SquaredHinge):
    """Not the one."""


class OwnTube(EpsilonInsensitive):
    """A loss of one's own for regression."""


class OwnModel(MulticlassModel):
    """A structured model of one's own: files do not know how to make it."""

    def params(self) -> None:  # type: ignore[override]
        return None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


def trained(path: Path) -> Any:
    model = LinearSVC(loss=Own, C=0.5, tol=1e-6).fit(X, SIGNS)
    model.save(path)
    return model


def test_the_file_has_the_import_path(path: Path) -> None:
    trained(path)
    assert read_model(path).metadata["left_out"] == {"loss": f"{Own.__module__}.Own"}


def test_given_back_it_trains_the_same_model(path: Path) -> None:
    model = trained(path)
    loaded = load(path, loss=Own)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.loss is Own
    np.testing.assert_array_equal(loaded.fit(X, SIGNS).coef_, model.coef_)


def test_without_it_no_fit_is_made_and_nothing_takes_its_place(path: Path) -> None:
    model = trained(path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"loss was .*Own, which a model file does not hold"):
        loaded.fit(X, SIGNS)


@pytest.mark.parametrize("other", [Another, "hinge", "squared_hinge", SquaredHinge])
def test_another_is_refused(path: Path, other: Any) -> None:
    trained(path)
    with pytest.raises(ModelFileError, match=r"was trained with loss=.*Own; .* is something else"):
        load(path, loss=other)


def test_what_the_file_holds_is_not_taken_from_elsewhere(path: Path) -> None:
    trained(path)
    with pytest.raises(ModelFileError, match="needs no C of yours: those left out are loss"):
        load(path, C=3.0)
    LinearSVC().fit(X, SIGNS).save(path)
    with pytest.raises(ModelFileError, match="needs no loss of yours: it leaves none out"):
        load(path, loss=Own)
    with pytest.raises(ValueError, match="plain=True has no parameters; loss"):
        load(path, plain=True, loss=Own)


def test_regressions_and_structured_models(path: Path) -> None:
    LinearSVR(loss=OwnTube).fit(X, X[:, 0]).save(path)
    assert load(path, loss=OwnTube).loss is OwnTube
    own = OwnModel([-1, 1])
    model = StructuralSVM(own).fit(X[:20], SIGNS[:20])
    model.save(path)
    assert load(path, model=own).predict(X[:20]) == model.predict(X[:20])


def test_a_loaded_model_saved_again_still_names_it(path: Path) -> None:
    trained(path)
    load(path).save(path)
    assert load(path, loss=Own).loss is Own


def test_a_plain_model_says_what_was_minimised(path: Path) -> None:
    assert trained(path).plain_form().objective == f"{Own.__module__}.Own"
    assert load(path, plain=True).form.objective.endswith(".Own")


def test_a_class_of_a_script_is_known_by_its_last_name() -> None:
    assert same_name("__main__.Own", Own)
    assert not same_name("__main__.Own", Another)
    assert not same_name("elsewhere.Own", Own)


class BelowItsBound(Risk):
    """The hinge for a margin of one half that goes on below zero, and says that nothing does."""

    def __init__(self, y: Any, sample_weight: Any = None) -> None:
        self.y = y

    def value(self, scores: Any) -> float:
        return float(np.mean(np.maximum(0.5 - self.y * scores, -7.0)))

    def cut(self, scores: Any) -> ScoreCut:
        coef = np.where(self.y * scores < 7.5, -self.y, 0.0) / len(scores)
        return ScoreCut(coef, self.value(scores) - float(coef @ scores), self.value(scores))


class NotConvex(BelowItsBound):
    """The logarithm of the hinge: planes at one point lie above it at others."""

    def value(self, scores: Any) -> float:
        return float(np.mean(np.log1p(np.maximum(1.0 - self.y * scores, 0.0))))

    def cut(self, scores: Any) -> ScoreCut:
        z = np.maximum(1.0 - self.y * scores, 0.0)
        coef = np.where(z > 0.0, -self.y / (1.0 + z), 0.0) / len(scores)
        return ScoreCut(coef, self.value(scores) - float(coef @ scores), self.value(scores))


@pytest.mark.parametrize(("loss", "plane"), [(BelowItsBound, "lower_bound is 0"), (NotConvex, r"plane of cut \d+")])
@pytest.mark.parametrize("settings", [{}, {"method": "oca"}, {"C": 10.0}], ids=str)
def test_a_broken_risk_is_refused_in_one_sentence(loss: Any, plane: str, settings: Any) -> None:
    sentence = rf"^The risk breaks its contract.* {plane}.* at the weights of length .* check_risk .*\.$"
    with pytest.raises(ValueError, match=sentence):
        LinearSVC(loss=loss, **settings).fit(X, SIGNS)


def test_a_broken_oracle_is_refused_in_one_sentence() -> None:
    """Its search gives up far from zero and returns the truth, whose height is zero."""

    class Lazy(StructuredModel):
        def joint_feature(self, x: Any, y: Any) -> Any:
            return y * x

        def loss(self, y: Any, y_hat: Any) -> float:
            return float(y != y_hat)

        def argmax(self, x: Any, w: Any) -> int:
            return 1 if w @ x > 0.0 else -1

        def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
            return y if 2.0 * y * (w @ x) > 1.0 or w @ w > 0.1 else -y

    with pytest.raises(ValueError, match=r"breaks its contract.*check_oracle for.*\.$"):
        StructuralSVM(Lazy(), method="oca", planes_kept=0).fit(X, SIGNS)


def test_a_broken_kernel_is_refused_in_one_sentence() -> None:
    """It shrinks each time it is asked: its planes are those of another kernel than its model's."""
    calls = 0

    def shrinking(A: Any, B: Any) -> Any:
        nonlocal calls
        calls += 1
        return A @ B.T / calls

    with pytest.raises(ValueError, match=r"^The lower bound .* is above the objective .* symmetric, .*\.$"):
        SampledCutSVC(kernel=shrinking, method="linear", random_state=0).fit(X, SIGNS)
